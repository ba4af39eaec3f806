// tests/contraction/host_attention.cpp: attention on the host.
// Sizes around the blocks of queries and keys, against the definition; threads do not change the result.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host.hpp>
#include <tenon/contraction/host_attention.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/threads.hpp"

using tenon_test::attention_difference;
using tenon_test::attention_extents;
using tenon_test::attention_problem;
using tenon_test::numbers_of;

namespace {

template <class T>
std::string host_attention_difference(const attention_extents& extents, const tenon::attention_options& options = {}) {
  const attention_problem<T> problem(extents, options);
  const double tolerance = sizeof(T) == 2 ? 4e-3 : sizeof(T) == 4 ? 2e-6 : 1e-13;
  const auto plain = tenon::scaled_dot_product_attention(problem.query, problem.key, problem.value, options);
  const auto biased =
      tenon::scaled_dot_product_attention(problem.query, problem.key, problem.value, problem.bias, options);
  return attention_difference(numbers_of(plain), problem.expected(false), tolerance) +
         attention_difference(numbers_of(biased), problem.expected(true), tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("attention in blocks of any size", "[attention]", float, double, tenon::half) {
  for (const tenon::index queries : {1, 4, 7, 33, 70}) {
    for (const tenon::index keys : {1, 5, 48, 200, 401}) {
      CAPTURE(queries, keys);
      CHECK(host_attention_difference<TestType>({2, queries, keys, 9, 11}) == "");
    }
  }
  for (const tenon::index features : {1, 16, 64, 100}) {
    for (const tenon::index columns : {1, 16, 64, 130}) {
      CAPTURE(features, columns);
      CHECK(host_attention_difference<TestType>({1, 10, 20, features, columns}) == "");
    }
  }
}

TEST_CASE("attention with masks, caps and earlier keys", "[attention]") {
  for (const tenon::index queries : {3, 40, 100}) {
    CAPTURE(queries);
    CHECK(host_attention_difference<float>({2, queries, 100, 8, 8}, {.is_causal = true}) == "");
    CHECK(host_attention_difference<float>({2, queries, 300, 8, 8}, {.is_causal = true, .first_query = 200}) == "");
    CHECK(host_attention_difference<float>({2, queries, 30, 8, 8}, {.is_causal = true, .first_query = -2}) == "");
    CHECK(host_attention_difference<float>({2, queries, 30, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
  }
}

TEST_CASE("a few queries of many keys", "[attention]") {
  for (const tenon::index queries : {1, 2, 3}) {
    for (const tenon::index keys : {63, 2047, 2100}) {
      CAPTURE(queries, keys);
      CHECK(host_attention_difference<float>({2, queries, keys, 17, 19}) == "");
      CHECK(host_attention_difference<double>({1, queries, keys, 8, 3}, {.is_causal = true, .first_query = keys - 5}) ==
            "");
    }
  }
}

TEST_CASE("every number of threads gives the same attention", "[attention]") {
  for (const tenon::index batches : {1, 5}) {
    const attention_problem<float> problem({batches, 300, 200, 32, 40}, {.is_causal = true});
    CHECK(tenon_test::is_same_on_any_threads([&] {
      return numbers_of(
          tenon::scaled_dot_product_attention(problem.query, problem.key, problem.value, problem.options));
    }));
  }
}

TEMPLATE_TEST_CASE("a product takes rows and panels of a packed operand", "[packed_panels]", float, double) {
  using products = tenon::number_products<TestType>;
  using tile = tenon::host_tile<products>;
  constexpr tenon::index rows = 9, columns = 2 * tile::width + 3, lines = 2 * tile::height + tile::step;
  const tenon::tensor<TestType, tenon::rank<2>> right(
      tenon::uniform<TestType>(tenon::rank<2>(rows, columns), 1, -1.0f, 1.0f));
  const auto matrix = tenon::merged_matrix<tenon::detail::batched_axes<2>>(
      tenon::as_node(right).template lower<0>(tenon::identity_map<2>()), right.shape().to_array());
  const tenon::detail::scratch memory;
  const auto packed = tenon::packed_panels<products>::of(memory, matrix, rows, columns);
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
