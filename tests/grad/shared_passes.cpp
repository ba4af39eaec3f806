// tests/grad/shared_passes.cpp: gradients of attention that are evaluated together.
// Loops are counted, and the memory that they take: it grows as the sequence, not as its square.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/shared_passes.hpp>

#include <tenon/device/launch_count.hpp>
#include <tenon/grad/kept_blocks.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/counted_allocation.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

auto attention_tensor(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  return tenon::tensor<float, rank<2>>(tenon::uniform<float>(rank<2>(rows, columns), seed, -1.0f, 1.0f));
}

}  // namespace

TEST_CASE("gradients of queries, keys and values are one loop where they are wanted together", "[attention]") {
  const auto query = attention_tensor(5, 4, 1), key = attention_tensor(7, 4, 2), value = attention_tensor(7, 3, 3);
  const auto q = tenon::variable<0>(query);
  const auto k = tenon::variable<1>(key);
  const auto v = tenon::variable<2>(value);
  const auto loss = tenon::sum(
      tenon::square(tenon::scaled_dot_product_attention(q, k, v, {}, tenon::attention_dropout{.p = 0.5, .seed = 3})));
  const auto [of_query, of_key, of_value] = tenon::gradient(loss, tenon::wrt(q, k, v));
  const tenon::launch_counter counter;
  const auto [number, dq, dk, dv] = tenon::value_and_gradient(loss, tenon::wrt(q, k, v));
  CHECK(counter.count() == 2 + 1 + 1 + 3);  // the loss; the result, whose gradient it is; all gradients; one copy each
  CHECK(difference(numbers_of(dq), numbers_of(of_query), 0) == "");
  CHECK(difference(numbers_of(dk), numbers_of(of_key), 0) == "");
  CHECK(difference(numbers_of(dv), numbers_of(of_value), 0) == "");
}

TEST_CASE("attentions of equal types and other operands are told apart", "[attention]") {
  const auto first = attention_tensor(5, 4, 1), second = attention_tensor(5, 4, 2);
  const auto x = tenon::variable<0>(first);
  const auto y = tenon::variable<1>(second);
  const auto loss = tenon::sum(tenon::square(tenon::scaled_dot_product_attention(x, x, x) -
                                             tenon::scaled_dot_product_attention(x, y, x, {.is_causal = true})));
  const auto [of_x, of_y] = tenon::gradient(loss, tenon::wrt(x, y));
  const auto [number, dx, dy] = tenon::value_and_gradient(loss, tenon::wrt(x, y));
  CHECK(difference(numbers_of(dx), numbers_of(of_x), 1e-6) == "");
  CHECK(difference(numbers_of(dy), numbers_of(of_y), 1e-6) == "");
}

#if !defined(__CUDACC__)
TEST_CASE("gradients of attention take memory as their operands do", "[attention]") {
  constexpr tenon::index length = 2000, features = 8;
  const auto query = attention_tensor(length, features, 1), key = attention_tensor(length, features, 2),
             value = attention_tensor(length, features, 3);
  const auto q = tenon::variable<0>(query);
  const auto k = tenon::variable<1>(key);
  const auto v = tenon::variable<2>(value);
  const auto loss = tenon::sum(tenon::scaled_dot_product_attention(q, k, v));
  const tenon::single_thread_scope alone;  // each thread has scratch memory of its own
  tenon_test::bytes_allocated = 0;
  const auto [number, dq, dk, dv] = tenon::value_and_gradient(loss, tenon::wrt(q, k, v));
  CHECK(tenon_test::bytes_allocated >= 3 * length * features * sizeof(float));
  // All that was taken in turn, beside a matrix of weights.
  CHECK(tenon_test::bytes_allocated < length * length * sizeof(float) / 8);
}

TEST_CASE("readers of memory that come and go take what those before them have left", "[kept_blocks]") {
  auto& blocks = tenon::detail::kept_blocks::of_process();
  const float read[5] = {};
  const auto add_and_remove = [&](int first) {
    blocks.add_reader(read + 4);
    blocks.remove_reader(read + 4);
    for (int i = 0; i < 5; ++i) blocks.add_reader(read + (first + i) % 5);
    blocks.add_reader(read);
    for (int i = 0; i < 5; ++i) blocks.remove_reader(read + (first + 3 * i) % 5);
    blocks.remove_reader(read);
  };
  add_and_remove(0);
  tenon_test::counted_size = 0;
  const std::size_t before = tenon_test::blocks_allocated;
  for (int first = 0; first < 5; ++first) add_and_remove(first);
  CHECK(tenon_test::blocks_allocated == before);
  CHECK(blocks.size() == 0);
}
#endif
