// tests/train/rmsprop.cpp: RMSprop against its definition in double precision.
// Momentum and centring are two more numbers for each element, in any combination.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/rmsprop.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::rmsprop_options;

template <class Space, class T = float>
std::string rmsprop_difference(const rmsprop_options& options, double bound) {
  const auto definition = [=](double& p, double g, auto& state, int) {
    g += options.weight_decay * p;
    state[0] = options.alpha * state[0] + (1 - options.alpha) * g * g;
    state[1] = options.alpha * state[1] + (1 - options.alpha) * g;
    const double square = options.centered ? state[0] - state[1] * state[1] : state[0];
    state[2] = options.momentum * state[2] + g / (std::sqrt(square) + options.eps);
    p -= options.lr * state[2];
  };
  return tenon_test::step_difference<Space, T>(tenon::train::rmsprop<Space, T>(options), definition, bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rmsprop follows its definition", "[rmsprop]", tenon_test::spaces) {
  using space = TestType;
  CHECK(rmsprop_difference<space>({}, 2e-6) == "");
  CHECK(rmsprop_difference<space>({.lr = 0.1, .alpha = 0.5, .eps = 1e-3}, 2e-6) == "");
  CHECK(rmsprop_difference<space>({.weight_decay = 0.3, .momentum = 0.5}, 4e-6) == "");
  CHECK(rmsprop_difference<space>({.alpha = 0.5, .eps = 0.1, .centered = true}, 4e-6) == "");
  CHECK(rmsprop_difference<space>({.alpha = 0.5, .eps = 0.1, .momentum = 0.5, .centered = true}, 4e-6) == "");
  CHECK(rmsprop_difference<space, double>({.weight_decay = 0.3, .momentum = 0.5, .centered = true}, 1e-13) == "");
}

TEST_CASE("rmsprop refuses options that make no sense", "[rmsprop]") {
  const auto text = [](const rmsprop_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::rmsprop<>{options}; });
  };
  CHECK(text({.alpha = -0.5}) == "rmsprop: alpha: -0.5, expected at least 0 and at most 1");
  CHECK(text({.alpha = 2}) == "rmsprop: alpha: 2, expected at least 0 and at most 1");
}
