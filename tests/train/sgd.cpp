// tests/train/sgd.cpp: stochastic gradient descent against its definition in double precision.
// Each option by itself and with others; options that contradict each other are refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>
#include <tenon/train/sgd.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::sgd_options;

/// A step as PyTorch's documentation has it.
auto sgd_definition(const sgd_options& options) {
  return [=](double& p, double g, auto& state, int step) {
    g += options.weight_decay * p;
    if (options.momentum != 0) {
      state[0] = step == 1 ? g : options.momentum * state[0] + (1 - options.dampening) * g;
      g = options.nesterov ? g + options.momentum * state[0] : state[0];
    }
    p -= options.lr * g;
  };
}

template <class Space, class T = float>
std::string sgd_difference(const sgd_options& options, double bound) {
  return tenon_test::step_difference<Space, T>(tenon::train::sgd<Space, T>(options), sgd_definition(options), bound);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sgd follows its definition", "[sgd]", tenon_test::spaces) {
  using space = TestType;
  CHECK(sgd_difference<space>({}, 1e-6) == "");
  CHECK(sgd_difference<space>({.lr = 0.1, .momentum = 0.9}, 1e-6) == "");
  CHECK(sgd_difference<space>({.lr = 0.1, .momentum = 0.9, .dampening = 0.3}, 1e-6) == "");
  CHECK(sgd_difference<space>({.lr = 0.1, .momentum = 0.9, .nesterov = true}, 1e-6) == "");
  CHECK(sgd_difference<space>({.lr = 0.5, .momentum = 0.25, .weight_decay = 0.125}, 1e-6) == "");
  CHECK(sgd_difference<space>({.lr = 0.1, .weight_decay = 0.5}, 1e-6) == "");
  CHECK(sgd_difference<space, double>({.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.1}, 1e-14) ==
        "");
}

TEST_CASE("sgd refuses options that make no sense", "[sgd]") {
  const auto text = [](const sgd_options& options) {
    return tenon_test::text_of<tenon::error>([&] { tenon::train::sgd<>{options}; });
  };
  CHECK(text({.lr = -1}) == "sgd: lr: -1, expected at least 0");
  CHECK(text({.momentum = -0.5}) == "sgd: momentum: -0.5, expected at least 0");
  CHECK(text({.momentum = 0.5, .dampening = std::nan("")}) == "sgd: dampening: nan, expected a finite number");
  CHECK_NOTHROW(tenon::train::sgd<>({.dampening = -0.5}));
  CHECK(text({.lr = 0.1, .nesterov = true}) == "sgd: nesterov takes a momentum, and no dampening");
  CHECK(text({.lr = 0.1, .momentum = 0.9, .dampening = 0.1, .nesterov = true}) ==
        "sgd: nesterov takes a momentum, and no dampening");
}

TEST_CASE("a network of one layer, which can be called as a loss can, is moved", "[sgd]") {
  tenon::nn::linear<3, 2> layer;
  layer.initialise(1);
  tenon::train::sgd optimizer({.lr = 1});
  const tenon::tensor<float, tenon::shape<tenon::dyn, 3>> x(tenon::shape<tenon::dyn, 3>(1), {1, 2, 3});
  tenon::backward(tenon::sum(layer(x)));
  const float first = layer.bias.value(0), second = layer.bias.value(1);
  optimizer.step(layer);
  CHECK(layer.bias.value(0) == first - 1);
  CHECK(layer.bias.value(1) == second - 1);
}
