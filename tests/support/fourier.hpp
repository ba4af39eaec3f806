// tests/support/fourier.hpp: Fourier transforms by their definition, sums of doubles over all elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/complex.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

#include "support/elements.hpp"

namespace tenon_test {

using complex_numbers = std::vector<std::complex<double>>;

/// The elements of an expression on the host, in row-major order, as complex numbers.
template <class E>
complex_numbers complex_numbers_of(const E& values) {
  const auto held = tenon::evaluated_tensor(values).template to<tenon::host>();
  complex_numbers result;
  for (tenon::index i = 0; i < held.size(); ++i) {
    const std::complex<double> each(held.data()[i]);
    result.push_back(each);
  }
  return result;
}

/// The transform along the axes that `is_transformed` marks, `sign` -1 forward; nothing is divided.
inline complex_numbers by_definition(const complex_numbers& x, const std::vector<tenon::index>& extents,
                                     const std::vector<bool>& is_transformed, int sign) {
  const auto position_of = [&](std::size_t number) {
    std::vector<tenon::index> position(extents.size());
    auto rest = static_cast<tenon::index>(number);
    for (std::size_t axis = extents.size(); axis-- > 0; rest /= extents[axis]) position[axis] = rest % extents[axis];
    return position;
  };
  complex_numbers result(x.size());
  for (std::size_t to = 0; to < x.size(); ++to) {
    const auto j = position_of(to);
    for (std::size_t from = 0; from < x.size(); ++from) {
      const auto k = position_of(from);
      double turns = 0;
      bool is_of_line = true;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (is_transformed[axis])
          turns += static_cast<double>(j[axis] * k[axis] % extents[axis]) / double(extents[axis]);
        else is_of_line = is_of_line && j[axis] == k[axis];
      }
      if (is_of_line) result[to] += x[from] * std::polar(1.0, sign * 2 * std::numbers::pi * turns);
    }
  }
  return result;
}

/// The greatest distance, in units of the greatest expected number.
inline double distance(const complex_numbers& actual, const complex_numbers& expected) {
  if (actual.size() != expected.size()) return 1e300;
  double greatest = 0, size = 1e-300;
  for (const auto& each : expected) size = std::max(size, std::abs(each));
  for (std::size_t i = 0; i < actual.size(); ++i) greatest = std::max(greatest, std::abs(actual[i] - expected[i]));
  return greatest / size;
}

}  // namespace tenon_test
