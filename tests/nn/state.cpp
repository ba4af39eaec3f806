// tests/nn/state.cpp: parameters and buffers by name.
// What is listed is the network's own: what is written through the list is in the network.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/nn/state.hpp>

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
