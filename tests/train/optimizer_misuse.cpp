// tests/train/optimizer_misuse.cpp: what optimizers refuse, whatever their rule.
// A refused step leaves parameters as they are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>
#include <tenon/train/sgd.hpp>

#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::train::begins_with;
using tenon_test::loose_parameters;
using tenon_test::text_of;

TEST_CASE("steps without a network or without gradients", "[optimizer]") {
  tenon::train::sgd<> alone({.lr = 1});
  CHECK(text_of<tenon::error>([&] { alone.step(); }) ==
        "optimizer: this step needs a network: make it with one, optimizer(net, options)?");
  nn::linear<3, 2> net;
  net.initialise(1);
  tenon::train::sgd optimizer(net, {.lr = 1});
  const std::string none =
      "optimizer: no parameter has a gradient; call backward on a loss of this network first (frozen parameters and "
      "no_grad leave none)";
  CHECK(text_of<tenon::error>([&] { optimizer.step(); }) == none);
  const tenon::tensor<float, tenon::rank<2>> x({2, 3});
  CHECK(text_of<tenon::error>([&] {
          optimizer.step([&] {
            const tenon::no_grad off;
            return tenon::mean(net(x));
          });
        }) ==
        "backward: this value was made of no variable and of no parameter (no_grad, detached() and gradient() leave "
        "constants); make it of v = variable(x), or of what a network makes");
}

TEST_CASE("a step refuses a function that has gone back from its loss", "[optimizer]") {
  nn::linear<3, 2> net, apart;
  net.initialise(1), apart.initialise(1);
  const tenon::tensor<float, tenon::rank<2>> before = net.weight.value, x = tenon::ones<float>({2, 3});
  tenon::train::sgd optimizer(net, {.lr = 1}), own(apart, {.lr = 1});
  CHECK(text_of<tenon::error>([&] {
          optimizer.step([&] {
            optimizer.zero_grad();
            const tenon::traced loss = tenon::mean(net(x));
            loss.backward();
            return loss;
          });
        }) ==
        "step: the function has called backward of the loss that it returns, which would count its gradients twice; "
        "leave zero_grad, backward and step to optimizer.step");
  CHECK(bool(tenon::all(net.weight.value == before)));
  CHECK(optimizer.steps() == 0);

  const auto part = [&](auto& layer) { return tenon::traced(tenon::mean(layer(x))); };
  optimizer.step([&] {  // gradients of one part are there already; those of the other are added
    tenon::backward(part(net));
    return part(net);
  });
  own.step([&] { return 2 * part(apart); });
  CHECK(bool(tenon::all(net.weight.value == apart.weight.value)));
}

TEST_CASE("groups that fit no network are refused", "[optimizer]") {
  loose_parameters<tenon::host> net;
  tenon::train::sgd<> optimizer({}, {{begins_with("0."), {}}, {begins_with("fc1"), {}}});
  CHECK(text_of<tenon::error>([&] { optimizer.step(net); }) ==
        "optimizer: group 2 takes no parameter of the network; do its names fit?");
  std::vector<tenon::train::parameter_group<tenon::train::sgd_options>> many(64, {begins_with("0."), {}});
  CHECK(text_of<tenon::error>([&] { tenon::train::sgd<>({}, many); }) ==
        "optimizer: 64 groups, expected fewer than 64");
}

TEST_CASE("groups that an optimizer does not have", "[optimizer]") {
  tenon::train::sgd<> optimizer({}, {{begins_with("0."), {}}});
  CHECK(text_of<tenon::index_error>([&] { optimizer.options(2); }) ==
        "optimizer: options: group 2, expected at least 0 and below 2");
  CHECK(text_of<tenon::index_error>([&] { optimizer.options(-1); }) ==
        "optimizer: options: group -1, expected at least 0 and below 2");
}

TEST_CASE("a step with bounds of clipping that make no sense changes nothing", "[optimizer]") {
  loose_parameters<tenon::host> net;
  net.draw_gradients(1);
  const auto before = net.values();
  tenon::train::sgd<> optimizer({.lr = 1});
  const auto text = [&](const tenon::train::gradient_clipping& bounds) {
    optimizer.clipping() = bounds;
    return text_of<tenon::error>([&] { optimizer.step(net); });
  };
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  CHECK(text({.max_norm = -1}) == "clipping: max_norm: -1, expected at least 0");
  CHECK(text({.max_norm = nan}) == "clipping: max_norm: nan, expected at least 0");
  CHECK(text({.max_norm = -infinity}) == "clipping: max_norm: -inf, expected a finite number");
  CHECK(text({.clip_value = -1}) == "clipping: clip_value: -1, expected at least 0");
  CHECK(text({.clip_value = nan}) == "clipping: clip_value: nan, expected at least 0");
  CHECK(net.values() == before);
  CHECK(optimizer.steps() == 0);
}
