// tests/nn/sequential.cpp: networks of layers and passes through them.
// The whole chain is compared with PyTorch's training of the same network, and counted in launches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tenon/device/launch_count.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/sgd.hpp>

#include "support/golden.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::golden_difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv2d_options same{.padding = 1};

auto make_small_network() {
  return nn::sequential(nn::conv2d<1, 2, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{}, nn::flatten{},
                        nn::linear<2 * 3 * 3, 4>{});
}

auto make_simple_cnn() {
  return nn::sequential(nn::conv2d<3, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{}, nn::conv2d<32, 64, 3, same>{},
                        nn::relu{}, nn::max_pool2d<2>{}, nn::flatten{}, nn::linear<64 * 7 * 7, 128>{}, nn::relu{},
                        nn::linear<128, 10>{});
}

template <class Network>
std::vector<std::string> names_of(Network net) {
  std::vector<std::string> names;
  net.visit_parameters([&](const std::string& name, auto&) { names.push_back(name); });
  return names;
}

}  // namespace

TEST_CASE("parameters are named by the position of their layer", "[sequential]") {
  CHECK(names_of(make_small_network()) == std::vector<std::string>{"0.weight", "0.bias", "4.weight", "4.bias"});
}

TEST_CASE("linear layers in front take the rank of what follows them", "[sequential]") {
  auto net =
      nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 8>{}, nn::multihead_attention<8, 2>{}, nn::linear<8, 2>{});
  nn::pass<decltype(net), rank<3>> pass(net);
  const tenon::tensor<float, rank<3>> x = tenon::zeros<float>(rank<3>(5, 2, 3));
  CHECK(tenon::evaluated_tensor(pass.forward(x.view())).shape() == rank<3>(5, 2, 2));
}

TEST_CASE("a network is drawn anew from its seed", "[sequential]") {
  auto first = make_small_network(), second = make_small_network();
  first.initialise(7), second.initialise(7);
  const auto weights = [](auto& net) { return numbers_of(tenon::get<4>(net.layers).weight.value); };
  CHECK(weights(first) == weights(second));
  second.initialise(8);
  CHECK(weights(first) != weights(second));
  CHECK(numbers_of(tenon::get<0>(first.layers).weight.value) != numbers_of(tenon::get<0>(second.layers).weight.value));
}

TEST_CASE("layers bring the parameters that they have", "[sequential]") {
  const auto weight_of = [](auto& net, const std::string& wanted) {
    std::vector<double> found;
    net.visit_parameters([&](const std::string& name, auto& parameter) {
      if (name == wanted) found = tenon_test::numbers_of(parameter.value);
    });
    return found;
  };
  nn::linear<4, 4> loaded;
  loaded.initialise(7);
  const auto own = tenon_test::numbers_of(loaded.weight.value);
  auto net = nn::sequential(loaded, nn::relu{}, nn::linear<4, 4>{});
  CHECK(weight_of(net, "0.weight") == own);
  auto fresh = nn::sequential(nn::linear<4, 4>{}, nn::relu{}, nn::linear<4, 4>{});
  CHECK(weight_of(net, "2.weight") == weight_of(fresh, "2.weight"));
  auto sized = nn::sequential(nn::linear<tenon::dyn, tenon::dyn>(4, 4), nn::batch_norm<>(4));
  CHECK(weight_of(sized, "1.weight") == std::vector<double>(4, 1));  // which has none before it is drawn
  // A network is a layer: what was drawn when it was made is drawn by its place, what was written since is kept.
  const auto drawn = weight_of(fresh, "0.weight");
  auto twice = nn::sequential(nn::sequential(nn::linear<4, 4>{}), nn::sequential(nn::linear<4, 4>{}));
  CHECK(weight_of(twice, "0.0.weight") != weight_of(twice, "1.0.weight"));
  auto again = nn::sequential(fresh, net, nn::residual(loaded), nn::residual(nn::linear<4, 4>{}));
  CHECK(weight_of(again, "0.0.weight") == drawn);  // its parameters were visited, so that they may have been written
  CHECK(weight_of(again, "1.0.weight") == own);
  CHECK(weight_of(again, "2.0.weight") == own);
  CHECK(weight_of(again, "3.0.weight") != own);
}

namespace {

struct trunk_and_head : nn::module<trunk_and_head> {
  nn::linear<4, 8> trunk;
  decltype(nn::sequential(nn::linear<8, 8>{}, nn::relu{})) body = nn::sequential(nn::linear<8, 8>{}, nn::relu{});
  nn::linear<8, 2> head;

  auto forward(const auto& x) { return head(body(trunk(x))); }
};

/// A module that draws its parameters in a way of its own.
struct drawn_by_hand : nn::module<drawn_by_hand> {
  nn::linear<4, 4> inner;
  nn::parameter<float, shape<4>> scale;

  void initialise(std::uint64_t seed) {
    nn::module<drawn_by_hand>::initialise(seed);
    std::fill_n(scale.value.data(), 4, 2.0f);
  }
  auto forward(const auto& x) { return inner(x) * scale; }
};

/// The parameters of a network in one row.
template <class Network>
std::vector<double> all_of(Network net) {
  std::vector<double> all;
  net.visit_parameters([&](const auto&, auto& each) {
    for (const double number : numbers_of(each.value)) all.push_back(number);
  });
  return all;
}

}  // namespace

TEST_CASE("modules in a list keep the members that were written, and get the others", "[sequential]") {
  trunk_and_head given;
  given.trunk.initialise(77);
  const auto loaded = numbers_of(given.trunk.weight.value);
  auto net = nn::sequential(given, nn::relu{}, nn::linear<2, 2>{});
  auto& made = tenon::get<0>(net.layers);
  CHECK(numbers_of(made.trunk.weight.value) == loaded);
  auto anew = nn::sequential(trunk_and_head{}, nn::relu{}, nn::linear<2, 2>{});
  auto& drawn = tenon::get<0>(anew.layers);
  CHECK(numbers_of(made.head.weight.value) == numbers_of(drawn.head.weight.value));
  CHECK(all_of(made.body) == all_of(drawn.body));
  CHECK(numbers_of(drawn.trunk.weight.value) != loaded);

  CHECK(all_of(anew) == all_of(nn::initialised(anew, 0)));
  auto again = nn::sequential(net);  // trained or not, nothing is drawn
  CHECK(all_of(again) == all_of(net));
}

TEST_CASE("equal modules in a list are drawn by their place", "[sequential]") {
  auto net = nn::sequential(trunk_and_head{}, nn::linear<2, 4>{}, trunk_and_head{});
  auto &first = tenon::get<0>(net.layers), &last = tenon::get<2>(net.layers);
  CHECK(all_of(first.body) != all_of(last.body));
  CHECK(numbers_of(first.trunk.weight.value) != numbers_of(last.trunk.weight.value));
  auto within = nn::sequential(nn::sequential(trunk_and_head{}), nn::linear<2, 4>{}, nn::sequential(trunk_and_head{}));
  CHECK(all_of(tenon::get<0>(within.layers)) != all_of(tenon::get<2>(within.layers)));
}

TEST_CASE("modules stand between layers, in blocks and in branches", "[sequential]") {
  const tenon::tensor<float, shape<dyn, 4>> x(tenon::uniform<float>(shape<dyn, 4>(3), 1));
  auto net = nn::sequential(nn::linear<4, 4>{}, trunk_and_head{}, nn::linear<2, 4>{},
                            nn::residual(trunk_and_head{}, nn::linear<2, 4>{}),
                            nn::branches(nn::sequential(trunk_and_head{}), nn::linear<4, 3>{}));
  auto& [first, module, second, block, sides] = net.layers;
  const tenon::tensor<float, rank<2>> h = second(module(first(x)));
  const tenon::tensor<float, rank<2>> seen = h + tenon::get<1>(block.layers)(tenon::get<0>(block.layers)(h));
  const tenon::tensor<float, rank<2>> expected =
      tenon::concatenate(tenon::axis<1>, tenon::get<0>(sides.layers)(seen), tenon::get<1>(sides.layers)(seen));
  CHECK(tenon_test::difference(numbers_of(net(x)), numbers_of(expected), 1e-6) == "");
  nn::inference use(net, x.shape());
  CHECK(tenon_test::difference(numbers_of(use.run(x)), numbers_of(expected), 1e-6) == "");
  nn::pass<decltype(net), shape<dyn, 4>> pass(net);
  CHECK(tenon_test::difference(numbers_of(pass.forward(x.view())), numbers_of(expected), 1e-6) == "");
}

TEST_CASE("modules with an initialise of their own are drawn as a whole, or not", "[sequential]") {
  auto net = nn::sequential(drawn_by_hand{});
  CHECK(numbers_of(tenon::get<0>(net.layers).scale.value) == std::vector<double>(4, 2));
  drawn_by_hand written;
  written.initialise(5);
  std::fill_n(written.scale.value.data(), 4, 3.0f);
  auto kept = nn::sequential(written);
  CHECK(all_of(kept) == all_of(written));
}

TEMPLATE_LIST_TEST_CASE("gradients of a network are finite differences", "[sequential]", tenon_test::spaces) {
  auto drawn = nn::sequential(nn::conv2d<1, 2, 3, same>{}, nn::flatten{}, nn::linear<2 * 6 * 6, 4>{});  // no kinks
  drawn.initialise(5);
  auto net = drawn.template to<TestType>();
  using input_shape = shape<dyn, 1, 6, 6>;
  nn::pass<decltype(net), input_shape, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(3, 1, 6, 6), 1));
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(3), {1, 3, 0});
  const auto loss = [&] {
    return static_cast<double>(static_cast<float>(tenon::mean(nn::cross_entropy(pass.forward(x.view()), labels))));
  };
  pass.backward(x.view(), nn::cross_entropy_gradient(pass.forward(x.view()), labels));
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto analytic = numbers_of(parameter.gradient);
    const auto before = parameter.value;
    for (const tenon::index at : {tenon::index{0}, parameter.value.size() / 2, parameter.value.size() - 1}) {
      const auto loss_after = [&](float step) {
        const auto here = tenon::iota<std::int64_t>(before.shape()) == at;
        parameter.value = before + tenon::where(here, step, 0.0f);
        return loss();
      };
      const double numeric = (loss_after(0.01f) - loss_after(-0.01f)) / 0.02;
      CAPTURE(name, at);
      CHECK(std::fabs(analytic[static_cast<std::size_t>(at)] - numeric) < 2e-4);
    }
    parameter.value = before;
  });
}

TEMPLATE_LIST_TEST_CASE("batches of any size share a pass", "[sequential]", tenon_test::spaces) {
  auto net = make_small_network().to<TestType>();
  using input_shape = shape<dyn, 1, 6, 6>;
  nn::pass<decltype(net), input_shape, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(5, 1, 6, 6), 1));
  const auto all = numbers_of(pass.forward(x.view()));
  const auto one = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(1, 1, 6, 6), 1));
  const auto first = numbers_of(pass.forward(one.view()));
  const std::vector<double> beginning(all.begin(), all.begin() + 4);
  CHECK(tenon_test::difference(first, beginning, 1e-6) == "");  // a product of one row adds in another order
  CHECK(numbers_of(pass.forward(x.view())) == all);
  const tenon::tensor<float, rank<4>, TestType> known_when_run = x;
  CHECK(numbers_of(pass.forward(known_when_run)) == all);
}

TEMPLATE_LIST_TEST_CASE("each layer is one kernel forward, with a relu and a pool behind it, but another shape is none",
                        "[sequential]", tenon_test::spaces) {
  auto net = make_small_network().to<TestType>();
  using input_shape = shape<dyn, 1, 6, 6>;
  nn::pass<decltype(net), input_shape, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(2, 1, 6, 6), 1));
  pass.forward(x.view());
  const auto before = tenon::launch_count().count;
  pass.forward(x.view());
  CHECK(tenon::launch_count().count - before == (std::is_same_v<TestType, tenon::host> ? 2 : 3));  // pools are apart
}

TEST_CASE("a way back without a way there", "[sequential]") {
  auto net = nn::sequential(nn::linear<dyn, dyn>(3, 4));
  nn::pass<decltype(net), rank<2>> pass(net);
  const tenon::tensor<float, rank<2>> x(tenon::zeros<float>(rank<2>(5, 3))), wide(rank<2>(5, 2)),
      g(tenon::zeros<float>(rank<2>(5, 4)));
  const auto back = [&] { return tenon_test::text_of<tenon::error>([&] { pass.backward(x.view(), g); }); };
  const std::string expected = "pass: backward: no values of a forward pass, expected one before each";
  CHECK(back() == expected);
  pass.forward(x.view());
  CHECK_NOTHROW(pass.backward(x.view(), g));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { pass.forward(wide.view()); }) != "");
  CHECK(back() == expected);
}

TEST_CASE("gradients through layers that are one statement", "[sequential]") {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::relu{}, nn::linear<4, 2>{}, nn::relu6{});
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(shape<5, 3>{}, 1, -1.0f, 1.0f));
  const auto g = tenon::evaluated_tensor(tenon::uniform<float>(shape<5, 2>{}, 2, -1.0f, 1.0f));
  nn::pass<decltype(net), shape<5, 3>> pass(net);
  pass.forward(x.view());
  pass.backward(x.view(), g);
  auto& first = tenon::get<0>(net.layers);
  auto& second = tenon::get<2>(net.layers);
  const auto w = tenon::variable<0>(first.weight.value);
  const auto b = tenon::variable<1>(first.bias.value);
  const auto inner = tenon::relu(tenon::matmul(x, tenon::transpose(w)) + b);
  const auto outer = tenon::relu6(tenon::matmul(inner, tenon::transpose(second.weight.value)) + second.bias.value);
  const auto [weight, bias] = tenon::vjp(outer, g, tenon::wrt(w, b));
  CHECK(tenon_test::difference(numbers_of(first.weight.gradient), numbers_of(weight), 1e-5) == "");
  CHECK(tenon_test::difference(numbers_of(first.bias.gradient), numbers_of(bias), 1e-5) == "");
}

TEST_CASE("a training of five steps gives PyTorch's losses and parameters", "[sequential]") {
  const tenon_test::golden_case golden("network_simple_cnn");
  if (!golden) return;
  auto net = make_simple_cnn();
  const tenon::io::safetensors_file model(golden.folder() / "model.safetensors");
  const char* modules[] = {"conv1", "conv2", "fc1", "fc2"};
  int visited = 0;
  const auto name_in_file = [&](const std::string& name) {
    return modules[visited++ / 2] + name.substr(name.find('.'));
  };
  net.visit_parameters(
      [&](const std::string& name, auto& parameter) { model.read(name_in_file(name), parameter.value); });
  using input_shape = shape<dyn, 3, 28, 28>;
  nn::pass<decltype(net), input_shape> pass(net);
  tenon::train::sgd<> optimizer({.lr = 0.05, .momentum = 0.9});
  const auto images = golden.read<float, 5>("input_input");
  const auto targets = golden.read<std::int64_t, 2>("input_target");
  const double losses[] = {2.2510976791381836, 2.6303837299346924, 1.9977128505706787, 2.661264419555664,
                           2.108018159866333};
  const auto batch_of = [&](tenon::index step) {
    tenon::tensor<float, input_shape> batch(input_shape(4, 3, 28, 28));
    batch = tenon::reshape(tenon::slice(images, tenon::only(step)), input_shape(4, 3, 28, 28));
    return batch;
  };
  for (tenon::index step = 0; step < 5; ++step) {
    const auto batch = batch_of(step);
    const tenon::tensor<std::int64_t, rank<1>> labels =
        tenon::reshape(tenon::slice(targets, tenon::only(step)), rank<1>(4));
    const auto logits = pass.forward(batch.view());
    if (step == 0) CHECK(golden_difference(logits, golden.read<float, 2>("output_logits")) == "");
    const float loss = tenon::mean(nn::cross_entropy(logits, labels));
    CHECK(tenon_test::is_close(loss, losses[step], 1e-4));
    pass.backward(batch.view(), nn::cross_entropy_gradient(logits, labels));
    if (step == 0) {
      CHECK(golden_difference(tenon::get<0>(net.layers).weight.gradient,
                              golden.read<float, 4>("gradient_conv1_weight")) == "");
      CHECK(golden_difference(tenon::get<7>(net.layers).weight.gradient,
                              golden.read<float, 2>("gradient_fc1_weight")) == "");
    }
    optimizer.step(net);
  }
  CHECK(golden_difference(pass.forward(batch_of(0).view()), golden.read<float, 2>("output_after_logits"), 1e-3) == "");
  CHECK(golden_difference(tenon::get<3>(net.layers).weight.value, golden.read<float, 4>("parameter_after_conv2_weight"),
                          1e-3) == "");
}

TEST_CASE("networks train with statistics and masks and are used without", "[sequential]") {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::batch_norm<4>{}, nn::relu{}, nn::dropout(0.5));
  nn::pass<decltype(net), tenon::shape<tenon::dyn, 3>> pass(net);
  tenon::tensor<float, tenon::shape<tenon::dyn, 3>> x({8, 3});
  x = tenon::uniform<float>(x.shape(), 1);
  const auto first = tenon_test::numbers_of(pass.forward(std::as_const(x).view()));
  CHECK(tenon_test::numbers_of(pass.forward(std::as_const(x).view())) != first);
  CHECK(tenon::get<1>(net.layers).num_batches_tracked == 2);
  net.eval();
  const auto used = tenon_test::numbers_of(pass.forward(std::as_const(x).view()));
  CHECK(tenon_test::numbers_of(pass.forward(std::as_const(x).view())) == used);
  CHECK(tenon::get<1>(net.layers).num_batches_tracked == 2);
  std::string names;
  net.visit_buffers([&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names == "1.running_mean 1.running_var 1.num_batches_tracked ");
  net.train();
  pass.forward(std::as_const(x).view());
  pass.backward(std::as_const(x).view(), tenon::constants(tenon::shape<>{}, 1.0f));
  CHECK(tenon_test::numbers_of(tenon::get<1>(net.layers).bias.gradient) != std::vector<double>(4, 0.0));
}
