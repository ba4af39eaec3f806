// tests/nn/quantised_modules.cpp: modules in bytes against the same layers with rounded numbers, written by hand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/quantise.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon_test::numbers_of;

namespace {

using batch_of_images = tenon::shape<tenon::dyn, 2, 6, 6>;
constexpr nn::conv2d_options kept_size{.padding = 1, .bias = false};

/// A residual block with norms, a layer that is called twice, and a head.
struct rounded_net : nn::module<rounded_net> {
  nn::conv2d<2, 4, 3, nn::conv2d_options{.padding = 1}> stem;
  nn::conv2d<4, 4, 3, kept_size> first, twice;
  nn::batch_norm<4> norm;
  nn::linear<36, 3> head;

  auto forward(const auto& x) {
    const auto begin = tenon::relu(stem(x));
    const auto inner = twice(tenon::relu(norm(first(begin))));
    const auto sum = tenon::relu(begin + twice(inner));
    return head(nn::flatten{}(nn::max_pool2d<2>{}(sum)));
  }
};

/// Written by hand: inputs and weights of products are rounded to what their bytes stand for.
template <class Weight>
auto rounded_weight(const Weight& weight) {
  constexpr int rank = Weight::rank;
  const auto greatest = [&] {
    if constexpr (rank == 4) return tenon::tensor<float, tenon::rank<1>>(tenon::norm_inf(weight, tenon::drop<1, 2, 3>));
    else return tenon::tensor<float, tenon::rank<1>>(tenon::norm_inf(weight, tenon::drop<1>));
  }();
  const tenon::tensor<float, tenon::rank<1>> scale = greatest / 127.0f;
  return Weight(tenon::fake_quantise<std::int8_t>(weight, scale, 0, tenon::axis<0>));
}
rounded_net with_rounded_weights(rounded_net net) {
  net.stem.weight.value = rounded_weight(net.stem.weight.value);
  net.first.weight.value = rounded_weight(net.first.weight.value);
  net.twice.weight.value = rounded_weight(net.twice.weight.value);
  net.head.weight.value = rounded_weight(net.head.weight.value);
  return net;
}
std::vector<double> rounded_answer(const rounded_net& net, const std::vector<double>& ranges,
                                   const tenon::tensor<float, batch_of_images>& x) {
  rounded_net own = with_rounded_weights(net);
  const tenon::no_grad in_use;
  const auto round = [&](const auto& value, std::size_t product) {
    return tenon::evaluated_tensor(
        tenon::fake_quantise<std::int8_t>(value, static_cast<float>(ranges[product]) / 127.0f, 0));
  };
  const auto begin = tenon::evaluated_tensor(tenon::relu(own.stem(round(x, 0))));
  const auto normed = tenon::evaluated_tensor(tenon::relu(own.norm(own.first(round(begin, 1)))));
  const auto inner = tenon::evaluated_tensor(own.twice(round(normed, 2)));
  const auto sum = tenon::evaluated_tensor(tenon::relu(begin + own.twice(round(inner, 2))));
  const auto pooled = tenon::evaluated_tensor(nn::flatten{}(nn::max_pool2d<2>{}(sum)));
  return numbers_of(tenon::evaluated_tensor(own.head(round(pooled, 3))));
}

template <class Space = tenon::host, class Shape>
auto samples_in(const Shape& extents, std::uint64_t seed) {
  return tenon::evaluated_tensor<Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}
rounded_net started_net() {
  rounded_net net;
  net.initialise(4);
  net.norm.running_mean = tenon::uniform<float>({4}, 5);
  net.norm.running_var = tenon::uniform<float>({4}, 6, 0.5f, 2.0f);
  net.eval();
  return net;
}

}  // namespace

TEST_CASE("a module of bytes says what its layers say with rounded numbers", "[quantised_modules]") {
  const rounded_net net = started_net();
  const batch_of_images largest(5, 2, 6, 6);
  nn::calibration seen(net, largest);
  const auto before = samples_in(largest, 1), x = samples_in(batch_of_images(3, 2, 6, 6), 2);
  rounded_net own = net;
  const tenon::no_grad in_use;
  CHECK(tenon_test::difference(numbers_of(seen.run(before)), numbers_of(tenon::evaluated_tensor(own(before))), 1e-5) ==
        "");
  const auto ranges = numbers_of(seen.ranges());
  REQUIRE(ranges.size() == 4);  // a layer that is called twice has one
  CHECK(ranges[0] == numbers_of(tenon::norm_inf(before))[0]);
  nn::inference use(seen.quantised(), largest);
  const auto answer = numbers_of(use.run(x));
  CHECK(tenon_test::difference(answer, rounded_answer(net, ranges, x), 1e-4) == "");
  CHECK(answer != numbers_of(tenon::evaluated_tensor(own(x))));
  nn::inference again(nn::quantised(net, seen.ranges()), largest);
  CHECK(numbers_of(again.run(x)) == answer);
}

namespace {

/// Layers one after another, of which none has a name in between.
template <class Space>
struct plain_chain : nn::module<plain_chain<Space>> {
  nn::conv2d<2, 3, 3, nn::conv2d_options{}, Space> first;
  nn::conv2d<3, 2, 3, nn::conv2d_options{}, Space> second;
  nn::linear<8, 4, nn::linear_options{}, Space> head;

  auto forward(const auto& x) { return head(nn::flatten{}(tenon::relu(second(tenon::relu(first(x)))))); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("bytes are written by the statement that makes them", "[quantised_modules]",
                        tenon_test::spaces) {
  plain_chain<tenon::host> chain;
  chain.initialise(8);
  const auto net = chain.template to<TestType>();
  const batch_of_images largest(4, 2, 6, 6);
  nn::calibration seen(net, largest);
  const auto x = samples_in<TestType>(largest, 3);
  const auto exact = numbers_of(seen.run(x));
  nn::inference use(seen.quantised(), largest);
  const tenon::launch_counter launches;
  const auto made = use.run(x);
  CHECK(launches.count() == 5);  // the input's bytes, those of what flatten gives, and one for each layer
  const auto answer = numbers_of(made);
  CHECK(tenon_test::difference(answer, exact, 2e-2) == "");
  auto listed = nn::sequential(chain.first, nn::relu{}, chain.second, nn::relu{}, nn::flatten{}, chain.head);
  listed.eval();
  nn::inference fused(nn::quantised(nn::fuse(listed), tenon::tensor<float, tenon::rank<1>>(seen.ranges())), largest);
  const auto on_host = x.template to<tenon::host>();
  CHECK(tenon_test::difference(numbers_of(fused.run(on_host)), answer, 1e-5) == "");
}

namespace {

/// Two inputs, and layers that have no bytes.
struct two_inputs : nn::module<two_inputs> {
  nn::linear<4, 6> left;
  nn::lstm<6, 5> recurrent;
  nn::linear<5, 2> right;

  auto forward(const auto& x, const auto& y) { return right(recurrent(left(x)).sequence) + y; }
};

struct upsampled : nn::module<upsampled> {
  nn::conv2d<2, 3, 3> down;
  nn::conv_transpose2d<3, 2, 3> up;

  auto forward(const auto& x) { return up(down(x)); }
};

}  // namespace

TEST_CASE("other layers of a module of bytes stay as they are", "[quantised_modules]") {
  two_inputs net;
  net.initialise(1);
  const auto x = samples_in(tenon::rank<3>(7, 2, 4), 1), y = samples_in(tenon::rank<3>(7, 2, 2), 2);
  nn::calibration seen(net, x, y);
  const auto exact = numbers_of(seen.run(x, y));
  nn::inference use(seen.quantised(), x, y);
  CHECK(tenon_test::difference(numbers_of(use.run(x, y)), exact, 2e-2) == "");
  upsampled wide;
  wide.initialise(2);
  const auto images = samples_in(batch_of_images(2, 2, 6, 6), 3);
  nn::calibration watched(wide, images);
  const auto before = numbers_of(watched.run(images));
  CHECK(watched.ranges().size() == 1);
  nn::inference bytes(watched.quantised(), images);
  CHECK(tenon_test::difference(numbers_of(bytes.run(images)), before, 3e-2) == "");
}

TEST_CASE("what modules of bytes refuse", "[quantised_modules]") {
  using tenon_test::text_of;
  const rounded_net net = started_net();
  const batch_of_images largest(2, 2, 6, 6);
  nn::calibration seen(net, largest);
  CHECK(text_of<tenon::error>([&] { seen.quantised(); }) ==
        "calibration: no samples, expected some that tell the ranges of values");
  auto x = samples_in(largest, 1);
  x(1, 0, 3, 2) = std::numeric_limits<float>::infinity();
  CHECK(text_of<tenon::error>([&] { seen.run(x); }) ==
        "calibration: a value of inf, expected finite numbers as inputs of products");
  const auto refused = [&](const tenon::tensor<float, tenon::rank<1>>& ranges) {
    return text_of<tenon::error>([&] { nn::inference(nn::quantised(net, ranges), largest); });
  };
  CHECK(refused({1, 2, 3}) == "quantised: 3 ranges, but the network has more convolutions and linear layers");
  CHECK(refused({1, 2, 3, 4, 5}) == "quantised: 5 ranges, but the network has 4 convolutions and linear layers");
  CHECK(refused({1, -2, 3, 4}) == "quantised: range 1 is -2, expected the greatest magnitude that was seen");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(refused({1, 2, 3, nan}) == "quantised: range 3 is nan, expected the greatest magnitude that was seen");
  const auto list = nn::fuse(nn::sequential(nn::linear<3, 2>{}));
  CHECK(text_of<tenon::error>([&] { nn::quantised(list, tenon::ones<float>({2})); }) ==
        "quantised: 2 ranges, but the network has 1 convolutions and linear layers");
}
