// examples/beside_pytorch/transformer.cpp: a transformer predicts characters; its head is the embedding's weight again.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

template <tn::index Width, tn::index Heads>
struct transformer_block : nn::module<transformer_block<Width, Heads>> {
  nn::layer_norm<tn::shape<Width>> norm1;
  nn::multihead_attention<Width, Heads, nn::multihead_attention_options{.batch_first = true}> attention;
  nn::layer_norm<tn::shape<Width>> norm2;
  decltype(nn::sequential(nn::linear<Width, 4 * Width>{}, nn::gelu{}, nn::linear<4 * Width, Width>{})) feed;

  auto forward(const auto& x, const auto& mask) {
    const tn::traced h = x + attention(norm1(x), mask);
    return h + feed(norm2(h));
  }
};

struct transformer : nn::module<transformer> {
  nn::embedding<34, 32> embedding;
  nn::parameter<float, tn::shape<24, 32>> positions{.value = tn::zeros<float>(tn::shape<24, 32>{})};
  std::array<transformer_block<32, 4>, 2> blocks;
  nn::layer_norm<tn::shape<32>> norm;
  tn::tensor<bool, tn::rank<2>> mask = tn::triu(tn::ones<bool>({24, 24}), 1);

  auto forward(const auto& x) {  // [batch, length]
    tn::traced h = embedding(x) + positions;
    for (auto& block : blocks) h = block(h, mask);
    return tn::matmul(norm(h), tn::transpose(embedding.weight));
  }
};

std::vector<float> train_transformer() {
  const auto x = characters(0, tn::rank<2>(8, 24)), y = characters(1, tn::rank<2>(8, 24));
  transformer net;
  start(net);
  tn::train::adamw<> optimizer(net, {.lr = 1e-3});
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) {
    losses.push_back(optimizer.step([&] { return nn::cross_entropy_loss(tn::transpose(net(x)), y); }));
  }
  return losses;
}
