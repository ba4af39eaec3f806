// tests/train/nadam.cpp: NAdam against its definition in double precision, its product of weights multiplied out.
// Weights of the past near 0 and near 1, and steps in the hundreds, are those that a sum of powers could miss.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/nadam.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::nadam_options;

/// A step as PyTorch's documentation has it; state[2] is one less than the product of weights so far.
auto nadam_definition(const nadam_options& options) {
  return [=](double& p, double g, auto& state, int step) {
    const double beta1 = options.betas[0], beta2 = options.betas[1];
    const auto weight = [&](int at) { return beta1 * (1 - 0.5 * std::pow(0.96, at * options.momentum_decay)); };
    if (options.decoupled_weight_decay) p -= options.lr * options.weight_decay * p;
    else g += options.weight_decay * p;
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    state[2] = (state[2] + 1) * weight(step) - 1;
    const double spread = std::sqrt(state[1] / (1 - std::pow(beta2, step))) + options.eps;
    p -= options.lr * (1 - weight(step)) / -state[2] * g / spread;
    p -= options.lr * weight(step + 1) / (1 - (state[2] + 1) * weight(step + 1)) * state[0] / spread;
  };
}

template <class Space, class T = float>
std::string nadam_difference(const nadam_options& options, double bound) {
  return tenon_test::step_difference<Space, T>(tenon::train::nadam<Space, T>(options), nadam_definition(options),
                                               bound);
}

/// One element over many steps: the first at which it is elsewhere than its definition.
template <class T>
int step_that_differs(const nadam_options& options, int steps, double bound) {
  tenon::train::nadam<tenon::host, T> optimizer(options);
  tenon_test::loose_parameters<tenon::host, T> net({1});
  const auto definition = nadam_definition(options);
  double expected = net.values()[0];
  std::array<double, 3> state{};
  for (int step = 1; step <= steps; ++step) {
    const double gradient = net.draw_gradients(step)[0];
    definition(expected, gradient, state, step);
    optimizer.step(net);
    if (!(std::fabs(net.values()[0] - expected) <= bound)) return step;
  }
  return 0;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("nadam follows its definition", "[nadam]", tenon_test::spaces) {
  using space = TestType;
  CHECK(nadam_difference<space>({}, 1e-6) == "");
  CHECK(nadam_difference<space>({.lr = 0.05, .betas = {{0.8, 0.95}}, .eps = 1e-3, .momentum_decay = 0.5}, 2e-6) == "");
  CHECK(nadam_difference<space>({.lr = 0.05, .weight_decay = 0.1, .momentum_decay = 0}, 2e-6) == "");
  CHECK(nadam_difference<space>({.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true}, 2e-6) == "");
  CHECK(nadam_difference<space>({.lr = 0.05, .betas = {{0, 0.9}}}, 4e-6) == "");
  CHECK(nadam_difference<space>({.lr = 0.05, .betas = {{0.999, 0.9}}, .momentum_decay = 1e5}, 4e-6) == "");
  CHECK(nadam_difference<space, double>({.lr = 0.05, .weight_decay = 0.1}, 1e-13) == "");
}

TEST_CASE("nadam's product of weights stays exact over many steps", "[nadam]") {
  CHECK(step_that_differs<double>({.lr = 0.01}, 600, 1e-12) == 0);
  CHECK(step_that_differs<double>({.lr = 0.01, .betas = {{0.99, 0.9}}, .momentum_decay = 2}, 900, 1e-12) == 0);
  CHECK(step_that_differs<double>({.lr = 0.01, .betas = {{0.99, 0.9}}, .momentum_decay = 1e-9}, 90, 1e-12) == 0);
  CHECK(step_that_differs<float>({.lr = 0.01, .betas = {{0.99, 0.9}}, .momentum_decay = 2}, 900, 2e-5) == 0);
}

TEST_CASE("nadam refuses options that make no sense", "[nadam]") {
  const auto text = [](const nadam_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::nadam<>{options}; });
  };
  CHECK(text({.betas = {{1, 0.9}}}) == "nadam: betas[0]: 1, expected at least 0 and below 1");
  CHECK(text({.momentum_decay = -1}) == "nadam: momentum_decay: -1, expected at least 0");
  CHECK(text({.lr = -1}) == "nadam: lr: -1, expected at least 0");
}
