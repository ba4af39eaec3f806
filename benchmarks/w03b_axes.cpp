// benchmarks/w03b_axes.cpp: W3b, sums of rows and of columns of 4096 x 4096 floats, and over the middle axis of 256^3.
// Tenon, Eigen, its tensors, xtensor, libtorch and plain loops on the same data, checked against a loop in double;
// bytes per second count one read of the operand. The limit is one sum of all its elements.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>
#include <algorithm>
#include <numeric>
#if __has_include(<unsupported/Eigen/CXX11/Tensor>)
#include <unsupported/Eigen/CXX11/Tensor>
#endif
#include <vector>

#include "agree.hpp"
#include "torch.hpp"
#include "xtensor.hpp"

namespace tn = tenon;

namespace {

/// x of `outer` x `extent` x `inner` is summed over its middle axis, which has one of the three forms.
struct sizes {
  tn::index outer, extent, inner;
};
constexpr sizes rows{4096, 4096, 1}, columns{1, 4096, 4096}, middle{256, 256, 256};

struct matrix {
  matrix() : x({4096, 4096}), out({4096}) { x = tn::uniform<float>(tn::rank<2>(4096, 4096), 1, 0.0f, 1.0f); }
  tn::tensor<float, tn::rank<2>> x;
  tn::tensor<float, tn::rank<1>> out;
};

struct cube {
  cube() : x({256, 256, 256}), out({256, 256}) { x = tn::uniform<float>(tn::rank<3>(256, 256, 256), 1, 0.0f, 1.0f); }
  tn::tensor<float, tn::rank<3>> x;
  tn::tensor<float, tn::rank<2>> out;
};

void rows_tenon(matrix& data) { data.out = tn::sum(data.x, tn::drop<1>); }
void columns_tenon(matrix& data) { data.out = tn::sum(data.x, tn::drop<0>); }
void middle_tenon(cube& data) { data.out = tn::sum(data.x, tn::drop<1>); }

using eigen_matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
void rows_eigen(matrix& data) {
  Eigen::Map<Eigen::VectorXf>(data.out.data(), 4096) = eigen_matrix(data.x.data(), 4096, 4096).rowwise().sum();
}
void columns_eigen(matrix& data) {
  Eigen::Map<Eigen::RowVectorXf>(data.out.data(), 4096) = eigen_matrix(data.x.data(), 4096, 4096).colwise().sum();
}

/// Sums over the middle axis, a run of `inner` results at a time so that they stay in the first cache.
template <sizes Of, typename Data>
void loops(Data& data) {
  const float* x = data.x.data();
  float* out = data.out.data();
  for (tn::index i = 0; i < Of.outer; ++i) {
    if constexpr (Of.inner == 1) {
      float partial[64] = {};
      for (tn::index j = 0; j < Of.extent; j += 64) {
        for (tn::index k = 0; k < 64; ++k) partial[k] += x[i * Of.extent + j + k];
      }
      out[i] = std::accumulate(partial, partial + 64, 0.0f);
    } else {
      std::fill(out + i * Of.inner, out + (i + 1) * Of.inner, 0.0f);
      for (tn::index j = 0; j < Of.extent; ++j) {
        for (tn::index k = 0; k < Of.inner; ++k) out[i * Of.inner + k] += x[(i * Of.extent + j) * Of.inner + k];
      }
    }
  }
}

/// Reads everything once, each line asked for 4 KiB ahead.
template <typename Data>
void limit(Data& data) {
  const float* x = data.x.data();
  float partial[64] = {};
  for (tn::index i = 0; i < data.x.size(); i += 64) {
    for (tn::index line = 0; line < 64; line += 16) __builtin_prefetch(x + i + 1024 + line);
    for (tn::index k = 0; k < 64; ++k) partial[k] += x[i + k];
  }
  benchmark::DoNotOptimize(std::accumulate(partial, partial + 64, 0.0f));
}

#ifdef EIGEN_CXX11_TENSOR_TENSOR_H
template <int Axis, typename Data>
void with_eigen_tensor(Data& data) {
  constexpr int rank = std::remove_cvref_t<decltype(data.x)>::shape_type::rank;
  Eigen::array<Eigen::Index, rank> extents;
  Eigen::array<Eigen::Index, rank - 1> kept;
  for (int axis = 0; axis < rank; ++axis) extents[axis] = data.x.extent(axis);
  for (int axis = 0; axis < rank - 1; ++axis) kept[axis] = data.out.extent(axis);
  const Eigen::TensorMap<Eigen::Tensor<float, rank, Eigen::RowMajor>> x(data.x.data(), extents);
  Eigen::TensorMap<Eigen::Tensor<float, rank - 1, Eigen::RowMajor>> out(data.out.data(), kept);
  out = x.sum(Eigen::array<int, 1>{Axis});
}
#endif

#if __has_include(<xtensor/xtensor.hpp>)
template <int Axis, typename Data>
void with_xtensor(Data& data) {
  auto out = seen_by_xtensor(data.out);
  xt::noalias(out) = xt::sum(seen_by_xtensor(data.x), {Axis}, xt::evaluation_strategy::immediate);
}
#endif

#if defined(BENCHMARKS_TORCH)
template <int Axis, typename Data>
void with_torch(Data& data) {
  auto out = seen_by_torch(data.out);
  at::sum_out(out, seen_by_torch(data.x), Axis);
}
#endif

template <sizes Of, typename Data, void (*Run)(Data&)>
void time_it(benchmark::State& state) {
  Data data;
  Run(data);
  if (Run != limit<Data>) {
    std::vector<double> expected(static_cast<std::size_t>(Of.outer * Of.inner));
    for (tn::index i = 0; i < data.x.size(); ++i) {
      expected[static_cast<std::size_t>(i / (Of.extent * Of.inner) * Of.inner + i % Of.inner)] +=
          static_cast<double>(data.x.data()[i]);
    }
    must_agree("w03b", data.out.data(), expected.data(), data.out.size(), 1e-5);
  }
  for (auto _ : state) {
    Run(data);
    benchmark::DoNotOptimize(data.out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * data.x.size() * 4);
}

}  // namespace

BENCHMARK(time_it<rows, matrix, rows_tenon>)->Name("rows/tenon");
BENCHMARK(time_it<rows, matrix, rows_eigen>)->Name("rows/eigen");
BENCHMARK(time_it<rows, matrix, loops<rows>>)->Name("rows/loop");
BENCHMARK(time_it<rows, matrix, limit>)->Name("rows/limit");
BENCHMARK(time_it<columns, matrix, columns_tenon>)->Name("columns/tenon");
BENCHMARK(time_it<columns, matrix, columns_eigen>)->Name("columns/eigen");
BENCHMARK(time_it<columns, matrix, loops<columns>>)->Name("columns/loop");
BENCHMARK(time_it<columns, matrix, limit>)->Name("columns/limit");
BENCHMARK(time_it<middle, cube, middle_tenon>)->Name("middle/tenon");
BENCHMARK(time_it<middle, cube, loops<middle>>)->Name("middle/loop");
BENCHMARK(time_it<middle, cube, limit>)->Name("middle/limit");
#ifdef EIGEN_CXX11_TENSOR_TENSOR_H
BENCHMARK(time_it<rows, matrix, with_eigen_tensor<1>>)->Name("rows/eigen_tensor");
BENCHMARK(time_it<columns, matrix, with_eigen_tensor<0>>)->Name("columns/eigen_tensor");
BENCHMARK(time_it<middle, cube, with_eigen_tensor<1>>)->Name("middle/eigen_tensor");
#endif
#if __has_include(<xtensor/xtensor.hpp>)
BENCHMARK(time_it<rows, matrix, with_xtensor<1>>)->Name("rows/xtensor");
BENCHMARK(time_it<columns, matrix, with_xtensor<0>>)->Name("columns/xtensor");
BENCHMARK(time_it<middle, cube, with_xtensor<1>>)->Name("middle/xtensor");
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<rows, matrix, with_torch<1>>)->Name("rows/torch");
BENCHMARK(time_it<columns, matrix, with_torch<0>>)->Name("columns/torch");
BENCHMARK(time_it<middle, cube, with_torch<1>>)->Name("middle/torch");
#endif
BENCHMARK_MAIN();
