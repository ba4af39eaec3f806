// tests/contraction/products.hpp: products by definition, and how far others may be from them.
// Sums are in double; the bound follows from the type that accumulates and from how many products a result sums.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/expressions.hpp>

#include "support/elements.hpp"

namespace tenon_test {

/// Random numbers of (-1, 1), or whole ones of (low, high).
template <class T>
auto random_matrix(tenon::index rows, tenon::index columns, std::uint64_t seed, double low = -1, double high = 1) {
  const auto numbers =
      tenon::uniform<float>(tenon::rank<2>(rows, columns), seed, static_cast<float>(low), static_cast<float>(high));
  return tenon::evaluated_tensor(tenon::cast<T>(numbers));
}

/// Empty when each element of `actual`, [m, n] in row-major order, is the product of `a` and `b` up to what `steps`
/// additions and a product in Accumulator may lose; integers must be exact.
template <class Accumulator, class Left, class Right>
std::string product_difference(const std::vector<double>& actual, const Left& a, const Right& b) {
  const tenon::index rows = a.extent(0), columns = b.extent(1), depth = a.extent(1);
  if (static_cast<tenon::index>(actual.size()) != rows * columns) return "another number of results";
  const double loss =
      std::is_integral_v<Accumulator>
          ? 0.0
          : static_cast<double>(depth + 2) * static_cast<double>(std::numeric_limits<Accumulator>::epsilon());
  std::vector<double> left, right;  // rows and columns, as without optimisation reading a tensor takes the time
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index k = 0; k < depth; ++k) left.push_back(static_cast<double>(a(i, k)));
  }
  for (tenon::index j = 0; j < columns; ++j) {
    for (tenon::index k = 0; k < depth; ++k) right.push_back(static_cast<double>(b(k, j)));
  }
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      double sum = 0, magnitude = 0;
      const double *row = left.data() + i * depth, *column = right.data() + j * depth;
      for (tenon::index k = 0; k < depth; ++k) {
        const double product = row[k] * column[k];
        sum += product, magnitude += std::fabs(product);
      }
      const double found = actual[static_cast<std::size_t>(i * columns + j)];
      if (!(std::fabs(found - sum) <= loss * magnitude)) {
        return tenon::compose_text("(", i, ", ", j, "): ", found, ", expected ", sum, " of [", rows, ", ", depth,
                                   "] x [", depth, ", ", columns, "]");
      }
    }
  }
  return "";
}

}  // namespace tenon_test
