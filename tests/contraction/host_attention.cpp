// tests/contraction/host_attention.cpp: attention on the host.
// Sizes around the blocks of queries and keys, against the definition; threads do not change the result.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_attention.hpp>
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
