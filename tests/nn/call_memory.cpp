// tests/nn/call_memory.cpp: memory that calls lend to layers, and steps of layers of other sizes that use it again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/call_memory.hpp>

#include <tenon/tenon.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace nn = tenon::nn;
using nn::detail::lent_memory;
using nn::detail::memory_in_use;
using tenon::rank;
using tenon_test::numbers_of;

TEST_CASE("a layer finds the memory of the innermost call", "[call_memory]") {
  int own = 1, other = 2, outer = 3, inner = 4;
  CHECK(&memory_in_use(own) == &own);
  {
    const lent_memory first(own, outer);
    CHECK(&memory_in_use(own) == &outer);
    CHECK(&memory_in_use(other) == &other);
    CHECK(&memory_in_use(std::as_const(own)) == &outer);
    {
      const lent_memory second(own, inner), beside(other, outer);
      CHECK(&memory_in_use(own) == &inner);
      CHECK(&memory_in_use(other) == &outer);
    }
    CHECK(&memory_in_use(own) == &outer);
    std::thread([&] { own = &memory_in_use(own) == &own ? 5 : 6; }).join();
  }
  CHECK(&memory_in_use(own) == &own);
  CHECK(own == 5);
}

TEST_CASE("batch norms of other channels use the memory of calls before", "[call_memory]") {
  const auto input_of = [](tenon::index channels) -> tenon::tensor<float, rank<2>> {
    return tenon::uniform<float>({6, channels}, 3, -1, 1);
  };
  for (const bool is_training : {false, true}) {
    nn::batch_norm<> narrow(8), wide(16);
    for (auto* each : {&narrow, &wide}) each->initialise(1), each->is_training = is_training;
    for (int pass = 0; pass < 2; ++pass) {
      for (auto* each : {&narrow, &wide}) {
        const tenon::no_grad testing;
        nn::batch_norm<> by_hand = *each;
        const auto x = input_of(each->extents.extent(0));
        by_hand.prepare(x);
        CHECK(numbers_of(tenon::evaluated_tensor((*each)(x))) ==
              numbers_of(tenon::evaluated_tensor(by_hand.forward(x))));
      }
    }
  }
}

TEST_CASE("only calls in training count", "[call_memory]") {
  nn::lstm<> layer(3, 4);
  layer.initialise(1);
  const tenon::tensor<float, rank<2>> x = tenon::ones<float>({5, 3});
  (void)layer(x);
  CHECK(layer.forward_count() == 1);
  layer.is_training = false;
  (void)layer(x);
  CHECK(layer.forward_count() == 1);
}
