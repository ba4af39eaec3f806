// tests/nn/random_modules.cpp: gradients of 200 modules whose course is drawn: layers, branches, loops, shared weights.
// Each is compared with a difference of the loss along a direction that is drawn, over all parameters and the input.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <tenon/train.hpp>

#include "support/catch.hpp"

namespace {

namespace nn = tenon::nn;
using tenon::rank;

/// A network whose forward goes through parts in the order of `course`, with values [rows, width] between.
struct drawn_module : nn::module<drawn_module> {
  enum part {
    product,
    function,
    residual,
    gate,
    loop,
    norm,
    condition,
    convolution,
    recurrence,
    attention,
    checkpoint,
    joined,
    part_count
  };
  static constexpr tenon::index rows = 3, width = 4;
  static constexpr std::size_t layers_of_a_kind = 3;
  using value = tenon::traced<double, rank<2>>;
  template <class Layer>
  using some = std::vector<decltype(std::declval<Layer&>().template to<double>())>;

  std::vector<int> course;
  some<nn::linear<width, width>> products = some<nn::linear<width, width>>(layers_of_a_kind);
  some<nn::layer_norm<tenon::shape<width>>> norms = some<nn::layer_norm<tenon::shape<width>>>(1);
  some<nn::conv1d<1, 2, 3>> convolutions = some<nn::conv1d<1, 2, 3>>(1);
  some<nn::gru<width, width>> recurrences = some<nn::gru<width, width>>(1);
  some<nn::multihead_attention<width, 2>> attentions = some<nn::multihead_attention<width, 2>>(1);

  auto forward(const auto& x) {
    value h = x;
    for (std::size_t i = 0; i < course.size(); ++i) {
      auto& layer = products[i % layers_of_a_kind];
      auto& other = products[(i + 1) % layers_of_a_kind];
      switch (course[i]) {
        case product:
          h = layer(h);
          break;
        case function:
          h = tenon::tanh(h) + 0.1 * tenon::square(h);
          break;
        case residual:
          h = h + 0.5 * tenon::softplus(layer(h));
          break;
        case gate:
          h = layer(h) * tenon::sigmoid(other(h));
          break;
        case loop:
          for (int turn = 0; turn < 3; ++turn) h = tenon::tanh(layer(h) + x);
          break;
        case norm:
          h = norms[0](h);
          break;
        case condition:
          if (static_cast<double>(tenon::mean(h)) > 0.25) h = layer(h);
          else h = tenon::sin(h);
          break;
        case convolution:
          h = tenon::mean(convolutions[0](tenon::pad(h.reshape(rank<3>(rows, 1, width)), {{0, 0, 1}}, 0)),
                          tenon::drop<1>);
          break;
        case recurrence:
          h = recurrences[0](h.reshape(rank<3>(rows, 1, width))).sequence.reshape(rank<2>(rows, width));
          break;
        case attention:
          h = tenon::reshape(attentions[0](h.reshape(rank<3>(1, rows, width))), rank<2>(rows, width));
          break;
        case checkpoint:
          h = tenon::checkpoint([&](const auto& given) { return value(tenon::tanh(layer(given))); }, h);
          break;
        default:
          h = tenon::narrow(tenon::concatenate(tenon::axis<1>, h, layer(h)), tenon::axis<1>, 2, width);
      }
    }
    return h;
  }
};

/// Calls `body(values, count)` for the elements of each parameter and of the input.
template <class Body>
void visit_numbers(drawn_module& net, tenon::tensor<double, rank<2>>& x, const Body& body) {
  body(x.data(), x.size());
  net.visit_parameters([&](const auto&, auto& parameter) { body(parameter.value.data(), parameter.value.size()); });
}

/// How far the gradient along a direction is from the difference, of the greater of them or 1.
double error_of_course(const std::vector<int>& course, std::uint64_t seed) {
  drawn_module net;
  net.course = course;
  net.initialise(seed);
  tenon::tensor<double, rank<2>> x = tenon::normal<double>({net.rows, net.width}, seed + 1);
  const tenon::tensor<double, rank<2>> target = tenon::normal<double>({net.rows, net.width}, seed + 2);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> draw;
  std::vector<double> direction;
  visit_numbers(net, x, [&](const double*, tenon::index count) {
    for (tenon::index i = 0; i < count; ++i) direction.push_back(draw(random));
  });
  const auto moved_loss = [&](double distance) {
    const auto move = [&](double by) {
      std::size_t at = 0;
      visit_numbers(net, x, [&](double* values, tenon::index count) {
        for (tenon::index i = 0; i < count; ++i) values[i] += by * direction[at++];
      });
    };
    move(distance);
    const tenon::no_grad testing;
    const double loss = tenon::mean(tenon::square(net(x) - target));
    move(-distance);
    return loss;
  };
  const auto v = tenon::variable(x);
  tenon::backward(tenon::mean(tenon::square(net(v) - target)));
  double slope = 0;
  std::size_t at = 0;
  const auto add = [&](const double* gradient, tenon::index count) {
    for (tenon::index i = 0; i < count; ++i)
      slope += (gradient == nullptr ? 0 : gradient[i]) * direction[at + static_cast<std::size_t>(i)];
    at += static_cast<std::size_t>(count);
  };
  add(v.gradient().data(), x.size());
  net.visit_parameters([&](const auto&, auto& parameter) {
    add(parameter.has_gradient ? parameter.gradient.data() : nullptr, parameter.value.size());
  });
  constexpr double step = 1e-5;
  const double difference = (moved_loss(step) - moved_loss(-step)) / (2 * step);
  return std::fabs(slope - difference) / std::fmax(1, std::fmax(std::fabs(slope), std::fabs(difference)));
}

}  // namespace

TEST_CASE("modules of drawn layers, branches and loops have the gradients of differences", "[random_modules]") {
  std::mt19937_64 random(7);
  std::vector<int> uses(drawn_module::part_count);
  for (int number = 0; number < 200; ++number) {
    std::vector<int> course(2 + random() % 6);
    for (int& each : course)
      each = static_cast<int>(random() % drawn_module::part_count), ++uses[static_cast<std::size_t>(each)];
    CAPTURE(number, course);
    CHECK(error_of_course(course, random()) < 1e-6);
  }
  for (const int each : uses) CHECK(each > 20);
}
