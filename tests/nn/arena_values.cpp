// tests/nn/arena_values.cpp: modules in use against calls of the same modules; statements, memory, misuse.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <tenon/device/graph.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/bilinear.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/reshaping.hpp>
#include <tenon/nn/transformer.hpp>
#include <utility>
#include <vector>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"
#include "support/worn_network.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv2d_options kept_size{.padding = 1, .bias = false};

template <class Space>
struct normed : nn::module<normed<Space>> {
  nn::conv2d<6, 6, 3, kept_size, Space> conv;
  nn::batch_norm<6, nn::affine::both, Space> norm;
  auto forward(const auto& x) { return norm(conv(x)); }
};

/// Convolutions with norms, a residual, pools and a head.
template <class Space = tenon::host>
struct images_classifier : nn::module<images_classifier<Space>> {
  nn::conv2d<3, 6, 3, kept_size, Space> enter;
  nn::batch_norm<6, nn::affine::both, Space> norm;
  nn::max_pool2d<2> pool;
  normed<Space> first, second;
  nn::adaptive_avg_pool2d<1> average;
  nn::flatten flat;
  nn::dropout drop;
  nn::linear<6, 4, nn::linear_options{}, Space> head;

  auto forward(const auto& x) {
    const auto h = pool(tenon::relu(norm(enter(x))));
    const tenon::traced sum = tenon::relu(h + second(tenon::relu(first(h))));
    return head(drop(flat(average(sum))));
  }
};

/// A network with parameters, in use.
template <class Network>
void set_up(Network& net) {
  net.initialise(3);
  tenon_test::wear_in(net);
  net.eval();
}

/// What a call of the network makes.
template <class Network, class... Inputs>
auto called(Network& net, const Inputs&... inputs) {
  const tenon::no_grad testing;
  return net(inputs...);
}
template <class Use, class... Inputs>
int launches(Use& use, const Inputs&... inputs) {
  const tenon::launch_counter counter;
  use.run(inputs...);
  return counter.count();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a module in use is a statement for each product, and allocates nothing", "[arena_values]",
                        tenon_test::spaces) {
  using input = shape<dyn, 3, 8, 10>;
  images_classifier<> drawn;
  set_up(drawn);
  auto net = drawn.to<TestType>();
  net.eval();
  nn::inference use(net, input(5, 3, 8, 10));
  for (const tenon::index batch : {5, 2, 0, 5}) {
    const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(batch, 3, 8, 10), 9, -1.0f, 1.0f));
    const auto expected = called(net, x);
    CHECK(difference(numbers_of(use.run(x)), numbers_of(expected), 2e-5) == "");
  }
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(5, 3, 8, 10), 9, -1.0f, 1.0f));
  constexpr bool pools_apart = !std::is_same_v<TestType, tenon::host>;
  // Three convolutions, the last with the sum, means of channels, the head; on devices the pool.
  constexpr int kernels = pools_apart ? 6 : 5;
  CHECK(launches(use, x) == kernels);
  CHECK(use.value_count() == kernels);
  // The pooled images are read to the end of the block, while those between come and go. Others are larger.
  CHECK(use.arena_bytes() <= (pools_apart ? 5 : 3) * (5 * 6 * 4 * 5 * 4 + 256));
  if constexpr (!std::is_same_v<TestType, tenon::host>) {
    const auto allocated = tenon::blocks_of<TestType>().added();
    use.run(x);
    CHECK(tenon::blocks_of<TestType>().added() == allocated);
    const auto graph = tenon::capture<TestType>([&] { use.run(x); });
    CHECK(graph.kernels() == kernels);
  }
}

TEST_CASE("a module in use has parameters of its own", "[arena_values]") {
  using input = shape<dyn, 3, 8, 10>;
  images_classifier<> net;
  set_up(net);
  nn::inference use(net, input(2, 3, 8, 10));
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(2, 3, 8, 10), 1));
  const auto before = numbers_of(use.run(x));
  net.initialise(99);
  CHECK(numbers_of(use.run(x)) == before);
  auto moved = std::move(use);
  CHECK(numbers_of(moved.run(x)) == before);
}

namespace {

struct block : nn::module<block> {
  nn::layer_norm<shape<12>> norm;
  nn::linear<12, 24> wide;
  nn::linear<24, 12> narrow;
  auto forward(const auto& x) { return x + narrow(tenon::gelu(wide(norm(x)))); }
};

/// Loops over layers and turns, values that are assigned, a buffer and a parameter of its own.
struct looped : nn::module<looped> {
  nn::linear<5, 12> enter;
  std::vector<block> blocks = std::vector<block>(3);
  std::array<nn::linear<12, 12>, 2> shared;
  nn::parameter<float, shape<12>> scale{.value = tenon::constants(shape<12>{}, 1.5f)};
  tenon::tensor<float, shape<12>> offset = tenon::constants(shape<12>{}, 0.25f);
  int turns = 3;

  auto forward(const auto& x) {
    tenon::traced h = enter(x);
    for (auto& each : blocks) h = each(h);
    for (int turn = 0; turn < turns; ++turn) {
      const tenon::traced before = h;
      for (auto& each : shared) h = tenon::tanh(each(h));
      h += before.detached();
    }
    return tenon::softmax(h * scale + offset, tenon::axis<-1>);
  }
};

}  // namespace

TEST_CASE("loops and shared layers of a module in use", "[arena_values]") {
  looped net;
  set_up(net);
  nn::inference use(net, shape<dyn, 5>(7, 5));
  for (const tenon::index batch : {7, 1, 4}) {
    const tenon::tensor<float, shape<dyn, 5>> x(tenon::uniform<float>(shape<dyn, 5>(batch, 5), 2, -1.0f, 1.0f));
    CHECK(difference(numbers_of(use.run(x)), numbers_of(called(net, x)), 1e-5) == "");
  }
}

namespace {

/// Layers that are more than an expression, in one network over sequences [time, batch].
struct reader : nn::module<reader> {
  static tenon::index batch_of(const auto& tokens) { return tokens.shape().extent(1); }
  nn::embedding<11, 8> words;
  nn::transformer_encoder_layer<8, 2, 16> encoder;
  nn::multihead_attention<8, 2> attention;
  nn::lstm<8, 6> recurrent{nn::recurrent_options{.layers = 2, .bidirectional = true}};
  nn::gru_cell<12, 5> cell;
  nn::bilinear<5, 12, 3> head;

  auto forward(const auto& tokens, const auto& before) {
    const auto h = encoder(words(tokens));
    const auto attended = attention(h, h, h);
    const auto [sequence, hidden, state] = recurrent(attended + h);
    tenon::traced last = before;
    for (tenon::index time = 0; time < tokens.shape().extent(0); ++time) {
      last = cell(sequence[time], last).hidden;
    }
    const tenon::traced final_step = sequence.reshape({-1, batch_of(tokens), 12})[-1];
    return std::pair{head(last, final_step), hidden};
  }
};

}  // namespace

TEST_CASE("a module in use of several inputs, outputs and kinds of layers", "[arena_values]") {
  reader net;
  set_up(net);
  tenon::tensor<int, rank<2>> tokens(tenon::cast<int>(tenon::uniform<float>(rank<2>(6, 3), 4, 0.0f, 11.0f)));
  tenon::tensor<float, rank<2>> before(tenon::uniform<float>(rank<2>(3, 5), 5, -1.0f, 1.0f));
  nn::inference use(net, tokens, before);
  const auto check = [&] {
    const auto expected = called(net, tokens, before);
    const auto [answer, hidden] = use.run(tokens, before);
    CHECK(difference(numbers_of(answer), numbers_of(expected.first), 1e-5) == "");
    CHECK(difference(numbers_of(hidden), numbers_of(expected.second), 1e-5) == "");
  };
  check();
  check();
  tokens = tenon::tensor<int, rank<2>>(tenon::cast<int>(tenon::uniform<float>(rank<2>(2, 3), 6, 0.0f, 11.0f)));
  check();  // fewer turns of the loop: another plan
  tokens = tenon::tensor<int, rank<2>>(tenon::cast<int>(tenon::uniform<float>(rank<2>(6, 2), 7, 0.0f, 11.0f)));
  before = tenon::tensor<float, rank<2>>(tenon::uniform<float>(rank<2>(2, 5), 8, -1.0f, 1.0f));
  check();
  tokens = tenon::tensor<int, rank<2>>(tenon::cast<int>(tenon::uniform<float>(rank<2>(7, 2), 7, 0.0f, 11.0f)));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { use.run(tokens, before); }) ==
        "inference: input 0: axis 0: extent 7, expected at most 6 as planned (input [7, 2], planned [6, 3])");
}

TEST_CASE("a sequential in use needs no fuse", "[arena_values]") {
  using input = shape<dyn, 3, 6, 6>;
  auto net = nn::sequential(
      nn::conv2d<3, 6, 3, kept_size>{}, nn::batch_norm<6>{}, nn::relu{},
      nn::residual(nn::conv2d<6, 6, 3, kept_size>{}, nn::batch_norm<6>{}, nn::relu{}, nn::conv2d<6, 6, 3, kept_size>{}),
      nn::relu{}, nn::branches(nn::conv2d<6, 2, 1>{}, nn::sequential(nn::identity{})), nn::flatten{}, nn::dropout{},
      nn::linear<8 * 36, 5>{}, nn::log_softmax<>{});
  set_up(net);
  nn::inference use(net, input(3, 3, 6, 6));
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(3, 3, 6, 6), 1, -1.0f, 1.0f));
  CHECK(difference(numbers_of(use.run(x)), numbers_of(called(net, x)), 2e-5) == "");
  CHECK(launches(use, x) == 7);  // three convolutions, a branch, both side by side, the head, the softmax
}

namespace {

/// Outputs that nothing of the network reads, and functions for the way back, which is not gone here.
struct two_heads : nn::module<two_heads> {
  nn::linear<4, 30> first, second;
  nn::linear<4, 4> body;

  auto forward(const auto& x) {
    tenon::traced h = tenon::checkpoint([this](const auto& part) { return tenon::tanh(body(part)); }, tenon::traced(x));
    h = tenon::on_gradient(h, [](const auto& gradient) { gradient = 0; });
    h = tenon::with_gradient(tenon::round(4 * h), h, [](const auto& seed) { return seed; });
    return std::tuple{first(h), second(h), h + 1};
  }
};

}  // namespace

TEST_CASE("all outputs of a network in use are there at the end", "[arena_values]") {
  two_heads net;
  set_up(net);
  nn::inference use(net, shape<dyn, 4>(64, 4));
  const tenon::tensor<float, shape<dyn, 4>> x(tenon::uniform<float>(shape<dyn, 4>(64, 4), 1, -1.0f, 1.0f));
  const tenon::no_grad testing;
  const auto [first, second, more] = net(x);
  const auto [found_first, found_second, found_more] = use.run(x);
  CHECK(difference(numbers_of(found_first), numbers_of(first), 1e-5) == "");
  CHECK(difference(numbers_of(found_second), numbers_of(second), 1e-5) == "");
  CHECK(difference(numbers_of(found_more), numbers_of(more), 1e-5) == "");
}

namespace {

struct unread : nn::module<unread> {
  nn::linear<4, 4> used, unused;
  auto forward(const auto& x) {
    [[maybe_unused]] const auto nobody_reads = unused(x);
    const auto twice = used(x);
    return tenon::traced(twice * twice + twice).reshape(rank<1>(4 * x.shape().extent(0)));
  }
};

struct normed_by_batch : nn::module<normed_by_batch> {
  nn::batch_norm<4> norm{nn::batch_norm_options{.track_statistics = false}};
  auto forward(const auto& x) { return norm(x); }
};

}  // namespace

TEST_CASE("what nobody reads is not computed, what is read twice is computed once", "[arena_values]") {
  unread net;
  set_up(net);
  nn::inference use(net, shape<dyn, 4>(3, 4));
  const tenon::tensor<float, shape<dyn, 4>> x(tenon::uniform<float>(shape<dyn, 4>(3, 4), 1));
  CHECK(difference(numbers_of(use.run(x)), numbers_of(called(net, x)), 1e-5) == "");
  CHECK(use.value_count() == 2);
  CHECK(launches(use, x) == 2);
}

/// Positions and ranges of values, and of what a call makes.
struct of_places : nn::module<of_places> {
  nn::linear<4, 4> inner;
  auto forward(const auto& x) {
    const tenon::traced h = inner(x);
    return h(tenon::range(1, 3), 0) + h(0, 2) * inner(x)[1](tenon::range(0, 2));
  }
};

TEST_CASE("places of values in use", "[arena_values]") {
  of_places net;
  net.initialise(2);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 4), 9, -1.0f, 1.0f));
  nn::inference use(net, x);
  CHECK(difference(numbers_of(use.run(x)), numbers_of(called(net, x)), 1e-6) == "");
}

TEST_CASE("misuse of modules in use", "[arena_values]") {
  normed_by_batch net;
  net.initialise(1);
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::inference(net, shape<dyn, 4>(3, 4)); }) ==
        "inference: batch_norm: no running statistics, expected them; each batch would have its own");
  looped other;
  set_up(other);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::inference(other, rank<2>(3, 6)); }) ==
        "linear: axis 1: extent 6, expected 5 (input [3, 6])");
}
