// tests/support/common_networks.hpp: what networks of most rooms instantiate, part of common_code.hpp.
// Layers as examples, pages and golden cases have them, run and trained on the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>
#include <tuple>

namespace tenon_test {

template <class T>
using tensor_of_4 = tenon::tensor<T, tenon::rank<4>>;

struct common_images : tenon::nn::module<common_images> {
  tenon::nn::conv2d<1, 4, 3, tenon::nn::conv2d_options{.padding = 1}> conv;
  tenon::nn::batch_norm<4> norm;
  tenon::nn::max_pool2d<2> pool;
  tenon::nn::flatten flat;
  tenon::nn::dropout drop{0.5};
  tenon::nn::linear<16, 8> narrow;
  tenon::nn::layer_norm<tenon::shape<8>> layer_norm;
  tenon::nn::linear<8, 4> head;

  auto forward(const auto& x) {
    const tenon::traced h = pool(tenon::relu(norm(conv(x))));
    const tenon::traced g = tenon::relu(narrow(drop(flat(h))));
    return head(layer_norm(g));
  }
};

struct common_text : tenon::nn::module<common_text> {
  tenon::nn::embedding<8, 4> embedding;
  tenon::nn::lstm<4, 8> lstm{tenon::nn::recurrent_options{.batch_first = true}};
  tenon::nn::linear<8, 8> head;

  auto forward(const auto& x, const auto& h, const auto& c) {
    const auto [sequence, hidden, cell] = lstm(embedding(x), h, c);
    return std::tuple{tenon::traced(head(sequence)), hidden, cell};
  }
};

struct common_attention : tenon::nn::module<common_attention> {
  tenon::nn::layer_norm<tenon::shape<8>> norm;
  tenon::nn::multihead_attention<8, 2, tenon::nn::multihead_attention_options{.batch_first = true}> attention;
  decltype(tenon::nn::sequential(tenon::nn::linear<8, 16>{}, tenon::nn::gelu{}, tenon::nn::linear<16, 8>{})) feed;

  auto forward(const auto& x) {
    const tenon::traced h = x + attention(norm(x));
    return h + feed(norm(h));
  }
};

template <class Net>
void use_state(Net& net) {
  tenon::train::save_state(net, "state.safetensors");
  tenon::train::load_state(net, "state.safetensors");
}

/// `loss()` of a network, stepped by the optimizers that tests use most.
template <class Net, class Loss>
void use_training(Net& net, const Loss& loss) {
  tenon::train::sgd<>(net, {.lr = 0.1, .momentum = 0.9}).step(loss);
  tenon::train::adam<>(net, {.lr = 0.1}).step(loss);
  use_state(net);
}

template <class Layer, class Space>
void use_recurrent(Layer layer, Space) {
  const tenon::tensor<float, tenon::rank<3>, Space> x(tenon::rank<3>(2, 3, 4));
  const auto results = layer.forward(x.view());
  layer.backward(results.sequence);
}

template <class Space>
void use_layers() {
  constexpr tenon::index any = tenon::dyn;
  use_recurrent(tenon::nn::lstm<any, any, Space>(4, 8), Space{});
  use_recurrent(tenon::nn::gru<any, any, Space>(4, 8), Space{});
  use_recurrent(tenon::nn::rnn<any, any, Space>(4, 8), Space{});
  tenon::nn::linear<4, 3, {}, Space> linear;
  const tenon::tensor<float, tenon::rank<2>, Space> x(tenon::rank<2>(2, 4)), y(tenon::rank<2>(2, 3));
  const auto loss = [&] { return tenon::nn::mse_loss(linear(x), y); };
  tenon::train::sgd<Space>(linear, {.lr = 0.1}).step(loss);
  tenon::train::adam<Space>(linear, {.lr = 0.1}).step(loss);
}

inline void use_common_networks() {
  use_layers<tenon::host>();
  use_layers<tenon::emulated>();
  const tenon::tensor<tenon::index, tenon::rank<1>> labels(tenon::rank<1>(2));
  const tensor_of_4<float> x(tenon::rank<4>(2, 1, 4, 4));
  common_images images;
  use_training(images, [&] { return tenon::nn::cross_entropy_loss(images(x), labels); });

  const tenon::tensor<tenon::index, tenon::rank<2>> words(tenon::rank<2>(2, 3));
  const tenon::traced h = tenon::zeros<float>(tenon::rank<3>(1, 2, 8));
  common_text text;
  use_training(text, [&] {
    const auto [scores, hidden, cell] = text(words, h, h);
    return tenon::nn::cross_entropy_loss(tenon::transpose(scores), words);
  });

  const tenon::tensor<float, tenon::rank<3>> y(tenon::rank<3>(2, 3, 8));
  common_attention attention;
  use_training(attention, [&] { return tenon::nn::mse_loss(attention(y), y); });
}

}  // namespace tenon_test
