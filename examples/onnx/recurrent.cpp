// examples/onnx/recurrent.cpp: LSTM, GRU and RNN as layers; ONNX's order of gates becomes PyTorch's.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "call.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

/// A kind of recurrence: its layer, which gate of ONNX each gate of the layer is, and the layer's functions.
struct kind {
  const char* layer;
  std::vector<std::int64_t> gates;
  std::vector<std::string> functions;
};
std::vector<std::string> functions_of(const call& each) {
  const auto found = each.at.attributes.find("activations");
  return found == each.at.attributes.end() ? std::vector<std::string>{} : found->second.texts;
}
kind kind_of(const call& each) {
  if (each.at.operation == "LSTM") return {"lstm", {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}};  // i o f c, to i f c o
  if (each.at.operation == "GRU") return {"gru", {1, 0, 2}, {"Sigmoid", "Tanh"}};               // z r h, to r z n
  const auto given = functions_of(each);
  const bool is_relu = !given.empty() && given[0] == "Relu";
  return {"rnn", {0}, {is_relu ? "Relu" : "Tanh"}};
}

/// Of [directions, gates of hidden rows, ...], one direction with its gates in another order; `first` skips gates.
constant gates_of(const constant& from, std::size_t direction, const kind& cell, std::int64_t hidden,
                  std::size_t first) {
  lengths extents(from.extents.begin() + 1, from.extents.end());
  extents[0] = hidden * static_cast<std::int64_t>(cell.gates.size());
  const std::size_t block = from.bytes.size() / static_cast<std::size_t>(from.extents[0] * from.extents[1] / hidden);
  const std::size_t begin = direction * from.bytes.size() / static_cast<std::size_t>(from.extents[0]) + first * block;
  constant made{from.element, extents, {}};
  for (const std::int64_t gate : cell.gates) {
    const auto at = from.bytes.begin() + static_cast<std::ptrdiff_t>(begin + static_cast<std::size_t>(gate) * block);
    made.bytes.insert(made.bytes.end(), at, at + static_cast<std::ptrdiff_t>(block));
  }
  return made;
}

void refuse_what_layers_lack(const call& each, const kind& cell) {
  if (each.has(7)) each.refuse("has peepholes, which is not supported");
  if (each.has_attribute("clip") || each.integer("input_forget", 0) != 0)
    each.refuse("has clip or input_forget, which is not supported");
  if (each.integer("layout", 0) != 0) each.refuse("has layout 1, which is not supported");
  const auto given = functions_of(each);
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] != cell.functions[i % cell.functions.size()])
      each.refuse("has activations " + joined(given) + ", which is not supported");
  }
}

/// A GRU that resets the state before the product with it, which no layer does: a step after the other.
constexpr const char* early_reset_gru =
    "/// A GRU whose state is reset before the product with it; x: [length, batch, Inputs], state: [1, batch, "
    "Hidden].\n"
    "template <tn::index Inputs, tn::index Hidden, tn::memory_space Space>\n"
    "struct early_reset_gru : nn::module<early_reset_gru<Inputs, Hidden, Space>> {\n"
    "  struct values {\n    tn::traced<float, tn::rank<3>, Space> sequence, hidden;\n  };\n"
    "  nn::linear<Inputs, 3 * Hidden, nn::linear_options{}, Space> of_input;\n"
    "  nn::linear<Hidden, 2 * Hidden, nn::linear_options{}, Space> of_state;\n"
    "  nn::linear<Hidden, Hidden, nn::linear_options{}, Space> of_reset;\n\n"
    "  auto forward(const auto& x) {\n"
    "    return forward(x, tn::zeros<float, Space>(tn::rank<3>(1, x.shape().extent(1), Hidden)));\n  }\n"
    "  auto forward(const auto& x, const auto& first) {\n"
    "    const tn::rank<3> rows(1, x.shape().extent(1), Hidden);\n"
    "    const tn::traced gates = of_input(x);\n"
    "    auto state = tn::traced(first).reshape(rows);\n"
    "    tn::traced all = tn::zeros<float, Space>(tn::rank<3>(0, x.shape().extent(1), Hidden));\n"
    "    for (tn::index t = 0; t < x.shape().extent(0); ++t) {\n"
    "      const auto part = [&](tn::index i) {\n"
    "        return tn::slice(gates, tn::only(t), tn::all_of, tn::range(i * Hidden, (i + 1) * Hidden));\n      };\n"
    "      const tn::traced kept = of_state(state);\n"
    "      const tn::traced z = tn::sigmoid(part(0) + tn::narrow(kept, tn::axis<2>, 0, Hidden));\n"
    "      const tn::traced r = tn::sigmoid(part(1) + tn::narrow(kept, tn::axis<2>, Hidden, Hidden));\n"
    "      const tn::traced reset = r * state;\n"
    "      state = tn::traced(tn::lerp(tn::tanh(part(2) + of_reset(reset)), state, z)).reshape(rows);\n"
    "      all = tn::traced(tn::concatenate(tn::axis<0>, all, state));\n"
    "    }\n"
    "    return values{all, state};\n  }\n};\n\n";

constexpr const char* sequence_lengths =
    "std::vector<tn::index> sequence_lengths(const auto& lengths) {\n"
    "  const auto all = tn::evaluated_tensor<tn::host>(lengths);\n"
    "  return {all.data(), all.data() + all.size()};\n}\n\n";

/// Some of a constant's rows, counted in blocks of `hidden`; its first axis, of one direction, goes.
constant blocks_of(const constant& from, std::int64_t hidden, std::int64_t first, std::int64_t count) {
  lengths extents(from.extents.begin() + 1, from.extents.end());
  const auto row = static_cast<std::ptrdiff_t>(from.bytes.size()) / extents[0];
  extents[0] = count * hidden;
  const auto begin = from.bytes.begin() + first * hidden * row;
  return {from.element, extents, {begin, begin + count * hidden * row}};
}

member early_reset_layer(const call& each, std::int64_t hidden) {
  const constant &input = each.known(1, "W"), &state = each.known(2, "R");
  if (input.extents.at(0) != 1) each.refuse("has linear_before_reset 0 and two directions, which is not supported");
  const constant none =
      constant::of(float32, {1, 6 * hidden}, std::vector<double>(static_cast<std::size_t>(6 * hidden)));
  const constant& bias = each.has(3) ? each.known(3, "B") : none;
  each.net.want(early_reset_gru);
  return {{},
          "early_reset_gru<" + listed({input.extents[2], hidden}) + ", Space>",
          "",
          {{".of_input.weight", blocks_of(input, hidden, 0, 3)},
           {".of_input.bias", blocks_of(bias, hidden, 0, 3)},
           {".of_state.weight", blocks_of(state, hidden, 0, 2)},
           {".of_state.bias", blocks_of(bias, hidden, 3, 2)},
           {".of_reset.weight", blocks_of(state, hidden, 2, 1)},
           {".of_reset.bias", blocks_of(bias, hidden, 5, 1)}}};
}

member layer_of(const call& each, const kind& cell, std::int64_t hidden, std::size_t directions) {
  const constant &input = each.known(1, "W"), &state = each.known(2, "R");
  std::string options;
  if (!each.has(3)) options += ".bias = false";
  if (directions == 2) options += std::string(options.empty() ? "" : ", ") + ".bidirectional = true";
  if (cell.functions[0] == "Relu")
    options += std::string(options.empty() ? "" : ", ") + ".function = nn::nonlinearity::with_relu";
  member made{{},
              std::string("nn::") + cell.layer + "<" + listed({input.extents[2], hidden}) + ", Space>",
              options.empty() ? "" : "{nn::recurrent_options{" + options + "}}",
              {}};
  for (std::size_t direction = 0; direction < directions; ++direction) {
    const std::string suffix = direction == 0 ? "_l0" : "_l0_reverse";
    made.state.emplace_back(".weight_ih" + suffix, gates_of(input, direction, cell, hidden, 0));
    made.state.emplace_back(".weight_hh" + suffix, gates_of(state, direction, cell, hidden, 0));
    if (!each.has(3)) continue;
    const constant& bias = each.known(3, "B");
    made.state.emplace_back(".bias_ih" + suffix, gates_of(bias, direction, cell, hidden, 0));
    made.state.emplace_back(".bias_hh" + suffix, gates_of(bias, direction, cell, hidden, cell.gates.size()));
  }
  return made;
}

/// States before the first step, as arguments; none where they are zeros.
std::string states_of(const call& each, std::int64_t directions, std::int64_t hidden) {
  const auto is_zero = [&](std::size_t i) {
    if (!each.has(i)) return true;
    const value& state = each.in(i);
    if (state.fill) return state.fill->numbers()[0] == 0;
    if (!state.data) return false;
    const auto numbers = state.data->numbers();
    return std::all_of(numbers.begin(), numbers.end(), [](double number) { return number == 0; });
  };
  const bool has_cell = each.at.operation == "LSTM";
  if (is_zero(5) && (!has_cell || is_zero(6))) return "";
  const auto state = [&](std::size_t i) {
    const extents all{directions, each.in(0).extents.at(1), hidden};
    return each.has(i) ? each.code(i) : "tn::zeros<float, Space>(" + shape_of(all) + ")";
  };
  return ", " + state(5) + (has_cell ? ", " + state(6) : "");
}

/// Y: [length, directions, batch, hidden] of the layer's [length, batch, directions * hidden].
void write_sequence(const call& each, const std::string& sequence, const extents& x, std::int64_t directions,
                    std::int64_t hidden) {
  const extents inner{x[0], x[1], directions, hidden}, made{x[0], directions, x[1], hidden};
  if (directions == 1) {
    each.result(made, sequence + ".reshape(" + shape_of(made) + ")");
    value& now = each.net.of(each.at.outputs[0]);
    now.origin = sequence, now.origin_extents = {x[0], x[1], hidden}, now.order.clear();
    return;
  }
  const std::string parted = each.net.named(sequence + ".reshape(" + shape_of(inner) + ")");
  each.result(made, "tn::permute(" + parted + ", tn::axis<0, 2, 1, 3>)");
  value& now = each.net.of(each.at.outputs[0]);
  now.origin = parted, now.origin_extents = inner, now.order = {0, 2, 1, 3};
}

/// throws    error for weights whose extents do not fit each other
void check_weights(const call& each, std::int64_t gates) {
  const lengths& state = each.known(2, "R").extents;
  if (state.size() != 3 || state[2] < 1) each.refuse("has a weight R [" + listed(state) + "], expected three axes");
  const lengths& input = each.known(1, "W").extents;
  const std::int64_t directions = each.text("direction", "forward") == "bidirectional" ? 2 : 1, hidden = state[2];
  const auto check = [&](const char* name, const lengths& found, const lengths& expected) {
    if (found != expected)
      each.refuse("has a weight " + std::string(name) + " [" + listed(found) + "], expected [" + listed(expected) +
                  "]");
  };
  check("R", state, {directions, gates * hidden, hidden});
  check("W", input, {directions, gates * hidden, input.empty() ? 0 : input.back()});
  if (each.has(3)) check("B", each.known(3, "B").extents, {directions, 2 * gates * hidden});
  const extents& x = each.in(0).extents;
  if (x.size() != 3) each.refuse("has an input " + text_of(x) + ", expected three axes");
}

void write_recurrent(const call& each) {
  const kind cell = kind_of(each);
  refuse_what_layers_lack(each, cell);
  check_weights(each, static_cast<std::int64_t>(cell.gates.size()));
  const constant& weight = each.known(2, "R");
  const std::int64_t directions = weight.extents.at(0), hidden = weight.extents.at(2);
  if (weight.element != float32) each.refuse("has weights that are not float, which is not supported");
  std::vector<std::string> weights{each.at.inputs[1], each.at.inputs[2]};
  if (each.has(3)) weights.push_back(each.at.inputs[3]);
  const bool resets_early = each.at.operation == "GRU" && each.integer("linear_before_reset", 0) == 0;
  const std::string layer =
      each.net.layer((resets_early ? "early " : cell.layer + (" " + cell.functions[0] + " ")) + joined(weights),
                     each.net.stem_of(each.at, weights),
                     resets_early ? early_reset_layer(each, hidden)
                                  : layer_of(each, cell, hidden, static_cast<std::size_t>(directions)));
  const bool is_reverse = each.text("direction", "forward") == "reverse";  // the layer sees the last step first
  const auto in_order = [&](const std::string& code) {
    return is_reverse ? each.net.named("tn::flip(" + code + ", tn::axis<0>)") : code;
  };
  const bool has_lengths = each.has(4);
  if (has_lengths && (is_reverse || resets_early))
    each.refuse(
        "has lengths of sequences, in one direction back or with linear_before_reset 0, which is not supported");
  const extents x = each.in(0).extents;
  std::string steps = in_order(each.code(0));
  if (has_lengths) {
    each.net.include("vector"), each.net.want(sequence_lengths);
    steps =
        "nn::pack_padded_sequence(" + steps + ", sequence_lengths(" + each.code(4) + "), {.enforce_sorted = false})";
  }
  const std::string all = each.net.named(layer + "(" + steps + states_of(each, directions, hidden) + ")", "const auto");
  const auto sequence = [&] {
    if (!has_lengths) return in_order(all + ".sequence");
    return each.net.named("nn::pad_packed_sequence(" + all + ".sequence, {.total_length = " + x[0].code +
                          "}).sequences");
  };
  if (each.wants(0)) write_sequence(each, sequence(), x, directions, hidden);
  for (const std::size_t output : {std::size_t{1}, std::size_t{2}}) {
    if (!each.wants(output)) continue;
    value state;
    state.extents = {directions, x[1], hidden};
    state.code = all + (output == 1 ? ".hidden" : ".cell"), state.is_name = true;
    each.net.define(each.at.outputs[output], std::move(state));
  }
}

constexpr row recurrent_table[] = {{"GRU", write_recurrent}, {"LSTM", write_recurrent}, {"RNN", write_recurrent}};

}  // namespace

std::span<const row> recurrent_rows() { return recurrent_table; }

}  // namespace onnx_in
