// benchmarks/w04_rows.cpp: W4, softmax and standardisation of 4096 rows of 1024 floats.
// Tenon's plain expressions, Eigen row by row and libtorch on the same data; bytes per second count one read and one
// write.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>

#include "agree.hpp"
#include "torch.hpp"

namespace tn = tenon;

namespace {

constexpr tn::index rows = 4096, columns = 1024;

struct operands {
  operands() : x({rows, columns}), y({rows, columns}) {
    x = tn::uniform<float>(tn::rank<2>(rows, columns), 1, -4.0f, 4.0f);
    y = 0.0f;
  }
  tn::tensor<float, tn::rank<2>> x, y;
};

using row_map = Eigen::Map<Eigen::ArrayXf>;
row_map row_of(tn::tensor<float, tn::rank<2>>& tensor, tn::index row) {
  return row_map(tensor.data() + row * columns, columns);
}

void softmax_tenon(operands& data) { data.y = tn::softmax(data.x, tn::axis<-1>); }
void softmax_eigen(operands& data) {
  for (tn::index row = 0; row < rows; ++row) {
    auto y = row_of(data.y, row);
    const auto x = row_of(data.x, row);
    y = (x - x.maxCoeff()).exp();
    y /= y.sum();
  }
}

void standardise_tenon(operands& data) { data.y = tn::standardise(data.x, tn::axis<-1>); }
void standardise_eigen(operands& data) {
  for (tn::index row = 0; row < rows; ++row) {
    auto y = row_of(data.y, row);
    const auto x = row_of(data.x, row);
    const float mean = x.mean();
    const float variance = (x - mean).square().mean();
    y = (x - mean) * (1.0f / std::sqrt(variance + 1e-5f));
  }
}

#if defined(BENCHMARKS_TORCH)
void softmax_torch(operands& data) {
  auto y = seen_by_torch(data.y);
  at::_softmax_out(y, seen_by_torch(data.x), 1, false);
}
void standardise_torch(operands& data) {
  auto y = seen_by_torch(data.y);
  at::Tensor mean = at::empty({rows, 1}), scale = at::empty({rows, 1});
  at::native_layer_norm_out(y, mean, scale, seen_by_torch(data.x), {columns}, {}, {}, 1e-5);
}
#endif

template <void (*Run)(operands&), void (*Reference)(operands&)>
void time_it(benchmark::State& state) {
  operands data, reference;
  Run(data), Reference(reference);
  must_agree("w04", data.y.data(), reference.y.data(), data.y.size(), 1e-5);
  for (auto _ : state) {
    Run(data);
    benchmark::DoNotOptimize(data.y.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * rows * columns * 8);
}

}  // namespace

BENCHMARK(time_it<softmax_tenon, softmax_eigen>)->Name("softmax/tenon");
BENCHMARK(time_it<softmax_eigen, softmax_eigen>)->Name("softmax/eigen");
BENCHMARK(time_it<standardise_tenon, standardise_eigen>)->Name("standardise/tenon");
BENCHMARK(time_it<standardise_eigen, standardise_eigen>)->Name("standardise/eigen");
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<softmax_torch, softmax_eigen>)->Name("softmax/torch");
BENCHMARK(time_it<standardise_torch, standardise_eigen>)->Name("standardise/torch");
#endif
BENCHMARK_MAIN();
