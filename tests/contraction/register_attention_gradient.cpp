// tests/contraction/register_attention_gradient.cpp: attention's gradients of 16-bit elements with scores in registers.
// Widths up to 64 and 128, partial tiles, masks, caps and scales, against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/register_attention_gradient.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

template <class Space, class T>
std::string register_gradient_error(const tenon_test::attention_extents& extents,
                                    const tenon::attention_options& options = {}) {
  return tenon_test::attention_gradient_error<Space, T>(extents, options, std::is_same_v<T, tenon::half> ? 4e-3 : 2e-2);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("gradients of attention in registers, of widths up to 64 and to 128", "[attention]",
                        tenon_test::kernel_spaces) {
  for (const tenon::index queries : {1, 130}) {
    for (const tenon::index keys : {1, 70}) {
      CAPTURE(queries, keys);
      CHECK(register_gradient_error<TestType, tenon::half>({2, queries, keys, 9, 11}) == "");
    }
  }
  CHECK(register_gradient_error<TestType, tenon::half>({1, 40, 70, 64, 64}) == "");
  CHECK(register_gradient_error<TestType, tenon::half>({1, 65, 33, 128, 128}) == "");
  CHECK(register_gradient_error<TestType, tenon::bfloat16>({3, 20, 90, 65, 8}) == "");
  CHECK(register_gradient_error<TestType, tenon::bfloat16>({1, 20, 40, 8, 127}) == "");
  CHECK(register_gradient_error<TestType, tenon::half>({1, 20, 40, 130, 8}) ==
        "");  // too wide: by way of shared memory
  CHECK(register_gradient_error<TestType, tenon::half>({2, 5, 0, 3, 4}) == "");
}

TEMPLATE_LIST_TEST_CASE("gradients of attention in registers with masks, caps and scales", "[attention]",
                        tenon_test::kernel_spaces) {
  using half = tenon::half;
  CHECK(register_gradient_error<TestType, half>({2, 150, 150, 8, 8}, {.is_causal = true}) == "");
  CHECK(register_gradient_error<TestType, half>({1, 70, 150, 8, 8}, {.is_causal = true, .first_query = 80}) == "");
  CHECK(register_gradient_error<TestType, half>({1, 150, 30, 8, 8}, {.is_causal = true, .first_query = -70}) == "");
  CHECK(register_gradient_error<TestType, half>({1, 70, 70, 8, 8}, {.is_causal = true, .first_query = 1}) == "");
  CHECK(register_gradient_error<TestType, half>({2, 10, 90, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
  CHECK(register_gradient_error<TestType, half>({2, 10, 90, 8, 8}, {.scale = -0.5f}) == "");
}
