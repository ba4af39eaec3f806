// tests/contraction/host_attention_gradient.cpp: gradients of attention on the host.
// Sizes around the blocks of queries and keys, against the definition; threads and what else is wanted change no bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_attention_gradient.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/threads.hpp"

using tenon_test::attention_problem;
using tenon_test::numbers_of;

namespace {

template <class T>
std::string host_gradient_error(const tenon_test::attention_extents& extents,
                                const tenon::attention_options& options = {}) {
  const double tolerance = sizeof(T) == 2 ? 5e-3 : sizeof(T) == 4 ? 2e-5 : 1e-12;
  return tenon_test::attention_gradient_error<tenon::host, T>(extents, options, tolerance);
}

}  // namespace

TEMPLATE_TEST_CASE("gradients of attention in blocks of any size", "[attention]", float, double, tenon::half) {
  for (const tenon::index queries : {1, 7, 65, 130}) {
    for (const tenon::index keys : {1, 5, 97, 210}) {
      CAPTURE(queries, keys);
      CHECK(host_gradient_error<TestType>({2, queries, keys, 9, 11}) == "");
    }
  }
  for (const tenon::index features : {1, 16, 50}) {
    for (const tenon::index columns : {1, 48, 70}) {
      CAPTURE(features, columns);
      CHECK(host_gradient_error<TestType>({1, 10, 20, features, columns}) == "");
    }
  }
}

TEST_CASE("gradients of attention with masks, caps and earlier keys", "[attention]") {
  for (const tenon::index queries : {3, 40, 150}) {
    CAPTURE(queries);
    CHECK(host_gradient_error<float>({2, queries, 100, 8, 8}, {.is_causal = true}) == "");
    CHECK(host_gradient_error<float>({2, queries, 300, 8, 8}, {.is_causal = true, .first_query = 200}) == "");
    CHECK(host_gradient_error<float>({2, queries, 30, 8, 8}, {.is_causal = true, .first_query = -2}) == "");
    CHECK(host_gradient_error<float>({2, queries, 30, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
  }
}

TEST_CASE("without queries, keys or features gradients are empty or zero", "[attention]") {
  for (const tenon_test::attention_extents& extents :
       {tenon_test::attention_extents{2, 0, 5, 3, 4}, {2, 5, 0, 3, 4}, {0, 5, 5, 3, 4}, {2, 5, 5, 3, 0}}) {
    CHECK(host_gradient_error<float>(extents) == "");
  }
}

TEST_CASE("every number of threads gives the same gradients of attention, alone and together", "[attention]") {
  using cube = tenon::tensor<float, tenon::rank<3>>;
  for (const tenon::index batches : {1, 5}) {
    const attention_problem<float> problem({batches, 300, 200, 32, 40}, {.is_causal = true});
    const cube gradient = tenon::uniform<float>(tenon::rank<3>(batches, 300, 40), 5, -1.0f, 1.0f);
    const auto node = tenon::scaled_dot_product_attention(problem.query, problem.key, problem.value, problem.options);
    cube query(problem.query.shape()), key(problem.key.shape()), value(problem.value.shape());
    const auto write = [&] {
      tenon::write_attention_gradients(node, tenon::as_node(gradient), query.write_view(), key.write_view(),
                                       value.write_view());
      auto result = numbers_of(query);
      for (const cube* each : {&key, &value}) {
        for (const double number : numbers_of(*each)) result.push_back(number);
      }
      return result;
    };
    CHECK(tenon_test::is_same_on_any_threads(write));
    write();
    const cube query_alone = tenon::make_attention_gradient<0>(node, tenon::as_node(gradient)),
               key_alone = tenon::make_attention_gradient<1>(node, tenon::as_node(gradient)),
               value_alone = tenon::make_attention_gradient<2>(node, tenon::as_node(gradient));
    CHECK(numbers_of(query_alone) == numbers_of(query));
    CHECK(numbers_of(key_alone) == numbers_of(key));
    CHECK(numbers_of(value_alone) == numbers_of(value));
  }
}
