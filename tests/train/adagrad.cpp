// tests/train/adagrad.cpp: Adagrad and Adadelta against their definitions in double precision.
// Adagrad's sum may begin with another number than zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/adagrad.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::adadelta_options;
using tenon::train::adagrad_options;

template <class Space, class T = float>
std::string adagrad_difference(const adagrad_options& options, double bound) {
  const auto definition = [=](double& p, double g, auto& state, int step) {
    g += options.weight_decay * p;
    state[0] += g * g;
    p -= options.lr / (1 + (step - 1) * options.lr_decay) * g / (std::sqrt(state[0]) + options.eps);
  };
  return tenon_test::step_difference<Space, T>(tenon::train::adagrad<Space, T>(options), definition, bound,
                                               options.initial_accumulator_value);
}

template <class Space, class T = float>
std::string adadelta_difference(const adadelta_options& options, double bound) {
  const auto definition = [=](double& p, double g, auto& state, int) {
    g += options.weight_decay * p;
    state[0] = options.rho * state[0] + (1 - options.rho) * g * g;
    const double moved = std::sqrt(state[1] + options.eps) / std::sqrt(state[0] + options.eps) * g;
    state[1] = options.rho * state[1] + (1 - options.rho) * moved * moved;
    p -= options.lr * moved;
  };
  return tenon_test::step_difference<Space, T>(tenon::train::adadelta<Space, T>(options), definition, bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("adagrad follows its definition", "[adagrad]", tenon_test::spaces) {
  using space = TestType;
  CHECK(adagrad_difference<space>({}, 1e-6) == "");
  CHECK(adagrad_difference<space>({.lr = 0.1, .lr_decay = 0.5, .weight_decay = 0.1}, 2e-6) == "");
  CHECK(adagrad_difference<space>({.lr = 0.1, .initial_accumulator_value = 0.75, .eps = 1e-3}, 2e-6) == "");
  CHECK(adagrad_difference<space, double>({.lr = 0.1, .lr_decay = 0.1, .initial_accumulator_value = 0.5}, 1e-14) == "");
}

TEMPLATE_LIST_TEST_CASE("adadelta follows its definition", "[adagrad]", tenon_test::spaces) {
  using space = TestType;
  CHECK(adadelta_difference<space>({}, 2e-6) == "");
  CHECK(adadelta_difference<space>({.lr = 0.5, .rho = 0.5, .eps = 1e-3, .weight_decay = 0.3}, 2e-6) == "");
  CHECK(adadelta_difference<space, double>({.rho = 0.95, .weight_decay = 0.1}, 1e-14) == "");
}

TEST_CASE("adagrad and adadelta refuse options that make no sense", "[adagrad]") {
  const auto sum = tenon_test::text_of<tenon::error>([] { tenon::train::adagrad<>({.lr_decay = -1}); });
  CHECK(sum == "adagrad: lr_decay: -1, expected at least 0");
  const auto average = tenon_test::text_of<tenon::error>([] { tenon::train::adadelta<>({.rho = 1.5}); });
  CHECK(average == "adadelta: 1 - rho: -0.5, expected at least 0");
}
