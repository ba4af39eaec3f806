// benchmarks/w06_gemm.cpp: W6, C = A B of n x n floats, bare and with a fused bias and ReLU.
// Tenon and Eigen on the same data; operations per second count 2 n^3.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expressions.hpp>

#include <Eigen/Core>

#include "agree.hpp"

namespace tn = tenon;

namespace {

struct operands {
  explicit operands(tn::index n) : a({n, n}), b({n, n}), c({n, n}), bias({n}) {
    a = tn::uniform<float>(tn::rank<2>(n, n), 1, -1.0f, 1.0f);
    b = tn::uniform<float>(tn::rank<2>(n, n), 2, -1.0f, 1.0f);
    bias = tn::uniform<float>(tn::rank<1>(n), 3, -1.0f, 1.0f);
  }
  tn::tensor<float, tn::rank<2>> a, b, c;
  tn::tensor<float, tn::rank<1>> bias;
};

using matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
matrix map(tn::tensor<float, tn::rank<2>>& x) { return matrix(x.data(), x.extent(0), x.extent(1)); }

void with_tenon(operands& x) { x.c = tn::matmul(x.a, x.b); }
void with_eigen(operands& x) { map(x.c).noalias() = map(x.a) * map(x.b); }
void with_tenon_fused(operands& x) { x.c = tn::relu(tn::matmul(x.a, x.b) + x.bias); }
void with_eigen_fused(operands& x) {
  map(x.c).noalias() = map(x.a) * map(x.b);
  const Eigen::Map<Eigen::RowVectorXf> bias(x.bias.data(), x.bias.size());
  map(x.c) = (map(x.c).rowwise() + bias).cwiseMax(0.0f);
}

template <void (*Run)(operands&), void (*Reference)(operands&)>
void time_it(benchmark::State& state) {
  operands x(state.range(0)), reference(state.range(0));
  Run(x), Reference(reference);
  must_agree("w06", x.c.data(), reference.c.data(), x.c.size(), 1e-4);
  for (auto _ : state) {
    Run(x);
    benchmark::DoNotOptimize(x.c.data());
    benchmark::ClobberMemory();
  }
  const double n = static_cast<double>(state.range(0));
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * n * n * n * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

}  // namespace

BENCHMARK(time_it<with_tenon, with_eigen>)->Name("tenon")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_eigen, with_eigen>)->Name("eigen")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_tenon_fused, with_eigen_fused>)->Name("relu_bias/tenon")->Arg(1024);
BENCHMARK(time_it<with_eigen_fused, with_eigen_fused>)->Name("relu_bias/eigen")->Arg(1024);
BENCHMARK_MAIN();
