// tests/train/lion.cpp: Lion against its definition in double precision.
// Steps are all as long as the rate, save where momentum and gradient cancel to zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/lion.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::lion_options;

template <class Space, class T = float>
std::string lion_difference(const lion_options& options, double bound) {
  const auto definition = [=](double& p, double g, auto& state, int) {
    p -= options.lr * options.weight_decay * p;
    const double moved = options.betas[0] * state[0] + (1 - options.betas[0]) * g;
    p -= options.lr * (moved > 0 ? 1 : moved < 0 ? -1 : 0);
    state[0] = options.betas[1] * state[0] + (1 - options.betas[1]) * g;
  };
  return tenon_test::step_difference<Space, T>(tenon::train::lion<Space, T>(options), definition, bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("lion follows its definition", "[lion]", tenon_test::spaces) {
  using space = TestType;
  CHECK(lion_difference<space>({}, 1e-6) == "");
  CHECK(lion_difference<space>({.lr = 0.1, .betas = {{0.5, 0.7}}, .weight_decay = 0.3}, 1e-6) == "");
  CHECK(lion_difference<space, double>({.lr = 0.1, .weight_decay = 0.3}, 1e-14) == "");
}

TEST_CASE("lion refuses options that make no sense", "[lion]") {
  const auto text = tenon_test::text_of<tenon::error>([] { tenon::train::lion<>({.betas = {{0.9, 1}}}); });
  CHECK(text == "lion: betas[1]: 1, expected at least 0 and below 1");
}
