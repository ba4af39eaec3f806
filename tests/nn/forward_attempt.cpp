// tests/nn/forward_attempt.cpp: forward passes that fail in a layer behind those that have drawn and counted.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/forward_attempt.hpp>
#include <tenon/nn/linear.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::shape;

/// Passes its input on, or fails.
struct fragile : nn::stateless {
  bool is_broken = false;

  template <class Input>
  constexpr Input output_shape(const Input& input) const {
    return input;
  }
  template <class Input>
  auto forward(const Input& input) const {
    if (is_broken) throw tenon::error("it is broken");
    return input * 1.0f;
  }
};

/// Passes its input on, and can take nothing back.
struct irrevocable : fragile {
  int passes = 0;

  template <class Input>
  void prepare(const Input&) {
    ++passes;
  }
  int forward_count() const { return passes; }
  void undo_forward(int count) {
    if (passes > count) throw tenon::error("the device is lost");
  }
};

template <class Space>
auto network() {
  return nn::sequential(nn::linear<3, 4>{}, nn::residual(nn::dropout(0.5), nn::batch_norm<4>{}), nn::dropout(0.2),
                        fragile{})
      .template to<Space>();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a forward pass that fails draws no masks and moves no statistics", "[forward_attempt]",
                        tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(shape<dyn, 3>(5, 3), tenon_test::scattered);
  auto undisturbed = network<TestType>(), net = undisturbed;
  nn::pass<decltype(net), shape<dyn, 3>, TestType> expected(undisturbed), pass(net);
  for (int step = 0; step < 3; ++step) {
    tenon::get<3>(net.layers).is_broken = true;
    for (int attempt = 0; attempt < 2; ++attempt) CHECK_THROWS_AS(pass.forward(x.view()), tenon::error);
    tenon::get<3>(net.layers).is_broken = false;
    CHECK(tenon_test::numbers_of<TestType>(pass.forward(x.view())) ==
          tenon_test::numbers_of<TestType>(expected.forward(x.view())));
    const auto& norm = tenon::get<1>(tenon::get<1>(net.layers).layers);
    const auto& expected_norm = tenon::get<1>(tenon::get<1>(undisturbed.layers).layers);
    CHECK(norm.num_batches_tracked == step + 1);
    CHECK(tenon_test::numbers_of<TestType>(norm.running_mean) ==
          tenon_test::numbers_of<TestType>(expected_norm.running_mean));
    CHECK(tenon_test::numbers_of<TestType>(norm.running_var) ==
          tenon_test::numbers_of<TestType>(expected_norm.running_var));
  }
}

TEST_CASE("a forward pass that cannot be taken back is an exception of its own", "[forward_attempt]") {
  auto net = nn::sequential(nn::linear<3, 4>{}, irrevocable{}, fragile{});
  const auto x = tenon_test::made_tensor<float, tenon::host>(shape<dyn, 3>(5, 3), tenon_test::scattered);
  nn::pass<decltype(net), shape<dyn, 3>> pass(net);
  tenon::get<2>(net.layers).is_broken = true;
  CHECK(tenon_test::text_of<tenon::error>([&] { pass.forward(x.view()); }) == "the device is lost");
}
