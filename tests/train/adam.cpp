// tests/train/adam.cpp: Adam, AMSGrad and AdamW against their definitions in double precision.
// Averages start at zero, so the first steps show whether that is made up for.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/adam.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

/// A step as PyTorch's documentation has it.
template <class Options>
auto adam_definition(const Options& options, double decay_of_gradient, double decay_of_value) {
  return [=](double& p, double g, auto& state, int step) {
    const double beta1 = options.betas[0], beta2 = options.betas[1];
    p -= options.lr * decay_of_value * p;
    g += decay_of_gradient * p;
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    state[2] = std::fmax(state[2], state[1]);
    const double mean = state[0] / (1 - std::pow(beta1, step));
    const double square = (options.amsgrad ? state[2] : state[1]) / (1 - std::pow(beta2, step));
    p -= options.lr * mean / (std::sqrt(square) + options.eps);
  };
}

template <class Space, class T = float>
std::string adam_difference(const tenon::train::adam_options& options, double bound) {
  return tenon_test::step_difference<Space, T>(tenon::train::adam<Space, T>(options),
                                               adam_definition(options, options.weight_decay, 0), bound);
}
template <class Space>
std::string adamw_difference(const tenon::train::adamw_options& options) {
  return tenon_test::step_difference<Space>(tenon::train::adamw<Space>(options),
                                            adam_definition(options, 0, options.weight_decay), 2e-6);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("adam follows its definition", "[adam]", tenon_test::spaces) {
  using space = TestType;
  CHECK(adam_difference<space>({}, 1e-6) == "");
  CHECK(adam_difference<space>({.lr = 0.05, .betas = {{0.8, 0.95}}, .eps = 1e-3}, 2e-6) == "");
  CHECK(adam_difference<space>({.lr = 0.05, .weight_decay = 0.1}, 2e-6) == "");
  CHECK(adam_difference<space>({.lr = 0.05, .betas = {{0.5, 0.3}}, .amsgrad = true}, 4e-6) == "");
  CHECK(adam_difference<space>({.lr = 0.05, .betas = {{0, 0.9}}}, 4e-6) == "");
  CHECK(adam_difference<space, double>({.lr = 0.05, .weight_decay = 0.1, .amsgrad = true}, 1e-13) == "");
}

TEMPLATE_LIST_TEST_CASE("adamw follows its definition", "[adam]", tenon_test::spaces) {
  using space = TestType;
  CHECK(adamw_difference<space>({}) == "");
  CHECK(adamw_difference<space>({.lr = 0.1, .weight_decay = 0.5}) == "");
  CHECK(adamw_difference<space>({.lr = 0.1, .betas = {{0.5, 0.3}}, .weight_decay = 0.1, .amsgrad = true}) == "");
}

TEST_CASE("adam refuses options that make no sense", "[adam]") {
  const auto text = [](const tenon::train::adam_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::adam<>{options}; });
  };
  CHECK(text({.betas = {{1, 0.9}}}) == "adam: betas[0]: 1, expected at least 0 and below 1");
  CHECK(text({.betas = {{0.9, -1}}}) == "adam: betas[1]: -1, expected at least 0 and below 1");
  CHECK(text({.eps = -1}) == "adam: eps: -1, expected at least 0");
  CHECK(text({.lr = std::nan("")}) == "adam: lr: nan, expected at least 0");
}
