// benchmarks/w08_lstm.cpp: W8, an LSTM over 64 time steps.
// Tenon, Eigen by hand and oneDNN's primitive, in the layouts that it prefers, on the same data.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/nn/lstm.hpp>

#include <Eigen/Core>
#include <memory>

#include "agree.hpp"
#include "onednn_lstm.hpp"

namespace tn = tenon;

namespace {

constexpr lstm_case cases[] = {{"256_256_batch1/", 64, 1, 256, 256, 1},
                               {"256_256_batch32/", 64, 32, 256, 256, 1},
                               {"256_512_2layers_batch1/", 64, 1, 256, 512, 2}};

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using matrix_map = Eigen::Map<matrix>;

struct operands {
  explicit operands(const lstm_case& of)
      : extents(of),
        layer(of.input, of.hidden, {.layers = of.layers}),
        input({of.time, of.batch, of.input}),
        result({of.time, of.batch, of.hidden}) {
    layer.initialise(1);
    input = tn::uniform<float>(input.shape(), 2, -1.0f, 1.0f);
    layer.visit_parameters([&](const std::string&, auto& parameter) { weights.push_back(parameter.value.data()); });
  }
  /// Of a layer: weights of input and state, biases of input and state.
  float* const* weights_of(long number) const { return weights.data() + 4 * number; }
  const float* with_tenon() { return layer.forward(input).sequence.data(); }

  lstm_case extents;
  tn::nn::lstm<> layer;
  tn::tensor<float, tn::rank<3>> input, result;
  std::vector<float*> weights;
};

/// All input products at once, then for each step a product with the state; gates as arrays.
class eigen_lstm {
 public:
  explicit eigen_lstm(operands& x) : x_(x) {}

  const float* run() {
    const lstm_case& of = x_.extents;
    sequence_ = matrix_map(x_.input.data(), of.time * of.batch, of.input);
    for (long layer = 0; layer < of.layers; ++layer) run_layer(layer);
    return sequence_.data();
  }

 private:
  using array = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static array sigmoid(const array& x) { return (1.0f + (-x).exp()).inverse(); }

  void run_layer(long layer) {
    const lstm_case& of = x_.extents;
    const long hidden = of.hidden, width = 4 * hidden, batch = of.batch;
    float* const* weights = x_.weights_of(layer);
    const matrix_map of_input(weights[0], width, of.input_of(layer)), of_state(weights[1], width, hidden);
    const Eigen::RowVectorXf bias = Eigen::Map<const Eigen::RowVectorXf>(weights[2], width) +
                                    Eigen::Map<const Eigen::RowVectorXf>(weights[3], width);
    gates_.noalias() = sequence_ * of_input.transpose();
    gates_.rowwise() += bias;
    sequence_.resize(of.time * batch, hidden);
    matrix state = matrix::Zero(batch, hidden);
    array cell = array::Zero(batch, hidden);
    for (long time = 0; time < of.time; ++time) {
      auto step = gates_.middleRows(time * batch, batch);
      if (batch == 1) step.row(0).transpose().noalias() += of_state * state.row(0).transpose();
      else step.noalias() += state * of_state.transpose();
      const auto gate = [&](long number) { return step.middleCols(number * hidden, hidden).array(); };
      cell = sigmoid(gate(1)) * cell + sigmoid(gate(0)) * array(gate(2)).tanh();
      state = (sigmoid(gate(3)) * cell.tanh()).matrix();
      sequence_.middleRows(time * batch, batch) = state;
    }
  }

  operands& x_;
  matrix sequence_, gates_;
};

/// Compares with the layer in double.
void check(operands& x, const float* found) {
  const lstm_case& of = x.extents;
  tn::nn::lstm<tn::dyn, tn::dyn, tn::host, double> reference(of.input, of.hidden, {.layers = of.layers});
  std::size_t number = 0;
  reference.visit_parameters([&](const std::string&, auto& parameter) {
    for (long i = 0; i < parameter.value.size(); ++i) parameter.value.data()[i] = x.weights[number][i];
    ++number;
  });
  const auto expected = reference.forward(tn::cast<double>(x.input)).sequence;
  must_agree("w08", found, expected.data(), expected.size(), 1e-5);
}

void time_it(benchmark::State& state, operands& x, auto&& run) {
  check(x, run());
  for (auto _ : state) {
    benchmark::DoNotOptimize(run());
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(x.extents.operations() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void with_tenon(benchmark::State& state, const lstm_case& of) {
  operands x(of);
  time_it(state, x, [&] { return x.with_tenon(); });
}
void with_eigen(benchmark::State& state, const lstm_case& of) {
  operands x(of);
  eigen_lstm peer(x);
  time_it(state, x, [&] { return peer.run(); });
}
#if defined(BENCHMARKS_ONEDNN)
void with_onednn(benchmark::State& state, const lstm_case& of) {
  operands x(of);
  std::vector<onednn_lstm> layers;
  for (long layer = 0; layer < of.layers; ++layer) {
    layers.emplace_back(of, layer, layer == 0 ? x.input.data() : layers.back().output(), x.weights_of(layer));
  }
  time_it(state, x, [&] {
    for (auto& layer : layers) layer.run();
    return layers.back().output();
  });
}
#endif

}  // namespace

int main(int count, char** arguments) {
  for (const lstm_case& each : cases) {
    const auto add = [&](const char* library, auto function) {
      benchmark::RegisterBenchmark((std::string(each.name) + library).c_str(), function, each);
    };
    add("tenon", with_tenon);
    add("eigen", with_eigen);
#if defined(BENCHMARKS_ONEDNN)
    add("onednn", with_onednn);
#endif
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
