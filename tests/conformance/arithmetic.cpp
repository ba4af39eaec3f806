// tests/conformance/arithmetic.cpp: arithmetic and extremes of ONNX's pointwise family.
// Of every element type that ONNX allows.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

/// Types that exponents have beside a base of another one.
inline constexpr type_list<float, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t> exponent_types;

/// The base's type is the result's; a whole base with another power is computed in double.
template <class Base, class Exponent, class Space>
array power(const call& from) {
  using exponent_type = std::conditional_t<std::is_integral_v<Base> && tn::is_floating<Exponent>, double, Exponent>;
  const auto x = tensor_of<Base, Space>(from.input(0));
  const auto y = tensor_of<Exponent, Space>(from.input(1));
  return evaluated<Space>(tn::cast<Base>(tn::pow(x, tn::cast<exponent_type>(y))), broadcast_rank(from));
}

template <class Space>
array any_power(const call& from) {
  return with_type<float, double, tn::half, std::int32_t, std::int64_t>(from.input(0).dtype, [&]<class Base>() {
    if (from.input(1).dtype == from.input(0).dtype) return power<Base, Base, Space>(from);
    return with_type(exponent_types, from.input(1).dtype,
                     [&]<class Exponent>() { return power<Base, Exponent, Space>(from); });
  });
}

bool follows_the_dividend(const call& from) { return from.attributes.integer("fmod", 0) != 0; }

}  // namespace

void add_arithmetic(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Add"] = pointwise<Space, 2>(number_types, tn::add);
    table["Sub"] = pointwise<Space, 2>(number_types, tn::subtract);
    table["Mul"] = pointwise<Space, 2>(number_types, tn::multiply);
    table["Div"] = pointwise<Space, 2>(number_types, tn::divide);
    table["Neg"] = pointwise<Space, 1>(number_types, tn::negate);
    table["Abs"] = pointwise<Space, 1>(number_types, tn::abs);
    table["Sign"] = pointwise<Space, 1>(number_types, tn::sign);
    table["Max"] = folded<Space>(number_types, tn::maximum);
    table["Min"] = folded<Space>(number_types, tn::minimum);
    table["Mod"] = either(follows_the_dividend, pointwise<Space, 2>(float_types + type_list<std::int64_t>{}, tn::fmod),
                          pointwise<Space, 2>(number_types, tn::remainder));
    table["Sum"] = folded<Space>(float_types, tn::add);
    table["Pow"] = any_power<Space>;
  });
}

}  // namespace conformance
