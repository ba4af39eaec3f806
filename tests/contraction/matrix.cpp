// tests/contraction/matrix.cpp: operands seen as matrices.
// Folding axes into columns and patches into rows must find the very elements of the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/matrix.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;

TEST_CASE("columns run over several axes", "[matrix]") {
  const auto w = counting<float>(rank<4>(2, 3, 4, 5));
  auto program = tenon::as_node(w).lower<0>(tenon::identity_map<4>());
  const tenon::folded_matrix<decltype(program), 4, tenon::matrix_axes<1, 0, 2, 3>> matrix{program, {{2, 3, 4, 5}}, {}};
  for (tenon::index row = 0; row < 3; ++row) {
    for (tenon::index column = 0; column < 40; ++column) {
      CHECK(matrix.value(row, column) == w(column / 20, row, column / 5 % 4, column % 5));
    }
  }
  CHECK(matrix.run_from(0) == 5);
  CHECK(matrix.run_from(7) == 3);
}

TEST_CASE("column axes merge as far as memory allows", "[matrix]") {
  using axes = tenon::matrix_axes<0, 1, 2, 3>;
  tenon::array<tenon::index, 4> extents{{2, 3, 4, 5}}, stride{{60, 20, 5, 1}};
  tenon::merge_columns<axes>(extents, [&](auto&& visitor) { visitor(stride); });
  CHECK(extents == tenon::array<tenon::index, 4>{{2, 1, 1, 60}});
  tenon::array<tenon::index, 4> apart{{2, 3, 4, 5}}, gaps{{60, 30, 5, 1}};
  tenon::merge_columns<axes>(apart, [&](auto&& visitor) { visitor(gaps); });
  CHECK(apart == tenon::array<tenon::index, 4>{{2, 3, 1, 20}});
}

TEST_CASE("patches are the image under its windows, zero outside", "[matrix]") {
  const auto image = counting<float>(rank<4>(2, 2, 4, 5), 1);
  const auto weight = counting<float>(rank<4>(1, 2, 3, 2));
  const auto node = tenon::convolve(image, weight, {.stride = {{2, 1}}, .padding = {{1, 1}}});
  const auto patches = tenon::right_matrix(node);
  const tenon::index p_count = 2, q_count = 6;
  REQUIRE(node.shape() == rank<4>(2, 1, p_count, q_count));
  for (tenon::index row = 0; row < 12; ++row) {
    for (tenon::index column = 0; column < 24; ++column) {
      const tenon::index y = column / q_count % p_count * 2 + row / 2 % 3 - 1, x = column % q_count + row % 2 - 1;
      const bool inside = y >= 0 && y < 4 && x >= 0 && x < 5;
      CHECK(patches.value(row, column) == (inside ? image(column / 12, row / 6, y, x) : 0.0f));
    }
  }
}

TEST_CASE("windows of single elements are the columns of a plain matrix, as far as memory allows", "[matrix]") {
  using extents = tenon::array<tenon::index, 2>;
  const auto image = counting<float>(rank<4>(2, 3, 4, 5), 1), weight = counting<float>(rank<4>(2, 3, 1, 1));
  const auto outputs_of = [&](const auto& x, const tenon::window_geometry<2>& geometry) {
    const auto node = tenon::convolve(x, weight, geometry);
    const auto patches = tenon::right_matrix(node);
    const auto values = tenon::evaluated_tensor(x);
    bool all_right = true;
    if (geometry == tenon::window_geometry<2>{}) {
      const tenon::index plane = x.shape().extent(2) * x.shape().extent(3);
      for (tenon::index row = 0; row < 3; ++row) {
        for (tenon::index i = 0; i < 2 * plane; ++i) {
          all_right = all_right && patches.value(row, i) == values.data()[(i / plane * 3 + row) * plane + i % plane];
        }
      }
    }
    CHECK(all_right);
    return patches.geometry.output;
  };
  CHECK(outputs_of(image, {}) == extents{{1, 20}});
  CHECK(outputs_of(image * 2, {}) == extents{{1, 20}});
  CHECK(outputs_of(tenon::slice(image, tenon::all_of, tenon::all_of, tenon::all_of, tenon::range(1, 4)), {}) ==
        extents{{4, 3}});
  CHECK(outputs_of(image, {.stride = {{2, 1}}}) == extents{{2, 5}});
  CHECK(outputs_of(image, {.stride = {{1, 2}}}) == extents{{4, 3}});
  CHECK(outputs_of(image, {.padding = {{1, 0}}}) == extents{{6, 5}});
}

TEST_CASE("extents of products and their batches", "[matrix]") {
  const auto a = counting<float>(rank<3>(5, 2, 3));
  const auto b = counting<float>(rank<3>(5, 3, 4));
  const auto product = tenon::extents_of_product(tenon::matmul(a, b));
  CHECK(product.rows == 2);
  CHECK(product.columns == 4);
  CHECK(product.depth == 3);
  CHECK(product.batch_count() == 5);
  CHECK(product.batch_position(3)[0] == 3);
  const auto shared = tenon::extents_of_product(tenon::matmul(a, counting<float>(rank<2>(3, 4))));
  CHECK(shared.rows == 5 * 2);  // a batch of the left operand alone is more rows
  CHECK(shared.batch_count() == 1);
  const auto image = counting<float>(rank<4>(2, 3, 6, 6)), weight = counting<float>(rank<4>(7, 3, 3, 3));
  const auto convolution = tenon::extents_of_product(tenon::convolve(image, weight));
  CHECK(convolution.rows == 7);
  CHECK(convolution.columns == 2 * 4 * 4);
  CHECK(convolution.depth == 27);
  CHECK(convolution.batch_count() == 1);
}
