// examples/beside_pytorch/text.cpp: LSTM layers read a text by characters; states are carried from part to part. Adam.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

struct char_lstm : nn::module<char_lstm> {
  nn::embedding<34, 16> embedding;
  nn::lstm<16, 32> lstm{nn::recurrent_options{.layers = 2, .batch_first = true}};
  nn::linear<32, 34> head;

  auto forward(const auto& x, const auto& h, const auto& c) {
    const auto [sequence, hidden, cell] = lstm(embedding(x), h, c);
    return std::tuple{tn::traced(head(sequence)), hidden, cell};
  }
};

std::vector<float> train_text() {
  const auto x = characters(0, tn::rank<3>(4, 12, 4)), y = characters(1, tn::rank<3>(4, 12, 4));
  char_lstm net;
  start(net);
  tn::train::adam<> optimizer(net, {.lr = 1e-2});
  tn::traced h = tn::zeros<float>({2, 4, 32}), c = tn::zeros<float>({2, 4, 32});
  std::vector<float> losses;
  for (tn::index part = 0; part < 12; ++part) {
    losses.push_back(optimizer.step([&] {
      const auto [scores, hidden, cell] = net(tn::select(x, tn::axis<1>, part), h, c);
      h = hidden.detached(), c = cell.detached();
      return nn::cross_entropy_loss(tn::transpose(scores), tn::select(y, tn::axis<1>, part));
    }));
  }
  return losses;
}
