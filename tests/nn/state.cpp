// tests/nn/state.cpp: parameters and buffers by name.
// What is listed is the network's own: what is written through the list is in the network.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/bilinear.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/embedding_bag.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/nn/state.hpp>
#include <tenon/nn/transformer.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon_test::numbers_of;

namespace {

auto make_net_with_state() { return nn::sequential(nn::linear<3, 4>{}, nn::batch_norm<4>{}, nn::linear<4, 2>{}); }

}  // namespace

TEST_CASE("the state of a network has PyTorch's names, buffers last", "[state]") {
  auto net = make_net_with_state();
  std::string names;
  nn::visit_state(net, [&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names == "0.weight 0.bias 1.weight 1.bias 2.weight 2.bias 1.running_mean 1.running_var 1.num_batches_tracked ");
  CHECK(nn::parameter_count(net) == 12 + 4 + 4 + 4 + 8 + 2);
}

namespace {
/// Layers 1 and 10 of a longer network.
struct first_and_tenth {
  nn::linear<2, 2> layer;

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    for (const char* number : {"1.", "10."}) {
      layer.visit_parameters([&](const std::string& name, auto& parameter) { visitor(number + name, parameter); });
    }
  }
};
}  // namespace

TEST_CASE("layers go by other names", "[state]") {
  auto net = make_net_with_state();
  auto named = nn::with_names(net, {{"0", "body.conv"}, {"1", "norm"}});
  std::string names;
  nn::visit_state(named, [&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names ==
        "body.conv.weight body.conv.bias norm.weight norm.bias 2.weight 2.bias norm.running_mean norm.running_var "
        "norm.num_batches_tracked ");

  first_and_tenth longer;
  auto partly = nn::with_names(longer, {{"1", "head"}});
  names.clear();
  nn::visit_state(partly, [&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names == "head.weight head.bias 10.weight 10.bias ");
}

TEST_CASE("a layer alone has a state too", "[state]") {
  nn::linear<3, 2> layer;
  layer.initialise(0);
  std::string names;
  nn::visit_state(layer, [&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names == "weight bias ");
  CHECK(nn::parameter_count(layer) == 8);
}

TEMPLATE_LIST_TEST_CASE("parameters are listed with their elements", "[state]", tenon_test::spaces) {
  auto net = make_net_with_state().template to<TestType>();
  const auto listed = nn::named_parameters<TestType>(net);
  REQUIRE(listed.size() == 6);
  CHECK(listed[4].name == "2.weight");
  CHECK(listed[4].extents == std::vector<tenon::index>{2, 4});
  CHECK(numbers_of<TestType>(listed[0].value) == numbers_of(tenon::get<0>(net.layers).weight.value));
  for (const auto& [name, extents, value, gradient] : listed) {
    if (extents.size() == 2) value = value * 0.0f + 3.0f;
    gradient = 5.0f;
  }
  CHECK(numbers_of(tenon::get<2>(net.layers).weight.value) == std::vector<double>(8, 3.0));
  CHECK(numbers_of(tenon::get<2>(net.layers).bias.gradient) == std::vector<double>(2, 5.0));
}

namespace {

/// Every value of a network's state, one after another.
template <class Network>
std::vector<double> state_of(Network& net) {
  std::vector<double> all;
  nn::visit_state(net, [&]<class Value>(const std::string&, Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) {
      all.push_back(static_cast<double>(value));
    } else {
      const auto numbers = numbers_of(value);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
  });
  return all;
}

/// What half makes of a layer's state, from float and on to double.
template <class Layer>
void check_rounded(Layer layer) {
  layer.initialise(3);
  auto rounded = layer.template to<tenon::half>();
  auto wide = rounded.template to<double>();
  STATIC_REQUIRE(std::is_same_v<decltype(wide), decltype(layer.template to<double>())>);
  const auto before = state_of(layer), after = state_of(rounded);
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    CHECK(after[i] == static_cast<double>(float(tenon::half(static_cast<float>(before[i])))));
  }
  CHECK(state_of(wide) == after);
}

}  // namespace

TEST_CASE("every layer becomes one of other elements", "[state]") {
  check_rounded(nn::linear<3, 4>{});
  check_rounded(nn::bilinear<tenon::dyn, 2, 3>(4, 2, 3));
  check_rounded(nn::conv1d<4, 6, 3, nn::conv1d_options{.groups = 2, .bias = false}>{});
  check_rounded(nn::conv_transpose2d<tenon::dyn, tenon::dyn, 2, nn::conv2d_at_run_time>(2, 3, 2, {.stride = 2}));
  check_rounded(nn::prelu<3>{});
  check_rounded(nn::layer_norm<tenon::shape<3>>{});
  check_rounded(nn::rms_norm<tenon::shape<3>>{});
  check_rounded(nn::group_norm<6>(2));
  check_rounded(nn::instance_norm<3, nn::affine::both>{});
  check_rounded(nn::batch_norm<3>{});
  check_rounded(nn::embedding<4, 3>(nn::embedding_options{.padding_idx = 1}));
  check_rounded(nn::embedding_bag<tenon::dyn, 3>(4, 3, {.mode = nn::bag_mode::max}));
  check_rounded(nn::multihead_attention<4, 2>{});
  check_rounded(nn::lstm<>(3, 2, {.layers = 2, .bidirectional = true, .projection = 1}));
  check_rounded(nn::gru_cell<3, 2>{});
  check_rounded(nn::transformer_encoder_layer<4, 2, 5>{});
  check_rounded(nn::sequential(nn::linear<3, 3>{}, nn::residual(nn::linear<3, 3>{}, nn::relu{}),
                               nn::branches(nn::relu{}, nn::batch_norm<3>{})));
}

TEMPLATE_LIST_TEST_CASE("a network of other elements says the same up to their rounding", "[state]",
                        tenon_test::spaces) {
  auto net =
      nn::sequential(nn::linear<5, 8>{}, nn::batch_norm<8>{}, nn::relu{}, nn::linear<8, 3>{}).template to<TestType>();
  net.eval();
  using input = tenon::shape<tenon::dyn, 5>;
  const auto answer = [&]<class T>(auto& other, T) {
    nn::pass<std::remove_cvref_t<decltype(other)>, input, TestType, T> pass(other);
    const tenon::tensor<T, input, TestType> x(tenon::cast<T>(tenon::uniform<float>(input(4, 5), 7, -1.0f, 1.0f)));
    return numbers_of(pass.forward(x.view()));
  };
  const auto expected = answer(net, 0.0f);
  auto wide = net.template to<double>();
  CHECK(tenon_test::difference(answer(wide, 0.0), expected, 1e-6) == "");
  auto narrow = net.template to<tenon::bfloat16>();
  CHECK(!tenon::get<1>(narrow.layers).is_training);
  CHECK(tenon_test::difference(answer(narrow, tenon::bfloat16(0.0f)), expected, 2e-2) == "");
}

namespace {

struct listed_layers {
  std::vector<nn::linear<3, 2>> parts;
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    for (auto& each : parts) each.visit_parameters(visitor);
  }
};

}  // namespace

TEST_CASE("a network lives where its own parameters lie, and not where those of its lists do", "[state]") {
  auto held = std::make_unique<nn::linear<3, 2>>();
  const auto life = nn::life_of(*held);
  REQUIRE(life.has_value());
  *held = nn::linear<3, 2>{};
  CHECK(!life->expired());
  const nn::linear<3, 2> moved = std::move(*held);
  CHECK(!life->expired());
  held.reset();
  CHECK(life->expired());
  CHECK(moved.weight.value.size() == 6);

  listed_layers network{std::vector<nn::linear<3, 2>>(2)};
  CHECK(!nn::life_of(network).has_value());
}

TEST_CASE("lists of layers are frozen as layers are", "[state]") {
  std::vector<nn::linear<3, 2>> several(3);
  nn::linear<3, 2> pair[2];
  nn::freeze(several);
  nn::freeze(pair);
  CHECK((several[2].weight.is_frozen && several[0].bias.is_frozen && pair[1].weight.is_frozen));
  nn::freeze(several, false);
  CHECK(!several[2].weight.is_frozen);
}
