// benchmarks/w06c_static.cpp: W6c, C = A B of n x n floats of static extents, bare and with a fused bias and ReLU.
// Tenon and Eigen's fixed-size matrices on the same data; operations per second count 2 n^3.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include <Eigen/Core>

#include "agree.hpp"

namespace tn = tenon;

namespace {

template <int N>
struct operands {
  using eigen_matrix = Eigen::Matrix<float, N, N, Eigen::RowMajor>;
  operands() {
    a = tn::uniform<float>(a.shape(), 1, -1.0f, 1.0f), b = tn::uniform<float>(b.shape(), 2, -1.0f, 1.0f);
    bias = tn::uniform<float>(bias.shape(), 3, -1.0f, 1.0f), c = 0.0f;
    eigen_a = Eigen::Map<const eigen_matrix>(a.data()), eigen_b = Eigen::Map<const eigen_matrix>(b.data());
    eigen_bias = Eigen::Map<const Eigen::Matrix<float, 1, N>>(bias.data());
  }
  tn::tensor<float, tn::shape<N, N>> a, b, c;
  tn::tensor<float, tn::shape<N>> bias;
  eigen_matrix eigen_a, eigen_b, eigen_c;
  Eigen::Matrix<float, 1, N> eigen_bias;
};

template <bool Fused, int N>
void with_tenon(operands<N>& x) {
  if constexpr (Fused) x.c = tn::relu(tn::matmul(x.a, x.b) + x.bias);
  else x.c = tn::matmul(x.a, x.b);
}
template <bool Fused, int N>
void with_eigen(operands<N>& x) {
  x.eigen_c.noalias() = x.eigen_a * x.eigen_b;
  if constexpr (Fused) x.eigen_c = (x.eigen_c.rowwise() + x.eigen_bias).cwiseMax(0.0f);
}

template <int N, class Run>
void time_it(benchmark::State& state, const Run& run) {
  for (auto _ : state) {
    run();
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * N * N * N * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

template <int N, bool Fused>
void add_cases() {
  const std::string name = (Fused ? "relu_bias/" : "") + std::to_string(N);
  benchmark::RegisterBenchmark((name + "/tenon").c_str(), [](benchmark::State& state) {
    operands<N> x;
    with_tenon<Fused>(x), with_eigen<Fused>(x);
    must_agree("w06c", x.c.data(), x.eigen_c.data(), N * N, 1e-5);
    time_it<N>(state, [&] { with_tenon<Fused>(x); });
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [](benchmark::State& state) {
    operands<N> x;
    time_it<N>(state, [&] { with_eigen<Fused>(x); });
  });
}

}  // namespace

int main(int count, char** arguments) {
  add_cases<4, false>(), add_cases<8, false>(), add_cases<16, false>(), add_cases<32, false>();
  add_cases<4, true>(), add_cases<8, true>(), add_cases<16, true>(), add_cases<32, true>();
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
