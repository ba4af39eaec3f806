// tests/nn/stream.cpp: networks step by step, against the same networks over whole sequences.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::text_of;

namespace {

struct effect : nn::module<effect> {
  nn::lstm<3, 20> lstm{{.layers = 2}};
  nn::gru<20, 9> gru;
  nn::rnn<9, 5> rnn;
  nn::layer_norm<shape<5>> norm;
  nn::linear<5, 2> head;
  auto forward(const auto& x) {
    const auto sequence = rnn(gru(lstm(x).sequence).sequence).sequence;
    return head(norm(tenon::sigmoid(sequence) * 2 - sequence)) + 1;
  }
};

/// Convolutions that see no step to come: zeros stand before the first one.
struct causal_filters : nn::module<causal_filters> {
  nn::conv1d<2, 8, 3> first;
  nn::conv1d<8, 6, 2, {.dilation = 3, .groups = 2, .bias = false}> second;
  nn::batch_norm<6> norm;
  nn::conv1d<6, 1, 1> last;
  auto forward(const auto& x) { return last(norm(tenon::relu(second(tenon::tanh(first(x)))))); }
};

struct dense_policy : nn::module<dense_policy> {
  nn::linear<7, 33> hidden;
  nn::linear<33, 4> head;
  auto forward(const auto& x) { return head(tenon::elu(hidden(x))); }
};

/// Its sizes are known at run time alone.
struct dynamic_effect : nn::module<dynamic_effect> {
  nn::lstm<> lstm{3, 6};
  nn::linear<tenon::dyn, tenon::dyn> head{6, 2};
  auto forward(const auto& x) { return head(lstm(x).sequence); }
};

/// Reads the states, too, and calls a layer twice: each call has its own.
struct states : nn::module<states> {
  nn::lstm<3, 4> lstm{{.layers = 2}};
  nn::gru<3, 5> gru;
  auto forward(const auto& x) {
    const auto of_lstm = lstm(x);
    return std::tuple{of_lstm.hidden, of_lstm.cell, gru(x).sequence + gru(x * 2).sequence};
  }
};

struct both_ways : nn::module<both_ways> {
  nn::lstm<3, 4> lstm{{.bidirectional = true}};
  auto forward(const auto& x) { return lstm(x).sequence; }
};

template <class Network>
Network initialised(std::uint64_t seed) {
  Network net;
  net.initialise(seed);
  return net;
}
tenon::tensor<float, rank<3>> drawn_steps(tenon::index first, tenon::index second, tenon::index third) {
  return tenon::uniform<float>(rank<3>(first, second, third), 7, -1.5f, 1.5f);
}

/// The outputs of a stream for sequences [time, 1, features], one after another.
template <class Stream>
std::vector<double> outputs_of(Stream& use, const tenon::tensor<float, rank<3>>& x) {
  std::vector<double> result;
  for (tenon::index time = 0; time < x.extent(0); ++time) {
    const auto step = tenon::slice(x, tenon::range(time, time + 1));
    for (const double number : numbers_of(use.next(step))) result.push_back(number);
  }
  return result;
}

}  // namespace

TEST_CASE("recurrent layers step by step make what they make of the sequence", "[stream]") {
  auto net = initialised<effect>(1);
  const auto x = drawn_steps(13, 1, 3);
  const tenon::no_grad in_use;
  net.eval();
  const auto expected = numbers_of(net(x));
  nn::stream use(net, shape<1, 1, 3>{});
  CHECK(difference(outputs_of(use, x), expected, 1e-6) == "");
  use.reset();
  CHECK(difference(outputs_of(use, x), expected, 1e-6) == "");
  CHECK(difference(outputs_of(use, x), expected, 1e-6) != "");  // it remembers

  auto of_run = initialised<dynamic_effect>(2);
  nn::stream use_of_run(of_run, rank<3>(1, 1, 3));
  CHECK(difference(outputs_of(use_of_run, x), numbers_of(of_run(x)), 1e-6) == "");
  nn::stream moved = std::move(use_of_run);
  moved.reset();
  CHECK(difference(outputs_of(moved, x), numbers_of(of_run(x)), 1e-6) == "");
}

TEST_CASE("a stream of sequences without a batch, and of elements apart", "[stream]") {
  auto net = initialised<effect>(3);
  const auto x = drawn_steps(6, 1, 3);
  const tenon::no_grad in_use;
  net.eval();
  const auto expected = numbers_of(net(x));
  nn::stream use(net, shape<1, 3>{});
  const tenon::tensor<float, rank<3>> apart = tenon::permute(x, tenon::axis<1, 2, 0>);  // [1, 3, time]
  std::vector<double> found;
  for (tenon::index time = 0; time < 6; ++time) {
    for (const double number : numbers_of(use.next(tenon::select(apart, tenon::axis<2>, time))))
      found.push_back(number);
  }
  CHECK(difference(found, expected, 1e-5) == "");  // its norm divides by small deviations
}

TEST_CASE("convolutions keep the steps that they reach back to", "[stream]") {
  auto net = initialised<causal_filters>(4);
  net.norm.running_mean = tenon::uniform<float>({6}, 1);
  net.norm.running_var = tenon::uniform<float>({6}, 2) + 0.5f;
  net.eval();
  const tenon::no_grad in_use;
  constexpr tenon::index time = 17, before = 2 + 3;
  const auto x = drawn_steps(1, 2, time);
  // What convolutions without padding make of a sequence that begins with zeros; the stream's own are those of each
  // layer, so the first ones differ until nothing reaches back to them.
  const tenon::tensor<float, rank<3>> with_zeros = tenon::pad(x, {{0, 0, {before, 0}}}, 0);
  const auto whole = numbers_of(net(with_zeros));
  nn::stream use(net, shape<1, 2, 1>{});
  std::vector<double> found;
  for (tenon::index i = 0; i < time; ++i) {
    const auto y = use.next(tenon::narrow(x, tenon::axis<2>, i, 1));
    found.push_back(static_cast<double>(y(0, 0, 0)));
  }
  REQUIRE(whole.size() == found.size());
  CHECK(difference(std::vector<double>(found.begin() + before, found.end()),
                   std::vector<double>(whole.begin() + before, whole.end()), 1e-6) == "");

  auto one = nn::sequential(nn::conv1d<2, 5, 4, {.dilation = 2}>{});
  nn::stream first_steps(one, shape<1, 2, 1>{});
  const auto padded = numbers_of(one(tenon::evaluated_tensor(tenon::pad(x, {{0, 0, {6, 0}}}, 0))));
  for (tenon::index i = 0; i < time; ++i) {
    const auto y = first_steps.next(tenon::narrow(x, tenon::axis<2>, i, 1));
    for (tenon::index channel = 0; channel < 5; ++channel) {
      CHECK(std::fabs(static_cast<double>(y(0, channel, 0)) - padded[static_cast<std::size_t>(channel * time + i)]) <
            1e-6);
    }
  }
}

TEST_CASE("layers that remember nothing, one row or several", "[stream]") {
  auto net = initialised<dense_policy>(6);
  const tenon::no_grad in_use;
  for (const tenon::index rows : {1, 5}) {
    const tenon::tensor<float, rank<2>> x = tenon::uniform<float>({rows, 7}, 3, -1.0f, 1.0f);
    nn::stream use(net, rank<2>(rows, 7));
    CHECK(difference(numbers_of(use.next(x)), numbers_of(net(x)), 1e-6) == "");
  }
}

TEST_CASE("states can be read, and each call of a layer has its own", "[stream]") {
  auto net = initialised<states>(8);
  const auto x = drawn_steps(4, 1, 3);
  const tenon::no_grad in_use;
  const auto [hidden, cell, sequence] = net(x);
  nn::stream use(net, shape<1, 1, 3>{});
  for (tenon::index time = 0; time < 4; ++time) {
    const auto step = tenon::slice(x, tenon::range(time, time + 1));
    const auto [hidden_now, cell_now, output] = use.next(step);
    CHECK(difference(numbers_of(output), numbers_of(tenon::slice(sequence, tenon::range(time, time + 1))), 1e-6) == "");
    if (time != 3) continue;
    CHECK(difference(numbers_of(hidden_now), numbers_of(hidden), 1e-6) == "");
    CHECK(difference(numbers_of(cell_now), numbers_of(cell), 1e-6) == "");
  }
}

TEST_CASE("what does not run step by step is refused", "[stream]") {
  const auto refused = [](auto net, const auto& extents) {
    return text_of<tenon::error>([&] { nn::stream(net, extents); });
  };
  CHECK(refused(both_ways{}, shape<1, 1, 3>{}) ==
        "stream: lstm: two directions, expected one: the other one reads from the end");
  CHECK(refused(nn::sequential(nn::conv1d<2, 3, 3, {.padding = 1}>{}), shape<1, 2, 1>{}) ==
        "stream: conv1d: padding 1, expected 0: each step makes one result, and zeros stand before the first step");
  CHECK(text_of<tenon::shape_error>([] { nn::stream(effect{}, rank<3>(2, 1, 3)); }) ==
        "stream: lstm: 2 steps in a call, expected 1, of one sequence");

  nn::stream use(effect{}, rank<3>(1, 1, 3));
  CHECK(text_of<tenon::shape_error>([&] { (void)use.next(drawn_steps(1, 1, 4)); }) ==
        "stream: axis 2: extent 4, expected 3 (step [1, 1, 4], of the stream [1, 1, 3])");
  nn::stream known(effect{}, shape<1, 1, 3>{});
  static_assert(noexcept(known.next(std::declval<const tenon::tensor<float, shape<1, 1, 3>>&>())));
  static_assert(!noexcept(known.next(std::declval<const tenon::tensor<float, rank<3>>&>())));
}
