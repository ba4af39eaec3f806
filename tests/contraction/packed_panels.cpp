// tests/contraction/packed_panels.cpp: products with parts of an operand that is packed once.
// Some rows and some panels of it, lines that lie either way, sums that are added to; against one number at a time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/packed_panels.hpp>

#include <tenon/contraction/host.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include "support/catch.hpp"

TEMPLATE_TEST_CASE("a product takes rows and panels of a packed operand", "[packed_panels]", float, double) {
  using products = tenon::number_products<TestType>;
  using tile = tenon::host_tile<products>;
  constexpr tenon::index rows = 9, columns = 2 * tile::width + 3, lines = 2 * tile::height + tile::step;
  const tenon::tensor<TestType, tenon::rank<2>> right(
      tenon::uniform<TestType>(tenon::rank<2>(rows, columns), 1, -1.0f, 1.0f));
  const auto matrix = tenon::merged_matrix<tenon::detail::batched_axes<2>>(
      tenon::as_node(right).template lower<0>(tenon::identity_map<2>()), right.shape().to_array());
  const auto packed = tenon::packed_panels<products>::template of<30>(matrix, rows, columns);
  std::vector<TestType> left(static_cast<std::size_t>(lines * rows));
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<TestType>(i % 7) - 3;
  const tenon::index pitch = 3 * tile::width;
  for (const bool adds : {false, true}) {
    for (const tenon::array<tenon::index, 2>& steps : {tenon::array<tenon::index, 2>{{rows, 1}}, {{1, lines}}}) {
      std::vector<TestType> sums(static_cast<std::size_t>((lines + tile::height) * pitch), TestType(5));
      tenon::multiply_panels(packed, {{1, packed.columns.panels}}, {left.data(), steps[0], steps[1], lines}, {2, 6},
                             {sums.data(), pitch, adds});
      const tenon::index begin = packed.columns.first_column(1);
      for (tenon::index i = 0; i < lines; ++i) {
        for (tenon::index j = begin; j < columns; ++j) {
          double expected = adds ? 5 : 0;
          for (tenon::index k = 0; k < 6; ++k) {
            expected += static_cast<double>(left[static_cast<std::size_t>(i * steps[0] + k * steps[1])]) *
                        static_cast<double>(right(2 + k, j));
          }
          const auto actual = static_cast<double>(sums[static_cast<std::size_t>(i * pitch + j - begin)]);
          REQUIRE(std::fabs(actual - expected) < 1e-5);
        }
      }
    }
  }
}
