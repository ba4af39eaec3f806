// tests/shared_networks/shared_networks.cpp: one network that several threads call in evaluation under no_grad.
// ThreadSanitizer sees whether a layer is written to; results are those of one thread, bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <tenon/tenon.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

constexpr int thread_count = 4, call_count = 3;

/// Whether `compute()`, called by several threads at once, comes to the same numbers as when called by one.
template <class Compute>
bool is_same_in_all_threads(const Compute& compute) {
  const auto numbers = [&] {
    const tenon::no_grad testing;
    return compute();
  };
  const std::vector<double> expected = numbers();
  std::atomic<int> differences = 0, waiting = thread_count;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int call = 0; call < call_count; ++call) differences += numbers() != expected;
    });
  }
  for (std::thread& each : threads) each.join();
  return differences == 0 && !expected.empty();
}

template <class Value>
std::vector<double> elements_of(const Value& value) {
  return numbers_of(tenon::evaluated_tensor(value * 1.0f));
}

/// The same of a network with one result, in evaluation.
template <class Network, class... Inputs>
bool is_shared(Network&& net, const Inputs&... inputs) {
  net.initialise(1);
  if constexpr (requires { net.eval(); }) net.eval();
  else if constexpr (requires { net.is_training = false; }) net.is_training = false;
  return is_same_in_all_threads([&] { return elements_of(net(inputs...)); });
}

/// The same of a recurrent layer or cell: of what it makes, and of the states behind that.
template <class Layer, class Input>
bool is_recurrence_shared(Layer&& layer, const Input& input) {
  layer.initialise(1);
  if constexpr (requires { layer.is_training = false; }) layer.is_training = false;
  return is_same_in_all_threads([&] {
    const auto made = layer(input);
    std::vector<double> found = elements_of(made.hidden);
    if constexpr (requires { made.sequence * 1.0f; }) {
      for (const double number : elements_of(made.sequence)) found.push_back(number);
    }
    return found;
  });
}

tenon::tensor<float, rank<4>> images(tenon::index channels = 3) {
  return tenon::uniform<float>({4, channels, 9, 9}, 7, -1, 1);
}
tenon::tensor<float, rank<3>> sequences() { return tenon::uniform<float>({7, 5, 8}, 8, -1, 1); }
tenon::tensor<float, rank<2>> rows() { return tenon::uniform<float>({6, 12}, 9, -1, 1); }

constexpr nn::multihead_attention_options dropping{.dropout = 0.4, .batch_first = true};

/// A module whose statements read a parameter of its own.
struct scaled_network : nn::module<scaled_network> {
  nn::conv2d<3, 4, 3> conv;
  nn::batch_norm<4> norm;
  nn::dropout drop{0.5};
  nn::linear<4, 5> last;
  nn::parameter<float, tenon::shape<5>> scale{tenon::ones<float>(tenon::shape<5>{}), {}};

  auto forward(const auto& x) {
    const tenon::traced image = tenon::relu(norm(conv(x)));
    return last(drop(tenon::mean(image, tenon::drop<2, 3>))) * scale;
  }
};

}  // namespace

TEST_CASE("threads share layers that make standard", "[shared_networks]") {
  CHECK(is_shared(nn::batch_norm<3>(), images()));
  CHECK(is_shared(nn::batch_norm<>(3), images()));
  CHECK(is_shared(nn::batch_norm<3>(nn::batch_norm_options{.track_statistics = false}), images()));
  CHECK(is_shared(nn::layer_norm<tenon::shape<12>>(), rows()));
  CHECK(is_shared(nn::group_norm<4>(2), images(4)));
}

TEST_CASE("threads share convolutions, maps, dropout and lists of layers", "[shared_networks]") {
  CHECK(
      is_shared(nn::sequential(nn::conv2d<3, 4, 3>{}, nn::batch_norm<4>{}, nn::relu{}, nn::max_pool2d<2>{}), images()));
  CHECK(is_shared(nn::sequential(nn::conv2d<3, 4, 3>{}, nn::relu{}, nn::max_pool2d<2>{}, nn::flatten{}), images()));
  CHECK(is_shared(nn::sequential(nn::linear<12, 9>{}, nn::dropout{0.3}, nn::tanh{}, nn::linear<9, 4>{}), rows()));
  CHECK(is_shared(nn::dropout(0.5), rows()));
  CHECK(is_shared(nn::residual(nn::linear<12, 12>{}, nn::prelu<>{}), rows()));
  CHECK(is_shared(scaled_network(), images()));
}

TEST_CASE("threads share embeddings", "[shared_networks]") {
  const tenon::tensor<tenon::index, rank<2>> words = {{1, 2, 0}, {5, 4, 3}};
  nn::embedding<6, 5> table;
  table.initialise(1);
  CHECK(is_same_in_all_threads([&] { return elements_of(table(words)); }));
}

TEST_CASE("threads share attention", "[shared_networks]") {
  CHECK(is_shared(nn::multihead_attention<8, 2>(), sequences()));
  CHECK(is_shared(nn::multihead_attention<8, 2, dropping>(), sequences(), sequences(), sequences()));
  CHECK(is_shared(nn::transformer_encoder_layer<8, 2, 12>(), sequences()));
}

TEST_CASE("threads share recurrent layers and cells", "[shared_networks]") {
  const nn::recurrent_options deep{.layers = 2, .dropout = 0.4, .bidirectional = true};
  CHECK(is_recurrence_shared(nn::lstm<>(8, 6), sequences()));
  CHECK(is_recurrence_shared(nn::lstm<>(8, 6, deep), sequences()));
  CHECK(is_recurrence_shared(nn::gru<8, 6>(), sequences()));
  CHECK(is_recurrence_shared(nn::gru<>(8, 6, deep), sequences()));
  CHECK(is_recurrence_shared(nn::rnn<8, 6>(), sequences()));
  CHECK(is_recurrence_shared(nn::lstm_cell<12, 6>(), rows()));
  CHECK(is_recurrence_shared(nn::gru_cell<12, 6>(), rows()));
}

TEST_CASE("threads share recurrent layers over packed sequences", "[shared_networks]") {
  nn::lstm<> layer(8, 6);
  layer.initialise(1);
  layer.is_training = false;
  const std::vector<tenon::index> lengths = {3, 7, 1, 5, 5};
  const auto packed = nn::pack_padded_sequence(sequences(), lengths, {.enforce_sorted = false});
  CHECK(is_same_in_all_threads([&] {
    const auto made = layer(packed);
    std::vector<double> found = elements_of(made.hidden);
    for (const double number : elements_of(made.sequence.rows)) found.push_back(number);
    return found;
  }));
}

TEST_CASE("a shared layer refuses an input", "[shared_networks]") {
  nn::lstm<> layer(8, 6);
  layer.initialise(1);
  layer.is_training = false;
  const tenon::tensor<float, rank<3>> wrong = tenon::ones<float>({7, 5, 9});
  CHECK(is_same_in_all_threads([&] {
    double refusals = 0;
    try {
      (void)layer(wrong);
    } catch (const tenon::shape_error&) {
      refusals = 1;
    }
    return std::vector<double>{refusals};
  }));
}
