// tests/nn/stream_steps.cpp: layers one step after another against the same layers over sequences; functions of gates.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>
#include <tenon/nn/stream_steps.hpp>

#include <limits>

#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;

namespace {

using steps_matrix = tenon::tensor<float, rank<2>, tenon::host>;

/// What `step` makes of each row of x, `features` numbers each.
template <class Step>
std::vector<double> each_step(Step& step, const steps_matrix& x, tenon::index features) {
  std::vector<double> found;
  for (tenon::index time = 0; time < x.extent(0); ++time) {
    const float* const y = step.next(x.data() + time * x.extent(1));
    found.insert(found.end(), y, y + features);
  }
  return found;
}

/// Empty where the steps of a recurrent layer make what the layer makes of the whole sequence, twice.
template <class Gates, tenon::index Input, tenon::index Hidden>
std::string recurrent_steps_difference(nn::recurrent<Gates, Input, Hidden, tenon::host, float> layer,
                                       tenon::index length) {
  layer.initialise(3);
  const auto extents = layer.network().extents();
  const steps_matrix x = tenon::uniform<float>(rank<2>(length, extents.input), 5, -2.0f, 2.0f);
  const auto expected = tenon_test::numbers_of(layer.forward(x).sequence);
  nn::recurrent_stream<Gates, float, Input, Hidden> step(layer);
  const auto first = each_step(step, x, extents.hidden);
  step.reset();
  if (each_step(step, x, extents.hidden) != first) return "after a reset it says something else";
  return tenon_test::difference(first, expected, 2e-6);
}

/// The same of a convolution, by its definition in double: zeros lie before the first sample.
template <tenon::index In, tenon::index Out, tenon::index Taps, class Layer>
std::string conv_steps_difference(Layer layer, tenon::index length) {
  layer.initialise(7);
  const tenon::index in = layer.in_channels, out = layer.out_channels, taps = layer.kernel[0];
  const steps_matrix x = tenon::uniform<float>(rank<2>(length, in), 8, -2.0f, 2.0f);
  std::vector<double> expected;
  for (tenon::index time = 0; time < length; ++time) {
    for (tenon::index row = 0; row < out; ++row) {
      double sum = Layer::known_options.bias ? static_cast<double>(layer.bias.value(row)) : 0;
      for (tenon::index tap = 0; tap < taps; ++tap) {
        const tenon::index from = time - (taps - 1 - tap) * layer.options.dilation[0];
        for (tenon::index i = 0; i < in && from >= 0; ++i) {
          sum += static_cast<double>(layer.weight.value(row, i, tap)) * static_cast<double>(x(from, i));
        }
      }
      expected.push_back(sum);
    }
  }
  nn::conv_stream<float, In, Out, Taps> step(layer);
  return tenon_test::difference(each_step(step, x, out), expected, 2e-6);
}

}  // namespace

TEST_CASE("steps of recurrent layers are those of whole sequences", "[stream_steps]") {
  CHECK(recurrent_steps_difference(nn::lstm<1, 16>{}, 40) == "");
  CHECK(recurrent_steps_difference(nn::lstm<24, 40>{}, 9) == "");
  CHECK(recurrent_steps_difference(nn::lstm<>(5, 19, {.layers = 3}), 11) == "");
  CHECK(recurrent_steps_difference(nn::gru<3, 8>({.bias = false}), 17) == "");
  CHECK(recurrent_steps_difference(nn::gru<33, 65>{}, 5) == "");
  CHECK(recurrent_steps_difference(nn::gru<dyn, 7>(4, 7, {.layers = 2}), 13) == "");
  CHECK(recurrent_steps_difference(nn::rnn<6, 150>{}, 6) == "");
  CHECK(recurrent_steps_difference(nn::rnn<6, 3>({.function = nn::nonlinearity::with_relu}), 6) == "");
}

TEST_CASE("steps of doubles are as exact as those of whole sequences", "[stream_steps]") {
  nn::lstm<3, 10, tenon::host, double> layer;
  layer.initialise(2);
  const tenon::tensor<double, rank<2>, tenon::host> x = tenon::uniform<double>(rank<2>(12, 3), 4, -2.0, 2.0);
  const auto expected = tenon_test::numbers_of(layer.forward(x).sequence);
  nn::recurrent_stream<nn::lstm_gates, double, 3, 10> step(layer);
  std::vector<double> found;
  for (tenon::index time = 0; time < 12; ++time) {
    const double* const y = step.next(x.data() + time * 3);
    found.insert(found.end(), y, y + 10);
  }
  CHECK(tenon_test::difference(found, expected, 1e-14) == "");
}

TEST_CASE("convolutions keep what their kernel spans", "[stream_steps]") {
  constexpr nn::conv1d_options spread{.dilation = 3}, bare{.dilation = 2, .bias = false};
  CHECK(conv_steps_difference<1, 8, 3>(nn::conv1d<1, 8, 3>{}, 9) == "");
  CHECK(conv_steps_difference<7, 20, 1>(nn::conv1d<7, 20, 1>{}, 4) == "");
  CHECK(conv_steps_difference<16, 16, 4>(nn::conv1d<16, 16, 4, spread>{}, 25) == "");
  CHECK(conv_steps_difference<9, 150, 2>(nn::conv1d<9, 150, 2, bare>{}, 7) == "");
  CHECK(conv_steps_difference<64, 64, 3>(nn::conv1d<64, 64, 3>{}, 5) == "");
  using at_run_time = nn::conv1d<dyn, dyn, dyn, nn::conv1d_at_run_time>;
  CHECK(conv_steps_difference<dyn, dyn, dyn>(at_run_time(3, 11, 3, {.dilation = 2}), 12) == "");
}

TEST_CASE("a linear layer may read what it made of the sample before", "[stream_steps]") {
  nn::linear<150, 150> layer;
  layer.initialise(6);
  nn::linear_stream<float, 150, 150> step(layer), apart(layer);
  const tenon::tensor<float, rank<1>, tenon::host> x = tenon::uniform<float>(rank<1>(150), 1);
  const float* fed_back = step.next(x.data());
  std::vector<float> copy(fed_back, fed_back + 150);
  for (int turn = 0; turn < 3; ++turn) {
    fed_back = step.next(fed_back);
    const float* const expected = apart.next(copy.data());
    copy.assign(expected, expected + 150);
    CHECK(std::equal(copy.begin(), copy.end(), fed_back));
  }
}

TEST_CASE("gates have functions of few steps, within the bounds that they state", "[stream_steps]") {
  using functions = nn::functions_of_streams;
  double most_tanh = 0, most_sigmoid = 0;
  for (double x = -12; x < 12; x += 1.0 / 4096) {
    const auto single = static_cast<float>(x);
    const double exact = std::tanh(static_cast<double>(single)), unit = std::ldexp(1.0, std::ilogb(exact) - 23);
    most_tanh = std::max(most_tanh, x == 0 ? 0 : std::abs(static_cast<double>(functions::tanh(single)) - exact) / unit);
    const double logistic = 1 / (1 + std::exp(-static_cast<double>(single)));
    most_sigmoid = std::max(most_sigmoid, std::abs(static_cast<double>(functions::sigmoid(single)) - logistic));
  }
  CHECK(most_tanh < 6);
  CHECK(most_sigmoid < std::ldexp(1.0, -22));
  constexpr float infinite = std::numeric_limits<float>::infinity(), none = std::numeric_limits<float>::quiet_NaN();
  CHECK(functions::tanh(0.0f) == 0);
  CHECK(std::abs(functions::tanh(infinite) - 1) < 1e-6f);
  CHECK(std::abs(functions::sigmoid(-infinite)) < 1e-6f);
  CHECK(std::isnan(functions::tanh(none)));
  CHECK(std::isnan(functions::sigmoid(none)));
  CHECK(functions::tanh(1e-30f) == Approx(1e-30f));
}
