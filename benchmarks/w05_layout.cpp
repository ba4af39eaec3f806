// benchmarks/w05_layout.cpp: W5, matrix + row + column, a transposed copy and the sum of every second row and column.
// Tenon, Eigen, xtensor, libtorch and plain loops on 4096 x 4096 floats. Bytes per second count the matrix each time
// that it must be read or written (row and column stay in the caches), of the slice the elements that are added.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>
#ifdef __AVX512F__
#include <immintrin.h>
#endif
#if __has_include(<cblas.h>)
#include <cblas.h>
#endif

#include "agree.hpp"
#include "torch.hpp"
#include "xtensor.hpp"

namespace tn = tenon;

namespace {

constexpr tn::index n = 4096;

struct operands {
  operands() : matrix({n, n}), out({n, n}), row({n}), column({n, 1}) {
    matrix = tn::uniform<float>(tn::rank<2>(n, n), 1, -1.0f, 1.0f);
    row = tn::uniform<float>(tn::rank<1>(n), 2, -1.0f, 1.0f);
    column = tn::uniform<float>(tn::rank<2>(n, 1), 3, -1.0f, 1.0f);
    out = 0.0f;
  }
  tn::tensor<float, tn::rank<2>> matrix, out;
  tn::tensor<float, tn::rank<1>> row;
  tn::tensor<float, tn::rank<2>> column;
};

using eigen_matrix = Eigen::Map<Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
eigen_matrix map(tn::tensor<float, tn::rank<2>>& x) { return {x.data(), x.extent(0), x.extent(1)}; }

void broadcast_tenon(operands& x) { x.out = x.matrix + x.row + x.column; }
void broadcast_eigen(operands& x) {
  const Eigen::Map<Eigen::RowVectorXf> row(x.row.data(), n);
  const Eigen::Map<Eigen::VectorXf> column(x.column.data(), n);
  map(x.out) = (map(x.matrix).rowwise() + row).colwise() + column;
}
void broadcast_loop(operands& x) {
  const float *matrix = x.matrix.data(), *row = x.row.data(), *column = x.column.data();
  float* out = x.out.data();
  for (tn::index i = 0; i < n; ++i) {
    for (tn::index j = 0; j < n; ++j) out[i * n + j] = matrix[i * n + j] + row[j] + column[i];
  }
}

void transpose_tenon(operands& x) { x.out = tn::transpose(x.matrix); }
void transpose_eigen(operands& x) { map(x.out) = map(x.matrix).transpose(); }
void transpose_loop(operands& x) {
  constexpr tn::index side = 64;
  float tile[side][side];  // rows 16 KiB apart share their places in the caches: columns are read from a copy
  const float* matrix = x.matrix.data();
  float* out = x.out.data();
  for (tn::index i = 0; i < n; i += side) {
    for (tn::index j = 0; j < n; j += side) {
      for (tn::index k = 0; k < side; ++k) {
        for (tn::index l = 0; l < side; ++l) tile[l][k] = matrix[(j + k) * n + i + l];
      }
      for (tn::index k = 0; k < side; ++k) {
        for (tn::index l = 0; l < side; ++l) out[(i + k) * n + j + l] = tile[k][l];
      }
    }
  }
}

float slice_tenon(operands& x) {
  constexpr tn::range every_second(0, tn::open_end, 2);
  return tn::sum(tn::slice(x.matrix, every_second, every_second));
}
float slice_eigen(operands& x) { return map(x.matrix)(Eigen::seq(0, n - 1, 2), Eigen::seq(0, n - 1, 2)).sum(); }
float slice_loop(operands& x) {
  float total = 0;
  for (tn::index i = 0; i < n; i += 2) {
    float of_row = 0;
    for (tn::index j = 0; j < n; j += 2) of_row += x.matrix.data()[i * n + j];
    total += of_row;
  }
  return total;
}

#ifdef __AVX512F__
/// The limit beyond the caches: stores that do not read what they replace.
void broadcast_at_the_limit(operands& x) {
  for (tn::index i = 0; i < n; ++i) {
    const __m512 column = _mm512_set1_ps(x.column.data()[i]);
    for (tn::index j = 0; j < n; j += 16) {
      const __m512 both = _mm512_add_ps(_mm512_load_ps(x.row.data() + j), column);
      _mm512_stream_ps(x.out.data() + i * n + j, _mm512_add_ps(_mm512_load_ps(x.matrix.data() + i * n + j), both));
    }
  }
  _mm_sfence();
}
#endif

#if __has_include(<cblas.h>) && defined(OPENBLAS_VERSION)
void transpose_openblas(operands& x) {
  cblas_somatcopy(CblasRowMajor, CblasTrans, n, n, 1.0f, x.matrix.data(), n, x.out.data(), n);
}
#endif

#if __has_include(<xtensor/xtensor.hpp>)
void broadcast_xtensor(operands& x) {
  auto matrix = seen_by_xtensor(x.matrix), out = seen_by_xtensor(x.out), column = seen_by_xtensor(x.column);
  auto row = seen_by_xtensor(x.row);
  xt::noalias(out) = matrix + row + column;
}
void transpose_xtensor(operands& x) {
  auto matrix = seen_by_xtensor(x.matrix), out = seen_by_xtensor(x.out);
  xt::noalias(out) = xt::transpose(matrix);
}
float slice_xtensor(operands& x) {
  auto matrix = seen_by_xtensor(x.matrix);
  return xt::sum(xt::view(matrix, xt::range(0, n, 2), xt::range(0, n, 2)), xt::evaluation_strategy::immediate)();
}
#endif

#if defined(BENCHMARKS_TORCH)
void broadcast_torch(operands& x) {
  auto out = seen_by_torch(x.out);
  at::add_out(out, seen_by_torch(x.matrix) + seen_by_torch(x.row), seen_by_torch(x.column));
}
void transpose_torch(operands& x) { seen_by_torch(x.out).copy_(seen_by_torch(x.matrix).t()); }
float slice_torch(operands& x) {
  return seen_by_torch(x.matrix).slice(0, 0, n, 2).slice(1, 0, n, 2).sum().item<float>();
}
#endif

template <void (*Run)(operands&), void (*Reference)(operands&)>
void time_it(benchmark::State& state) {
  operands x, reference;
  Run(x), Reference(reference);
  must_agree("w05", x.out.data(), reference.out.data(), x.out.size(), 1e-6);
  for (auto _ : state) {
    Run(x);
    benchmark::DoNotOptimize(x.out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * n * n * 8);
}

template <float (*Run)(operands&)>
void time_slice(benchmark::State& state) {
  operands x;
  double expected = 0;
  for (tn::index i = 0; i < n; i += 2) {
    for (tn::index j = 0; j < n; j += 2) expected += static_cast<double>(x.matrix.data()[i * n + j]);
  }
  const float actual = Run(x);
  must_agree("w05 slice", &actual, &expected, 1, 1e-3);
  for (auto _ : state) benchmark::DoNotOptimize(Run(x));
  state.SetBytesProcessed(state.iterations() * n * n);  // a quarter of the elements, four bytes each
}

}  // namespace

BENCHMARK(time_it<broadcast_tenon, broadcast_loop>)->Name("broadcast/tenon");
BENCHMARK(time_it<broadcast_eigen, broadcast_loop>)->Name("broadcast/eigen");
BENCHMARK(time_it<broadcast_loop, broadcast_loop>)->Name("broadcast/loop");
BENCHMARK(time_it<transpose_tenon, transpose_loop>)->Name("transpose/tenon");
BENCHMARK(time_it<transpose_eigen, transpose_loop>)->Name("transpose/eigen");
BENCHMARK(time_it<transpose_loop, transpose_loop>)->Name("transpose/loop");
BENCHMARK(time_slice<slice_tenon>)->Name("slice/tenon");
BENCHMARK(time_slice<slice_eigen>)->Name("slice/eigen");
BENCHMARK(time_slice<slice_loop>)->Name("slice/loop");
#ifdef __AVX512F__
BENCHMARK(time_it<broadcast_at_the_limit, broadcast_loop>)->Name("broadcast/limit");
#endif
#if __has_include(<cblas.h>) && defined(OPENBLAS_VERSION)
BENCHMARK(time_it<transpose_openblas, transpose_loop>)->Name("transpose/openblas");
#endif
#if __has_include(<xtensor/xtensor.hpp>)
BENCHMARK(time_it<broadcast_xtensor, broadcast_loop>)->Name("broadcast/xtensor");
BENCHMARK(time_it<transpose_xtensor, transpose_loop>)->Name("transpose/xtensor");
BENCHMARK(time_slice<slice_xtensor>)->Name("slice/xtensor");
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<broadcast_torch, broadcast_loop>)->Name("broadcast/torch");
BENCHMARK(time_it<transpose_torch, transpose_loop>)->Name("transpose/torch");
BENCHMARK(time_slice<slice_torch>)->Name("slice/torch");
#endif
BENCHMARK_MAIN();
