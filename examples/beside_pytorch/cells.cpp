// examples/beside_pytorch/cells.cpp: recurrent cells as a course writes them, of linear layers, and stacks of them.
// SPDX-License-Identifier: Apache-2.0
#include "start.hpp"

template <tn::index Inputs, tn::index Hidden>
struct rnn_cell : nn::module<rnn_cell<Inputs, Hidden>> {
  nn::linear<Inputs, Hidden> i2h;
  nn::linear<Hidden, Hidden> h2h;

  auto forward(const auto& x, const auto& h) { return tn::tanh(i2h(x) + h2h(h)); }
};

struct simple_rnn : nn::module<simple_rnn> {
  rnn_cell<3, 16> cell;
  nn::linear<16, 3> head;

  auto forward(const auto& x) {  // [batch, time, inputs]
    tn::traced h = tn::zeros<float>(tn::rank<2>(x.shape().extent(0), 16));
    for (tn::index t = 0; t < x.shape().extent(1); ++t) h = cell(tn::select(x, tn::axis<1>, t), h);
    return head(h);
  }
};

struct lstm_cell : nn::module<lstm_cell> {
  nn::linear<tn::dyn, tn::dyn> i2h, h2h;

  auto forward(const auto& x, const auto& state) {
    const auto& [h, before] = state;
    const auto [i, f, g, o] = tn::split<4>(tn::traced(i2h(x) + h2h(h)), tn::axis<-1>);
    const tn::traced c = tn::sigmoid(f) * before + tn::sigmoid(i) * tn::tanh(g);
    return std::pair{tn::traced(tn::sigmoid(o) * tn::tanh(c)), c};
  }
};

std::vector<lstm_cell> lstm_cells(tn::index inputs, tn::index hidden, std::size_t layers) {
  std::vector<lstm_cell> cells(layers, {{}, {hidden, 4 * hidden}, {hidden, 4 * hidden}});
  cells[0].i2h = {inputs, 4 * hidden};
  return cells;
}

template <tn::index Inputs, tn::index Hidden, std::size_t Layers>
struct stacked_lstm : nn::module<stacked_lstm<Inputs, Hidden, Layers>> {
  std::vector<lstm_cell> cells = lstm_cells(Inputs, Hidden, Layers);
  nn::dropout dropout{0};

  auto forward(const auto& x) {  // [batch, time, inputs]
    const tn::traced zeros = tn::zeros<float>(tn::rank<2>(x.shape().extent(0), Hidden));
    return forward(x, std::vector(Layers, std::pair{zeros, zeros}));
  }
  auto forward(const auto& x, auto states) {
    std::vector<tn::traced<float, tn::rank<2>>> outputs;
    for (tn::index t = 0; t < x.shape().extent(1); ++t) {
      tn::traced out = tn::select(x, tn::axis<1>, t);
      for (std::size_t layer = 0; layer < cells.size(); ++layer) {
        states[layer] = cells[layer](out, states[layer]);
        out = dropout(states[layer].first);
      }
      outputs.push_back(out);
    }
    return std::pair{outputs, states};
  }
};

struct forecast : nn::module<forecast> {
  stacked_lstm<3, 16, 2> lstm;
  nn::linear<16, 3> head;

  auto forward(const auto& x) {
    const auto [outputs, states] = lstm(x);
    return head(outputs.back());
  }
};

std::vector<float> train(auto&& net) {
  const auto x = waves(tn::rank<3>(8, 12, 3));
  const auto y = waves(tn::rank<2>(8, 3), 1);
  start(net);
  tn::train::adam<> optimizer(net, {.lr = 1e-2});
  std::vector<float> losses;
  for (int step = 0; step < 10; ++step) losses.push_back(optimizer.step([&] { return nn::mse_loss(net(x), y); }));
  return losses;
}

std::vector<float> train_rnn() { return train(simple_rnn()); }
std::vector<float> train_lstm() { return train(forecast()); }
