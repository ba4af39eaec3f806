// examples/onnx/attention.cpp: Attention of opset 23 and newer as one call of scaled_dot_product_attention.
// SPDX-License-Identifier: Apache-2.0
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

void write_attention(const call& each) {
  if (each.wants(3)) each.refuse("has scores as a result, which is not supported");
  if (each.has(6)) each.refuse("has lengths of sequences, which is not supported");
  heads q = heads_of(each, 0, each.integer("q_num_heads", 0));
  heads k = behind_past(each, heads_of(each, 1, each.integer("kv_num_heads", 0)), 4, 1);
  heads v = behind_past(each, heads_of(each, 2, each.integer("kv_num_heads", 0)), 5, 2);
  std::string options;
  if (each.integer("is_causal", 0) != 0) add(options, ".is_causal = true");
  if (each.has_attribute("scale")) add(options, ".scale = " + literal(float32, each.number("scale", 0)));
  if (each.integer("is_causal", 0) != 0 && each.has(4)) add(options, ".first_query = " + each.in(4).extents[2].code);
  if (each.number("softcap", 0) != 0) add(options, ".softcap = " + literal(float32, each.number("softcap", 0)));
  const bool is_grouped = !(q.extents[1] == k.extents[1]);
  extents made{q.extents[0], q.extents[1], q.extents[2], v.extents[3]};
  if (is_grouped) {
    const extent shared = q.extents[1] / k.extents[1];
    const extents parted{q.extents[0], k.extents[1], shared, q.extents[2], q.extents[3]};
    q.code = "tn::traced(" + q.code + ").reshape(" + shape_of(parted) + ")";
    k.code = "tn::new_axis<2>(" + k.code + ")", v.code = "tn::new_axis<2>(" + v.code + ")";
    if (each.has(3) && each.in(3).rank() > 2)
      each.refuse("has a mask of heads that share keys, which is not supported");
  }
  std::string code = "tn::scaled_dot_product_attention(" + joined({q.code, k.code, v.code});
  if (each.has(3)) code += ", " + each.code(3);
  code = each.net.named(code + (options.empty() ? ")" : ", {" + options + "})"));
  if (is_grouped) code += ".reshape(" + shape_of(made) + ")";
  if (each.in(0).rank() == 4) return each.result(made, code);
  const std::string rows = each.net.named("tn::permute(" + code + ", tn::axis<0, 2, 1, 3>)");
  const extents joined_heads{made[0], made[2], made[1] * made[3]};
  each.result(joined_heads, rows + ".reshape(" + shape_of(joined_heads) + ")");
}

constexpr row rows[] = {{"Attention", write_attention}};

}  // namespace

std::span<const row> attention_rows() { return rows; }

}  // namespace onnx_in
