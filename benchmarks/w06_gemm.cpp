// benchmarks/w06_gemm.cpp: W6, C = A B of n x n floats, bare and with a fused bias and ReLU.
// Tenon, Eigen, OpenBLAS, BLIS, oneDNN and libtorch on the same data; operations per second count 2 n^3. The limit is
// what multiply-adds between registers reach on one thread.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include <Eigen/Core>
#include <memory>

#include "agree.hpp"
#include "blas.hpp"
#include "blis.hpp"
#include "torch.hpp"

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
#if defined(BENCHMARKS_ONEDNN)
  std::unique_ptr<onednn_product> prepared;
#endif
};

using matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
matrix map(tn::tensor<float, tn::rank<2>>& x) { return matrix(x.data(), x.extent(0), x.extent(1)); }

void with_tenon(operands& x) { x.c = tn::matmul(x.a, x.b); }
void with_eigen(operands& x) { map(x.c).noalias() = map(x.a) * map(x.b); }
#if __has_include(<cblas.h>)
void with_openblas(operands& x) {
  multiply_with_openblas(static_cast<int>(x.a.extent(0)), x.a.data(), x.b.data(), x.c.data());
}
#endif
#if defined(BENCHMARKS_BLIS)
void with_blis(operands& x) { multiply_with_blis(x.a.extent(0), x.a.data(), x.b.data(), x.c.data()); }
#endif
#if defined(BENCHMARKS_TORCH)
void with_torch(operands& x) {
  at::Tensor result = seen_by_torch(x.c);
  at::mm_out(result, seen_by_torch(x.a), seen_by_torch(x.b));
}
void with_torch_fused(operands& x) {
  at::Tensor result = seen_by_torch(x.c);
  at::addmm_out(result, seen_by_torch(x.bias), seen_by_torch(x.a), seen_by_torch(x.b));
  result.relu_();
}
#endif
void with_tenon_fused(operands& x) { x.c = tn::relu(tn::matmul(x.a, x.b) + x.bias); }
void with_eigen_fused(operands& x) {
  map(x.c).noalias() = map(x.a) * map(x.b);
  const Eigen::Map<Eigen::RowVectorXf> bias(x.bias.data(), x.bias.size());
  map(x.c) = (map(x.c).rowwise() + bias).cwiseMax(0.0f);
}
#if defined(BENCHMARKS_ONEDNN)
template <bool Fused>
void with_onednn(operands& x) {
  const long n = x.a.extent(0);
  using type = onednn_product::type;
  if (!x.prepared) {
    x.prepared = std::make_unique<onednn_product>(onednn_product::extents{n, n, n, false}, type::f32, type::f32,
                                                  x.a.data(), x.b.data(), x.c.data(), Fused ? x.bias.data() : nullptr);
  }
  x.prepared->run();
}
#endif

void count_operations(benchmark::State& state) {
  const double n = static_cast<double>(state.range(0));
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * n * n * n * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
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
  count_operations(state);
}

void time_limit(benchmark::State& state) {
  constexpr int chains = 24;
  using pack = tn::simd::pack<float, tn::simd::native_width<float>>;
  pack sums[chains] = {}, factor = tn::simd::constant_like<pack>(0.5f), addend = tn::simd::constant_like<pack>(1.0f);
  const auto steps = state.range(0) * state.range(0) * state.range(0) / (chains * tn::simd::native_width<float>)+1;
  for (auto _ : state) {
    benchmark::DoNotOptimize(factor);
    for (std::int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 24
      for (int chain = 0; chain < chains; ++chain) sums[chain] = sums[chain] * factor + addend;
    }
    for (const pack& each : sums) benchmark::DoNotOptimize(each[0]);
  }
  count_operations(state);
}

BENCHMARK(time_it<with_tenon, with_eigen>)->Name("tenon")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_eigen, with_eigen>)->Name("eigen")->RangeMultiplier(2)->Range(64, 2048);
#if __has_include(<cblas.h>)
BENCHMARK(time_it<with_openblas, with_eigen>)->Name("openblas")->RangeMultiplier(2)->Range(64, 2048);
#endif
#if defined(BENCHMARKS_BLIS)
BENCHMARK(time_it<with_blis, with_eigen>)->Name("blis")->RangeMultiplier(2)->Range(64, 2048);
#endif
BENCHMARK(time_limit)->Name("limit")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_tenon_fused, with_eigen_fused>)->Name("relu_bias/tenon")->Arg(512)->Arg(1024);
BENCHMARK(time_it<with_eigen_fused, with_eigen_fused>)->Name("relu_bias/eigen")->Arg(512)->Arg(1024);
#if defined(BENCHMARKS_ONEDNN)
BENCHMARK(time_it<with_onednn<false>, with_eigen>)->Name("onednn")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_onednn<true>, with_eigen_fused>)->Name("relu_bias/onednn")->Arg(512)->Arg(1024);
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<with_torch, with_eigen>)->Name("torch")->RangeMultiplier(2)->Range(64, 2048);
BENCHMARK(time_it<with_torch_fused, with_eigen_fused>)->Name("relu_bias/torch")->Arg(512)->Arg(1024);
#endif

}  // namespace

BENCHMARK_MAIN();
