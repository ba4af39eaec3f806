// tests/nn/call_step.cpp: layers that are called several times: each call has its own mask, statistics and memory.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/call_step.hpp>

#include <tenon/tenon.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/lamb.hpp>
#include <tenon/train/sgd.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon::traced;
using tenon_test::numbers_of;

namespace {

/// Empty when the gradients of `function` in x, and in the parameters of `layer`, agree with differences.
template <class Layer, class X, class Function>
std::string difference_of_calls(Layer& layer, X& x, const Function& function) {
  const auto weights = tenon_test::weights_of(tenon::evaluated_tensor(function(x)).shape());
  const auto value = [&] { return static_cast<double>(tenon::sum(function(x) * weights)); };
  const auto v = tenon::variable(x);
  nn::clear_gradients(layer);
  tenon::backward(tenon::sum(function(v) * weights));
  std::string text = tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-5);
  layer.visit_parameters([&](const auto& name, auto& parameter) {
    const auto found = tenon_test::difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += std::string(name) + ": " + found;
  });
  return text;
}

}  // namespace

TEST_CASE("a shared layer gathers the gradients of all its calls", "[call_step]") {
  nn::linear_layer<3, 3, true, tenon::host, double> layer;
  layer.initialise(1);
  auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  CHECK(difference_of_calls(layer, x, [&](const auto& in) { return layer(tenon::tanh(layer(layer(in)))); }) == "");
}

TEST_CASE("a batch norm that is called twice keeps the statistics of both batches", "[call_step]") {
  nn::batch_norm<3, nn::affine::both, tenon::host, double> layer;
  layer.initialise(1);
  auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  CHECK(difference_of_calls(layer, x, [&](const auto& in) { return traced(layer(in)) * layer(tenon::exp(in) * 2); }) ==
        "");
}

TEST_CASE("attention that is called twice keeps both projections", "[call_step]") {
  nn::multihead_attention<4, 2, nn::multihead_attention_options{}, tenon::host, double> layer;
  layer.initialise(1);
  auto x = tenon_test::drawn(rank<3>(3, 2, 4), 1);
  CHECK(difference_of_calls(layer, x, [&](const auto& in) { return traced(layer(traced(layer(in)) + in)); }) == "");
}

TEST_CASE("dropout that is called twice keeps both masks", "[call_step]") {
  nn::dropout layer(0.5);
  const auto x = tenon_test::drawn(rank<1>(64), 1);
  const auto v = tenon::variable(x);
  const traced first = layer(v), second = layer(v);
  CHECK(numbers_of(first) != numbers_of(second));
  tenon::backward(tenon::sum(first + second * 3));
  std::vector<double> expected;
  const auto a = numbers_of(first), b = numbers_of(second);
  for (std::size_t i = 0; i < a.size(); ++i) expected.push_back((a[i] != 0 ? 2 : 0) + (b[i] != 0 ? 6 : 0));
  CHECK(numbers_of(v.gradient()) == expected);
}

TEST_CASE("a layer in evaluation has the gradients of running statistics", "[call_step]") {
  nn::batch_norm<3, nn::affine::both, tenon::host, double> layer;
  layer.initialise(1);
  auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  tenon::evaluated_tensor(layer(x));
  layer.is_training = false;
  CHECK(difference_of_calls(layer, x, [&](const auto& in) { return traced(layer(in)); }) == "");
}

namespace {

template <tenon::memory_space Space>
struct unwritten : nn::module<unwritten<Space>> {
  nn::linear<3, 2, nn::linear_options{}, Space> first;
  nn::linear_layer<dyn, dyn, true, Space, float> second{2, 2};
  nn::bilinear_layer<2, 2, 2, false, Space, float> third;
  nn::parameter<float, shape<2>, Space> scale;

  auto forward(const auto& x) {
    const traced h = second(first(x));
    return third(h, h) * scale;
  }
};

}  // namespace

// Memory of a device does not show the host whether it was written.
TEMPLATE_TEST_CASE("parameters that nobody wrote are refused, and all that write them are seen", "[call_step]",
                   tenon::host, tenon::emulated) {
  unwritten<TestType> net;
  const auto x = tenon::ones<float, TestType>(rank<2>(4, 3));
  const auto refusal = [&](auto& given) { return tenon_test::text_of<tenon::error>([&] { (void)given(x); }); };
  const std::string advice = " was never written; call initialise(seed), or load weights";
  CHECK(refusal(net) == "linear: its weight" + advice);
  {
    const tenon::no_grad testing;
    CHECK(refusal(net) == "linear: its weight" + advice);
  }
  auto copy = net;
  CHECK(refusal(copy) == "linear: its weight" + advice);
  net.first.weight.value.data()[0] = 1;
  CHECK(refusal(net) == "linear: its bias" + advice);
  net.first.bias.value = 0;
  CHECK(refusal(net) == "linear: its weight" + advice);
  net.second.initialise(1);
  CHECK(refusal(net) == "bilinear: its weight" + advice);
  nn::initial::constant(net.third.weight, 1);
  CHECK(refusal(net) == "parameter: its value" + advice);
  net.scale = {tenon::ones<float, TestType>(shape<2>{}), {}};
  CHECK_NOTHROW(net(x));
}

TEST_CASE("networks that were moved away are refused", "[call_step]") {
  const std::string advice = " was moved away; call what it was moved to";
  const auto x = tenon::ones<float>(rank<2>(4, 80));
  const auto check_moved = [&](auto net, const std::string& text) {
    const auto run = [&](auto& given) {
      const tenon::no_grad testing;
      if constexpr (nn::keeps_states<decltype(net)>) (void)given(x);
      else (void)traced(given(x));
    };
    net.initialise(1);
    auto other = std::move(net);
    CHECK(tenon_test::text_of<tenon::error>([&] { run(net); }) == text);
    CHECK_NOTHROW(run(other));
    net = std::move(other);
    CHECK_NOTHROW(run(net));
  };
  check_moved(nn::linear<80, 40>{}, "linear: its weight" + advice);
  check_moved(nn::sequential(nn::linear<80, 40>{}, nn::relu{}), "linear: its weight" + advice);
  check_moved(nn::linear<dyn, dyn>(80, 40),
              "linear: its weight was never written; call initialise(seed), or load weights");
  check_moved(nn::batch_norm<80>{}, "batch_norm: its weight" + advice);
  check_moved(nn::lstm<80, 5>{}, "lstm: it" + advice);
  check_moved(nn::gru_cell<>(80, 5), "gru: it" + advice);
}

TEST_CASE("an inference that was moved away is refused", "[call_step]") {
  const auto x = tenon::ones<float>(rank<2>(4, 40));
  nn::inference use(nn::initialised<nn::linear<40, 80>>(1), rank<2>(4, 40));
  const auto expected = numbers_of(tenon::evaluated_tensor(use.run(x)));
  auto other = std::move(use);
  CHECK(tenon_test::text_of<tenon::error>([&] { (void)use.run(x); }) ==
        "inference: its network was moved away; run what it was moved to");
  CHECK(numbers_of(tenon::evaluated_tensor(other.run(x))) == expected);
}

TEST_CASE("running statistics that nobody wrote are refused", "[call_step]") {
  nn::batch_norm<3, nn::affine::none> norm;
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 3), 1));
  const char* const text = "batch_norm: its running_var was never written; call initialise(seed), or load weights";
  CHECK(tenon_test::text_of<tenon::error>([&] { (void)norm(x); }) == text);
  norm.is_training = false;
  CHECK(tenon_test::text_of<tenon::error>([&] { (void)norm(x); }) == text);
  norm.initialise(1);
  CHECK_NOTHROW(norm(x));
}

TEST_CASE("a network is made from a seed", "[call_step]") {
  const auto net = nn::initialised<nn::linear<3, 2>>(5);
  nn::linear<3, 2> expected;
  expected.initialise(5);
  CHECK(numbers_of(net.weight.value) == numbers_of(expected.weight.value));
  auto sized = nn::initialised(nn::linear_layer<dyn, dyn, true, tenon::host, float>(3, 2), 5);
  CHECK(numbers_of(sized.weight.value) == numbers_of(expected.weight.value));
}

TEST_CASE("what an optimizer has moved refuses the way back of earlier calls", "[call_step]") {
  const auto refusal = [](const auto& loss) { return tenon_test::text_of<tenon::error>([&] { loss.backward(); }); };
  const std::string advice =
      ": a step, loading or an assignment has changed what the way back reads; call backward before it, or compute the "
      "value again behind it";
  nn::linear<3, 4> before;
  before.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto check = [&](auto& layer, const std::string& name, const auto& value_of) {
    tenon::train::sgd<> optimizer(layer, {.lr = 0.1});
    const traced old = value_of();
    optimizer.step(value_of);
    nn::clear_gradients(before);
    CHECK(refusal(old) == "backward: " + name + advice);
    CHECK(!before.weight.has_gradient);
    const traced now = value_of();
    tenon::train::average<> average;
    average.update(layer);  // which moves nothing
    CHECK_NOTHROW(now.backward());
    CHECK(before.weight.has_gradient);
    nn::clear_gradients(before);
  };
  nn::linear<4, 2> last;
  last.initialise(2);
  const traced earlier = tenon::sum(last(before(x)));
  tenon::train::lamb<> other(last, {.lr = 0.1});
  other.step([&] { return tenon::sum(last(before(x))); });
  CHECK(refusal(earlier) == "backward: linear" + advice);
  check(last, "linear", [&] { return traced(tenon::sum(last(tenon::tanh(before(x))))); });
  nn::bilinear<4, 3, 2> both;
  both.initialise(3);
  check(both, "bilinear", [&] { return traced(tenon::sum(both(before(x), x))); });
  nn::gru<4, 3> recurrent;
  recurrent.initialise(4);
  check(recurrent, "gru", [&] {
    const traced h = before(x);
    return traced(tenon::sum(recurrent(tenon::new_axis<0>(h)).sequence));
  });
  struct scaled : nn::module<scaled> {
    nn::parameter<float, shape<4>> scale{.value = tenon::ones<float>(shape<4>{})};
  } own;
  check(own, "parameter", [&] { return traced(tenon::sum(before(x) * own.scale)); });
}

TEST_CASE("a layer that is loaded, drawn or assigned to refuses the way back of earlier calls", "[call_step]") {
  nn::linear<3, 2> layer, other;
  layer.initialise(1), other.initialise(2);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto refuses = [&](const auto& change) {
    const traced old = tenon::sum(layer(x));
    CHECK_NOTHROW(traced(tenon::sum(layer(x))).backward());
    change();
    return tenon_test::text_of<tenon::error>([&] { old.backward(); }).starts_with("backward: linear: a step, loading");
  };
  CHECK(refuses([&] { layer = other; }));
  CHECK(refuses([&] { layer = nn::initialised<nn::linear<3, 2>>(3); }));
  CHECK(refuses([&] { layer.weight = other.weight; }));
  CHECK(refuses([&] { layer.initialise(4); }));
  CHECK(refuses([&] { nn::note_change(layer); }));
  const traced current = tenon::sum(layer(x));
  other = layer;
  CHECK_NOTHROW(current.backward());
}

TEST_CASE("a layer that was destroyed or moved refuses the way back", "[call_step]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 4), 1));
  const auto refusal = [](const auto& loss) { return tenon_test::text_of<tenon::error>([&] { loss.backward(); }); };
  const std::string advice = ": it was destroyed or moved since it was called; keep it where it is until backward";
  const auto check = [&](const std::string& name, auto made, const auto& value_of) {
    made.initialise(1);
    std::vector<decltype(made)> list(1, made);
    const traced old = value_of(list[0]);
    list.reserve(list.capacity() + 1);
    CHECK(refusal(old) == "backward: " + name + advice);
    auto held = std::make_unique<decltype(made)>(made);
    const traced lost = value_of(*held);
    held.reset();
    CHECK(refusal(lost) == "backward: " + name + advice);
    const traced kept = value_of(made);
    CHECK_NOTHROW(kept.backward());
    const tenon::no_grad testing;
    CHECK_NOTHROW(value_of(*std::make_unique<decltype(made)>(made)));
  };
  check("linear", nn::linear<4, 2>{}, [&](auto& layer) { return traced(tenon::sum(layer(x))); });
  check("bilinear", nn::bilinear<4, 4, 2>{}, [&](auto& layer) { return traced(tenon::sum(layer(x, x))); });
  check("gru", nn::gru<4, 3>{}, [&](auto& layer) { return traced(tenon::sum(layer(tenon::new_axis<0>(x)).sequence)); });
  struct scaled : nn::module<scaled> {
    nn::parameter<float, shape<4>> scale{.value = tenon::ones<float>(shape<4>{})};
  };
  check("parameter", scaled{}, [&](auto& own) { return traced(tenon::sum(x * own.scale)); });
  const traced of_temporary = tenon::sum(nn::initialised<nn::linear<4, 2>>(1)(x));
  CHECK(refusal(of_temporary) == "backward: linear" + advice);
}
