// tests/fault_injection/layers.cpp: passes through networks, and traced values, at which memory runs out.
// Masks, running statistics and gradients of a second attempt are those of a first one.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"

namespace {

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::attack;
using tenon_test::bits_of;

/// What a pass may move for good.
template <class Network>
std::string lasting_bits(Network& net) {
  std::string bits;
  const auto add = [&](const auto&, auto& value) { bits += bits_of(value); };
  nn::visit_state(net, add);
  if constexpr (requires { net.visit_random_state(add); }) net.visit_random_state(add);
  return bits;
}
template <class Network>
std::string gradient_bits(Network& net) {
  std::string bits;
  net.visit_parameters([&](const auto&, auto& parameter) { bits += bits_of(parameter.gradient); });
  return bits;
}
template <class Result>
std::string result_bits(const Result& result) {
  return bits_of(tenon::tensor<float, typename Result::shape_type>(result));
}

/// A network with its pass, an input, and a gradient of its output.
template <class Network, class Input>
struct trained {
  Network net;
  tenon::tensor<float, Input> x;
  nn::pass<Network, Input> pass{net};

  trained(const Network& made, const Input& extents) : net(made), x(tenon::uniform<float>(extents, 5, -1.0f, 1.0f)) {}
  void forward() { pass.forward(x.view()); }
  void backward() { pass.backward(x.view(), tenon::constants(shape<dyn, 5>(x.extent(0), 5), 0.5f)); }
};

template <class Network, class Input>
bool passes_hold(const std::string& name, const Network& net, const Input& extents) {
  using subject = trained<Network, Input>;
  const auto make = [&] { return std::make_unique<subject>(net, extents); };
  const auto make_behind = [&] {
    auto all = make();
    all->forward();
    return all;
  };
  const auto lasting = [](subject& all) { return lasting_bits(all.net); };
  const auto gradients = [](subject& all) { return gradient_bits(all.net); };
  const auto forward = attack(name + ": forward", make, [](subject& all) { all.forward(); }, lasting);
  const auto backward =
      attack(name + ": backward", make_behind, [](subject& all) { all.backward(); }, lasting, gradients);
  return forward.is_good() && backward.is_good();
}

/// A layer that is called by itself.
template <class Layer, class Shape>
struct called {
  Layer layer;
  tenon::tensor<float, Shape> x;
  std::string result;

  template <class... Arguments>
  explicit called(const Shape& extents, Arguments... arguments)
      : layer(arguments...), x(tenon::uniform<float>(extents, 5, -1.0f, 1.0f)) {
    layer.initialise(3);
  }
};

/// A forward pass alone, and one with a backward pass, which is taken back where that fails.
template <class Make, class Step>
bool step_holds(const std::string& name, const Make& make, const Step& step) {
  using subject = typename decltype(make())::element_type;
  const auto whole = [&](subject& all) { nn::attempt_forward(all.layer, [&] { step(all); }); };
  const auto forward = [](subject& all) { static_cast<void>(all.layer.forward(all.x)); };
  const auto lasting = [](subject& all) { return lasting_bits(all.layer); };
  const auto results = [](subject& all) { return all.result + gradient_bits(all.layer); };
  return attack(name + ": forward", make, forward, lasting).is_good() &&
         attack(name + ": forward and backward", make, whole, lasting, results).is_good();
}

}  // namespace

TEST_CASE("a pass without memory draws no mask and moves no statistics", "[layers]") {
  CHECK(passes_hold("convolution, norm, dropout, linear",
                    nn::sequential(nn::conv2d<2, 4, 3>{}, nn::batch_norm<4>{}, nn::relu{}, nn::dropout(0.3),
                                   nn::max_pool2d<2>{}, nn::flatten{}, nn::linear<36, 5>{}),
                    shape<dyn, 2, 8, 8>(3, 2, 8, 8)));
  CHECK(passes_hold(
      "layers within layers",
      nn::sequential(nn::residual(nn::linear<6, 6>{}, nn::dropout(0.5), nn::batch_norm<6>{}),
                     nn::branches(nn::linear<6, 3>{}, nn::sequential(nn::dropout(0.5), nn::linear<6, 2>{}))),
      shape<dyn, 6>(4, 6)));
}

TEST_CASE("a recurrent layer without memory has not been called", "[layers]") {
  using subject = called<nn::lstm<3, 4>, rank<3>>;
  const auto make = [] {
    return std::make_unique<subject>(rank<3>(5, 2, 3), nn::recurrent_options{.layers = 2, .dropout = 0.5f});
  };
  CHECK(step_holds("lstm", make, [](subject& all) {
    all.result = result_bits(all.layer.forward(all.x).sequence);
    all.result += result_bits(all.layer.backward(tenon::ones<float>(rank<3>(5, 2, 4))).sequence);
  }));
}

TEST_CASE("attention without memory draws no mask", "[layers]") {
  using layer_type = nn::multihead_attention<8, 2, nn::multihead_attention_options{.dropout = 0.5}>;
  using subject = called<layer_type, rank<3>>;
  const auto make = [] { return std::make_unique<subject>(rank<3>(7, 2, 8)); };
  CHECK(step_holds("attention", make, [](subject& all) {
    all.result = result_bits(tenon::evaluated_tensor(all.layer.forward(all.x)));
    tenon::tensor<float, rank<3>> dx(all.x.shape());
    all.layer.backward(all.x, all.x, tenon::ones<float>(all.x.shape()), dx.write_view());
    all.result += bits_of(dx);
  }));
}

TEST_CASE("a backward pass of traced values without memory adds no gradient", "[layers]") {
  struct subject {
    tenon::tensor<float, rank<1>> x{tenon::uniform<float>(rank<1>(9), 1, 0.5f, 1.0f)}, kept;
    bool is_kept = false;
    tenon::traced<float, rank<1>> v = tenon::variable(x, kept, is_kept), w = tenon::variable(x), product = v * w;
    tenon::traced<float, tenon::shape<>> loss = tenon::sum(product * tenon::exp(product));
  };
  const auto make = [] {
    tenon::free_traced_memory();
    return std::make_unique<subject>();
  };
  const auto gradients = [](subject& all) { return bits_of(all.kept) + bits_of(all.w.gradient()); };
  CHECK(attack("traced: backward", make, [](subject& all) { all.loss.backward(); }, gradients).is_good());
}
