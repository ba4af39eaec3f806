// tests/contraction/host_product.cpp: the blocked product.
// Products of several parts, rows and columns around tiles, and operands whose neighbours cannot be touched.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_product.hpp>
#include <tenon/tenon.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/guarded.hpp"

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::product_difference;
using tenon_test::random_matrix;

TEST_CASE("rows, columns and k around the tile", "[host]") {
  using tile = tenon::host_tile<tenon::number_products<float>>;
  for (const tenon::index m : {tile::height - 1, tile::height, tile::height + 1, 2 * tile::height + 3}) {
    for (const tenon::index n : {tile::lanes - 1, tile::width - 1, tile::width, tile::width + 1, 2 * tile::width + 5}) {
      for (const tenon::index k : {1, 2, 31, 1024, 1025}) {
        const auto a = random_matrix<float>(m, k, 1), b = random_matrix<float>(k, n, 2);
        CHECK(product_difference<float>(numbers_of(tenon::matmul(a, b)), a, b) == "");
      }
    }
  }
}

TEST_CASE("several parts of rows and columns", "[host]") {
  const auto tall = random_matrix<float>(1100, 40, 1), narrow = random_matrix<float>(40, 20, 2);
  CHECK(product_difference<float>(numbers_of(tenon::matmul(tall, narrow)), tall, narrow) == "");
  const auto low = random_matrix<float>(10, 1500, 1), wide = random_matrix<float>(1500, 1100, 2);
  CHECK(product_difference<float>(numbers_of(tenon::matmul(low, wide)), low, wide) == "");
}

TEST_CASE("nothing beside the operands and the result is touched", "[host]") {
  for (const tenon::index m : {8, 13}) {
    for (const tenon::index n : {33, 48, 53}) {
      const tenon::index k = 37;
      const auto a = random_matrix<float>(m, k, 1), b = random_matrix<float>(k, n, 2);
      const auto beside = [](const auto& matrix) {
        return tenon_test::guarded<float>(static_cast<std::size_t>(matrix.size()));
      };
      const auto left = beside(a), right = beside(b);
      const tenon_test::guarded<float> result(static_cast<std::size_t>(m * n));
      std::copy(a.data(), a.data() + a.size(), left.data());
      std::copy(b.data(), b.data() + b.size(), right.data());
      const tenon::view<float, rank<2>> x(left.data(), rank<2>(m, k)), y(right.data(), rank<2>(k, n)),
          z(result.data(), rank<2>(m, n));
      z = tenon::matmul(x, y);
      CHECK(product_difference<float>(std::vector<double>(z.data(), z.data() + z.size()), a, b) == "");
      const tenon::view<float, rank<2>> turned(right.data(), rank<2>(n, k));
      z = tenon::matmul(x, tenon::transpose(turned));
      const auto along = tenon::evaluated_tensor(tenon::transpose(turned));
      CHECK(product_difference<float>(std::vector<double>(z.data(), z.data() + z.size()), a, along) == "");
    }
  }
}

TEST_CASE("the last block of rows may be lower than a tile", "[host]") {
  const auto a = random_matrix<float>(132, 1024, 1), b = random_matrix<float>(1024, 48, 2);
  const tenon_test::guarded<float> result(132 * 48);
  const tenon::view<float, rank<2>> c(result.data(), rank<2>(132, 48));
  c = tenon::matmul(a, b);
  CHECK(product_difference<float>(std::vector<double>(c.data(), c.data() + c.size()), a, b) == "");
}

TEMPLATE_TEST_CASE("a transposed matrix of which two threads pack the panels that they read", "[host]", float, double) {
  for (const tenon::index rows : {96, 130, 257}) {
    for (const tenon::index columns : {20, 100}) {
      const auto left = random_matrix<TestType>(rows, 400, 1), turned = random_matrix<TestType>(columns, 400, 2);
      const auto right = tenon::evaluated_tensor(tenon::transpose(turned));
      CAPTURE(rows, columns);
      CHECK(product_difference<TestType>(numbers_of(tenon::matmul(left, tenon::transpose(turned))), left, right) == "");
    }
  }
}
