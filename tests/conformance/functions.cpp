// tests/conformance/functions.cpp: functions of one value, and choice.
// Attributes have ONNX's defaults.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

bool has_flag(const call& from, const char* name) { return from.attributes.integer(name, 1) != 0; }

/// Both infinities, unless the call leaves one out.
template <class Space>
array is_infinite(const call& from) {
  const auto x = tensor_of<float, Space>(from.input(0));
  const bool positive = has_flag(from, "detect_positive"), negative = has_flag(from, "detect_negative");
  return evaluated<Space>(tn::isinf(x) && ((x > 0 && positive) || (x < 0 && negative)), from.input(0).rank());
}

/// `low` and `high` are inputs, absent or not; until version 10 they were attributes.
template <class T, class Space>
array clipped(const call& from) {
  const auto bound = [&](std::size_t i, const char* name, T otherwise) {
    return from.has(i) ? *from.input(i).elements<T>() : static_cast<T>(from.attributes.number(name, otherwise));
  };
  const auto x = tensor_of<T, Space>(from.input(0));
  const T low = bound(1, "min", std::numeric_limits<T>::lowest());
  const T high = bound(2, "max", std::numeric_limits<T>::max());
  return evaluated<Space>(tn::clamp(x, low, high), from.input(0).rank());
}

template <class T, class Space>
array chosen(const call& from) {
  const auto condition = tensor_of<bool, Space>(from.input(0));
  const auto x = tensor_of<T, Space>(from.input(1)), y = tensor_of<T, Space>(from.input(2));
  return evaluated<Space>(tn::where(condition, x, y), broadcast_rank(from));
}

/// Until version 6 a slope of one axis belongs to the channels, axis 1.
array slope_of(const call& from) {
  array slope = from.input(1);
  if (from.opset < 7 && slope.rank() == 1) slope.extents.resize(static_cast<std::size_t>(from.input(0).rank() - 1), 1);
  return slope;
}

}  // namespace

void add_functions(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Exp"] = pointwise<Space, 1, float>(tn::exp);
    table["Log"] = pointwise<Space, 1, float>(tn::log);
    table["Sqrt"] = pointwise<Space, 1, float>(tn::sqrt);
    table["Floor"] = pointwise<Space, 1, float>(tn::floor);
    table["Ceil"] = pointwise<Space, 1, float>(tn::ceil);
    table["Sign"] = pointwise<Space, 1, float>(tn::sign);
    table["Tanh"] = pointwise<Space, 1, float>(tn::tanh);
    table["Relu"] = pointwise<Space, 1, float>(tn::relu);
    table["Sigmoid"] = pointwise<Space, 1, float>(tn::sigmoid);
    table["IsInf"] = is_infinite<Space>;
    table["Mean"] = [](const call& from) {
      const array total = folded<Space, float>(tn::add)(from).front();
      const auto sum = tensor_of<float, Space>(total);
      return evaluated<Space>(sum / static_cast<float>(from.inputs.size()), total.rank());
    };
    table["PRelu"] = [](const call& from) {
      const auto x = tensor_of<float, Space>(from.input(0)), slope = tensor_of<float, Space>(slope_of(from));
      return evaluated<Space>(tn::where(x < 0.0f, slope * x, x), from.input(0).rank());
    };
    table["Clip"] = [](const call& from) {
      return with_type<float, std::int8_t>(from.input(0).dtype, [&]<class T>() { return clipped<T, Space>(from); });
    };
    table["Where"] = [](const call& from) {
      return with_type<float, std::int64_t>(from.input(1).dtype, [&]<class T>() { return chosen<T, Space>(from); });
    };
  });
}

}  // namespace conformance
