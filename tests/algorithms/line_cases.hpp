// tests/algorithms/line_cases.hpp: lines along an axis by definition, and operands that lie in every way.
// Offsets are counted one element at a time, so that no test leans on the walk that it tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "support/elements.hpp"
#include "support/operations.hpp"
#include "support/random.hpp"

namespace tenon_test {

using line = std::vector<std::size_t>;  ///< row-major offsets of the elements of one line

/// The lines along `axis`, in row-major order of the other axes.
template <int Rank>
std::vector<line> lines_of(const tenon::array<tenon::index, Rank>& extents, int axis) {
  std::size_t inner = 1, outer = 1;
  for (int i = 0; i < Rank; ++i) (i < axis ? outer : inner) *= i == axis ? 1 : static_cast<std::size_t>(extents[i]);
  const auto length = static_cast<std::size_t>(extents[axis]);
  std::vector<line> lines;
  for (std::size_t number = 0; number < outer * inner; ++number) {
    lines.emplace_back();
    for (std::size_t place = 0; place < length; ++place) {
      lines.back().push_back((number / inner * length + place) * inner + number % inner);
    }
  }
  return lines;
}

/// Shapes with odd, unit, long and zero extents.
inline const std::vector<tenon::array<tenon::index, 3>> line_shapes = {
    {{3, 5, 7}}, {{1, 1, 1}}, {{2, 67, 33}}, {{70, 3, 9}}, {{5, 1, 130}}, {{4, 0, 3}}, {{0, 2, 3}}};

/// Small integers, so that many are equal.
template <class T, class Space>
auto few_values(const tenon::array<tenon::index, 3>& extents, std::uint64_t seed, std::int64_t count = 9) {
  random_source source(seed);
  return made_tensor<T, Space>(tenon::rank<3>(extents),
                               [&](tenon::index) { return static_cast<double>(source.below(count)); });
}

/// Calls `body(x)` for an operand that is a tensor, a permuted view, a view with steps, and an expression.
template <class T, class Space, class Body>
void for_each_operand(const tenon::array<tenon::index, 3>& extents, const Body& body) {
  const auto x = few_values<T, Space>(extents, 1);
  body(x);
  body(tenon::permute(few_values<T, Space>({{extents[2], extents[0], extents[1]}}, 2), tenon::axis<1, 2, 0>));
  body(tenon::slice(few_values<T, Space>({{extents[0], 2 * extents[1], extents[2]}}, 3), tenon::all_of,
                    tenon::range(0, tenon::open_end, 2), tenon::range(tenon::open_end, tenon::open_end, -1)));
  body(x + x);
}

}  // namespace tenon_test
