// examples/onnx/attention.cpp: Attention and RotaryEmbedding of opset 23 and newer.
// Attention is one call of scaled_dot_product_attention, unless its scores are a result.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// A value as [batch, head, position, feature]; its heads may lie within the features.
struct heads {
  std::string code;
  onnx_in::extents extents;
};
heads heads_of(const call& each, std::size_t i, std::int64_t count) {
  const onnx_in::extents& all = each.in(i).extents;
  if (all.size() == 4) return {each.code(i), all};
  if (all.size() != 3 || count < 1)
    each.refuse("has an input " + text_of(all) + ", expected four axes, or three and a number of heads");
  const onnx_in::extents parted{all[0], all[1], count, all[2] / extent(count)};
  const std::string rows = each.net.named("tn::traced(" + each.code(i) + ").reshape(" + shape_of(parted) + ")");
  return {"tn::permute(" + rows + ", tn::axis<0, 2, 1, 3>)", {parted[0], parted[2], parted[1], parted[3]}};
}

/// Keys or values behind those of earlier calls, which are a result of their own.
heads behind_past(const call& each, heads own, std::size_t past, std::size_t present) {
  if (each.has(past)) {
    own.code = "tn::concatenate(tn::axis<2>, " + each.code(past) + ", " + own.code + ")";
    own.extents[2] = each.in(past).extents[2] + own.extents[2];
  }
  if (each.wants(present) || each.has(past)) own.code = each.net.named(own.code);
  if (each.wants(present)) each.result(own.extents, own.code, binding::tight, -1, present);
  return own;
}

void add(std::string& options, const std::string& text) { options += (options.empty() ? "" : ", ") + text; }

/// Which keys a query sees where sequences have lengths: with is_causal, the last query sees the last key.
std::string seen_keys(const call& each, const heads& q, const heads& k) {
  const extents grid{1, 1, q.extents[2], k.extents[2]}, sequences{q.extents[0], 1, 1, 1};
  const auto places = [&](const char* axis) {
    return "tn::index_grid<std::int64_t>(" + shape_of(grid) + ", tn::axis<" + axis + ">)";
  };
  const std::string ends = "tn::reshape(" + each.code(6) + ", " + shape_of(sequences) + ")";
  std::string code = places("3") + " < " + ends;
  if (each.integer("is_causal", 0) != 0)
    code = "(" + code + ") && (" + places("3") + " <= " + places("2") + " + " + ends + " - " + q.extents[2].operand() +
           ")";
  if (each.has(3) && each.in(3).element == boolean) code = "(" + code + ") && " + each.code(3, binding::tight);
  code = "tn::evaluated_tensor<Space>(" + code + ")";
  const std::string seen = each.net.named(code, "const auto");
  if (!each.has(3) || each.in(3).element == boolean) return seen;
  return "tn::where(" + seen + ", " + each.code(3) + ", -std::numeric_limits<float>::infinity())";
}

/// Attention in the open, where its scores are a result too: products, capped, masked, and their softmax.
std::string write_open_attention(const call& each, const heads& q, const heads& k, const heads& v) {
  if (!(q.extents[1] == k.extents[1]))
    each.refuse("has scores of heads that share keys as a result, which is not supported");
  const std::string given = literal(float32, each.number("scale", 0));
  const std::string scale =
      each.has_attribute("scale") ? given : "1.0f / std::sqrt(static_cast<float>(" + q.extents[3].code + "))";
  const extents all{q.extents[0], q.extents[1], q.extents[2], k.extents[2]};
  std::vector<std::string> steps{
      each.net.named("tn::matmul(" + q.code + ", tn::transpose(" + k.code + ")) * (" + scale + ")")};
  const double cap = each.number("softcap", 0);
  steps.push_back(cap == 0 ? steps[0]
                           : each.net.named("tn::soft_cap(" + steps[0] + ", " + literal(float32, cap) + ")"));
  std::string masked = steps[1];
  const std::string least = "-std::numeric_limits<float>::infinity()";
  if (each.has(3)) {
    const bool is_choice = each.in(3).element == boolean;
    masked =
        is_choice ? "tn::where(" + each.code(3) + ", " + masked + ", " + least + ")" : masked + " + " + each.code(3);
  }
  if (each.integer("is_causal", 0) != 0) {
    const std::string past = each.has(4) ? " + " + each.in(4).extents[2].operand() : "";
    const std::string grid = "tn::index_grid<std::int64_t>(" + shape_of({all[2], all[3]}) + ", tn::axis<";
    masked = "tn::where(" + grid + "1>) <= " + grid + "0>)" + past + ", " + masked + ", " + least + ")";
  }
  steps.push_back(masked == steps[1] ? masked : each.net.named(masked));
  std::string shares = "tn::softmax(" + steps[2] + ", tn::axis<3>)";  // a query that sees no key gets zeros
  if (masked != steps[1])
    shares = "tn::where(tn::max(" + steps[2] + ", tn::axis<3>) == " + least + ", 0.0f, " + shares + ")";
  steps.push_back(each.net.named(shares));
  const std::int64_t mode = each.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) each.refuse("has mode " + std::to_string(mode) + " of scores, which is not supported");
  each.result(all, steps[static_cast<std::size_t>(mode)], binding::tight, -1, 3);
  return each.net.named("tn::matmul(" + steps[3] + ", " + v.code + ")");
}

/// Attention as one node, whose scores are never in memory.
std::string write_fused_attention(const call& each, heads q, heads k, heads v, const extents& made) {
  std::string options;
  const bool has_lengths = each.has(6), is_causal = each.integer("is_causal", 0) != 0 && !has_lengths;
  std::string mask = has_lengths ? seen_keys(each, q, k) : each.has(3) ? each.code(3) : "";
  if (is_causal) add(options, ".is_causal = true");
  if (each.has_attribute("scale")) add(options, ".scale = " + literal(float32, each.number("scale", 0)));
  if (is_causal && each.has(4)) add(options, ".first_query = " + each.in(4).extents[2].code);
  if (each.number("softcap", 0) != 0) add(options, ".softcap = " + literal(float32, each.number("softcap", 0)));
  const bool is_grouped = !(q.extents[1] == k.extents[1]);
  if (is_grouped) {
    const extent shared = q.extents[1] / k.extents[1];
    const extents parted{q.extents[0], k.extents[1], shared, q.extents[2], q.extents[3]};
    q.code = "tn::traced(" + q.code + ").reshape(" + shape_of(parted) + ")";
    k.code = "tn::new_axis<2>(" + k.code + ")", v.code = "tn::new_axis<2>(" + v.code + ")";
    const bool is_of_all =
        each.has(3) && each.in(3).rank() > 2 && !(each.in(3).rank() == 4 && each.in(3).extents[1].is(1));
    if (is_of_all) each.refuse("has a mask of heads that share keys, which is not supported");
    if (has_lengths || (each.has(3) && each.in(3).rank() == 4)) mask = "tn::new_axis<2>(" + mask + ")";
  }
  std::string code = "tn::scaled_dot_product_attention(" + joined({q.code, k.code, v.code});
  if (!mask.empty()) code += ", " + mask;
  code = each.net.named(code + (options.empty() ? ")" : ", {" + options + "})"));
  return is_grouped ? code + ".reshape(" + shape_of(made) + ")" : code;
}

/// [batch, head, position, feature] as a result of as many axes as the node's first input has.
void write_heads(const call& each, const std::string& code, const extents& made) {
  if (each.in(0).rank() == 4) return each.result(made, code);
  const std::string rows = each.net.named("tn::permute(" + code + ", tn::axis<0, 2, 1, 3>)");
  const extents whole{made[0], made[2], made[1] * made[3]};
  each.result(whole, rows + ".reshape(" + shape_of(whole) + ")");
}

void write_attention(const call& each) {
  if (each.has(6) && each.wants(3))
    each.refuse("has lengths of sequences and scores as a result, which is not supported");
  const heads q = heads_of(each, 0, each.integer("q_num_heads", 0));
  const heads k = behind_past(each, heads_of(each, 1, each.integer("kv_num_heads", 0)), 4, 1);
  const heads v = behind_past(each, heads_of(each, 2, each.integer("kv_num_heads", 0)), 5, 2);
  const extents made{q.extents[0], q.extents[1], q.extents[2], v.extents[3]};
  write_heads(each, each.wants(3) ? write_open_attention(each, q, k, v) : write_fused_attention(each, q, k, v, made),
              made);
}

/// An operand without the number that it is multiplied by.
struct scaled {
  std::string name;
  double factor = 1;
};
scaled unscaled(const call& each, const std::string& name) {
  const node* product = each.net.maker(name, "Mul");
  if (product == nullptr || product->inputs.size() != 2) return {name};
  const value& number = each.net.of(product->inputs[1]);
  if (!number.data || number.data->size() != 1 || number.rank() > each.net.of(product->inputs[0]).rank()) return {name};
  return {product->inputs[0], number.data->numbers()[0]};
}

/// Cosines or sines of each position, as [batch, 1, position, pair]: from a table by number, or as they stand.
std::string angles_of(const call& each, std::size_t i) {
  const std::string rows =
      each.has(3) ? "tn::take(" + each.code(i) + ", " + each.code(3) + ", tn::axis<0>)" : each.code(i);
  return each.net.named("tn::new_axis<1>(" + rows + ")");
}

void write_rotary(const call& each) {
  const heads x = heads_of(each, 0, each.integer("num_heads", 0));
  const std::int64_t chosen = each.integer("rotary_embedding_dim", 0);
  const std::string all = each.net.named(x.code),
                    angles = ", " + joined({angles_of(each, 1), angles_of(each, 2)}) + ")";
  const std::string pairs = each.integer("interleaved", 0) != 0 ? "<tn::rotary_pairs::neighbours>" : "";
  const std::string call_text = "tn::rotary_embedding" + pairs + "(";
  if (chosen == 0) return write_heads(each, each.net.named(call_text + all + angles), x.extents);
  const extent rest = x.extents[3] - extent(chosen);
  const std::string part = each.net.named("tn::narrow(" + all + ", tn::axis<3>, 0, " + std::to_string(chosen) + ")");
  const std::string kept = "tn::narrow(" + all + ", tn::axis<3>, " + std::to_string(chosen) + ", " + rest.code + ")";
  const std::string turned = each.net.named(call_text + part + angles);
  write_heads(each, each.net.named("tn::concatenate(tn::axis<3>, " + turned + ", " + kept + ")"), x.extents);
}

}  // namespace

bool write_attention_of_products(const call& each, const extents& made) {
  const node* shares = each.net.maker(each.at.inputs[0], "Softmax");
  if (shares == nullptr || made.size() < 3 || each.opset < 13 || each.in(0).element != float32) return false;
  const call softmax{each.net, *shares, each.opset};
  if (softmax.axis_of(softmax.integer("axis", -1), softmax.in(0).rank()) + 1 != softmax.in(0).rank()) return false;
  const node* sum = each.net.maker(shares->inputs[0], "Add");
  const node* product = each.net.maker(sum == nullptr ? shares->inputs[0] : sum->inputs[0], "MatMul");
  if (product == nullptr) return false;
  const scaled q = unscaled(each, product->inputs[0]), k = unscaled(each, product->inputs[1]);
  value &left = each.net.of(q.name), &right = each.net.of(k.name);
  const bool fits =
      left.rank() == static_cast<int>(made.size()) && right.rank() == left.rank() && each.in(1).rank() == left.rank();
  if (!fits || left.is_known() || right.is_known() || each.in(1).is_known()) return false;
  std::string keys = "tn::transpose(" + each.net.code_of(right) + ")";
  if (!right.order.empty()) {
    lengths order = right.order;
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    const bool is_same = std::is_sorted(order.begin(), order.end());
    keys = is_same ? right.origin : "tn::permute(" + right.origin + ", " + axis_text(order) + ")";
  }
  std::string code = "tn::scaled_dot_product_attention(" + joined({each.net.code_of(left), keys, each.code(1)});
  if (sum != nullptr) code += ", " + each.net.code_of(each.net.of(sum->inputs[1]));
  each.result(made, code + ", {.scale = " + literal(float32, q.factor * k.factor) + "})");
  return true;
}

namespace {

constexpr row attention_table[] = {{"Attention", write_attention}, {"RotaryEmbedding", write_rotary}};

}  // namespace

std::span<const row> attention_rows() { return attention_table; }

}  // namespace onnx_in
