// tests/contraction/attention_gradient.cpp: the kernels of attention's gradients.
// Partial tiles of queries, keys and values, for each unit, against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_gradient.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

template <class Space, class T>
std::string kernel_gradient_error(const tenon_test::attention_extents& extents,
                                  const tenon::attention_options& options = {}) {
  const double tolerance = sizeof(T) == 2 ? 2e-2 : sizeof(T) == 4 ? 2e-5 : 1e-12;
  return tenon_test::attention_gradient_error<Space, T>(extents, options, tolerance);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("gradients of attention in tiles of any size", "[attention]", tenon_test::kernel_spaces) {
  for (const tenon::index queries : {1, 70}) {
    for (const tenon::index keys : {1, 130}) {
      CAPTURE(queries, keys);
      CHECK(kernel_gradient_error<TestType, float>({2, queries, keys, 9, 11}) == "");
    }
  }
  CHECK(kernel_gradient_error<TestType, float>({1, 10, 20, 70, 20}) == "");   // two tiles of results, then one
  CHECK(kernel_gradient_error<TestType, float>({1, 10, 20, 130, 70}) == "");  // blocks of one kind, and of both
  CHECK(kernel_gradient_error<TestType, double>({2, 33, 40, 9, 40}) == "");
  CHECK(kernel_gradient_error<TestType, tenon::half>({2, 70, 100, 40, 20}) == "");
  CHECK(kernel_gradient_error<TestType, tenon::bfloat16>({1, 20, 30, 64, 64}) == "");
}

TEMPLATE_LIST_TEST_CASE("gradients of kernels with masks, caps and earlier keys", "[attention]",
                        tenon_test::kernel_spaces) {
  CHECK(kernel_gradient_error<TestType, float>({2, 100, 100, 8, 8}, {.is_causal = true}) == "");
  CHECK(kernel_gradient_error<TestType, float>({1, 70, 150, 8, 8}, {.is_causal = true, .first_query = 80}) == "");
  CHECK(kernel_gradient_error<TestType, float>({1, 150, 30, 8, 8}, {.is_causal = true, .first_query = -70}) == "");
  CHECK(kernel_gradient_error<TestType, float>({1, 70, 70, 8, 8}, {.is_causal = true, .first_query = 1}) == "");
  CHECK(kernel_gradient_error<TestType, float>({2, 10, 30, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
  CHECK(kernel_gradient_error<TestType, float>({2, 5, 0, 3, 4}) == "");
}
