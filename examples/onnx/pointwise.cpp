// examples/onnx/pointwise.cpp: operators of single elements, as operators and functions of expressions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <regex>

#include "call.hpp"

namespace onnx_in {

namespace {

/// The extents of an input; none of one that is a single number.
std::optional<extents> extents_of(const call& each, std::size_t i) {
  const value& from = each.in(i);
  const bool is_number = from.fill || from.whole || (from.data && from.data->size() == 1);
  return is_number ? std::nullopt : std::optional(from.extents);
}

/// Whether elements repeat over others without more axes or greater extents.
bool adds_nothing(const extents& own, const extents& others) {
  if (own.size() > others.size()) return false;
  return std::equal(own.rbegin(), own.rend(), others.rbegin(),
                    [](const extent& a, const extent& b) { return a.is(1) || a == b; });
}

/// An operand beside others: a single number stands for itself, where the extents of the result are those of others.
std::string operand(const call& each, std::size_t i, binding least, const std::optional<extents>& others) {
  value& from = each.in(i);
  if (others && adds_nothing(from.extents, *others)) {
    if (from.whole && from.rank() == 0) return number_of(from);
    if (from.data && from.data->size() == 1) return literal(from.data->one());
    if (from.fill) return literal(*from.fill);
  }
  return each.net.code_of(from, least);
}

/// The function that some products spell out: exporters of older sets of operators have no Gelu.
std::string recognised(const std::string& code) {
  static const std::regex spelled(R"((h\d+) \* \(tn::erf\(\1 / 1\.4142135f\) \+ 1\.0f\) \* 0\.5f)");
  std::smatch found;
  return std::regex_match(code, found, spelled) ? "tn::gelu(" + found[1].str() + ")" : code;
}

/// `a sign b`
template <int Sign>
void write_operator(const call& each) {
  struct sign {
    const char* text;
    binding strength, right;
    bool is_test;
  };
  static constexpr sign signs[] = {
      {" + ", binding::sum, binding::product, false},   {" - ", binding::sum, binding::product, false},
      {" * ", binding::product, binding::tight, false}, {" / ", binding::product, binding::tight, false},
      {" == ", binding::loose, binding::sum, true},     {" < ", binding::loose, binding::sum, true},
      {" <= ", binding::loose, binding::sum, true},     {" > ", binding::loose, binding::sum, true},
      {" >= ", binding::loose, binding::sum, true},     {" && ", binding::loose, binding::tight, true},
      {" || ", binding::loose, binding::tight, true}};
  const sign& chosen = signs[Sign];
  const auto left = extents_of(each, 0), right = extents_of(each, 1);
  const binding before = chosen.strength == binding::loose ? chosen.right : chosen.strength;
  const std::string code = operand(each, 0, before, right) + chosen.text + operand(each, 1, chosen.right, left);
  const std::string known = recognised(code);
  each.result(broadcast(each, each.in(0).extents, each.in(1).extents), known,
              known == code ? chosen.strength : binding::tight, chosen.is_test ? boolean : each.in(0).element);
}

/// A function of one operand and, perhaps, of numbers.
void write_function(const call& each, const std::string& name, const std::vector<double>& numbers = {},
                    int element = -1) {
  std::string code = "tn::" + name + "(" + each.code(0);
  for (const double number : numbers) code += ", " + literal(each.in(0).element, number);
  each.result(each.in(0).extents, code + ")", binding::tight, element);
}
void write_pair(const call& each, const std::string& name, int element = -1) {
  const std::string code = "tn::" + name + "(" + operand(each, 0, binding::loose, extents_of(each, 1)) + ", " +
                           operand(each, 1, binding::loose, extents_of(each, 0)) + ")";
  each.result(broadcast(each, each.in(0).extents, each.in(1).extents), code, binding::tight, element);
}

/// A function of any number of operands, two at a time.
void write_fold(const call& each, const char* name) {
  std::string code = each.code(0);
  extents made = each.in(0).extents;
  for (std::size_t i = 1; i < each.count(); ++i) {
    code = std::string("tn::") + name + "(" + code + ", " + each.code(i) + ")";
    made = broadcast(each, made, each.in(i).extents);
  }
  each.result(made, code);
}

void write_clip(const call& each) {
  std::string code = each.code(0);
  for (const bool is_low : {true, false}) {
    const std::size_t input = is_low ? 1 : 2;
    const char* attribute = is_low ? "min" : "max";
    if (!each.has(input) && !each.has_attribute(attribute)) continue;
    const std::string bound = each.has(input) ? operand(each, input, binding::loose, extents_of(each, 0))
                                              : literal(each.in(0).element, each.number(attribute, 0));
    code = std::string(is_low ? "tn::maximum(" : "tn::minimum(") + code + ", " + bound + ")";
  }
  each.result(each.in(0).extents, code);
}
void write_cast(const call& each, int to) {
  each.result(each.in(0).extents, std::string("tn::cast<") + type_of(to).name + ">(" + each.code(0) + ")",
              binding::tight, to);
}
void write_bits(const call& each) {
  const auto to = static_cast<int>(each.integer("to", float32));
  each.result(each.in(0).extents, std::string("tn::bit_cast<") + type_of(to).name + ">(" + each.code(0) + ")",
              binding::tight, to);
}
void write_where(const call& each) {
  const extents made = broadcast(each, broadcast(each, each.in(0).extents, each.in(1).extents), each.in(2).extents);
  const auto beside = [&](std::size_t choice) {
    const auto condition = extents_of(each, 0), other = extents_of(each, choice);
    return condition && other ? std::optional(broadcast(each, *condition, *other)) : condition ? condition : other;
  };
  const std::string code = "tn::where(" + each.code(0) + ", " + operand(each, 1, binding::loose, beside(2)) + ", " +
                           operand(each, 2, binding::loose, beside(1)) + ")";
  each.result(made, code, binding::tight, each.in(1).element);
}
void write_power(const call& each) {
  if (each.in(1).data && each.in(1).data->size() == 1 && each.in(1).rank() <= each.in(0).rank()) {
    const double exponent = each.in(1).data->numbers()[0];
    if (exponent == 2) return write_function(each, "square");
    if (exponent == 0.5 && type_of(each.in(0).element).is_floating) return write_function(each, "sqrt");
    if (type_of(each.in(0).element).is_floating) return write_function(each, "pow", {exponent});
  }
  const std::string code = "tn::pow(" + operand(each, 0, binding::loose, extents_of(each, 1)) + ", " +
                           operand(each, 1, binding::loose, extents_of(each, 0)) + ")";
  const std::string cast = each.in(0).element == each.in(1).element
                               ? code
                               : std::string("tn::cast<") + type_of(each.in(0).element).name + ">(" + code + ")";
  each.result(broadcast(each, each.in(0).extents, each.in(1).extents), cast);
}
void write_mean(const call& each) {
  std::string code;
  extents made = each.in(0).extents;
  for (std::size_t i = 0; i < each.count(); ++i) {
    code += (i == 0 ? "" : " + ") + each.code(i, binding::sum);
    made = broadcast(each, made, each.in(i).extents);
  }
  if (each.at.operation == "Sum") return each.result(made, code, binding::sum);
  each.result(made, "(" + code + ") / " + literal(each.in(0).element, static_cast<double>(each.count())),
              binding::product);
}
void write_selu(const call& each) {
  const double alpha = each.number("alpha", 1.67326319217681884765625),
               gamma = each.number("gamma", 1.05070102214813232421875);
  const std::string code = "tn::elu(" + each.code(0) + ", " + literal(each.in(0).element, alpha) + ")";
  each.result(each.in(0).extents, literal(each.in(0).element, gamma) + " * " + code, binding::product);
}
void write_hard_sigmoid(const call& each) {
  const int element = each.in(0).element;
  const std::string line = each.code(0, binding::product) + " * " + literal(element, each.number("alpha", 0.2f)) +
                           " + " + literal(element, each.number("beta", 0.5));
  each.result(each.in(0).extents, "tn::clamp(" + line + ", " + literal(element, 0) + ", " + literal(element, 1) + ")");
}
void write_mod(const call& each) { write_pair(each, each.integer("fmod", 0) != 0 ? "fmod" : "remainder"); }
void write_shrink(const call& each) {
  const std::string x = each.net.name_of(each.in(0));
  const int element = each.in(0).element;
  const std::string bound = literal(element, each.number("lambd", 0.5)),
                    bias = literal(element, each.number("bias", 0));
  each.result(each.in(0).extents, "tn::where(" + x + " < -" + bound + ", " + x + " + " + bias + ", tn::where(" + x +
                                      " > " + bound + ", " + x + " - " + bias + ", " + literal(element, 0) + "))");
}
/// x times the sigmoid of alpha x, and times a second operand, if any.
void write_swish(const call& each) {
  const std::string x = each.net.name_of(each.in(0));
  const std::string inner = literal(each.in(0).element, each.number("alpha", 1)) + " * " + x;
  const std::string gate = each.count() > 1 ? " * " + each.code(1, binding::tight) : "";
  each.result(each.in(0).extents, x + " * tn::sigmoid(" + inner + ")" + gate, binding::product);
}
void write_is_infinite(const call& each) {
  if (each.integer("detect_negative", 1) != 1 || each.integer("detect_positive", 1) != 1) {
    each.refuse("detects infinities of one sign, which is not supported");
  }
  write_function(each, "isinf", {}, boolean);
}

constexpr row pointwise_table[] = {
    {"Add", write_operator<0>},
    {"Sub", write_operator<1>},
    {"SwiGLU", write_swish},
    {"Swish", write_swish},
    {"Mul", write_operator<2>},
    {"Div", write_operator<3>},
    {"Equal", write_operator<4>},
    {"Less", write_operator<5>},
    {"LessOrEqual", write_operator<6>},
    {"Greater", write_operator<7>},
    {"GreaterOrEqual", write_operator<8>},
    {"And", write_operator<9>},
    {"Or", write_operator<10>},
    {"Xor", [](const call& each) { write_pair(each, "logical_xor", boolean); }},
    {"Not", [](const call& each) { write_function(each, "logical_not"); }},
    {"BitwiseAnd", [](const call& each) { write_pair(each, "bitwise_and"); }},
    {"BitwiseOr", [](const call& each) { write_pair(each, "bitwise_or"); }},
    {"BitwiseXor", [](const call& each) { write_pair(each, "bitwise_xor"); }},
    {"BitwiseNot", [](const call& each) { write_function(each, "bitwise_not"); }},
    {"BitCast", write_bits},
    {"BitShift",
     [](const call& each) { write_pair(each, each.text("direction", "") == "LEFT" ? "left_shift" : "right_shift"); }},
    {"Max", [](const call& each) { write_fold(each, "maximum"); }},
    {"Min", [](const call& each) { write_fold(each, "minimum"); }},
    {"Sum", write_mean},
    {"Mean", write_mean},
    {"Mod", write_mod},
    {"Pow", write_power},
    {"Clip", write_clip},
    {"Where", write_where},
    {"Cast", [](const call& each) { write_cast(each, static_cast<int>(each.integer("to", float32))); }},
    {"CastLike", [](const call& each) { write_cast(each, each.in(1).element); }},
    {"Abs", [](const call& each) { write_function(each, "abs"); }},
    {"Acos", [](const call& each) { write_function(each, "acos"); }},
    {"Acosh", [](const call& each) { write_function(each, "acosh"); }},
    {"Asin", [](const call& each) { write_function(each, "asin"); }},
    {"Asinh", [](const call& each) { write_function(each, "asinh"); }},
    {"Atan", [](const call& each) { write_function(each, "atan"); }},
    {"Atanh", [](const call& each) { write_function(each, "atanh"); }},
    {"Ceil", [](const call& each) { write_function(each, "ceil"); }},
    {"Celu", [](const call& each) { write_function(each, "celu", {each.number("alpha", 1)}); }},
    {"Cos", [](const call& each) { write_function(each, "cos"); }},
    {"Cosh", [](const call& each) { write_function(each, "cosh"); }},
    {"Elu", [](const call& each) { write_function(each, "elu", {each.number("alpha", 1)}); }},
    {"Erf", [](const call& each) { write_function(each, "erf"); }},
    {"Exp", [](const call& each) { write_function(each, "exp"); }},
    {"Floor", [](const call& each) { write_function(each, "floor"); }},
    {"Gelu",
     [](const call& each) { write_function(each, each.text("approximate", "none") == "tanh" ? "gelu_tanh" : "gelu"); }},
    {"HardSigmoid", write_hard_sigmoid},
    {"HardSwish", [](const call& each) { write_function(each, "hard_swish"); }},
    {"IsInf", write_is_infinite},
    {"IsNaN", [](const call& each) { write_function(each, "isnan", {}, boolean); }},
    {"LeakyRelu", [](const call& each) { write_function(each, "leaky_relu", {each.number("alpha", 0.01f)}); }},
    {"Log", [](const call& each) { write_function(each, "log"); }},
    {"Mish", [](const call& each) { write_function(each, "mish"); }},
    {"Neg",
     [](const call& each) { each.result(each.in(0).extents, "-" + each.code(0, binding::tight), binding::product); }},
    {"Reciprocal", [](const call& each) { write_function(each, "reciprocal"); }},
    {"Relu", [](const call& each) { write_function(each, "relu"); }},
    {"Round", [](const call& each) { write_function(each, "round"); }},
    {"Selu", write_selu},
    {"Shrink", write_shrink},
    {"Sigmoid", [](const call& each) { write_function(each, "sigmoid"); }},
    {"Sign", [](const call& each) { write_function(each, "sign"); }},
    {"Sin", [](const call& each) { write_function(each, "sin"); }},
    {"Sinh", [](const call& each) { write_function(each, "sinh"); }},
    {"Softplus", [](const call& each) { write_function(each, "softplus"); }},
    {"Softsign", [](const call& each) { write_function(each, "softsign"); }},
    {"Sqrt", [](const call& each) { write_function(each, "sqrt"); }},
    {"Tan", [](const call& each) { write_function(each, "tan"); }},
    {"Tanh", [](const call& each) { write_function(each, "tanh"); }},
    {"ThresholdedRelu", [](const call& each) { write_function(each, "threshold", {each.number("alpha", 1), 0}); }},
};

}  // namespace

std::span<const row> pointwise_rows() { return pointwise_table; }

}  // namespace onnx_in
