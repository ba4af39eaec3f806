// tests/contraction/host_vector.cpp: products of a few rows or columns.
// One to five of them, of matrices that lie along rows or columns, against the definition; nothing beside is read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_vector.hpp>

#include <cmath>
#include <limits>
#include <tenon/tenon.hpp>
#include <vector>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/guarded.hpp"

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::product_difference;
using tenon_test::random_matrix;

TEMPLATE_TEST_CASE("a few rows or columns", "[host]", float, double) {
  for (tenon::index few = 1; few <= 5; ++few) {
    for (const tenon::index many : {1, 15, 16, 67, 5000}) {
      for (const tenon::index depth : {1, 7, 8, 9, 65}) {
        const auto rows = random_matrix<TestType>(few, depth, 1), matrix = random_matrix<TestType>(depth, many, 2);
        const auto turned = tenon::evaluated_tensor(tenon::transpose(matrix)),
                   columns = tenon::evaluated_tensor(tenon::transpose(rows));
        CAPTURE(few, many, depth);
        CHECK(product_difference<TestType>(numbers_of(tenon::matmul(rows, matrix)), rows, matrix) == "");
        CHECK(product_difference<TestType>(numbers_of(tenon::matmul(rows, tenon::transpose(turned))), rows, matrix) ==
              "");
        CHECK(product_difference<TestType>(numbers_of(tenon::matmul(turned, columns)), turned, columns) == "");
        CHECK(product_difference<TestType>(numbers_of(tenon::matmul(tenon::transpose(matrix), columns)), turned,
                                           columns) == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("groups of a few rows, and long columns", "[host]", float, double) {
  for (tenon::index few = 3; few <= 18; ++few) {
    for (const tenon::index many : {1, 4, 63, 67, 130}) {
      for (const tenon::index depth : {127, 256, 263}) {
        const auto rows = random_matrix<TestType>(few, depth, 1), columns = random_matrix<TestType>(many, depth, 2);
        const auto matrix = tenon::evaluated_tensor(tenon::transpose(columns));
        const auto product = tenon::matmul(rows, tenon::transpose(columns));
        CAPTURE(few, many, depth);
        CHECK(product_difference<TestType>(numbers_of(product), rows, matrix) == "");
        auto expected = numbers_of(product);
        for (auto& each : expected) each = each < 0 ? 0 : each;
        CHECK(numbers_of(tenon::maximum(product, TestType(0))) == expected);
      }
    }
  }
}

TEMPLATE_TEST_CASE("a few rows or columns of short floats", "[host]", tenon::half, tenon::bfloat16) {
  for (tenon::index few = 1; few <= 6; ++few) {
    for (const tenon::index many : {1, 16, 23}) {
      for (const tenon::index depth : {0, 1, 8, 16, 37, 65, 260}) {
        const auto drawn = [](tenon::index rows, tenon::index columns, std::uint64_t seed) {
          return tenon::evaluated_tensor(tenon::cast<TestType>(tenon::randint<int>({rows, columns}, seed, -2, 3)));
        };
        const auto rows = drawn(few, depth, 1), matrix = drawn(depth, many, 2);
        const tenon_test::guarded<TestType> memory(static_cast<std::size_t>(depth * many));
        const tenon::view<TestType, rank<2>> along(memory.data(), rank<2>(depth, many)),
            across(memory.data(), rank<2>(many, depth));
        const auto columns = tenon::evaluated_tensor(tenon::transpose(rows)),
                   turned = tenon::evaluated_tensor(tenon::transpose(matrix));
        CAPTURE(few, many, depth);
        along = matrix;
        CHECK(product_difference<int>(numbers_of(tenon::matmul(rows, along)), rows, matrix) == "");
        CHECK(product_difference<int>(numbers_of(tenon::matmul(tenon::transpose(along), columns)), turned, columns) ==
              "");
        across = turned;
        CHECK(product_difference<int>(numbers_of(tenon::matmul(rows, tenon::transpose(across))), rows, matrix) == "");
        CHECK(product_difference<int>(numbers_of(tenon::matmul(across, columns)), turned, columns) == "");
      }
    }
  }
}

TEST_CASE("vectors, and what surrounds the product", "[host]") {
  const auto matrix = random_matrix<float>(30, 200, 1), row = random_matrix<float>(1, 30, 2);
  const auto vector = tenon::evaluated_tensor(tenon::reshape(row, rank<1>(30)));
  const auto expected = numbers_of(tenon::matmul(row, matrix));
  CHECK(numbers_of(tenon::matmul(vector, matrix)) == expected);
  CHECK(numbers_of(tenon::matmul(tenon::transpose(matrix), vector)) == expected);
  const auto twice = numbers_of(tenon::matmul(vector * 2, matrix) * 0.5f + 1);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(static_cast<float>(twice[i]) == static_cast<float>(expected[i]) + 1.0f);
  }
}

TEST_CASE("nothing beside a matrix is read", "[host]") {
  for (const tenon::index columns : {1, 17, 40}) {
    const auto row = random_matrix<float>(1, 21, 1), matrix = random_matrix<float>(21, columns, 2);
    const tenon_test::guarded<float> memory(static_cast<std::size_t>(21 * columns));
    std::copy(matrix.data(), matrix.data() + matrix.size(), memory.data());
    const tenon::view<float, rank<2>> along(memory.data(), rank<2>(21, columns)),
        across(memory.data(), rank<2>(columns, 21));
    const auto turned = tenon::evaluated_tensor(tenon::transpose(across));
    CHECK(product_difference<float>(numbers_of(tenon::matmul(row, along)), row, matrix) == "");
    CHECK(product_difference<float>(numbers_of(tenon::matmul(row, tenon::transpose(across))), row, turned) == "");
    const auto column = tenon::evaluated_tensor(tenon::transpose(row)),
               lying = tenon::evaluated_tensor(tenon::transpose(along));
    CHECK(product_difference<float>(numbers_of(tenon::matmul(tenon::transpose(along), column)), lying, column) == "");
  }
}

TEST_CASE("long sums of floats keep their digits", "[host]") {
  constexpr tenon::index depth = 1000003;  // one tenth, added up a million times, would be 1 % off
  const double expected = static_cast<double>(0.1f) * depth;
  for (const tenon::index few : {1, 3}) {
    const auto rows = tenon::ones<float>({few, depth}), matrix = tenon::full<float>({depth, 5}, 0.1f);
    const auto turned = tenon::evaluated_tensor(tenon::transpose(matrix)),
               columns = tenon::evaluated_tensor(tenon::transpose(rows));
    const auto off = [&](const auto& product) {
      return static_cast<double>(tenon::max(tenon::abs(tenon::cast<double>(product) / expected - 1)));
    };
    CAPTURE(few);
    CHECK(off(tenon::evaluated_tensor(tenon::matmul(rows, matrix))) < 1e-4);
    CHECK(off(tenon::evaluated_tensor(tenon::matmul(rows, tenon::transpose(turned)))) < 1e-4);
    CHECK(off(tenon::evaluated_tensor(tenon::matmul(turned, columns))) < 1e-4);
    CHECK(off(tenon::evaluated_tensor(tenon::matmul(tenon::transpose(matrix), columns))) < 1e-4);
  }
}

TEST_CASE("one vector, wherever its elements lie and whatever lies beside them", "[host]") {
  const float nothing = std::numeric_limits<float>::quiet_NaN();
  for (const tenon::index depth : {0, 1, 3, 8, 15, 16, 17, 40}) {
    for (const tenon::index count : {1, 3, 4, 9}) {
      const auto lines = random_matrix<float>(count, depth, 1);
      for (const tenon::index step : {1, 2, -1}) {
        const tenon::index apart = step < 0 ? -step : step;
        std::vector<float> memory(static_cast<std::size_t>(depth * apart + 34), nothing);
        float* const first = memory.data() + 17 + (step < 0 ? depth : 0);
        std::vector<double> expected(static_cast<std::size_t>(count));
        for (tenon::index k = 0; k < depth; ++k) {
          first[k * step] = static_cast<float>(k % 7) - 2.0f;
          for (tenon::index line = 0; line < count; ++line) {
            expected[static_cast<std::size_t>(line)] += static_cast<double>(first[k * step]) * lines(line, k);
          }
        }
        const tenon::view<const float, rank<1>> vector(first, rank<1>(depth), {{step}});
        const auto turned = tenon::evaluated_tensor(tenon::transpose(lines));
        CAPTURE(depth, count, step);
        for (const auto& found : {numbers_of(tenon::matmul(lines, vector)), numbers_of(tenon::matmul(vector, turned)),
                                  numbers_of(tenon::matmul(vector, tenon::transpose(lines))),
                                  numbers_of(tenon::matmul(tenon::transpose(turned), vector))}) {
          for (std::size_t line = 0; line < expected.size(); ++line) {
            CHECK(std::abs(found[line] - expected[line]) < 1e-4);
          }
        }
      }
    }
  }
}
