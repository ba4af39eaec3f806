// tests/grad/attention.cpp: gradients of attention.
// Central differences in double, with masks, caps, and operands that repeat over batches.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/attention.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"

using tenon::rank;
using tenon::shape;
using tenon_test::drawn;
using tenon_test::gradient_difference;
using tenon_test::numbers_of;

namespace {

/// The gradients of queries, keys, values and mask together.
template <class Query, class Key, class Value, class Mask>
std::string attention_gradient_difference(Query query, Key key, Value value, Mask mask,
                                          const tenon::attention_options& options = {}) {
  return gradient_difference([&](const auto& q, const auto& k, const auto& v,
                                 const auto& m) { return tenon::scaled_dot_product_attention(q, k, v, m, options); },
                             query, key, value, mask);
}

}  // namespace

TEST_CASE("gradients of attention agree with differences", "[attention]") {
  const auto query = drawn(rank<3>(2, 3, 4), 1), key = drawn(rank<3>(2, 5, 4), 2);
  const auto value = drawn(rank<3>(2, 5, 2), 3), mask = drawn(rank<3>(2, 3, 5), 4);
  CHECK(attention_gradient_difference(query, key, value, mask) == "");
  CHECK(attention_gradient_difference(query, key, value, mask, {.is_causal = true}) == "");
  CHECK(attention_gradient_difference(query, key, value, mask, {.is_causal = true, .scale = 2, .first_query = -1}) ==
        "");
  CHECK(attention_gradient_difference(query, key, value, mask, {.softcap = 0.5f}) == "");
}

TEST_CASE("gradients of operands that repeat over batches are sums", "[attention]") {
  const auto query = drawn(rank<4>(2, 3, 3, 4), 1);
  const auto key = drawn(shape<1, tenon::dyn, tenon::dyn>(1, 5, 4), 2);
  const auto value = drawn(rank<2>(5, 2), 3);
  const auto mask = drawn(shape<1, tenon::dyn>(1, 5), 4);
  CHECK(attention_gradient_difference(query, key, value, mask) == "");
}

TEST_CASE("gradients pass the weights that dropout keeps", "[attention]") {
  auto query = drawn(rank<3>(2, 3, 4), 1), key = drawn(rank<3>(2, 5, 4), 2), value = drawn(rank<3>(2, 5, 2), 3);
  CHECK(gradient_difference(
            [](const auto& q, const auto& k, const auto& v) {
              return tenon::scaled_dot_product_attention(q, k, v, {}, tenon::attention_dropout{.p = 0.5, .seed = 3});
            },
            query, key, value) == "");
}

TEST_CASE("gradients of attention have gradients", "[attention]") {
  auto query = drawn(rank<2>(3, 4), 1);
  const auto key = drawn(rank<2>(5, 4), 2), value = drawn(rank<2>(5, 2), 3);
  const auto direction = drawn(rank<2>(3, 4), 4), weight = drawn(rank<2>(3, 2), 5);
  CHECK(gradient_difference(
            [&](const auto& q) {
              const auto named = tenon::variable<7>(direction);
              const auto result = tenon::scaled_dot_product_attention(q + named, key, value, {.is_causal = true});
              const auto [of_direction] = tenon::vjp(result, weight, tenon::wrt(named));
              return of_direction;
            },
            query) == "");
}

TEST_CASE("attention has derivatives along directions", "[attention]") {
  const auto query = drawn(rank<2>(3, 4), 1), key = drawn(rank<2>(5, 4), 2), value = drawn(rank<2>(5, 2), 3);
  const auto along = drawn(rank<2>(5, 4), 4);
  const auto k = tenon::variable<0>(key);
  const tenon::tensor<double, rank<2>> actual =
      tenon::jvp(tenon::scaled_dot_product_attention(query, k, value), tenon::wrt(k), along);
  const auto at = [&](double step) {
    return tenon::evaluated_tensor(tenon::scaled_dot_product_attention(query, key + along * step, value));
  };
  CHECK(tenon_test::difference(numbers_of(actual), numbers_of((at(1e-6) - at(-1e-6)) / 2e-6), 1e-7) == "");
}
