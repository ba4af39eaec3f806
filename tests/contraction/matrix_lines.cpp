// tests/contraction/matrix_lines.cpp: matrices as lines that kernels read in packets.
// Which lines are found in rows and columns, packed or not, and what is read of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/matrix_lines.hpp>
#include <tenon/tenon.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::line_direction;
using tenon::rank;

/// Rows over the first two of three axes.
struct axes_of_rows {
  static constexpr tenon::array<int, 2> rows{{0, 1}};
  static constexpr tenon::array<int, 1> columns{{2}};
  [[maybe_unused]] static constexpr tenon::array<int, 0> batches{}, result_batches{};
};

/// Checks every element of the lines that are found of a matrix.
template <class E>
void check_elements(const E& node, bool are_columns, bool in_packets) {
  const auto direction = are_columns ? line_direction::columns : line_direction::rows;
  const auto numbers = tenon_test::numbers_of(node);
  const auto found = tenon::lines_of(tenon_test::matrix_of(node), direction);
  const auto extents = tenon::as_node(node).shape().to_array();
  const tenon::index lines = extents[are_columns ? 1 : 0], length = extents[are_columns ? 0 : 1];
  REQUIRE(found.exist);
  CHECK(found.are_columns == are_columns);
  CHECK(found.matrix.in_packets == in_packets);
  constexpr int size = found.matrix.packet;
  for (tenon::index line = 0; line < lines; ++line) {
    for (tenon::index first = 0; first < length; first += size) {
      tenon::array<double, size> packed{}, single;
      const int count = static_cast<int>(std::min<tenon::index>(size, length - first));
      if (in_packets) found.matrix.template read<true>(packed, line, first, count);
      found.matrix.template read<false>(single, line, first, count);
      for (int k = 0; k < size; ++k) {
        const tenon::index element = first + k;
        const auto at = static_cast<std::size_t>(are_columns ? element * lines + line : line * length + element);
        CHECK(single[k] == (k < count ? numbers[at] : 0.0));
        if (in_packets) CHECK(packed[k] == numbers[at]);
      }
    }
  }
}

}  // namespace

TEST_CASE("lines along rows and columns", "[matrix_lines]") {
  const auto a = tenon_test::counting<float>(rank<2>(6, 8), 1), b = tenon_test::counting<float>(rank<2>(5, 7), 1);
  check_elements(a, false, true);
  check_elements(a, true, false);
  check_elements(tenon::transpose(a), true, true);
  check_elements(b, false, false);
  check_elements(a * 2 + tenon::as_node(a), false, true);
  const auto column = tenon_test::counting<float>(rank<2>(6, 1), 1);
  check_elements(a * column, false, true);
  check_elements(tenon::broadcast_to(column, a.shape()), false, false);
  check_elements(tenon_test::counting<tenon::half>(rank<2>(3, 16), 1), false, true);
  check_elements(tenon_test::counting<double>(rank<2>(3, 4), 1), false, true);
}

TEST_CASE("lines go along what lies side by side", "[matrix_lines]") {
  const auto a = tenon_test::counting<float>(rank<2>(6, 8));
  CHECK_FALSE(tenon::lines_of(tenon_test::matrix_of(a), line_direction::adjacent).are_columns);
  CHECK(tenon::lines_of(tenon_test::matrix_of(tenon::transpose(a)), line_direction::adjacent).are_columns);
}

TEST_CASE("rows over several axes are one where memory allows it", "[matrix_lines]") {
  const auto a = tenon_test::counting<float>(rank<3>(2, 3, 8));
  const auto matrix = [](const auto& node) {
    return tenon::merged_matrix<axes_of_rows>(tenon::as_node(node).template lower<0>(tenon::identity_map<3>()),
                                              tenon::as_node(node).shape().to_array());
  };
  const auto found = tenon::lines_of(matrix(a), line_direction::adjacent);
  REQUIRE(found.exist);
  tenon::array<float, 4> numbers;
  found.matrix.read<true>(numbers, 4, 4, 4);
  CHECK(numbers[1] == 4 * 8 + 5);
  CHECK_FALSE(tenon::lines_of(matrix(tenon::permute(a, tenon::axis<1, 0, 2>)), line_direction::adjacent).exist);
  const auto one = tenon_test::counting<float>(rank<3>(3, 1, 8));
  CHECK(tenon::lines_of(matrix(one), line_direction::rows).exist);
}
