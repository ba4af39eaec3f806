// tests/nn/call.cpp: layers that are called: what joins, what is kept, and gradients against those of layers by hand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/call.hpp>

#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

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

constexpr nn::conv2d_options padded{.padding = 1};
using images = shape<dyn, 1, 6, 6>;

/// How many statements a body runs.
template <class Body>
auto statements_of(const Body& body) {
  const auto before = tenon::launch_count().count;
  body();
  return tenon::launch_count().count - before;
}

/// A layer with neither parameters nor a way back of its own.
struct doubled {
  template <class Input>
  auto forward(const Input& x) const {
    return x * 2;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("calls within calls are one statement, values with names their own", "[call]",
                        tenon_test::spaces) {
  nn::conv2d<1, 2, 3, padded> drawn;
  drawn.initialise(1);
  auto conv = drawn.template to<TestType>();
  nn::max_pool2d<2> pool;
  const nn::relu active;
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(images(3, 1, 6, 6), 1));
  const auto nested = [&] { return traced(pool(tenon::relu(conv(x)))); };
  const auto by_layers = [&] { return traced(pool(active(conv(x)))); };
  const auto named = [&] {
    const auto h = conv(x);
    const auto r = tenon::relu(h);
    return traced(pool(r));
  };
  const auto named_by_layers = [&] {
    auto h = conv(x);
    auto r = active(h);
    return traced(pool(r));
  };
  const int pools_apart = std::is_same_v<TestType, tenon::host> ? 0 : 1;  // devices pool in a kernel of its own
  const auto expected = numbers_of<TestType>(named());
  CHECK(numbers_of<TestType>(nested()) == expected);
  CHECK(numbers_of<TestType>(by_layers()) == expected);
  CHECK(statements_of(nested) == 1 + pools_apart);
  CHECK(statements_of(by_layers) == 1 + pools_apart);
  CHECK(statements_of(named) == 3);
  CHECK(numbers_of<TestType>(named_by_layers()) == expected);
  CHECK(statements_of(named_by_layers) == 3);
}

TEST_CASE("a call with a name runs once, whoever reads it", "[call]") {
  nn::linear<3, 3> layer;
  layer.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 3), 1));
  const auto h = layer(x);
  CHECK(statements_of([&] { h.value(); }) == 1);
  CHECK(statements_of([&] { h.value(); }) == 0);
  CHECK(numbers_of(h + h) == numbers_of(2 * h));
  CHECK(h.extent(1) == 3);
}

TEMPLATE_LIST_TEST_CASE("gradients of calls are those of layers by hand", "[call]", tenon_test::spaces) {
  nn::linear<3, 4> drawn;
  drawn.initialise(1);
  auto layer = drawn.template to<TestType>();
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<2>(5, 3), 1));
  const tenon::tensor<float, shape<dyn, 4>, TestType> seed(tenon::uniform<float>(rank<2>(5, 4), 2));
  const auto v = tenon::variable(x);
  traced(layer(v)).backward(seed);
  const auto weight = numbers_of<TestType>(layer.weight.gradient), bias = numbers_of<TestType>(layer.bias.gradient);
  tenon::tensor<float, rank<2>, TestType> dx(x.shape());
  layer.backward(x, seed, seed, dx.write_view());
  CHECK(numbers_of<TestType>(v.gradient()) == numbers_of<TestType>(dx));
  CHECK(weight == numbers_of<TestType>(layer.weight.gradient));
  CHECK(bias == numbers_of<TestType>(layer.bias.gradient));
}

TEST_CASE("expressions between layers have gradients, and layers without a way back", "[call]") {
  nn::linear_layer<3, 3, true, tenon::host, double> layer;
  layer.initialise(1);
  auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  doubled twice;
  const auto loss = [&](const auto& in) {
    return tenon::mean(tenon::square(nn::call_layer(twice, tenon::exp(layer(in * 0.5) - 1)) + in));
  };
  const auto v = tenon::variable(x);
  tenon::backward(loss(v));
  const auto value = [&] { return static_cast<double>(loss(x)); };
  CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(layer.weight.value, layer.weight.gradient, value, 1e-6, 1e-6) == "");
}

TEST_CASE("parameters in expressions have gradients", "[call]") {
  nn::parameter<double, shape<3>> scale{.value = {1, -2, 3}};
  const auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  tenon::backward(tenon::sum(x * scale + scale));
  CHECK(tenon_test::difference(numbers_of(scale.gradient), numbers_of(tenon::sum(x, tenon::drop<0>) + 4), 1e-12) == "");
}

TEST_CASE("backward passes leave nothing in frozen parameters, and stop where all before is frozen", "[call]") {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::relu{}, nn::linear<4, 4>{}, nn::relu{}, nn::linear<4, 2>{});
  auto& first = tenon::get<0>(net.layers);
  auto& second = tenon::get<2>(net.layers);
  auto& head = tenon::get<4>(net.layers);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto pass_back = [&] {
    nn::clear_gradients(net);
    traced loss = tenon::sum(tenon::square(net(x)));
    return statements_of([&] { loss.backward(); });
  };
  const auto all = pass_back();
  const auto of_first = numbers_of(first.weight.gradient), of_head = numbers_of(head.weight.gradient);
  nn::freeze(second);
  pass_back();
  CHECK(numbers_of(first.weight.gradient) == of_first);
  CHECK(numbers_of(head.weight.gradient) == of_head);
  CHECK((!second.weight.has_gradient && !second.bias.has_gradient && first.weight.has_gradient));
  CHECK(numbers_of(second.weight.gradient) == std::vector<double>(16));
  nn::freeze(first);
  CHECK(pass_back() < all - 3);
  CHECK((!first.weight.has_gradient && !second.weight.has_gradient && head.bias.has_gradient));
  CHECK(numbers_of(head.weight.gradient) == of_head);
  nn::freeze(net, false);
  CHECK(pass_back() == all);
  CHECK(numbers_of(first.weight.gradient) == of_first);

  nn::parameter<float, shape<3>> scale{.value = {1, -2, 3}}, kept{.value = {1, 1, 1}, .is_frozen = true};
  tenon::backward(tenon::sum(x * scale * kept));
  CHECK((scale.has_gradient && !kept.has_gradient));
  CHECK_NOTHROW(tenon::backward(tenon::sum(x * kept)));
  nn::freeze(net);
  CHECK_NOTHROW(tenon::backward(tenon::sum(net(x))));
  CHECK(!head.bias.has_gradient);
}

TEST_CASE("what is not traced makes the same values", "[call]") {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::relu{}, nn::residual(nn::linear<4, 4>{}),
                            nn::branches(nn::linear<4, 2>{}, nn::linear<4, 3>{}));
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 3), 1));
  const auto expected = numbers_of(net(x));
  const tenon::no_grad testing;
  const traced found = net(x);
  CHECK(numbers_of(found) == expected);
  CHECK(found.extent(1) == 5);
  CHECK_THROWS_AS(found.backward(found), tenon::error);
  CHECK(!tenon::get<0>(net.layers).weight.has_gradient);
}

TEST_CASE("a misfit of run-time extents names layer and axis", "[call]") {
  nn::linear<dyn, dyn> layer(3, 4);
  layer.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 2), 1));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { traced(layer(x)); }) ==
        "linear: axis 1: extent 2, expected 3 (input [5, 2])");
}

TEST_CASE("what a call makes is there under another shape", "[call]") {
  nn::linear<3, 4> layer;
  layer.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 3), 1));
  const auto expected = numbers_of(traced(layer(x)));
  const traced halves = layer(x).reshape({5, 2, -1});
  CHECK(halves.extent(2) == 2);
  CHECK(numbers_of(halves) == expected);
  CHECK(numbers_of(layer(x).reshape(shape<4, 5>())) == expected);
  halves.backward(halves);
  CHECK(layer.weight.has_gradient);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer(x).reshape({3, -1}); }) != "");
}

TEST_CASE("layers take tensors whose elements lie in place", "[call]") {
  nn::linear<4, 3> layer;
  layer.initialise(1);
  const tenon::tensor<float, shape<1, 4>> x = {{1, -2, 3, 4}};
  const tenon::tensor<float, shape<3>> offset = {1, 2, 3};
  const tenon::tensor<float, rank<2>> beside = x;
  const traced found = tenon::relu(layer(x)) + offset;
  CHECK(numbers_of(found) == numbers_of(traced(tenon::relu(layer(beside)) + offset)));
  found.backward(found);
  const auto gradient = numbers_of(layer.weight.gradient);
  nn::clear_gradients(layer);
  const traced expected = tenon::relu(layer(beside)) + offset;
  expected.backward(expected);
  CHECK(gradient == numbers_of(layer.weight.gradient));
}
