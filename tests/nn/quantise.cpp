// tests/nn/quantise.cpp: networks of bytes against sums of their integers, and against the networks they were made of.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/loss.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/quantise.hpp>
#include <tenon/nn/state.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv2d_options byte_padding{.padding = 1};
using small_images = shape<dyn, 2, 4, 6>;

/// Convolution, activation, pool, product: all that a network of bytes has kinds of statements for.
template <class Space>
auto small_classifier() {
  auto net = nn::sequential(nn::conv2d<2, 3, 3, byte_padding>{}, nn::relu{}, nn::max_pool2d<2>{}, nn::flatten{},
                            nn::linear<18, 4>{});
  net.initialise(5);
  net.eval();
  return net.template to<Space>();
}
template <class Space, class Shape>
auto drawn_samples(const Shape& extents, std::uint64_t seed) {
  return tenon::evaluated_tensor<Space>(tenon::uniform<float>(extents, seed, -1.0f, 1.0f));
}
/// A calibration that has seen one batch.
template <class Network, class Shape>
auto bytes_after(const Network& net, const Shape& extents) {
  using space = typename std::remove_cvref_t<decltype(nn::fuse(net))>::row::space;
  nn::calibration seen(nn::fuse(net), extents);
  seen.run(drawn_samples<space>(extents, 9).view());
  return seen.quantised();
}

/// The state of a network of bytes by name.
template <class Network>
std::map<std::string, std::vector<double>> state_by_name(Network& net) {
  std::map<std::string, std::vector<double>> all;
  nn::visit_state(net, [&]<class Value>(const std::string& name, Value& value) {
    if constexpr (std::is_arithmetic_v<Value>) all[name] = {static_cast<double>(value)};
    else all[name] = numbers_of(value);
  });
  return all;
}
double byte_of(double value, double scale) {
  return std::clamp(std::nearbyint(static_cast<double>(static_cast<float>(value) / static_cast<float>(scale))), -128.0,
                    127.0);
}

/// What `small_classifier` as bytes has to say to one image [2, 4, 6], step by step.
std::vector<double> answer_of_integers(std::map<std::string, std::vector<double>>& state, const double* image) {
  double pooled[18];
  for (int o = 0; o < 3; ++o) {
    for (int row = 0; row < 2; ++row) {
      for (int column = 0; column < 3; ++column) {
        double greatest = -1;
        for (int inner = 0; inner < 4; ++inner) {
          const int y = 2 * row + inner / 2, x = 2 * column + inner % 2;
          double sum = 0;
          for (int tap = 0; tap < 18; ++tap) {
            const int c = tap / 9, v = y + tap / 3 % 3 - 1, u = x + tap % 3 - 1;
            if (v < 0 || v >= 4 || u < 0 || u >= 6) continue;
            const double byte = byte_of(image[c * 24 + v * 6 + u], state["0.scale"][0]);
            sum += byte * state["1.weight"][static_cast<std::size_t>(o * 18 + tap)];
          }
          const auto channel = static_cast<std::size_t>(o);
          const double value = sum * state["1.scale"][channel] + state["1.bias"][channel];
          greatest = std::max(greatest, byte_of(std::max(value, 0.0), state["3.scale"][0]));
        }
        pooled[o * 6 + row * 3 + column] = greatest;
      }
    }
  }
  std::vector<double> answer;
  for (std::size_t o = 0; o < 4; ++o) {
    double sum = 0;
    for (std::size_t i = 0; i < 18; ++i) sum += pooled[i] * state["6.weight"][o * 18 + i];
    answer.push_back(sum * state["6.scale"][o] + state["6.bias"][o]);
  }
  return answer;
}

}  // namespace

TEST_CASE("inputs of products are rounded before pools and reshaping", "[quantise]") {
  using bytes = decltype(nn::quantised(nn::fuse(small_classifier<tenon::host>())));
  using conv = nn::quantised_product<nn::conv2d<2, 3, 3, byte_padding>>;
  using expected = nn::fused_network<nn::quantiser, conv, nn::relu, nn::quantiser, nn::max_pool2d<2>, nn::flatten,
                                     nn::quantised_product<nn::linear<18, 4>>>;
  STATIC_REQUIRE(std::is_same_v<bytes, expected>);
}

TEMPLATE_LIST_TEST_CASE("a network of bytes says what its integers say", "[quantise]", tenon_test::spaces) {
  const auto net = small_classifier<TestType>();
  auto bytes = bytes_after(net, small_images(5, 2, 4, 6));
  auto state = state_by_name(bytes);
  nn::inference use(bytes, small_images(5, 2, 4, 6));
  const auto x = drawn_samples<TestType>(small_images(4, 2, 4, 6), 10);
  const tenon::launch_counter launches;
  const auto answer = use.run(x.view());
  CHECK(launches.count() == 4);  // the input's bytes, the convolution, the pool, the linear layer
  std::vector<double> expected;
  const auto images = numbers_of(x);
  for (std::size_t image = 0; image < 4; ++image) {
    for (const double each : answer_of_integers(state, images.data() + image * 48)) expected.push_back(each);
  }
  CHECK(tenon_test::difference(numbers_of(answer), expected, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("weights are bytes with a scale for each output", "[quantise]", tenon_test::spaces) {
  auto net = nn::sequential(nn::linear<3, 3>{}).template to<TestType>();
  tenon::get<0>(net.layers).weight.value =
      tenon::tensor<float, shape<3, 3>>(shape<3, 3>{}, {1.0f, -2.0f, 0.5f, 0.0f, 0.0f, 0.0f, 0.25f, 0.01f, -0.1f})
          .template to<TestType>();
  auto bytes = bytes_after(net, shape<dyn, 3>(7, 3));
  auto state = state_by_name(bytes);
  CHECK(state["1.weight"] == std::vector<double>{64, -127, 32, 0, 0, 0, 127, 5, -51});
  const double step = state["0.scale"][0];
  CHECK(tenon_test::difference(state["1.scale"], {2 * step / 127, 0, 0.25 * step / 127}, 1e-6) == "");
  nn::inference use(bytes, shape<dyn, 3>(7, 3));
  const auto answer = numbers_of(use.run(drawn_samples<TestType>(shape<dyn, 3>(2, 3), 1).view()));
  CHECK(answer[1] == numbers_of(tenon::get<0>(net.layers).bias.value)[1]);
}

TEST_CASE("what is greater than all samples is the greatest byte", "[quantise]") {
  auto net = nn::sequential(nn::linear<1, 1, nn::linear_options{.bias = false}>{});
  tenon::get<0>(net.layers).weight.value = 1.0f;
  nn::calibration seen(nn::fuse(net), shape<dyn, 1>(3, 1));
  for (const float greatest : {-2.0f, 1.0f}) {
    seen.run(tenon::evaluated_tensor(tenon::constants(shape<dyn, 1>(3, 1), greatest)).view());
  }
  seen.run(tenon::tensor<float, shape<dyn, 1>>(shape<dyn, 1>(0, 1)).view());
  nn::inference use(seen.quantised(), shape<dyn, 1>(3, 1));
  const tenon::tensor<float, shape<dyn, 1>> x(shape<dyn, 1>(3, 1), {1.0f, 9.0f, -9.0f});
  CHECK(tenon_test::difference(numbers_of(use.run(x.view())), {64 * 2 / 127.0, 2, -128 * 2 / 127.0}, 1e-6) == "");
}

TEST_CASE("the weights of a network of bytes take a quarter", "[quantise]") {
  auto fused = nn::fuse(small_classifier<tenon::host>());
  const auto bytes_of = [](auto& net) {
    std::map<std::string, tenon::index> sizes;
    nn::visit_state(net, [&]<class Value>(const std::string& name, Value& value) {
      if constexpr (!std::is_arithmetic_v<Value>) {
        sizes[name.substr(2)] += value.size() * static_cast<tenon::index>(sizeof(typename Value::element));
      }
    });
    return sizes;
  };
  auto bytes = nn::quantised(fused);
  CHECK(bytes_of(fused)["weight"] == 4 * bytes_of(bytes)["weight"]);
  CHECK(bytes_of(fused)["bias"] == bytes_of(bytes)["bias"]);
  CHECK(bytes_of(bytes)["scale"] == bytes_of(bytes)["bias"]);
}

TEST_CASE("layers within layers are bytes too, transposed convolutions are not", "[quantise]") {
  using input = shape<dyn, 4, 6, 6>;
  auto net =
      nn::sequential(nn::residual(nn::conv2d<4, 4, 3, byte_padding>{}, nn::relu{}, nn::conv2d<4, 4, 3, byte_padding>{}),
                     nn::branches(nn::conv2d<4, 3, 1>{}, nn::sequential(nn::relu{}, nn::conv2d<4, 2, 1>{})),
                     nn::conv_transpose2d<5, 2, 2>{});
  net.eval();
  auto bytes = bytes_after(net, input(6, 4, 6, 6));
  std::string names;
  nn::visit_state(bytes, [&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names ==
        "0.0.scale 0.1.weight 0.1.scale 0.1.bias 0.3.scale 0.4.weight 0.4.scale 0.4.bias "
        "1.0.0.scale 1.0.1.weight 1.0.1.scale 1.0.1.bias 1.1.1.scale 1.1.2.weight 1.1.2.scale 1.1.2.bias "
        "2.weight 2.bias ");
  nn::inference use(bytes, input(6, 4, 6, 6));
  nn::inference exact(nn::fuse(net), input(6, 4, 6, 6));
  const auto x = drawn_samples<tenon::host>(input(6, 4, 6, 6), 9);
  CHECK(tenon_test::difference(numbers_of(use.run(x.view())), numbers_of(exact.run(x.view())), 1e-2) == "");
}

namespace {

/// Images of four classes: a bright bar in one of four places, and noise.
struct bars {
  tenon::tensor<float, shape<dyn, 1, 8, 8>> images;
  tenon::tensor<tenon::index, tenon::rank<1>> labels;

  bars(tenon::index count, std::uint64_t seed)
      : images(shape<dyn, 1, 8, 8>(count, 1, 8, 8)), labels(tenon::rank<1>(count)) {
    images = tenon::uniform<float>(images.shape(), seed, -1.0f, 1.0f);
    for (tenon::index image = 0; image < count; ++image) {
      labels(image) = (image * 7 + static_cast<tenon::index>(seed)) % 4;
      for (tenon::index place = 0; place < 8; ++place) {
        const bool lies = labels(image) % 2 == 0;
        const tenon::index line = labels(image) < 2 ? 2 : 5;
        images(image, 0, lies ? line : place, lies ? place : line) += 1.0f;
      }
    }
  }
  /// How many of the answers are right.
  tenon::index right(const std::vector<double>& answers) const {
    tenon::index count = 0;
    for (tenon::index image = 0; image < labels.size(); ++image) {
      const auto* const line = answers.data() + image * 4;
      count += std::max_element(line, line + 4) - line == labels(image) ? 1 : 0;
    }
    return count;
  }
};

}  // namespace

TEST_CASE("a trained network of bytes is right about as often", "[quantise]") {
  using input = shape<dyn, 1, 8, 8>;
  auto net = nn::sequential(nn::conv2d<1, 6, 3, byte_padding>{}, nn::relu{}, nn::max_pool2d<2>{}, nn::flatten{},
                            nn::linear<96, 4>{});
  net.initialise(2);
  nn::pass<decltype(net), input> pass(net);
  for (std::uint64_t step = 0; step < 40; ++step) {
    const bars batch(16, step);
    const auto logits = pass.forward(batch.images.view());
    pass.backward(batch.images.view(), nn::cross_entropy_gradient(logits, batch.labels));
    net.visit_parameters(
        [](const auto&, auto& parameter) { parameter.value = parameter.value - 0.3f * parameter.gradient; });
  }
  net.eval();
  const bars seen_before(64, 50), others(200, 51);
  nn::calibration seen(nn::fuse(net), input(200, 1, 8, 8));
  seen.run(seen_before.images.view());
  nn::inference use(seen.quantised(), input(200, 1, 8, 8));
  const tenon::index exact = others.right(numbers_of(seen.run(others.images.view())));
  const tenon::index rounded = others.right(numbers_of(use.run(others.images.view())));
  CHECK(exact > 150);
  CHECK(std::abs(exact - rounded) <= 4);
}

TEST_CASE("what networks of bytes refuse", "[quantise]") {
  const auto net = small_classifier<tenon::host>();
  nn::calibration seen(nn::fuse(net), small_images(2, 2, 4, 6));
  CHECK(tenon_test::text_of<tenon::error>([&] { seen.quantised(); }) ==
        "calibration: no samples, expected some that tell the ranges of values");
  auto x = drawn_samples<tenon::host>(small_images(2, 2, 4, 6), 1);
  x(1, 0, 3, 2) = std::numeric_limits<float>::quiet_NaN();
  CHECK(tenon_test::text_of<tenon::error>([&] { seen.run(x.view()); }) ==
        "calibration: a value of nan, expected finite numbers as inputs of products");
  CHECK(tenon_test::text_of<tenon::error>([&] {
          nn::inference(nn::quantised(nn::fuse(net)), small_images(2, 2, 4, 6));
        }) == "quantised: no scale of its inputs, expected that of a calibration or a saved state");
}
