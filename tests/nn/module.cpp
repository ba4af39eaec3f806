// tests/nn/module.cpp: networks that write only `forward`: names, modes, moves and gradients.
// Gradients of networks that a seed puts together, of loops, branches and shared layers, against differences.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/module.hpp>

#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon::traced;
using tenon_test::numbers_of;

namespace {

template <class Space>
using product = nn::linear_layer<6, 6, true, Space, double>;

/// Two layers and a factor.
struct block : nn::module<block> {
  nn::linear<4, 4> inner;
  nn::parameter<float, shape<4>> scale{.value = {1, 2, 3, 4}};

  auto forward(const auto& x) { return x + tenon::tanh(inner(x)) * scale; }
};
/// What modules may be made of.
template <class Space = tenon::host>
struct network : nn::module<network<Space>> {
  nn::linear<3, 4, nn::linear_options{}, Space> enter;
  nn::batch_norm<4, nn::affine::both, Space> norm;
  nn::dropout mask{0.5};
  std::vector<nn::linear<4, 4, nn::linear_options{}, Space>> middle =
      std::vector<nn::linear<4, 4, nn::linear_options{}, Space>>(2);
  tenon::tensor<float, shape<2>, Space> table{};
  int turns = 1;

  auto forward(const auto& x) {
    traced h = norm(enter(x));
    for (int turn = 0; turn < turns; ++turn) {
      for (auto& each : middle) h = tenon::relu(each(h));
    }
    return mask(h);
  }
};

/// C arrays of layers, parameters, buffers and numbers.
template <class Space = tenon::host>
struct of_c_arrays : nn::module<of_c_arrays<Space>> {
  nn::linear<3, 3, nn::linear_options{}, Space> layers[2];
  nn::parameter<float, shape<3>, Space> scales[1] = {{.value = {2, 3, 4}}};
  tenon::tensor<float, shape<2>, Space> tables[2];
  nn::dropout masks[2] = {nn::dropout{0.5}, nn::dropout{0.25}};
  int turns[2] = {1, 1};

  auto forward(const auto& x) {
    traced h = x * scales[0];
    for (auto& each : layers) h = each(h);
    for (auto& each : masks) h = each(h);
    if (turns[1] == 0) throw tenon::error("no turns");
    return h;
  }
};

/// Layers within a module within a module.
struct pair : nn::module<pair> {
  nn::linear<4, 4> a, b;
  auto forward(const auto& x) { return b(a(x)); }
};
struct nested : nn::module<nested> {
  pair one;
  nn::linear<4, 4> two;
  auto forward(const auto& x) { return two(one(x)); }
};
/// Fails where it is told to, behind layers that count passes.
struct failing : nn::module<failing> {
  nn::batch_norm<3> norm;
  nn::dropout mask{0.5};
  std::vector<nn::dropout> masks = std::vector<nn::dropout>(2);
  bool fails = true;

  auto forward(const auto& x) {
    traced h = mask(norm(x));
    for (auto& each : masks) h = each(h);
    if (fails) throw tenon::error("forward");
    return h;
  }
};
/// Two inputs, and two outputs.
struct mixer : nn::module<mixer> {
  nn::linear<3, 3> left, right;
  struct parts {
    traced<float, shape<dyn, 3>> sum, difference;
  };
  auto forward(const auto& x, const auto& y) {
    const traced a = left(x), b = right(y);
    return parts{a + b, a - b};
  }
};

template <class Network>
std::string parameter_names(Network& net) {
  std::string text;
  net.visit_parameters([&](const std::string& name, auto&) { text += name + " "; });
  return text;
}
template <class Network>
std::string buffer_names(Network& net) {
  std::string text;
  net.visit_buffers([&](const std::string& name, auto&) { text += name + " "; });
  return text;
}

/// Layers for [batch, 6], which `forward` puts together as its seed draws: products, gates, norms, residuals, loops
/// whose length hangs on values, cells with states, parts that run again, and layers that are used several times.
struct drawn_network : nn::module<drawn_network> {
  using value = traced<double, shape<dyn, 6>>;
  std::vector<product<tenon::host>> products = std::vector<product<tenon::host>>(3);
  nn::layer_norm<shape<6>, nn::affine::both, tenon::host, double> norm;
  nn::lstm_cell<6, 6, tenon::host, double> cell;
  nn::gru<6, 6, tenon::host, double> sequence;
  nn::multihead_attention<6, 2, nn::multihead_attention_options{}, tenon::host, double> attention;
  nn::parameter<double, shape<6>> scale{.value = {1, 0.5, -1, 2, 0.25, 1}};
  std::uint64_t program = 0;

  auto forward(const auto& x) {
    tenon_test::random_source source(program);
    value h = x;
    const auto any = [&]() -> product<tenon::host>& { return products[static_cast<std::size_t>(source.below(3))]; };
    const auto length = source.below(5) + 2;
    for (tenon::index step = 0; step < length; ++step) h = next(source, any, h);
    return h;
  }
  template <class Any>
  value next(tenon_test::random_source& source, const Any& any, const value& h) {
    switch (source.below(10)) {
      case 0:
        return any()(h);
      case 1:
        return tenon::tanh(any()(h));
      case 2:
        return h + any()(tenon::sigmoid(h));
      case 3:
        return tenon::sigmoid(any()(h)) * any()(h);
      case 4:
        return norm(h);
      case 5:
        return h * scale;
      case 6: {
        value small = h * 1.5;
        while (static_cast<double>(tenon::sum(tenon::abs(small))) > 3) small = small * 0.5;
        return small;
      }
      case 7: {
        const auto first = cell(h);
        const auto second = cell(tenon::tanh(h), first.hidden, first.cell);
        return second.hidden + second.cell * 0.5;
      }
      case 8: {
        const traced steps = tenon::new_axis<0>(h);
        const auto [whole, last] = sequence(steps);
        return tenon::reshape(whole + attention(steps), h.shape()) + tenon::reshape(last, h.shape());
      }
      default: {
        auto& again = any();
        return tenon::checkpoint([&again](const auto& x) { return tenon::tanh(again(x)); }, h);
      }
    }
  }
};

/// Empty when some elements of each gradient agree with differences.
template <class Network, class Value>
std::string difference_of_parameters(Network& net, const Value& value, std::uint64_t seed) {
  std::string text;
  tenon_test::random_source source(seed);
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    for (int i = 0; i < 2; ++i) {
      const tenon::index at = source.below(parameter.value.size());
      double& element = parameter.value.data()[at];
      const double before = element, step = 1e-6;
      element = before + step;
      const double above = value();
      element = before - step;
      const double below = value();
      element = before;
      const double expected = (above - below) / (2 * step), found = parameter.gradient.data()[at];
      if (std::fabs(found - expected) > 2e-6 * std::fmax(1.0, std::fabs(expected))) {
        text += name + ": " + std::to_string(found) + " instead of " + std::to_string(expected) + "; ";
      }
    }
  });
  return text;
}

}  // namespace

TEST_CASE("members give a network its names", "[module]") {
  network<> net;
  net.initialise(1);
  CHECK(parameter_names(net) ==
        "enter.weight enter.bias norm.weight norm.bias middle.0.weight middle.0.bias middle.1.weight middle.1.bias ");
  CHECK(buffer_names(net) == "norm.running_mean norm.running_var norm.num_batches_tracked table ");
  block other;
  CHECK(parameter_names(other) == "inner.weight inner.bias scale ");
}

TEST_CASE("equal layers draw different parameters, the same for the same seed", "[module]") {
  network<> one, two;
  one.initialise(3), two.initialise(3);
  CHECK(numbers_of(one.middle[0].weight.value) == numbers_of(two.middle[0].weight.value));
  CHECK(numbers_of(one.middle[0].weight.value) != numbers_of(one.middle[1].weight.value));
  two.initialise(4);
  CHECK(numbers_of(one.middle[0].weight.value) != numbers_of(two.middle[0].weight.value));
}

TEST_CASE("parts of parts draw other parameters than the parts beside them", "[module]") {
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    nested net;
    net.initialise(seed);
    CHECK(numbers_of(net.one.b.weight.value) != numbers_of(net.two.weight.value));
    CHECK(numbers_of(net.one.a.weight.value) != numbers_of(net.one.b.weight.value));
  }
}

TEST_CASE("networks are trained and used", "[module]") {
  network<> net;
  net.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto first = numbers_of(net(x));
  CHECK(numbers_of(net(x)) != first);
  CHECK(net.norm.num_batches_tracked == 2);
  net.eval();
  CHECK(numbers_of(net(x)) == numbers_of(net(x)));
  CHECK(net.norm.num_batches_tracked == 2);
  net.train();
  CHECK(numbers_of(net(x)) != numbers_of(net(x)));
}

TEST_CASE("a pass that fails leaves masks and statistics as they were", "[module]") {
  failing net, other;
  other.fails = false;
  net.initialise(1), other.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  CHECK(tenon_test::text_of<tenon::error>([&] { net(x); }) == "forward");
  CHECK(net.norm.num_batches_tracked == 0);
  net.fails = false;
  CHECK(numbers_of(net(x)) == numbers_of(other(x)));
  CHECK(numbers_of(net.norm.running_mean) == numbers_of(other.norm.running_mean));
}

TEMPLATE_LIST_TEST_CASE("a network moves to another space", "[module]", tenon_test::spaces) {
  network<> drawn;
  drawn.initialise(1);
  drawn.table = {1.0f, 2.0f};
  drawn.turns = 2;
  drawn.eval();
  auto net = drawn.template to<TestType>();
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto there = x.template to<TestType>();
  CHECK(net.turns == 2);
  CHECK(numbers_of<TestType>(net.table) == std::vector<double>{1, 2});
  net.eval();
  CHECK(tenon_test::difference(numbers_of<TestType>(net(there)), numbers_of(drawn(x)), 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("a network has C arrays of members", "[module]", tenon_test::spaces) {
  of_c_arrays<> net, other;
  net.initialise(1), other.initialise(1);
  CHECK(parameter_names(net) == "layers.0.weight layers.0.bias layers.1.weight layers.1.bias scales.0 ");
  CHECK(buffer_names(net) == "tables.0 tables.1 ");
  CHECK(numbers_of(net.layers[0].weight.value) != numbers_of(net.layers[1].weight.value));
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  net.turns[1] = 0;
  CHECK(tenon_test::text_of<tenon::error>([&] { net(x); }) == "no turns");
  net.turns[1] = 7;
  CHECK(numbers_of(net(x)) == numbers_of(other(x)));
  net.eval();
  CHECK(!net.masks[1].is_training);
  auto there = net.template to<TestType>();
  CHECK(there.turns[1] == 7);
  there.eval();
  const auto moved = x.template to<TestType>();
  CHECK(tenon_test::difference(numbers_of<TestType>(there(moved)), numbers_of(net(x)), 1e-5) == "");
  STATIC_REQUIRE(std::is_same_v<typename nn::parameters_of<of_c_arrays<TestType>>::space, TestType>);
}

TEST_CASE("several inputs and outputs", "[module]") {
  mixer net;
  net.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto y = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 2));
  const auto [sum, difference] = net(x, y);
  tenon::backward(tenon::sum(sum) + tenon::sum(difference));
  CHECK(tenon_test::difference(numbers_of(net.left.bias.gradient), {10, 10, 10}, 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(net.right.bias.gradient), {0, 0, 0}, 1e-6) == "");
}

TEST_CASE("tensors that are moved into a network live until its way back is done", "[module]") {
  block net, other;
  net.initialise(1), other.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 4), 1));
  const auto loss = [&] { return tenon::mean(tenon::square(net(tenon::tensor<float, rank<2>>(x)))); };
  const auto value = loss();
  const tenon::tensor<float, rank<2>> dirt(tenon::constants(rank<2>(5, 4), 99.0f));  // where a freed one would lie
  tenon::backward(value);
  tenon::backward(tenon::mean(tenon::square(other(x))));
  CHECK(numbers_of(net.inner.weight.gradient) == numbers_of(other.inner.weight.gradient));
}

TEST_CASE("gradients add up until they are cleared", "[module]") {
  block net;
  net.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 4), 1));
  const auto loss = [&] { return tenon::mean(tenon::square(net(x))); };
  tenon::backward(loss());
  const auto once = numbers_of(net.inner.weight.gradient), scale_once = numbers_of(net.scale.gradient);
  tenon::backward(loss());
  CHECK(tenon_test::difference(numbers_of(net.inner.weight.gradient * 0.5f), once, 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(net.scale.gradient * 0.5f), scale_once, 1e-6) == "");
  nn::clear_gradients(net);
  CHECK(numbers_of(net.scale.gradient) == std::vector<double>(4, 0.0));
  tenon::backward(loss());
  CHECK(numbers_of(net.inner.weight.gradient) == once);
  CHECK(numbers_of(net.scale.gradient) == scale_once);
}

TEST_CASE("two hundred networks that seeds put together", "[module]") {
  drawn_network net;
  net.initialise(1);
  const auto x = tenon_test::drawn(shape<dyn, 6>(3, 6), 8);
  const auto weights = tenon_test::drawn(shape<dyn, 6>(3, 6), 9);
  const auto loss = [&] { return tenon::sum(net(x) * weights); };
  const auto value = [&] {
    const tenon::no_grad testing;
    return static_cast<double>(loss());
  };
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    net.program = seed;
    nn::clear_gradients(net);
    tenon::backward(loss() + tenon::sum(tenon::variable(x)));  // as there may be no parameters
    CAPTURE(seed);
    CHECK(difference_of_parameters(net, value, seed) == "");
  }
}
