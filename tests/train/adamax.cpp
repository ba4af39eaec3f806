// tests/train/adamax.cpp: Adamax against its definition in double precision.
// Gradients that are 0 leave the greatest magnitude to its decay; one that is NaN stays seen.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/adamax.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::adamax_options;

/// Steps beside those that PyTorch's documentation has.
template <class Space, class T = float>
std::string adamax_difference(const adamax_options& options, double bound) {
  const auto definition = [=](double& p, double g, auto& state, int step) {
    g += options.weight_decay * p;
    state[0] = options.betas[0] * state[0] + (1 - options.betas[0]) * g;
    state[1] = std::fmax(options.betas[1] * state[1], std::fabs(g) + options.eps);
    p -= options.lr / (1 - std::pow(options.betas[0], step)) * state[0] / state[1];
  };
  return tenon_test::step_difference<Space, T>(tenon::train::adamax<Space, T>(options), definition, bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("adamax follows its definition", "[adamax]", tenon_test::spaces) {
  using space = TestType;
  CHECK(adamax_difference<space>({}, 1e-6) == "");
  CHECK(adamax_difference<space>({.lr = 0.05, .betas = {{0.8, 0.3}}, .eps = 1e-3}, 2e-6) == "");
  CHECK(adamax_difference<space>({.lr = 0.05, .betas = {{0, 0.9}}, .weight_decay = 0.1}, 2e-6) == "");
  CHECK(adamax_difference<space, double>({.lr = 0.05, .weight_decay = 0.1}, 1e-13) == "");
}

TEMPLATE_LIST_TEST_CASE("a gradient that is NaN is not lost in adamax", "[adamax]", tenon_test::spaces) {
  tenon::train::adamax<TestType> optimizer;
  tenon_test::loose_parameters<TestType> net({3});
  net.all[0].gradient =
      tenon_test::made_tensor<float, TestType>(tenon::rank<1>(3), [](auto i) { return i == 1 ? std::nanf("") : 1.0f; });
  optimizer.step(net);
  net.draw_gradients(2);
  optimizer.step(net);
  const auto values = net.values();
  CHECK(std::isfinite(values[0]));
  CHECK(std::isnan(values[1]));
  CHECK(std::isfinite(values[2]));
}

TEST_CASE("adamax refuses options that make no sense", "[adamax]") {
  const auto text = [](const adamax_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::adamax<>{options}; });
  };
  CHECK(text({.betas = {{-1, 0.9}}}) == "adamax: betas[0]: -1, expected at least 0 and below 1");
  CHECK(text({.betas = {{0.9, 1}}}) == "adamax: betas[1]: 1, expected at least 0 and below 1");
  CHECK(text({.lr = std::nan("")}) == "adamax: lr: nan, expected at least 0");
}
