// benchmarks/w16_latency.cpp: W16, one sample a call: layers of n inputs and n units by nn::stream and by Eigen.
// The limit reads all weights once. `p50` to `worst` are quantiles of a million calls, each timed by itself.
// benchmarks/latency/add_peers adds onnxruntime and PyTorch to a result.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/stream.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "agree.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;

namespace {

template <int Rows, int Columns = 1>
using matrix = Eigen::Matrix<float, Rows, Columns>;
template <int Rows, int Columns>
using in_rows = Eigen::Map<const Eigen::Matrix<float, Rows, Columns, Eigen::RowMajor>>;
template <int Rows>
using vector_map = Eigen::Map<const matrix<Rows>>;

/// A layer of N inputs and units, and Eigen's step of it by hand, made of the same weights: matrices of static sizes,
/// the gates of a step in one product, as RTNeural has them.
template <int N>
struct dense : nn::module<dense<N>> {
  nn::linear<N, N> layer;
  auto forward(const auto& x) { return layer(x); }

  struct by_hand {
    matrix<N, N> weight;
    matrix<N> bias, output;
    explicit by_hand(dense& net)
        : weight(in_rows<N, N>(net.layer.weight.value.data())), bias(vector_map<N>(net.layer.bias.value.data())) {}
    [[gnu::always_inline]] const float* next(const float* x) {
      output.noalias() = weight * vector_map<N>(x) + bias;
      return output.data();
    }
  };
};

template <int N>
struct lstm : nn::module<lstm<N>> {
  nn::lstm<N, N> layer;
  auto forward(const auto& x) { return layer(x).sequence; }

  struct by_hand {
    matrix<4 * N, 2 * N + 1> weight;  // of input, state and bias
    matrix<2 * N + 1> extended = matrix<2 * N + 1>::Zero();
    matrix<4 * N> gates;
    matrix<N> cell = matrix<N>::Zero(), state = matrix<N>::Zero();
    explicit by_hand(lstm& net) {
      auto& from = net.layer.network().weights(0);
      weight.template leftCols<N>() = in_rows<4 * N, N>(from.weight_ih.value.data());
      weight.template middleCols<N>(N) = in_rows<4 * N, N>(from.weight_hh.value.data());
      weight.col(2 * N) = vector_map<4 * N>(from.bias_ih.value.data()) + vector_map<4 * N>(from.bias_hh.value.data());
      const matrix<N, 2 * N + 1> g = weight.template middleRows<N>(2 * N), o = weight.template bottomRows<N>();
      weight.template middleRows<N>(2 * N) = o, weight.template bottomRows<N>() = g;  // sigmoids side by side
      extended(2 * N) = 1;
    }
    [[gnu::always_inline]] const float* next(const float* x) {
      extended.template head<N>() = vector_map<N>(x);
      extended.template segment<N>(N) = state;
      gates.noalias() = weight * extended;
      gates.template head<3 * N>() = gates.template head<3 * N>().array().logistic();
      cell.array() = gates.template segment<N>(N).array() * cell.array() +
                     gates.template head<N>().array() * gates.template tail<N>().array().tanh();
      state.array() = gates.template segment<N>(2 * N).array() * cell.array().tanh();
      return state.data();
    }
  };
};

template <int N>
struct gru : nn::module<gru<N>> {
  nn::gru<N, N> layer;
  auto forward(const auto& x) { return layer(x).sequence; }

  struct by_hand {
    matrix<3 * N, N + 1> of_input, of_state;  // with a column for the bias
    matrix<N + 1> input = matrix<N + 1>::Ones(), state = matrix<N + 1>::Zero();
    matrix<3 * N> from_input, from_state;
    matrix<2 * N> gates;
    matrix<N> candidate;
    explicit by_hand(gru& net) {
      auto& from = net.layer.network().weights(0);
      of_input << in_rows<3 * N, N>(from.weight_ih.value.data()), vector_map<3 * N>(from.bias_ih.value.data());
      of_state << in_rows<3 * N, N>(from.weight_hh.value.data()), vector_map<3 * N>(from.bias_hh.value.data());
      state(N) = 1;
    }
    [[gnu::always_inline]] const float* next(const float* x) {
      input.template head<N>() = vector_map<N>(x);
      from_input.noalias() = of_input * input;
      from_state.noalias() = of_state * state;
      gates = (from_input.template head<2 * N>() + from_state.template head<2 * N>()).array().logistic();
      candidate = (from_input.template tail<N>().array() +
                   gates.template head<N>().array() * from_state.template tail<N>().array())
                      .tanh();
      const auto update = gates.template tail<N>().array();
      state.template head<N>() = (1 - update) * candidate.array() + update * state.template head<N>().array();
      return state.data();
    }
  };
};

template <int N>
struct conv1d : nn::module<conv1d<N>> {
  nn::conv1d<N, N, 3> layer;
  auto forward(const auto& x) { return layer(x); }

  struct by_hand {
    matrix<N, 3 * N> weight;
    matrix<3 * N> window = matrix<3 * N>::Zero();
    matrix<N> bias, output;
    explicit by_hand(conv1d& net) : bias(vector_map<N>(net.layer.bias.value.data())) {
      const float* from = net.layer.weight.value.data();
      for (int out = 0; out < N; ++out) {
        for (int in = 0; in < N; ++in) {
          for (int tap = 0; tap < 3; ++tap) weight(out, tap * N + in) = *from++;
        }
      }
    }
    [[gnu::always_inline]] const float* next(const float* x) {
      window.template head<N>() = window.template segment<N>(N).eval();
      window.template segment<N>(N) = window.template tail<N>().eval();
      window.template tail<N>() = vector_map<N>(x);
      output.noalias() = weight * window + bias;
      return output.data();
    }
  };
};

template <template <int> class Layer, int N>
struct both {
  Layer<N> net;
  nn::stream<Layer<N>, tn::shape<N>> use;
  typename Layer<N>::by_hand hand;
  std::vector<float> samples = std::vector<float>(static_cast<std::size_t>(64 * N));

  both() : net(drawn()), use(net), hand(net) {
    const tn::tensor<float, tn::rank<1>> from = tn::uniform<float>(tn::rank<1>(64 * N), 5, -1.0f, 1.0f);
    std::copy_n(from.data(), 64 * N, samples.data());
    for (int i = 0; i < 200; ++i) {
      const auto ours = with_tenon(i);
      must_agree("w16", ours, with_eigen(i), N, 1e-4);
    }
  }
  const float* sample(int number) const { return samples.data() + number % 64 * N; }
  [[gnu::always_inline]] const float* with_tenon(int number) {
    return use.next(tn::view<const float, tn::shape<N>>(sample(number), {})).data();
  }
  [[gnu::always_inline]] const float* with_eigen(int number) { return hand.next(sample(number)); }

 private:
  static Layer<N> drawn() {
    Layer<N> result;
    result.initialise(1);
    return result;
  }
};

/// Reads numbers as fast as can be.
[[gnu::noinline]] float sum_of(const float* numbers, tn::index count) {
  constexpr int lanes = tn::simd::native_width<float>;
  tn::simd::pack<float, lanes> sums[8] = {};
  for (tn::index i = 0; i + 8 * lanes <= count; i += 8 * lanes) {
    TENON_UNROLL(8)
    for (int k = 0; k < 8; ++k) sums[k] += tn::simd::load<float, lanes>(numbers + i + k * lanes);
  }
  TENON_UNROLL(8)
  for (int k = 1; k < 8; ++k) sums[0] += sums[k];
  return sums[0][0];
}

template <class Run>
void time_calls(benchmark::State& state, const Run& run) {
  int number = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(run(number++));
    benchmark::ClobberMemory();
  }
  using rate = benchmark::Counter;
  state.counters["nanoseconds"] = rate(1e-9 * static_cast<double>(state.iterations()), rate::kIsRate | rate::kInvert);
}

/// Times each of a million calls by itself.
template <class Run>
void time_each_call(benchmark::State& state, double quantile, const Run& run) {
  using clock = std::chrono::steady_clock;
  constexpr int calls = 1'000'000;
  std::vector<double> nanoseconds(calls);
  for (auto _ : state) {
    for (int i = 0; i < calls; ++i) {
      const auto start = clock::now();
      benchmark::DoNotOptimize(run(i));
      benchmark::ClobberMemory();
      nanoseconds[static_cast<std::size_t>(i)] = std::chrono::duration<double, std::nano>(clock::now() - start).count();
    }
  }
  const auto at = nanoseconds.begin() + static_cast<std::ptrdiff_t>(quantile * (calls - 1));
  std::nth_element(nanoseconds.begin(), at, nanoseconds.end());
  state.counters["nanoseconds"] = *at;
}

template <template <int> class Layer, int N>
void add_cases(const std::string& name) {
  const std::string sized = name + "_" + std::to_string(N);
  benchmark::RegisterBenchmark((sized + "/tenon").c_str(), [](benchmark::State& state) {
    both<Layer, N> x;
    time_calls(state, [&](int number) __attribute__((always_inline)) { return x.with_tenon(number); });
  });
  benchmark::RegisterBenchmark((sized + "/eigen").c_str(), [](benchmark::State& state) {
    both<Layer, N> x;
    time_calls(state, [&](int number) __attribute__((always_inline)) { return x.with_eigen(number); });
  });
  benchmark::RegisterBenchmark((sized + "/limit").c_str(), [](benchmark::State& state) {
    tn::index count = 0;
    both<Layer, N>().net.visit_parameters([&](const auto&, auto& parameter) { count += parameter.value.size(); });
    const tn::tensor<float, tn::rank<1>> weights = tn::uniform<float>(tn::rank<1>(count), 1);
    time_calls(state, [&](int) { return sum_of(weights.data(), count); });
  });
}
template <template <int> class Layer>
void add_all_cases(const std::string& name) {
  add_cases<Layer, 8>(name), add_cases<Layer, 16>(name), add_cases<Layer, 32>(name), add_cases<Layer, 64>(name);
}

template <template <int> class Layer, int N>
void add_latencies(const std::string& name) {
  const std::pair<const char*, double> quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"worst", 1.0}};
  for (const auto& [which, quantile] : quantiles) {
    const std::string sized = name + "_" + std::to_string(N) + "/" + which;
    benchmark::RegisterBenchmark((sized + "/tenon").c_str(), [quantile = quantile](benchmark::State& state) {
      both<Layer, N> x;
      time_each_call(state, quantile, [&](int number) { return x.with_tenon(number); });
    })->Iterations(1);
    benchmark::RegisterBenchmark((sized + "/eigen").c_str(), [quantile = quantile](benchmark::State& state) {
      both<Layer, N> x;
      time_each_call(state, quantile, [&](int number) { return x.with_eigen(number); });
    })->Iterations(1);
  }
}

}  // namespace

int main(int count, char** arguments) {
  add_all_cases<dense>("dense"), add_all_cases<lstm>("lstm"), add_all_cases<gru>("gru"),
      add_all_cases<conv1d>("conv1d");
  add_latencies<lstm, 16>("lstm"), add_latencies<gru, 64>("gru");
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
