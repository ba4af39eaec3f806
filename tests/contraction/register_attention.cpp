// tests/contraction/register_attention.cpp: attention of 16-bit elements with scores in registers.
// Widths up to 64 and 128, partial tiles, masks, caps, views of heads and computed operands, against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention_select.hpp>
#include <tenon/tenon.hpp>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

using tenon_test::attention_difference;
using tenon_test::attention_extents;
using tenon_test::numbers_of;

namespace {

template <class Space, class T>
std::string register_attention_difference(const attention_extents& extents,
                                          const tenon::attention_options& options = {}) {
  return tenon_test::attention_value_error<Space, T>(extents, options, std::is_same_v<T, tenon::half> ? 2e-3 : 1.6e-2);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("attention in registers, of widths up to 64 and to 128", "[attention]",
                        tenon_test::kernel_spaces) {
  using half = tenon::half;
  for (const tenon::index queries : {1, 31, 150}) {
    for (const tenon::index keys : {1, 63, 130}) {
      CAPTURE(queries, keys);
      CHECK(register_attention_difference<TestType, half>({2, queries, keys, 16, 24}) == "");
    }
  }
  CHECK(register_attention_difference<TestType, half>({1, 40, 70, 64, 64}) == "");
  CHECK(register_attention_difference<TestType, half>({1, 130, 65, 128, 128}) == "");
  CHECK(register_attention_difference<TestType, tenon::bfloat16>({3, 20, 90, 65, 8}) == "");
  CHECK(register_attention_difference<TestType, tenon::bfloat16>({1, 20, 90, 8, 127}) == "");
  CHECK(register_attention_difference<TestType, half>({1, 5, 9, 1, 1}) == "");
}

TEMPLATE_LIST_TEST_CASE("attention in registers with masks, caps and scales", "[attention]",
                        tenon_test::kernel_spaces) {
  using half = tenon::half;
  CHECK(register_attention_difference<TestType, half>({2, 150, 150, 16, 16}, {.is_causal = true}) == "");
  CHECK(register_attention_difference<TestType, half>({1, 70, 150, 8, 8}, {.is_causal = true, .first_query = 80}) ==
        "");
  CHECK(register_attention_difference<TestType, half>({1, 30, 30, 8, 8}, {.is_causal = true, .first_query = -2}) == "");
  CHECK(register_attention_difference<TestType, half>({1, 140, 9, 8, 8}, {.is_causal = true, .first_query = -135}) ==
        "");
  CHECK(register_attention_difference<TestType, half>({2, 10, 100, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
  CHECK(register_attention_difference<TestType, half>({2, 10, 100, 8, 8}, {.scale = -0.5f}) == "");
}

TEMPLATE_LIST_TEST_CASE("attention in registers of heads side by side, within a statement", "[attention]",
                        tenon_test::kernel_spaces) {
  using half = tenon::half;
  using tenon::axis;
  const tenon::index length = 70, heads = 3, width = 8;
  const auto packed = tenon::tensor<half, tenon::rank<3>>(tenon::normal<half>({length, 3 * heads, width}, 1));
  const auto on_device = packed.template to<TestType>();
  const auto part = [&](const auto& of, tenon::index number) {
    return tenon::permute(tenon::slice(of, tenon::all_of, tenon::range(number * heads, (number + 1) * heads)),
                          axis<1, 0, 2>);
  };
  tenon::tensor<half, tenon::rank<3>, TestType> result({heads, length, width});
  result = tenon::relu(tenon::scaled_dot_product_attention(part(on_device, 0), part(on_device, 1) * half(0.5f),
                                                           part(on_device, 2))) +
           half(1.0f);
  const auto numbers = tenon::tensor<float, tenon::rank<3>>(tenon::cast<float>(packed));
  const auto scores =
      tenon::matmul(part(numbers, 0), tenon::transpose(part(numbers, 1) * 0.5f)) / std::sqrt(static_cast<float>(width));
  const auto weights = tenon::tensor<float, tenon::rank<3>>(tenon::softmax(scores, axis<-1>));
  const auto expected = tenon::tensor<float, tenon::rank<3>>(tenon::relu(tenon::matmul(weights, part(numbers, 2))) + 1);
  CHECK(attention_difference(numbers_of(result), numbers_of(expected), 3e-3) == "");
}

TEMPLATE_LIST_TEST_CASE("attention in registers with weights left out", "[attention]", tenon_test::kernel_spaces) {
  using matrices = tenon::tensor<float, tenon::rank<3>>;
  const auto draw = [](tenon::index rows, std::uint64_t seed) {
    return tenon::tensor<tenon::half, tenon::rank<3>>(tenon::normal<tenon::half>({2, rows, 16}, seed));
  };
  const auto query = draw(40, 1), key = draw(70, 2), value = draw(70, 3);
  const tenon::attention_dropout dropout{.p = 0.25, .seed = 9};
  const auto kept = tenon::where(tenon::bernoulli<bool>(tenon::rank<3>(2, 40, 70), 9, 0.75), 1 / 0.75f, 0.0f);
  const auto scores = tenon::matmul(tenon::cast<float>(query), tenon::transpose(tenon::cast<float>(key))) / 4.0f;
  const matrices weights(tenon::softmax(scores, tenon::axis<-1>) * kept);
  const matrices expected(tenon::matmul(weights, tenon::cast<float>(value)));
  const auto on_device = [](const auto& of) { return of.template to<TestType>(); };
  const tenon::tensor<tenon::half, tenon::rank<3>, TestType> result(
      tenon::scaled_dot_product_attention(on_device(query), on_device(key), on_device(value), {}, dropout));
  CHECK(attention_difference(numbers_of(result), numbers_of(expected), 2e-3) == "");
}
