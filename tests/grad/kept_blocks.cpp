// tests/grad/kept_blocks.cpp: traced values keep the memory that they read, and give it back.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <tenon/grad/kept_blocks.hpp>
#include <tenon/grad/traced.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon::detail::kept_blocks;
using tenon::detail::later_frees;

/// A vector whose elements other tensors' would overwrite, if its memory were free.
template <class Space = tenon::host>
tenon::tensor<float, rank<1>, Space> counted(float first) {
  return tenon::tensor<float, rank<1>>(tenon::arange<float>(1000) + first).to<Space>();
}
/// Takes whatever memory is free, and writes it.
template <class Space>
void write_free_memory() {
  for (int i = 0; i < 4; ++i) {
    const auto other = counted<Space>(-7000);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a traced value keeps tensors that are gone before its way back", "[kept_blocks]",
                        tenon_test::spaces) {
  const std::size_t before = kept_blocks::of_process().size();
  const auto weight = counted<TestType>(1);
  {
    const auto w = tenon::variable(weight);
    std::optional<tenon::traced<float, tenon::shape<>, TestType>> loss;
    {
      const auto x = counted<TestType>(3), unread = counted<TestType>(5);
      loss.emplace(tenon::sum(w * tenon::slice(x, tenon::range(0, 1000)) + 1));
      const tenon::traced apart = unread * 2;  // nothing flows through it
    }
    CHECK(kept_blocks::of_process().size() == before + 1);
    write_free_memory<TestType>();
    loss->backward();
    CHECK(tenon_test::numbers_of(w.gradient().template to<tenon::host>()) == tenon_test::numbers_of(counted(3)));
  }
  CHECK(kept_blocks::of_process().size() == before);
}

TEST_CASE("a loop whose inputs live for one turn has their gradients", "[kept_blocks]") {
  const auto weight = counted(1);
  const auto w = tenon::variable(weight);
  tenon::traced total = tenon::sum(w) * 0;
  for (int turn = 1; turn <= 3; ++turn) {
    const auto input = tenon::full<float>({1000}, static_cast<float>(turn));
    total = total + tenon::sum(w * input);
  }
  write_free_memory<tenon::host>();
  total.backward();
  CHECK(tenon_test::numbers_of(w.gradient()) == std::vector<double>(1000, 6));
}

TEST_CASE("a variable keeps the tensor that it was made of", "[kept_blocks]") {
  std::optional<decltype(tenon::variable(counted(1)))> w;
  {
    const auto weight = counted(1);
    w.emplace(tenon::variable(weight));
  }
  write_free_memory<tenon::host>();
  const float value = tenon::backward(tenon::sum(*w * *w)) / 1e6f;
  CHECK(value > 300);
  CHECK(tenon_test::numbers_of(w->gradient())[999] == 2000);
}

TEST_CASE("an expression of a function's tensors is computed behind it", "[kept_blocks]") {
  const std::size_t before = kept_blocks::of_process().size();
  const auto weight = counted(1);
  const auto w = tenon::variable(weight);
  const auto loss_of = [&](float first) {
    const auto target = counted(first);
    return tenon::sum(w * target);
  };
  {
    const later_frees until_backward;
    {
      const later_frees nested;
      counted(3);                              // is left to the outer one
      std::thread([] { counted(1); }).join();  // other threads free what is theirs
    }
    const auto expression = loss_of(2);
    write_free_memory<tenon::host>();
    const auto loss = tenon::backward(expression);
    CHECK(tenon_test::numbers_of(w.gradient()) == tenon_test::numbers_of(counted(2)));
  }
  std::optional<tenon::traced<float, tenon::shape<>>> loss;
  {
    const later_frees until_traced;
    loss.emplace(loss_of(2));
  }
  CHECK(kept_blocks::of_process().size() == before + 1);
  write_free_memory<tenon::host>();
  loss->backward();
  CHECK(tenon_test::numbers_of(w.gradient())[7] == 2 * 9);
  loss.reset();
  CHECK(kept_blocks::of_process().size() == before);
}
