// examples/onnx/layers.cpp: operators with weights, as layers: linear, convolutions, norms, embeddings, dropout.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "fold.hpp"
#include "windows.hpp"

namespace onnx_in {

namespace {

constexpr const char* epsilon_function =
    "template <class Layer>\nLayer with_epsilon(float epsilon, const auto&... arguments) {\n"
    "  Layer made(arguments...);\n  made.epsilon = epsilon;\n  return made;\n}\n\n";

bool is_float_constant(const value& each, int rank) {
  return each.data && each.element == float32 && each.rank() == rank;
}

/// A matrix with rows and columns exchanged.
constant transposed(const constant& from) {
  const std::int64_t rows = from.extents.at(0), columns = from.extents.at(1);
  const std::vector<double> numbers = from.numbers();
  std::vector<double> made(numbers.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      made[static_cast<std::size_t>(column * rows + row)] = numbers[static_cast<std::size_t>(row * columns + column)];
    }
  }
  return constant::of(from.element, {columns, rows}, made);
}

/// A linear layer: weight [out, in], and the name of its bias, if any. Its result is that of `last`.
void write_linear(const call& each, const constant& weight, const std::string& bias, const node& last) {
  const std::string out = std::to_string(weight.extents[0]), in = std::to_string(weight.extents[1]);
  const extent& features = each.in(0).extents.back();
  if (features.known && !features.is(weight.extents[1])) {
    each.refuse("axis " + std::to_string(each.in(0).rank() - 1) + ": extent " + features.code + ", expected " + in +
                " (weight [" + out + ", " + in + "])");
  }
  const std::string options = bias.empty() ? "nn::linear_options{.bias = false}" : "nn::linear_options{}";
  member made{{}, "nn::linear<" + in + ", " + out + ", " + options + ", Space>", "", {{".weight", weight}}};
  if (!bias.empty()) {
    constant row = *each.net.of(bias).data;
    row.extents = {weight.extents[0]};
    made.state.emplace_back(".bias", std::move(row));
  }
  const std::string key = "linear " + each.at.inputs[1] + " " + std::to_string(each.integer("transB", 0)) + " " + bias;
  const std::string layer = each.net.layer(key, each.net.stem_of(each.at, {each.at.inputs[1], bias}), std::move(made));
  const std::string code = layer + "(" + each.code(0) + ")";
  extents all = each.in(0).extents;
  all.back() = weight.extents[0];
  const call named{each.net, last, each.opset};
  named.result(all, code, binding::tight, float32);
}

/// The sum behind a product, where it adds a known row and nothing else reads the product.
const node* bias_behind(const call& each, std::int64_t features, std::string& bias) {
  const node* next = each.net.only_reader(each.at.outputs[0]);
  if (next == nullptr || next->operation != "Add" || next->inputs.size() != 2) return nullptr;
  const std::string& other = next->inputs[0] == each.at.outputs[0] ? next->inputs[1] : next->inputs[0];
  if (!each.net.is_defined(other)) return nullptr;
  const value& row = each.net.of(other);
  if (!is_float_constant(row, 1) || !row.extents[0].is(features)) return nullptr;
  bias = other;
  return next;
}

void write_matmul(const call& each) {
  value& weight = each.in(1);
  if (!is_float_constant(weight, 2) || each.in(0).rank() < 1 || each.in(0).is_known() ||
      each.in(0).element != float32) {
    return write_product(each);
  }
  std::string bias;
  const node* sum = bias_behind(each, weight.data->extents[1], bias);
  if (sum != nullptr) each.net.absorb(*sum);
  write_linear(each, transposed(*weight.data), bias, sum == nullptr ? each.at : *sum);
}

void write_gemm(const call& each) {
  const bool is_plain = each.integer("transA", 0) == 0 && each.number("alpha", 1) == 1 &&
                        (!each.has(2) || each.number("beta", 1) == 1) && is_float_constant(each.in(1), 2);
  const bool is_turned = each.integer("transB", 0) != 0;
  if (each.in(0).rank() != 2) each.refuse("has an input " + text_of(each.in(0).extents) + ", expected two axes");
  if (!is_plain || each.in(0).is_known()) return write_general_gemm(each);
  const constant weight = is_turned ? *each.in(1).data : transposed(*each.in(1).data);
  std::string bias;
  if (each.has(2)) {
    value& row = each.in(2);
    const auto features = static_cast<std::size_t>(weight.extents[0]);
    if (!row.data || row.element != float32 || row.data->size() != features || row.rank() == 0)
      return write_general_gemm(each);
    if (row.rank() == 2 && !row.extents[0].is(1)) return write_general_gemm(each);
    bias = each.at.inputs[2];
  }
  write_linear(each, weight, bias, each.at);
}

void write_conv(const call& each) {
  const bool is_transposed = each.at.operation == "ConvTranspose";
  const int axes = each.in(0).rank() - 2;
  const value& weight = each.in(1);
  if (!weight.data || weight.element != float32) return write_convolution(each);
  if (axes < 1 || axes > 3 || weight.rank() != axes + 2) {
    each.refuse("has an input " + text_of(each.in(0).extents) + " and a weight " + text_of(weight.extents) +
                ", expected one to three axes behind the channels");
  }
  const lengths all = weight.data->extents;
  const std::int64_t groups = each.integer("group", 1);
  const std::int64_t in = is_transposed ? all[0] : all[1] * groups, out = is_transposed ? all[1] * groups : all[0];
  if (each.in(0).extents[1].known && !each.in(0).extents[1].is(in)) {
    each.refuse("axis 1: extent " + each.in(0).extents[1].code + ", expected " + std::to_string(in));
  }
  windows moved = windows_of(each, lengths(all.begin() + 2, all.end()), is_transposed);
  std::string options = moved.options();
  if (groups != 1) options += (options.empty() ? "" : ", ") + (".groups = " + std::to_string(groups));
  if (!each.has(2)) options += std::string(options.empty() ? "" : ", ") + ".bias = false";
  if (moved.has_output_padding())
    options += std::string(options.empty() ? "" : ", ") + ".output_padding = " + braced(moved.output_padding);
  const std::string dimension = std::to_string(axes) + "d";
  member made{{},
              "nn::conv" + std::string(is_transposed ? "_transpose" : "") + dimension + "<" + std::to_string(in) +
                  ", " + std::to_string(out) + ", " + window_text(moved.kernel) + ", nn::conv" + dimension +
                  "_options{" + options + "}, Space>",
              "",
              {{".weight", *weight.data}}};
  if (each.has(2)) made.state.emplace_back(".bias", each.known(2, "bias"));
  const std::string bias = each.has(2) ? each.at.inputs[2] : "";
  const std::string key = made.type + each.at.inputs[1] + " " + bias;
  const std::string layer = each.net.layer(key, each.net.stem_of(each.at, {each.at.inputs[1], bias}), std::move(made));
  extents result{each.in(0).extents[0], out};
  for (const extent& length : moved.results) result.push_back(length);
  each.result(result, moved.cut(layer + "(" + moved.padded(each.code(0)) + ")"));
}

/// Slopes of channels are a layer; other ones a function.
void write_prelu(const call& each) {
  value& slope = each.in(1);
  const extents& all = each.in(0).extents;
  const std::size_t count = slope.data ? slope.data->size() : 0;
  const bool is_row = slope.rank() == 1 && each.opset < 7;
  const bool is_column = slope.rank() + 1 == each.in(0).rank() && slope.rank() > 0 &&
                         slope.extents[0].is(static_cast<std::int64_t>(count));
  const bool fits = all.size() > 1 && (!all[1].known || all[1].is(static_cast<std::int64_t>(count)));
  if (count == 0 || slope.element != float32 || !((is_row || is_column) && fits)) {
    extents aligned = slope.extents;
    std::string slopes = each.code(1);
    if (is_row && all.size() > 2) {  // one for each channel
      aligned.resize(all.size() - 1, 1);
      slopes = "tn::reshape(" + slopes + ", " + shape_of(aligned) + ")";
    }
    return each.result(broadcast(each, all, aligned), "tn::leaky_relu(" + each.code(0) + ", " + slopes + ")");
  }
  member made{{}, "nn::prelu<" + std::to_string(count) + ", Space>", "", {{".weight", *slope.data}}};
  made.state[0].second.extents = {static_cast<std::int64_t>(count)};
  const std::string layer =
      each.net.layer("prelu " + each.at.inputs[1], each.net.stem_of(each.at, {each.at.inputs[1]}), std::move(made));
  each.result(all, layer + "(" + each.code(0) + ")");
}

/// The type in which a layer of weights computes: double where its input or a weight is, else float.
int element_of_layer(const call& each) {
  for (std::size_t i = 0; i < each.count(); ++i) {
    if (each.has(i) && each.in(i).element == float64) return float64;
  }
  return float32;
}
/// The last arguments of its template.
std::string space_and_type(int element) {
  return element == float32 ? ", Space>" : std::string(", Space, ") + type_of(element).name + ">";
}
/// Its result, which ONNX has in the type of the input.
void layer_result(const call& each, int element, const std::string& layer) {
  const element_type& wanted = type_of(each.in(0).element);
  const std::string code = layer + "(" + each.code(0) + ")";
  each.result(each.in(0).extents,
              wanted.number == element ? code : std::string("tn::cast<") + wanted.name + ">(" + code + ")");
}

/// A layer of a weight and, perhaps, a bias, which other options than epsilon do not have.
std::string epsilon_of(const call& each, const std::string& type, const std::string& argument = "") {
  const auto epsilon = static_cast<float>(each.number("epsilon", 1e-5f));
  if (epsilon == 1e-5f) return argument.empty() ? "" : "{" + argument + "}";
  each.net.want(epsilon_function);
  const std::string number = literal(float32, static_cast<double>(epsilon));
  return " = with_epsilon<" + type + ">(" + number + (argument.empty() ? "" : ", " + argument) + ")";
}
/// Each element of a row several times.
constant repeated(const constant& row, std::int64_t times) {
  std::vector<double> made;
  for (const double number : row.numbers()) made.insert(made.end(), static_cast<std::size_t>(times), number);
  return times == 1 ? row : constant::of(row.element, {static_cast<std::int64_t>(made.size())}, made);
}
/// Weights are repeated over `extents`, or each element `times` times.
void write_affine(const call& each, const std::string& type, const std::string& initial, std::size_t bias,
                  const lengths& extents = {}, std::int64_t times = 1) {
  const int element = element_of_layer(each);
  const auto weight = [&](std::size_t i, const char* what) {
    const constant made = repeated(each.known(i, what).as(element), times);
    return extents.empty() ? made : expanded(each, made, extents);
  };
  member made{{}, type, initial, {{".weight", weight(1, "scale")}}};
  std::string key = type + " " + initial + " " + each.at.inputs[1];
  std::vector<std::string> weights{each.at.inputs[1]};
  if (each.has(bias)) {
    made.state.emplace_back(".bias", weight(bias, "bias"));
    key += " " + each.at.inputs[bias], weights.push_back(each.at.inputs[bias]);
  }
  layer_result(each, element, each.net.layer(key, each.net.stem_of(each.at, weights), std::move(made)));
}

/// The mean of each row, and 1 over its deviation, which nodes have beside their result, as floats.
void write_statistics(const call& each, std::int64_t axis) {
  lengths axes;
  extents made = each.in(0).extents;
  for (std::int64_t other = axis; other < each.in(0).rank(); ++other) {
    axes.push_back(other), made[static_cast<std::size_t>(other)] = 1;
  }
  const bool is_float = each.in(0).element == float32;
  const auto as_float = [&](const std::string& code) { return is_float ? code : "tn::cast<float>(" + code + ")"; };
  const std::string x = as_float(each.net.name_of(each.in(0))),
                    epsilon = literal(float32, each.number("epsilon", 1e-5f));
  each.result(made, "tn::mean(" + x + ", " + axis_text(axes) + ")", binding::tight, float32, 1);
  each.result(made, "tn::rsqrt(tn::variance(" + x + ", " + axis_text(axes) + ") + " + epsilon + ")", binding::tight,
              float32, 2);
}

/// The extents of the axes that are made standard, which a scale has, or repeats over.
extents scaled_extents(const call& each, std::int64_t axis) {
  const lengths& scale = each.known(1, "scale").extents;
  const extents& all = each.in(0).extents;
  extents made(all.begin() + axis, all.end());
  if (made.size() == scale.size()) {  // a layer knows its extents when it is compiled
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i].known && scale[i] != 1) made[i] = scale[i];
    }
  }
  if (std::any_of(made.begin(), made.end(), [](const extent& length) { return !length.known; }))
    each.refuse("norms axes " + text_of(made) + " by a scale [" + listed(scale) +
                "], expected one that has all extents");
  return made;
}

void write_layer_norm(const call& each) {
  const std::int64_t axis = each.axis_of(each.integer("axis", -1), each.in(0).rank());
  if (each.wants(1) || each.wants(2)) write_statistics(each, axis);
  const extents shape = scaled_extents(each, axis);
  const bool is_rms = each.at.operation == "RMSNormalization";
  const std::string kind = is_rms ? "weight" : each.has(2) ? "both" : "weight";
  const std::string type = std::string(is_rms ? "nn::rms_norm<" : "nn::layer_norm<") + shape_type_of(shape) +
                           ", nn::affine::" + kind + space_and_type(element_of_layer(each));
  const bool is_default = is_rms && static_cast<float>(each.number("epsilon", 1e-5f)) == 1e-5f;
  std::string initial = epsilon_of(each, type);
  if (is_default) each.net.want(epsilon_function), initial = " = with_epsilon<" + type + ">(1e-05f)";
  lengths repeated;
  for (const extent& length : shape) repeated.push_back(*length.known);
  write_affine(each, type, initial, is_rms ? 99 : 2, repeated);
}

/// How many channels a norm has, by its scale.
std::int64_t channels_of(const call& each) {
  const std::int64_t channels = each.known(1, "scale").extents.at(0);
  const extent& length = each.in(0).extents.at(1);
  if (length.known && !length.is(channels))
    each.refuse("axis 1: extent " + length.code + ", expected " + std::to_string(channels) + " (scale)");
  return channels;
}

void write_instance_norm(const call& each) {
  const std::string channels = std::to_string(channels_of(each));
  const std::string type =
      "nn::instance_norm<" + channels + ", nn::affine::both" + space_and_type(element_of_layer(each));
  write_affine(each, type, epsilon_of(each, type), 2);
}
/// Before opset 21, each group has one scale and one bias for all of its channels.
void write_group_norm(const call& each) {
  const std::int64_t given = each.known(1, "scale").extents.at(0), groups = each.integer("num_groups", 1);
  const extent& channels = each.in(0).extents.at(1);
  if (!channels.known) each.refuse("has channels that are known at run time");
  const bool is_for_groups = each.opset < 21 && given == groups;
  if (given < 1 || groups < 1 || *channels.known % groups != 0 || !(channels.is(given) || is_for_groups))
    each.refuse("has " + std::to_string(given) + " scales for " + channels.code + " channels in " +
                std::to_string(groups) + " groups, expected one for each channel");
  const std::string type =
      "nn::group_norm<" + channels.code + ", nn::affine::both" + space_and_type(element_of_layer(each));
  write_affine(each, type, epsilon_of(each, type, std::to_string(groups)), 2, {}, *channels.known / given);
}

void write_batch_norm(const call& each) {
  if (each.integer("training_mode", 0) != 0 || each.wants(1)) each.refuse("is in training, which is not supported");
  if (each.integer("spatial", 1) == 0)
    each.refuse("has spatial 0, statistics of each position, which is not supported");
  const std::string channels = std::to_string(channels_of(each));
  std::string options;
  const auto add = [&](const char* name, double given, double usual) {
    if (static_cast<float>(given) == static_cast<float>(usual)) return;
    options += (options.empty() ? "" : ", ") + std::string(".") + name + " = " + literal(float32, given);
  };
  add("epsilon", each.number("epsilon", 1e-5f), 1e-5);
  add("momentum", static_cast<float>(1 - each.number("momentum", 0.9f)), 0.1f);
  const int element = element_of_layer(each);
  const auto weight = [&](std::size_t i, const char* what) { return each.known(i, what).as(element); };
  member made{{},
              "nn::batch_norm<" + channels + ", nn::affine::both" + space_and_type(element),
              options.empty() ? "" : "{nn::batch_norm_options{" + options + "}}",
              {{".weight", weight(1, "scale")},
               {".bias", weight(2, "bias")},
               {".running_mean", weight(3, "mean")},
               {".running_var", weight(4, "variance")},
               {".num_batches_tracked", constant::of(int64, {}, {0})}}};
  std::string key = made.type + options;
  for (std::size_t i = 1; i < 5; ++i) key += " " + each.at.inputs[i];
  layer_result(each, element,
               each.net.layer(key, each.net.stem_of(each.at, {each.at.inputs[1], each.at.inputs[2]}), std::move(made)));
}

void write_gather_or_embedding(const call& each) {
  const value& table = each.in(0);
  if (!is_float_constant(table, 2) || each.integer("axis", 0) != 0) return write_gather(each);
  member made{{}, "nn::embedding<" + listed(table.data->extents) + ", Space>", "", {{".weight", *table.data}}};
  const std::string layer =
      each.net.layer("embedding " + each.at.inputs[0], each.net.stem_of(each.at, {each.at.inputs[0]}), std::move(made));
  extents all = each.in(1).extents;
  all.push_back(table.extents[1]);
  each.result(all, layer + "(" + each.code(1) + ")", binding::tight, float32);
}

/// Elements left out at random, and which ones stay. The layer does not tell these: each call takes the same ones.
void write_dropout_and_mask(const call& each, double ratio) {
  const extents& all = each.in(0).extents;
  const std::string seed = std::to_string(each.integer("seed", 1)), scale = literal(float32, 1 / (1 - ratio));
  const std::string mask = each.net.named("tn::evaluated_tensor<Space>(tn::uniform<float>(" + shape_of(all) + ", " +
                                              seed + ") >= " + literal(float32, ratio) + ")",
                                          "const auto");
  each.result(all, "tn::where(" + mask + ", " + each.code(0, binding::tight) + " * " + scale + ", 0.0f)");
  each.result(all, mask, binding::tight, boolean, 1);
}

/// Whether elements are left out is said by the network's mode, train or eval, and not by the node.
void write_dropout(const call& each) {
  const double ratio = each.has(1) ? each.known(1, "ratio").numbers().at(0) : each.number("ratio", 0.5);
  const bool is_training = each.has(2) && each.known(2, "training_mode").numbers().at(0) != 0;
  if (is_training && each.wants(1)) return write_dropout_and_mask(each, ratio);
  if (each.wants(1)) {
    value mask;
    mask.element = boolean, mask.extents = each.in(0).extents;
    mask.fill = constant::of_integers(boolean, {}, {1});
    each.net.define(each.at.outputs[1], std::move(mask));
  }
  member made{{}, "nn::dropout", "{" + literal(11, static_cast<double>(static_cast<float>(ratio))) + "}", {}};
  const std::string layer =
      each.net.layer("dropout " + each.at.outputs[0], each.net.stem_of(each.at, {}), std::move(made));
  each.result(each.in(0).extents, layer + "(" + each.code(0) + ")");
}

constexpr row layer_table[] = {
    {"BatchNormalization", write_batch_norm},
    {"Conv", write_conv},
    {"ConvTranspose", write_conv},
    {"Dropout", write_dropout},
    {"Gather", write_gather_or_embedding},
    {"Gemm", write_gemm},
    {"GroupNormalization", write_group_norm},
    {"InstanceNormalization", write_instance_norm},
    {"LayerNormalization", write_layer_norm},
    {"MatMul", write_matmul},
    {"PRelu", write_prelu},
    {"RMSNormalization", write_layer_norm},
};

}  // namespace

std::span<const row> layer_rows() { return layer_table; }

}  // namespace onnx_in
