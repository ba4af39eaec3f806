// tests/nn/stream.cpp: networks one sample after another against the same networks over the whole sequence; misuse.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>
#include <tenon/nn/stream.hpp>

#include <limits>

#include "support/elements.hpp"
#include "support/text_of.hpp"
#include "support/worn_network.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;

namespace {

using sequence = tenon::tensor<float, rank<2>, tenon::host>;

/// A sequence of samples, and what a stream makes of each: both [time, features].
template <tenon::index Features>
sequence random_sequence(tenon::index length, std::uint64_t seed) {
  return tenon::uniform<float>(rank<2>(length, Features), seed, -2.0f, 2.0f);
}
template <tenon::index Features, class Stream>
std::vector<double> streamed(Stream& use, const sequence& x) {
  std::vector<double> found;
  for (tenon::index time = 0; time < x.extent(0); ++time) {
    const tenon::tensor<float, shape<Features>> sample = x[time];
    const auto y = use.next(sample);
    for (tenon::index i = 0; i < y.size(); ++i) found.push_back(static_cast<double>(y.data()[i]));
  }
  return found;
}

template <class Layer>
struct recurrent_head : nn::module<recurrent_head<Layer>> {
  Layer layer;
  auto forward(const auto& x) { return layer(x).sequence; }
};

/// The sequence as [batch, channels, time] behind `zeros` samples of zeros, and results back as [time, channels].
tenon::tensor<float, rank<3>> behind_zeros(const sequence& x, tenon::index zeros) {
  tenon::tensor<float, rank<3>> result({1, x.extent(1), zeros + x.extent(0)});
  result = 0;
  for (tenon::index time = 0; time < x.extent(0); ++time) {
    for (tenon::index i = 0; i < x.extent(1); ++i) result(0, i, zeros + time) = x(time, i);
  }
  return result;
}
std::vector<double> by_time(const tenon::tensor<float, rank<3>>& y) {
  return tenon_test::numbers_of(tenon::tensor<float, rank<2>>(tenon::transpose(y[0])));
}

/// Without weights until they are loaded.
struct one_layer : nn::module<one_layer> {
  nn::linear<dyn, 2> layer{3, 2};
  auto forward(const auto& x) { return layer(x); }
};

struct one_known_layer : nn::module<one_known_layer> {
  nn::linear<3, 2> layer;
  auto forward(const auto& x) { return layer(x); }
};

struct effect : nn::module<effect> {
  nn::lstm<1, 16> lstm;
  nn::linear<16, 1> head;
  auto forward(const auto& x) {
    const auto [made, hidden, cell] = lstm(x);
    return head(made) + x;
  }
};

/// Several layers, values that are read twice, norms, and a layer that is called twice and so keeps two states.
struct policy : nn::module<policy> {
  nn::linear<5, 12> encoder;
  nn::layer_norm<shape<12>> norm;
  nn::gru<12, 12> memory;
  nn::rms_norm<shape<12>> second_norm;
  nn::linear<12, 3> actor;
  nn::linear<12, 1> critic;
  nn::dropout zeros{0.5};
  auto forward(const auto& x) {
    const auto features = zeros(tenon::gelu(norm(encoder(x))));
    const auto [once, hidden] = memory(features);
    const auto twice = memory(second_norm(once + features)).sequence;
    return std::tuple(tenon::tanh(actor(twice)), critic(twice * once));
  }
};

}  // namespace

TEST_CASE("a network of convolutions and batch norms streams behind its first samples as the whole", "[stream]") {
  auto net =
      nn::sequential(nn::conv1d<2, 12, 3>{}, nn::batch_norm<12>{}, nn::silu{}, nn::dropout{},
                     nn::conv1d<12, 12, 2, nn::conv1d_options{.dilation = 4}>{}, nn::tanh{}, nn::conv1d<12, 3, 1>{});
  tenon_test::wear_in(net);
  const auto x = random_sequence<2>(23, 4);
  nn::inference whole(net, rank<3>(1, 2, 23));
  const auto expected = by_time(whole.run(behind_zeros(x, 0)));
  nn::stream use(net, shape<2>{});
  const auto found = streamed<2>(use, x);
  constexpr tenon::index first = 2 + 4, features = 3;  // what both kernels reach back
  CHECK(tenon_test::difference(std::vector<double>(found.begin() + first * features, found.end()), expected, 1e-5) ==
        "");
}

TEST_CASE("modules of one number take and give numbers", "[stream]") {
  effect net;
  net.initialise(2);
  const auto x = random_sequence<1>(50, 6);
  nn::inference whole(net, x.shape());
  const auto expected = tenon_test::numbers_of(whole.run(x));
  nn::stream use(net, shape<1>{});
  static_assert(noexcept(use.next(0.5f)) && noexcept(use.reset()));
  std::vector<double> found;
  for (tenon::index time = 0; time < 50; ++time) found.push_back(static_cast<double>(use.next(x(time, 0))));
  CHECK(tenon_test::difference(found, expected, 1e-6) == "");
  nn::stream moved = std::move(use);
  moved.reset();
  CHECK(static_cast<double>(moved.next(x(0, 0))) == found[0]);
}

TEST_CASE("several outputs, norms and layers that are called twice", "[stream]") {
  policy net;
  net.initialise(9);
  const auto x = random_sequence<5>(15, 1);
  nn::inference whole(net, x.shape());
  const auto [actions, values] = whole.run(x);
  const auto expected = tenon_test::numbers_of(actions), expected_values = tenon_test::numbers_of(values);
  nn::stream use(net, shape<5>{});
  std::vector<double> found, found_values;
  for (tenon::index time = 0; time < 15; ++time) {
    const auto [action, value] = use.next(tenon::tensor<float, shape<5>>(x[time]));
    for (tenon::index i = 0; i < 3; ++i) found.push_back(static_cast<double>(action(i)));
    found_values.push_back(static_cast<double>(value(0)));
  }
  CHECK(tenon_test::difference(found, expected, 1e-5) == "");
  CHECK(tenon_test::difference(found_values, expected_values, 1e-5) == "");
}

TEST_CASE("multilayer perceptrons of doubles, residuals, and samples whose features lie apart", "[stream]") {
  auto net = nn::sequential(nn::linear<6, 70, nn::linear_options{.bias = false}>{}, nn::relu{},
                            nn::residual(nn::linear<70, 70>{}, nn::leaky_relu{0.2}), nn::linear<70, 9>{})
                 .to<double>();
  const tenon::tensor<double, rank<2>> x = tenon::uniform<double>({6, 4}, 3);
  nn::inference whole(net, rank<2>(4, 6));
  const auto expected = tenon_test::numbers_of(whole.run(tenon::tensor<double, rank<2>>(tenon::transpose(x))));
  nn::stream use(net, shape<6>{});
  std::vector<double> found;
  for (tenon::index time = 0; time < 4; ++time) {
    const tenon::view<const double, shape<6>, tenon::host> column(x.data() + time, {}, {{4}});
    const auto y = use.next(column);
    found.insert(found.end(), y.data(), y.data() + y.size());
  }
  CHECK(tenon_test::difference(found, expected, 1e-14) == "");
}

TEST_CASE("a sample that is not a number is forgotten with the others", "[stream]") {
  nn::stream use(nn::sequential(nn::conv1d<2, 4, 2>{}), shape<2>{});
  const tenon::tensor<float, shape<2>> one = {1.0f, 2.0f}, none = {std::numeric_limits<float>::quiet_NaN(), 0.0f};
  const auto before = tenon_test::numbers_of(use.next(one));
  use.next(none);
  CHECK(std::isnan(use.next(one).data()[0]));  // the kernel still spans it
  CHECK(!std::isnan(use.next(one).data()[0]));
  use.next(none), use.reset();
  CHECK(tenon_test::numbers_of(use.next(one)) == before);
}

TEST_CASE("what does not stream says so when the stream is made", "[stream]") {
  const auto text_of_stream = [](auto net, auto sample) {
    return tenon_test::text_of<tenon::error>([&] { nn::stream use(net, sample); });
  };
  recurrent_head<nn::lstm<2, 4>> both{{}, nn::lstm<2, 4>({.bidirectional = true})};
  CHECK(text_of_stream(both, shape<2>{}) ==
        "stream: lstm: two directions, expected one: samples to come are not known");
  recurrent_head<nn::lstm<2, 4>> projected{{}, nn::lstm<2, 4>({.projection = 3})};
  CHECK(text_of_stream(projected, shape<2>{}) == "stream: lstm: a projection, expected none");
  CHECK(text_of_stream(recurrent_head<nn::gru<2, 4>>{}, shape<2>{}) ==
        "stream: gru: its weight_ih_l0 was never written; call initialise(seed), or load weights");
  nn::conv1d<2, 4, 3, nn::conv1d_at_run_time> padded(2, 4, 3, {.padding = 1});
  CHECK(text_of_stream(nn::sequential(padded), shape<2>{}) ==
        "stream: conv1d: padding 1, stride 1, groups 1, expected 0, 1 and 1");
  one_layer bare{{}, nn::linear<dyn, 2>(3, 2)};
  const std::string unwritten = "stream: linear: its weight was never written; call initialise(seed), or load weights";
  CHECK(text_of_stream(bare, shape<3>{}) == unwritten);
  CHECK(text_of_stream(one_known_layer{}, shape<3>{}) == unwritten);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          nn::stream use(nn::sequential(nn::linear<dyn, 2>(3, 2)), shape<4>{});
        }) == "linear: axis 0: extent 4, expected 3 (input [4])");
  nn::batch_norm<2> untracked(nn::batch_norm_options{.track_statistics = false});
  CHECK(text_of_stream(nn::sequential(untracked), shape<2>{}) ==
        "stream: batch_norm: no running statistics, expected them; a sample would be its own batch");
}
