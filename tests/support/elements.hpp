// tests/support/elements.hpp: tensors of a space from values, and values from expressions.
// Tests compare what a statement leaves with plain vectors, whatever the memory space.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <tenon/algorithms.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>
#include <vector>

namespace tenon_test {

/// A tensor of `Space` from its elements in row-major order.
template <class Space, class T, class Shape>
tenon::tensor<T, Shape, Space> tensor_of(const Shape& shape, const std::vector<T>& values) {
  tenon::tensor<T, Shape, tenon::host> result(shape);
  if (static_cast<tenon::index>(values.size()) != result.size()) throw tenon::shape_error("tensor_of: other count");
  for (std::size_t i = 0; i < values.size(); ++i) result.data()[i] = values[i];  // vector<bool> has no data()
  return result.template to<Space>();
}

/// A tensor of `Space` whose element number i is `make(i)`.
template <class T, class Space = tenon::host, class Shape, class Make>
tenon::tensor<T, Shape, Space> made_tensor(const Shape& shape, Make&& make) {
  tenon::tensor<T, Shape, tenon::host> result(shape);
  for (tenon::index i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<T>(static_cast<tenon::compute_type<T>>(make(i)));
  return result.template to<Space>();
}

/// Numbers without an order that is easy to see, from -1 up to 1, and from -10 up to 10.
inline double scattered(tenon::index i) { return static_cast<double>(i * 7919 % 2003) / 1001.0 - 1.0; }
inline double far_scattered(tenon::index i) { return 10 * scattered(i); }

/// first, first + step, ... in row-major order.
template <class T, class Space = tenon::host, class Shape>
auto counting(const Shape& shape, double first = 0, double step = 1) {
  return made_tensor<T, Space>(shape, [=](tenon::index i) { return first + step * static_cast<double>(i); });
}

/// The elements of a tensor, view or expression in row-major order.
template <class Space = tenon::host, class Operand>
auto elements_of(const Operand& operand) {
  const auto here = tenon::evaluated_tensor<Space>(operand).template to<tenon::host>();
  using element = typename decltype(here)::element;
  std::vector<element> values;
  for (tenon::index i = 0; i < here.size(); ++i) values.push_back(here.data()[i]);
  return values;
}

/// The elements as doubles.
template <class Space = tenon::host, class Operand>
std::vector<double> numbers_of(const Operand& operand) {
  std::vector<double> result;
  for (const auto& each : elements_of<Space>(operand)) result.push_back(static_cast<double>(each));
  return result;
}

/// The extents of anything with a shape.
template <class Operand>
std::vector<tenon::index> extents_of(const Operand& operand) {
  const auto extents = operand.shape().to_array();
  return std::vector<tenon::index>(extents.begin(), extents.end());
}

/// Whether two numbers agree to `bound` relative to the expected one (absolute below 1), NaN and infinities exactly.
inline bool is_close(double actual, double expected, double bound) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return actual == expected;
  return std::fabs(actual - expected) <= bound * std::fmax(1.0, std::fabs(expected));
}

/// Empty when all numbers agree, else a line about the first that does not: `CHECK(difference(...) == "")`.
inline std::string difference(const std::vector<double>& actual, const std::vector<double>& expected,
                              double bound = 0) {
  if (actual.size() != expected.size())
    return tenon::compose_text(actual.size(), " values, expected ", expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!is_close(actual[i], expected[i], bound)) {
      return tenon::compose_text("at ", i, ": ", actual[i], ", expected ", expected[i]);
    }
  }
  return "";
}

/// How many of 150 generated numbers, in packs from each of the first six positions on, differ from those that are
/// evaluated backwards, one by one.
template <class Numbers>
int count_unlike_alone(const Numbers& all) {
  const auto backwards = numbers_of(tenon::flip(all, tenon::axis<0>));
  int unlike = 0;
  for (tenon::index first = 0; first < 6; ++first) {
    const auto part = numbers_of(tenon::slice(all, tenon::range(first, 150)));
    for (std::size_t i = 0; i < part.size(); ++i) unlike += part[i] == backwards[part.size() - 1 - i] ? 0 : 1;
  }
  return unlike;
}

}  // namespace tenon_test
