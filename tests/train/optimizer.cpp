// tests/train/optimizer.cpp: what all optimizers share: groups, clipping, state, launches.
// Rules have tests of their own, and PyTorch's steps are a family of the golden cases.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/lamb.hpp>
#include <tenon/train/sgd.hpp>

#include "support/counted_allocation.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::train::begins_with;
using tenon::train::ends_with;
using tenon_test::loose_parameters;
using tenon_test::numbers_of;

namespace {

double norm_of(const std::vector<double>& numbers) {
  double sum = 0;
  for (const double each : numbers) sum += each * each;
  return std::sqrt(sum);
}

/// Values after one step of plain descent with rate 1.
template <class Space>
std::vector<double> values_after_step(const tenon::train::gradient_clipping& clipping, std::vector<double>& gradients) {
  loose_parameters<Space> net;
  for (auto& each : net.all) each.value = 0.0f;
  gradients = net.draw_gradients(1);
  tenon::train::sgd<Space> optimizer({.lr = 1});
  optimizer.clipping() = clipping;
  optimizer.step(net);
  return net.values();
}

/// Two layers, of which the second may be left out.
struct network : nn::module<network> {
  nn::linear<9, 8> first;
  nn::gru<8, 8> steps;
  nn::linear<8, 4> second;
  bool leaves_out = false;

  auto forward(const auto& x) {
    tenon::traced h = tenon::relu(first(nn::flatten{}(nn::max_pool2d<2>{}(x))));
    h = h + tenon::reshape(steps(tenon::new_axis<0>(h)).sequence, h.shape());
    return leaves_out ? tenon::traced(tenon::slice(h, tenon::all_of, tenon::range(0, 4)))
                      : tenon::traced(tenon::slice(second(h), tenon::all_of, tenon::range(0, 4)));
  }
};
auto some_images(tenon::index count) {
  return tenon::evaluated_tensor(tenon::uniform<float>(tenon::rank<4>(count, 1, 6, 6), 1));
}

}  // namespace

namespace {

template <class Space = tenon::host>
struct sequence_network : nn::module<sequence_network<Space>> {
  nn::linear<6, 8, nn::linear_options{}, Space> hidden;
  nn::lstm<8, 5, Space> recurrent;
  nn::linear<5, 3, nn::linear_options{}, Space> head;

  auto forward(const auto& x) {
    return head(tenon::select(recurrent(tenon::relu(hidden(x))).sequence, tenon::axis<0>, -1));
  }
};

}  // namespace

TEST_CASE("a whole step of a module is captured, and its replays are steps", "[optimizer]") {
  using space = tenon::emulated;
  sequence_network<> drawn;
  drawn.initialise(1);
  auto stepped = drawn.to<space>(), replayed = drawn.to<space>();
  const auto x = tenon::evaluated_tensor<space>(tenon::uniform<float>(tenon::rank<3>(3, 4, 6), 1));
  const auto y = tenon::evaluated_tensor<space>(tenon::arange<int>(4) % 3);
  tenon::train::adamw<space> first(stepped, {.lr = 1e-2}), second(replayed, {.lr = 1e-2});
  const auto step = [&](auto& net, auto& optimizer) {
    optimizer.step([&] { return tenon::mean(nn::cross_entropy(net(x), y, nn::nothing_ignored)); });
  };
  for (int i = 0; i < 2; ++i) step(stepped, first), step(replayed, second);
  auto third = drawn.to<space>();
  tenon::train::adamw<space> fresh(third, {.lr = 1e-2});
  CHECK(tenon_test::text_of<tenon::capture_error>([&] { tenon::capture<space>([&] { step(third, fresh); }); }) ==
        "capture: a step with other parameters or gradients than the one before within a captured function, of memory "
        "of emulated; run two steps before the capture");
  const auto graph = tenon::capture<space>([&] { step(replayed, second); });
  const auto allocated = tenon::blocks_of<space>().added();
  for (int i = 0; i < 3; ++i) step(stepped, first), graph.launch();
  CHECK(tenon::blocks_of<space>().added() == allocated);
  const auto state = [](auto& net) {
    std::vector<double> all;
    net.visit_parameters([&](const auto&, auto& parameter) {
      for (const double each : numbers_of(parameter.value)) all.push_back(each);
    });
    return all;
  };
  CHECK(state(stepped) == state(replayed));
  CHECK(state(stepped) != state(drawn));
}

TEST_CASE("an optimizer passes frozen parameters by, whatever their decay", "[optimizer]") {
  network net;
  net.initialise(1);
  const auto x = some_images(5);
  tenon::train::adamw<> optimizer(net, {.lr = 0.1, .weight_decay = 0.5});
  const auto step = [&] { optimizer.step([&] { return tenon::sum(tenon::square(net(x))); }); };
  step();
  nn::freeze(net.steps), nn::freeze(net.first);
  const auto state = [&] {
    std::vector<double> all = numbers_of(net.first.weight.value);
    net.steps.visit_parameters([&](const auto&, auto& parameter) {
      for (const double each : numbers_of(parameter.value)) all.push_back(each);
    });
    return all;
  };
  const auto before = state(), head = numbers_of(net.second.weight.value);
  step(), step();
  CHECK(state() == before);
  CHECK(numbers_of(net.second.weight.value) != head);
  tenon::train::sgd<> other({.lr = 0.1, .weight_decay = 0.5});
  other.step(net);  // which moves whatever has a gradient, cleared or not
  CHECK(state() == before);
  nn::freeze(net, false);
  step();
  CHECK(state() != before);
  nn::freeze(net);
  CHECK(tenon_test::text_of<tenon::error>(step) ==
        "optimizer: no parameter has a gradient; call backward on a loss of this network first (frozen parameters and "
        "no_grad leave none)");
}

TEST_CASE("a step of a loss is a cleared pass back and a step", "[optimizer]") {
  network one, two;
  one.initialise(1), two.initialise(1);
  tenon::train::adam short_way(one, {.lr = 1e-2}), long_way(two, {.lr = 1e-2});
  const auto x = some_images(3);
  for (int step = 0; step < 3; ++step) {
    const float loss = short_way.step([&] {  // whose tensors are gone when it returns
      const auto own = some_images(3);
      const auto factor = tenon::full<float>({2000}, 1.0f);
      return tenon::mean(tenon::square(one(own))) * tenon::mean(factor);
    });
    long_way.zero_grad();
    const tenon::traced same = tenon::mean(tenon::square(two(x)));
    same.backward();
    long_way.step();
    CHECK(loss == static_cast<float>(same));
  }
  CHECK(numbers_of(one.first.weight.value) == numbers_of(two.first.weight.value));
  CHECK(numbers_of(one.second.weight.value) == numbers_of(two.second.weight.value));
}

TEST_CASE("parameters that no pass reaches stay as they are", "[optimizer]") {
  network net;
  net.initialise(1);
  tenon::train::adamw optimizer(net, {.lr = 1e-2, .weight_decay = 0.1});
  const auto x = some_images(3);
  optimizer.step([&] { return tenon::mean(tenon::square(net(x))); });
  const auto first = numbers_of(net.first.weight.value), second = numbers_of(net.second.weight.value);
  net.leaves_out = true;
  optimizer.step([&] { return tenon::mean(tenon::square(net(x))); });
  CHECK(numbers_of(net.first.weight.value) != first);
  CHECK(numbers_of(net.second.weight.value) == second);
}

TEST_CASE("an optimizer knows the space and the elements of its network", "[optimizer]") {
  using tenon::train::optimizer, tenon::train::sgd, tenon::train::sgd_options;
  auto halves = nn::sequential(nn::linear<3, 4>{}, nn::relu{}).to<tenon::bfloat16>();
  auto there = nn::sequential(nn::linear<3, 4>{}).to<tenon::emulated>();
  network net;
  STATIC_REQUIRE(std::is_same_v<decltype(optimizer(halves, sgd_options{})), sgd<tenon::host, float, tenon::bfloat16>>);
  STATIC_REQUIRE(std::is_same_v<decltype(optimizer(there, sgd_options{})), sgd<tenon::emulated>>);
  STATIC_REQUIRE(std::is_same_v<decltype(optimizer(net, sgd_options{})), sgd<>>);
  const sgd<tenon::host, float, tenon::bfloat16> rounding(halves, {.lr = 1});
  CHECK(rounding.groups() == 1);
}

TEST_CASE("a training of modules allocates no memory for elements from the second step of a shape on", "[optimizer]") {
  network net;
  net.initialise(1);
  tenon::train::adam optimizer(net, {.lr = 1e-3});
  const auto x = some_images(5), fewer = some_images(3);
  const auto step = [&](const auto& images) {
    optimizer.step([&] { return tenon::mean(tenon::square(net(images))); });
  };
  step(x), step(fewer);
  tenon_test::counted_size = 512;  // what is recorded of a step is smaller
  const std::size_t before = tenon_test::blocks_allocated;
  for (int repeat = 0; repeat < 3; ++repeat) step(x), step(fewer);
  CHECK(tenon_test::blocks_allocated == before);
}

TEMPLATE_LIST_TEST_CASE("groups of parameters have options of their own", "[optimizer]", tenon_test::spaces) {
  loose_parameters<TestType> net({5, 4, 5000, 3, 2});
  tenon::train::sgd<TestType> optimizer(
      {.lr = 1}, {{ends_with("bias"), {.lr = 0.5, .momentum = 0.5}}, {begins_with("2."), {.lr = 0.25}}});
  auto expected = net.values();
  for (int step = 1; step <= 2; ++step) {
    const auto gradients = net.draw_gradients(3);  // the same again
    const tenon::launch_counter counter;
    optimizer.step(net);
    CHECK((step == 1 || counter.count() == 1));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool is_bias = (i >= 5 && i < 9) || (i >= 5009 && i < 5012);
      expected[i] -= (is_bias ? (step == 1 ? 0.5 : 0.75) : i >= 5012 ? 0.25 : 1) * gradients[i];
    }
    CHECK(tenon_test::difference(net.values(), expected, 1e-6) == "");
  }
  optimizer.options(2).lr = 0;
  const auto before = net.values();
  optimizer.step(net);
  const auto after = net.values();
  CHECK(after.back() == before.back());
  CHECK(after.front() != before.front());
}

TEMPLATE_LIST_TEST_CASE("gradients are clipped within the step", "[optimizer]", tenon_test::spaces) {
  std::vector<double> gradients;
  auto moved = values_after_step<TestType>({.clip_value = 0.5}, gradients);
  std::vector<double> expected;
  for (const double each : gradients) expected.push_back(-std::fmax(-0.5, std::fmin(0.5, each)));
  CHECK(tenon_test::difference(moved, expected, 1e-6) == "");

  moved = values_after_step<TestType>({.max_norm = 2}, gradients);
  for (std::size_t i = 0; i < gradients.size(); ++i) expected[i] = -gradients[i] * 2 / (norm_of(gradients) + 1e-6);
  CHECK(tenon_test::difference(moved, expected, 1e-6) == "");
  CHECK(std::fabs(norm_of(moved) - 2) < 1e-5);

  moved = values_after_step<TestType>({.max_norm = 1e6}, gradients);  // more than it is: left as it is
  for (std::size_t i = 0; i < gradients.size(); ++i) expected[i] = -gradients[i];
  CHECK(tenon_test::difference(moved, expected, 1e-6) == "");

  moved = values_after_step<TestType>({.clip_value = 0.5, .max_norm = 2}, gradients);
  for (double& each : gradients) each = std::fmax(-0.5, std::fmin(0.5, each));
  for (std::size_t i = 0; i < gradients.size(); ++i) expected[i] = -gradients[i] * 2 / (norm_of(gradients) + 1e-6);
  CHECK(tenon_test::difference(moved, expected, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("clipping by norm is one launch more, and tells the norm", "[optimizer]", tenon_test::spaces) {
  loose_parameters<TestType> net;
  tenon::train::adam<TestType> optimizer;
  optimizer.clipping().max_norm = 1;
  for (int step = 1; step <= 3; ++step) {
    const auto gradients = net.draw_gradients(step);
    const tenon::launch_counter counter;
    const auto allocated = tenon::blocks_of<TestType>().added();
    optimizer.step(net);
    CHECK((step == 1 || counter.count() == 2));
    CHECK((step == 1 || tenon::blocks_of<TestType>().added() == allocated));
    CHECK(tenon_test::is_close(numbers_of<TestType>(optimizer.gradient_norm())[0], norm_of(gradients), 1e-6));
  }
  net.all[2].gradient = std::numeric_limits<float>::quiet_NaN();
  optimizer.step(net);
  CHECK(std::isnan(numbers_of<TestType>(optimizer.gradient_norm())[0]));
  for (const double each : net.values()) {
    if (!std::isnan(each)) FAIL("a norm of NaN moves every parameter to NaN");
  }
}

TEMPLATE_LIST_TEST_CASE("state has PyTorch's names", "[optimizer]", tenon_test::spaces) {
  loose_parameters<TestType> net({3, 2});
  tenon::train::adam<TestType> optimizer({.lr = 0.5}, {{ends_with("bias"), {.lr = 0.25, .amsgrad = true}}});
  net.draw_gradients(1);
  optimizer.step(net);
  std::vector<std::string> names;
  optimizer.visit_state(net, [&]<class Value>(const std::string& name, Value& value) {
    names.push_back(name);
    if constexpr (requires { value.text(); }) {
      CHECK(value.text() == "adam");
    } else if constexpr (!tenon::is_number_of_state<Value>) {
      CHECK(value.shape().extent(0) == (name.starts_with("0.weight") ? 3 : 2));
    } else if (name == "step" || name.ends_with(".size")) {
      CHECK(value == 1);
    } else {
      CHECK(static_cast<double>(value.number()) == (name == "param_groups.0.lr" ? 0.5 : 0.25));
    }
  });
  CHECK(names == std::vector<std::string>{"step", "name", "param_groups.0.lr", "param_groups.0.size",
                                          "param_groups.1.lr", "param_groups.1.size", "0.weight.exp_avg",
                                          "0.weight.exp_avg_sq", "0.bias.exp_avg", "0.bias.exp_avg_sq",
                                          "0.bias.max_exp_avg_sq"});
}

TEMPLATE_LIST_TEST_CASE("an optimizer belongs to one network, wherever that lies", "[optimizer]", tenon_test::spaces) {
  loose_parameters<TestType> net({3, 2}), other({3, 3}), none({0, 0}), empty(std::vector<tenon::index>{});
  tenon::train::sgd<TestType> optimizer({.lr = 1, .momentum = 0.5}), idle;
  net.draw_gradients(1);
  const auto start = net.values();
  optimizer.step(net);
  auto moved = net;  // elsewhere in memory
  optimizer.step(moved);
  const auto gradients = moved.draw_gradients(1);
  std::vector<double> expected;
  for (std::size_t i = 0; i < start.size(); ++i) expected.push_back(start[i] - 2.5 * gradients[i]);
  CHECK(tenon_test::difference(moved.values(), expected, 1e-6) == "");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { optimizer.step(other); }) ==
        "optimizer: 2 parameters of other sizes than the 2 of its first step; an optimizer belongs to one network");
  optimizer.options().momentum = 0;
  optimizer.step(moved);
  const tenon::launch_counter counter;
  idle.step(empty);
  CHECK(counter.count() == 0);
  tenon::train::sgd<TestType> still;
  still.clipping().max_norm = 1;
  still.step(none);
  CHECK(counter.count() == 0);
  CHECK(still.steps() == 0);
}

TEMPLATE_LIST_TEST_CASE("a step runs where the parameters lie", "[optimizer]", tenon_test::kernel_spaces) {
  if (tenon::device_count<TestType>() < 2) return;
  tenon::train::adam<TestType> optimizer;
  const tenon::device_guard<TestType> second(1);
  loose_parameters<TestType> net;
  net.draw_gradients(1);
  const auto before = net.values();
  {
    const tenon::device_guard<TestType> first(0);
    optimizer.step(net);
    optimizer.step(net);
    CHECK(tenon::current_device<TestType>() == 0);
  }
  CHECK(net.values() != before);
}

TEMPLATE_LIST_TEST_CASE("parameters without gradients stay", "[optimizer]", tenon_test::spaces) {
  loose_parameters<TestType> net({5000, 3, 2});
  tenon::train::lamb<TestType> optimizer({.lr = 0.5});
  optimizer.clipping().max_norm = 1;
  net.draw_gradients(1);
  for (int still : {0, 2}) {
    net.all[static_cast<std::size_t>(still)].gradient.reset();
    const auto before = net.values();
    optimizer.step(net);
    const auto after = net.values();
    CHECK((after.front() == before.front()));
    CHECK((after[5001] != before[5001]));
    CHECK((after.back() == before.back()) == (still == 2));
  }
}

TEST_CASE("options cannot ask for state that was not allocated", "[optimizer]") {
  loose_parameters<tenon::host> net({3, 2});
  tenon::train::sgd<> optimizer;
  optimizer.step(net);
  optimizer.options().momentum = 0.9;
  CHECK(tenon_test::text_of<tenon::error>([&] { optimizer.step(net); }) ==
        "optimizer: options ask for momentum_buffer, which the first step did not keep; set them before it");
}

TEST_CASE("a step is the same on any number of threads", "[optimizer]") {
  loose_parameters<tenon::host> one({70000, 5}), many({70000, 5});
  tenon::train::adam<> first, second;
  first.clipping().max_norm = second.clipping().max_norm = 1;
  one.draw_gradients(1), many.draw_gradients(1);
  tenon::set_num_threads(1);
  first.step(one);
  tenon::set_num_threads(3);
  second.step(many);
  tenon::set_num_threads(0);
  CHECK(one.values() == many.values());
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
  tenon::train::adam<TestType> first({.lr = 0.1}), second({.lr = 0.1});  // whose steps know their number
  step_of(direct, direct_pass, first, expected);
  step_of(replayed, replayed_pass, second, loss);  // the averages are there from now on
  const auto graph = tenon::capture<TestType>([&] { step_of(replayed, replayed_pass, second, loss); });
  for (int step = 0; step < 3; ++step) {
    step_of(direct, direct_pass, first, expected);
    const auto allocated = tenon::blocks_of<TestType>().added();
    graph.launch();
    CHECK(tenon::blocks_of<TestType>().added() == allocated);
    CHECK(numbers_of(loss) == numbers_of(expected));
  }
  CHECK(second.steps() == 4);
}
