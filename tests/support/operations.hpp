// tests/support/operations.hpp: tables of pointwise operations against references in double.
// Every case runs at lengths that fill packs and that leave a rest, contiguous and strided.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "support/elements.hpp"

namespace tenon_test {

inline const double nan_value = std::numeric_limits<double>::quiet_NaN();
inline const double infinity = std::numeric_limits<double>::infinity();

/// Both signs of 0, low, low * ratio, ..., infinity, and NaN.
inline std::vector<double> both_signs(double low, double ratio, int count) {
  std::vector<double> values = {0, -0.0, infinity, -infinity, nan_value};
  for (int i = 0; i < count; ++i, low *= ratio) values.push_back(low), values.push_back(-low);
  return values;
}

/// Relative spacing of numbers of a type.
template <class T>
inline constexpr double spacing = std::is_same_v<T, tenon::half>       ? 0x1p-11
                                  : std::is_same_v<T, tenon::bfloat16> ? 0x1p-8
                                  : std::is_same_v<T, float>           ? 0x1p-24
                                  : std::is_same_v<T, double>          ? 0x1p-53
                                                                       : 0.0;

/// `values` repeated to `count` elements, rounded to T.
template <class T, class Space>
auto repeated(const std::vector<double>& values, tenon::index count) {
  return made_tensor<T, Space>(tenon::rank<1>(count),
                               [&](tenon::index i) { return values[static_cast<std::size_t>(i) % values.size()]; });
}

/// Empty when |actual - expected| <= bound * |expected| everywhere, with a floor of `least`.
inline std::string relative_difference(const std::vector<double>& actual, const std::vector<double>& expected,
                                       double bound, double least) {
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const bool exact = actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i]));
    const bool finite = std::isfinite(actual[i]) && std::isfinite(expected[i]);
    const double allowed = bound * std::fabs(expected[i]) + least;
    if (!exact && !(finite && std::fabs(actual[i] - expected[i]) <= allowed)) {
      return tenon::compose_text("at ", i, ": ", actual[i], ", expected ", expected[i]);
    }
  }
  return actual.size() == expected.size() ? "" : "other count";
}

/// Compares `operation(x)` with `reference` of the rounded inputs, to `ulps` units of T (and a subnormal's worth).
template <class T, class Space, class Operation, class Reference>
std::string unary_difference(const Operation& operation, const Reference& reference, const std::vector<double>& inputs,
                             double ulps = 1) {
  const double least = std::is_same_v<T, tenon::half> ? 6e-8 : std::is_same_v<T, double> ? 1e-300 : 1e-37;
  for (const tenon::index count : {1, 7, 32, 37, 203}) {
    const auto memory = repeated<T, Space>(inputs, 2 * count);
    for (const tenon::index step : {1, -2}) {
      const auto x = tenon::slice(memory, tenon::range(tenon::open_end, tenon::open_end, step));
      std::vector<double> expected;
      for (const double each : numbers_of(x))
        expected.push_back(static_cast<double>(static_cast<T>(static_cast<tenon::compute_type<T>>(reference(each)))));
      const auto text = relative_difference(numbers_of(operation(x)), expected, ulps * 2 * spacing<T>, least);
      if (text != "") return text;
    }
  }
  return "";
}

/// Compares `operation(x, y)` of every pair of inputs with `reference`, rounded to the result's type: exactly, or to
/// `ulps` units of it (and a subnormal's worth).
template <class T, class Space, class Operation, class Reference>
std::string binary_difference(const Operation& operation, const Reference& reference, const std::vector<double>& inputs,
                              double ulps = 0) {
  const auto n = static_cast<tenon::index>(inputs.size());
  const auto x = tenon_test::made_tensor<T, Space>(tenon::rank<2>(n, 1),
                                                   [&](tenon::index i) { return inputs[static_cast<std::size_t>(i)]; });
  const auto y = repeated<T, Space>(inputs, 5 * n);
  const auto here = numbers_of(x), there = numbers_of(y), result = numbers_of(operation(x, y));
  using element = typename decltype(operation(x, y))::element;
  std::vector<double> expected;
  for (const double left : here) {
    for (const double right : there) {
      expected.push_back(
          static_cast<double>(static_cast<element>(static_cast<tenon::compute_type<element>>(reference(left, right)))));
    }
  }
  const double least = std::is_same_v<element, double> ? 0x1p-1074 : 0x1p-149;
  return relative_difference(result, expected, ulps * 2 * spacing<element>, ulps * least);
}

/// Whether `operation(-0)` is -0 and `operation(0)` is 0, in packs and in the rest of them.
template <class T, class Space, class Operation>
bool keeps_sign_of_zero(const Operation& operation) {
  const auto found = numbers_of(operation(repeated<T, Space>({-0.0, 0}, 37)));
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] != 0 || std::signbit(found[i]) != (i % 2 == 0)) return false;
  }
  return true;
}

}  // namespace tenon_test
