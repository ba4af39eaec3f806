// tests/train/radam.cpp: RAdam against its definition in double precision.
// Its steps change their form where the second average tells of more than five gradients; both forms are seen.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/radam.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::radam_options;

/// A step as PyTorch's documentation has it.
auto radam_definition(const radam_options& options) {
  return [=](double& p, double g, auto& state, int step) {
    const double beta1 = options.betas[0], beta2 = options.betas[1];
    if (options.decoupled_weight_decay) p -= options.lr * options.weight_decay * p;
    else g += options.weight_decay * p;
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    const double mean = state[0] / (1 - std::pow(beta1, step)), left = 1 - std::pow(beta2, step);
    const double most = 2 / (1 - beta2) - 1, told = most - 2 * step * std::pow(beta2, step) / left;
    if (told > 5) {
      const double trust = std::sqrt((told - 4) * (told - 2) * most / ((most - 4) * (most - 2) * told));
      p -= options.lr * mean * trust * std::sqrt(left) / (std::sqrt(state[1]) + options.eps);
    } else {
      p -= options.lr * mean;
    }
  };
}

template <class Space, class T = float>
std::string radam_difference(const radam_options& options, double bound, int launches = 1) {
  return tenon_test::step_difference<Space, T>(tenon::train::radam<Space, T>(options), radam_definition(options), bound,
                                               0, launches);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("radam follows its definition", "[radam]", tenon_test::spaces) {
  using space = TestType;
  CHECK(radam_difference<space>({}, 1e-6) == "");
  CHECK(radam_difference<space>({.lr = 0.05, .betas = {{0.8, 0.6}}, .eps = 1e-3}, 2e-6) == "");
  CHECK(radam_difference<space>({.lr = 0.05, .betas = {{0, 0}}, .weight_decay = 0.1}, 2e-6) == "");
  CHECK(radam_difference<space>({.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true}, 2e-6) == "");
  CHECK(radam_difference<space, double>({.lr = 0.05, .weight_decay = 0.1}, 1e-13) == "");
}

TEMPLATE_TEST_CASE("radam divides by the root from its sixth step on", "[radam]", float, double) {
  const radam_options options{.lr = 0.05, .eps = 1e-3, .weight_decay = 0.1};
  tenon::train::radam<tenon::host, TestType> optimizer(options);
  tenon_test::loose_parameters<tenon::host, TestType> net({37});
  const auto definition = radam_definition(options);
  std::vector<double> expected = net.values();
  std::vector<std::array<double, 3>> state(expected.size());
  for (int step = 1; step <= 40; ++step) {
    const auto gradients = net.draw_gradients(step);
    optimizer.step(net);
    for (std::size_t i = 0; i < expected.size(); ++i) definition(expected[i], gradients[i], state[i], step);
    CAPTURE(step);
    CHECK(tenon_test::difference(net.values(), expected, std::is_same_v<TestType, float> ? 4e-6 : 1e-13) == "");
  }
}

TEST_CASE("radam refuses options that make no sense", "[radam]") {
  const auto text = [](const radam_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::radam<>{options}; });
  };
  CHECK(text({.betas = {{0.9, 1}}}) == "radam: betas[1]: 1, expected at least 0 and below 1");
  CHECK(text({.eps = -1}) == "radam: eps: -1, expected at least 0");
  CHECK(text({.weight_decay = std::nan("")}) == "radam: weight_decay: nan, expected at least 0");
}
