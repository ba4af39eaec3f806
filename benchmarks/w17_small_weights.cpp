// benchmarks/w17_small_weights.cpp: W17, y = x w^T of one row and of several with 4096 x 4096 weights: floats, and
// blocks of 8 and of 4 bits. benchmarks/small_weights/measure runs it in turns with PyTorch.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/contraction/block_matrix.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include <algorithm>
#include <chrono>
#include <string>

#include "agree.hpp"

namespace tn = tenon;

namespace {

constexpr tn::index extent = 4096;
using matrix = tn::tensor<float, tn::rank<2>>;

/// Compares with sums in double of the numbers that the weights stand for.
template <class Weights>
void check(const matrix& x, const Weights& weights, const matrix& y) {
  const auto wide = tn::evaluated_tensor(tn::cast<double>(x));
  const tn::tensor<double, tn::rank<2>> expected = tn::matmul(wide, tn::transpose(tn::cast<double>(weights)));
  must_agree("w17", y.data(), expected.data(), y.size(), 1e-3);
}

template <class Weights>
void time_product(benchmark::State& state, const Weights& weights) {
  const matrix x = tn::uniform<float>(tn::rank<2>(state.range(0), extent), 1, -1.0f, 1.0f);
  matrix y({state.range(0), extent});
  const auto run = [&] { y = tn::matmul(x, tn::transpose(weights)); };
  run();
  check(x, weights, y);
  double least = 1e30;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    benchmark::DoNotOptimize(y.data());
    benchmark::ClobberMemory();
    least =
        std::min(least, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  state.counters["least"] = least;
}

matrix drawn_weights() { return tn::uniform<float>(tn::rank<2>(extent, extent), 2, -1.0f, 1.0f); }
void with_floats(benchmark::State& state) { time_product(state, drawn_weights()); }
template <class Format>
void with_blocks(benchmark::State& state) {
  time_product(state, tn::block_quantise<Format>(drawn_weights()));
}

}  // namespace

int main(int count, char** arguments) {
  for (const long rows : {1, 4, 16, 64}) {
    const auto add = [&](const char* weights, auto function) {
      const std::string name = std::string(weights) + "/tenon";
      benchmark::RegisterBenchmark(name.c_str(), function)->Arg(rows)->Unit(benchmark::kMicrosecond);
    };
    add("float", with_floats);
    add("q8_0", with_blocks<tn::q8_0>);
    add("q4_0", with_blocks<tn::q4_0>);
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
