// tests/conformance/functions.cpp: functions of one value, and choice.
// Attributes have ONNX's defaults.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

bool has_flag(const call& from, const char* name) { return from.attributes.integer(name, 1) != 0; }

/// Both infinities, unless the call leaves one out.
template <class Tensor>
auto is_infinite(const Tensor& x, const call& from) {
  const bool positive = has_flag(from, "detect_positive"), negative = has_flag(from, "detect_negative");
  return tn::isinf(x) && ((x > 0 && positive) || (x < 0 && negative));
}

/// `low` and `high` are inputs, absent or not; until version 10 they were attributes.
template <class T, class Space>
array clipped(const call& from) {
  const auto bound = [&](std::size_t i, const char* name, T otherwise) {
    if (from.has(i)) return *from.input(i).elements<T>();
    return from.attributes.has(name) ? static_cast<T>(static_cast<float>(from.attributes.number(name, 0))) : otherwise;
  };
  const auto x = tensor_of<T, Space>(from.input(0));
  const T low = bound(1, "min", least<T>());
  const T high = bound(2, "max", greatest<T>());
  return evaluated<Space>(tn::clamp(x, low, high), from.input(0).rank());
}

template <class T, class Space>
array chosen(const call& from) {
  const auto condition = tensor_of<bool, Space>(from.input(0));
  const auto x = tensor_of<T, Space>(from.input(1)), y = tensor_of<T, Space>(from.input(2));
  return evaluated<Space>(tn::where(condition, x, y), broadcast_rank(from));
}

/// The mean of the inputs.
template <class Space>
array mean_of_inputs(const call& from) {
  const array total = folded<Space>(float_types, tn::add)(from).front();
  return with_type(float_types, total.dtype, [&]<class T>() {
    const auto sum = tensor_of<T, Space>(total);
    return evaluated<Space>(sum / static_cast<float>(from.inputs.size()), total.rank());
  });
}

}  // namespace

void add_functions(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    const auto add = [&table](const char* name, auto function) {
      table[name] = pointwise<Space, 1>(float_types, function);
    };
    add("Exp", tn::exp);
    add("Log", tn::log);
    add("Sqrt", tn::sqrt);
    add("Reciprocal", tn::reciprocal);
    add("Floor", tn::floor);
    add("Ceil", tn::ceil);
    add("Round", tn::round);
    add("Sin", tn::sin);
    add("Cos", tn::cos);
    add("Tan", tn::tan);
    add("Asin", tn::asin);
    add("Acos", tn::acos);
    add("Atan", tn::atan);
    add("Sinh", tn::sinh);
    add("Cosh", tn::cosh);
    add("Tanh", tn::tanh);
    add("Asinh", tn::asinh);
    add("Acosh", tn::acosh);
    add("Atanh", tn::atanh);
    add("Erf", tn::erf);
    add("IsNaN", tn::isnan);
    add("IsInf", [](const auto& x, const call& from) { return is_infinite(x, from); });
    table["Mean"] = mean_of_inputs<Space>;
    table["Clip"] = [](const call& from) {
      return with_type(number_types, from.input(0).dtype, [&]<class T>() { return clipped<T, Space>(from); });
    };
    table["Where"] = [](const call& from) {
      return with_type(all_types, from.input(1).dtype, [&]<class T>() { return chosen<T, Space>(from); });
    };
  });
}

}  // namespace conformance
