// tests/train/optimizer.cpp: optimizers against their definition and against PyTorch's steps.
// Gradients are given, so that nothing but the optimizer is tested, save in a captured step of a whole network.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/optimizer.hpp>

#include "support/elements.hpp"
#include "support/golden.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon_test::numbers_of;

namespace {

/// Five steps with PyTorch's stored gradients, compared with its parameters after each.
template <class Space>
void compare_with_golden(const std::string& name, const tenon::train::sgd_options& options) {
  const tenon_test::golden_case golden(name);
  if (!golden) return;
  CAPTURE(name);
  auto made = nn::sequential(nn::linear<6, 8>{}, nn::linear<8, 3>{});
  const std::string files[] = {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"};
  const auto visit = [&](auto& net, const auto& body) {
    int position = 0;
    net.visit_parameters([&](const auto&, auto& parameter) { body(files[position++], parameter); });
  };
  const auto read_step = [&]<int Rank>(tenon::constant<Rank>, const std::string& file, tenon::index step) {
    const auto steps = golden.read<float, Rank + 1>(file);
    tenon::array<tenon::index, Rank> extents{};
    for (int axis = 0; axis < Rank; ++axis) extents[axis] = steps.extent(axis + 1);
    return tenon::evaluated_tensor(tenon::reshape(tenon::slice(steps, tenon::only(step)), tenon::rank<Rank>(extents)));
  };
  visit(made, [&](const std::string& file, auto& parameter) {
    constexpr int axes = std::remove_cvref_t<decltype(parameter.value)>::rank;
    parameter.value = golden.read<float, axes>("parameter_" + file);
  });
  auto net = made.template to<Space>();
  tenon::train::sgd<Space> optimizer(options);
  for (tenon::index step = 0; step < 5; ++step) {
    visit(net, [&](const std::string& file, auto& parameter) {
      constexpr int axes = std::remove_cvref_t<decltype(parameter.value)>::rank;
      parameter.gradient = read_step(tenon::constant<axes>{}, "gradient_" + file, step).template to<Space>();
    });
    optimizer.step(net);
    visit(net, [&](const std::string& file, auto& parameter) {
      constexpr int axes = std::remove_cvref_t<decltype(parameter.value)>::rank;
      CHECK(tenon_test::golden_difference(
                parameter.value, read_step(tenon::constant<axes>{}, "parameter_after_" + file, step), 1e-3) == "");
    });
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sgd takes PyTorch's steps", "[optimizer]", tenon_test::spaces) {
  compare_with_golden<TestType>("train_sgd", {.rate = 0.1f});
  compare_with_golden<TestType>("train_sgd_momentum0.9", {.rate = 0.1f, .momentum = 0.9f});
  compare_with_golden<TestType>("train_sgd_momentum0.9_weight_decay0.01",
                                {.rate = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f});
}

TEMPLATE_LIST_TEST_CASE("sgd follows its definition", "[optimizer]", tenon_test::spaces) {
  auto made = nn::sequential(nn::linear<5, 7>{});
  auto net = made.to<TestType>();
  auto& layer = tenon::get<0>(net.layers);
  tenon::train::sgd<TestType> optimizer({.rate = 0.5f, .momentum = 0.25f, .weight_decay = 0.125f});
  auto value = numbers_of(layer.weight.value);
  std::vector<double> velocity(value.size(), 0.0);
  for (int step = 1; step <= 3; ++step) {
    layer.weight.gradient = static_cast<float>(step);
    optimizer.step(net);
    for (std::size_t i = 0; i < value.size(); ++i) {
      velocity[i] = 0.25 * velocity[i] + step + 0.125 * value[i];
      value[i] -= 0.5 * velocity[i];
    }
  }
  CHECK(tenon_test::difference(numbers_of(layer.weight.value), value, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("a step is one kernel for each parameter", "[optimizer]", tenon_test::spaces) {
  auto net = nn::sequential(nn::linear<5, 7>{}, nn::linear<7, 2>{}).to<TestType>();
  tenon::train::sgd<TestType> optimizer({.rate = 0.5f, .momentum = 0.9f});
  optimizer.step(net);
  const auto before = tenon::launch_count().count;
  optimizer.step(net);
  CHECK(tenon::launch_count().count - before == 4);
}

TEMPLATE_LIST_TEST_CASE("a network's training step is captured whole", "[optimizer]", tenon_test::kernel_spaces) {
  auto drawn = nn::sequential(nn::conv2d<1, 3, 3>{}, nn::relu{}, nn::flatten{}, nn::linear<3 * 4 * 4, 5>{});
  drawn.initialise(5);
  auto direct = drawn.template to<TestType>(), replayed = drawn.template to<TestType>();
  using input_shape = tenon::shape<tenon::dyn, 1, 6, 6>;
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(4, 1, 6, 6), 1));
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(tenon::rank<1>(4), {1, 3, 0, 4});
  tenon::tensor<float, tenon::shape<>, TestType> loss, expected;
  const auto step_of = [&](auto& net, auto& pass, auto& optimizer, auto& result) {
    const auto logits = pass.forward(x.view());
    result = tenon::mean(nn::cross_entropy(logits, labels));
    pass.backward(x.view(), nn::cross_entropy_gradient(logits, labels));
    optimizer.step(net);
  };
  nn::pass<decltype(direct), input_shape, TestType> direct_pass(direct), replayed_pass(replayed);
  tenon::train::sgd<TestType> first({.rate = 0.1f, .momentum = 0.9f}), second({.rate = 0.1f, .momentum = 0.9f});
  step_of(direct, direct_pass, first, expected);
  step_of(replayed, replayed_pass, second, loss);  // the velocities are there from now on
  const auto graph = tenon::capture<TestType>([&] { step_of(replayed, replayed_pass, second, loss); });
  for (int step = 0; step < 3; ++step) {
    step_of(direct, direct_pass, first, expected);
    const auto allocated = tenon::blocks_of<TestType>().added();
    graph.launch();
    CHECK(tenon::blocks_of<TestType>().added() == allocated);
    CHECK(numbers_of(loss) == numbers_of(expected));
  }
}
