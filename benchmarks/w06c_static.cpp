// benchmarks/w06c_static.cpp: W6c, n x n matrices and vectors of floats of static extents: C = A B, bare and with a
// fused bias and ReLU, A v, u v, v / |v|, 2 v + u, a chain of products and A P A' + Q. Tenon and Eigen's fixed-size
// types on the same data.
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
    v = tn::uniform<float>(v.shape(), 4, 0.5f, 1.0f), w = 0.0f;
    eigen_a = Eigen::Map<const eigen_matrix>(a.data()), eigen_b = Eigen::Map<const eigen_matrix>(b.data());
    eigen_bias = Eigen::Map<const Eigen::Matrix<float, 1, N>>(bias.data());
    eigen_v = Eigen::Map<const eigen_vector>(v.data());
  }
  using eigen_vector = Eigen::Matrix<float, N, 1>;
  tn::tensor<float, tn::shape<N, N>> a, b, c;
  eigen_matrix eigen_a, eigen_b, eigen_c;
  // Each vector has lines of the cache of its own: where three lie one after another, some orders of reading them take
  // four times as long.
  alignas(256) tn::tensor<float, tn::shape<N>> v, bias, w;
  alignas(256) eigen_vector eigen_v;
  alignas(256) Eigen::Matrix<float, 1, N> eigen_bias;
  alignas(256) eigen_vector eigen_w;
};

template <bool Fused, int N>
[[gnu::always_inline]] inline void with_tenon(operands<N>& x) {
  if constexpr (Fused) x.c = tn::relu(tn::matmul(x.a, x.b) + x.bias);
  else x.c = tn::matmul(x.a, x.b);
}
template <bool Fused, int N>
[[gnu::always_inline]] inline void with_eigen(operands<N>& x) {
  x.eigen_c.noalias() = x.eigen_a * x.eigen_b;
  if constexpr (Fused) x.eigen_c = (x.eigen_c.rowwise() + x.eigen_bias).cwiseMax(0.0f);
}

enum class vector_case { product, dot, unit, sum };

template <vector_case Case, int N>
[[gnu::always_inline]] inline void with_tenon(operands<N>& x) {
  if constexpr (Case == vector_case::product) x.w = tn::matmul(x.a, x.v);
  else if constexpr (Case == vector_case::dot) x.w(0) = tn::sum(x.v * x.bias);
  else if constexpr (Case == vector_case::unit) x.w = x.v / tn::sqrt(tn::sum(x.v * x.v, tn::axis<0>));
  else x.w = 2.0f * x.v + x.bias;
}
template <vector_case Case, int N>
[[gnu::always_inline]] inline void with_eigen(operands<N>& x) {
  if constexpr (Case == vector_case::product) x.eigen_w.noalias() = x.eigen_a * x.eigen_v;
  else if constexpr (Case == vector_case::dot) x.eigen_w(0) = x.eigen_v.dot(x.eigen_bias.transpose());
  else if constexpr (Case == vector_case::unit) x.eigen_w = x.eigen_v / x.eigen_v.norm();
  else x.eigen_w = 2.0f * x.eigen_v + x.eigen_bias.transpose();
}

/// Several products, each of the results before, as poses are composed; and a covariance carried along by a filter.
enum class matrix_case { chain, filter };

template <matrix_case Case, int N>
[[gnu::always_inline]] inline void with_tenon(operands<N>& x) {
  if constexpr (Case == matrix_case::chain) {
    x.c = tn::matmul(x.a, x.b);
    x.c = tn::matmul(x.c, x.a);
    x.c = tn::matmul(x.b, x.c);
  } else {
    x.c = tn::matmul(tn::matmul(x.a, x.b), tn::transpose(x.a)) + x.a;
  }
}
template <matrix_case Case, int N>
[[gnu::always_inline]] inline void with_eigen(operands<N>& x) {
  if constexpr (Case == matrix_case::chain) {
    x.eigen_c.noalias() = x.eigen_a * x.eigen_b;
    x.eigen_c = x.eigen_c * x.eigen_a;
    x.eigen_c = x.eigen_b * x.eigen_c;
  } else {
    x.eigen_c = x.eigen_a * x.eigen_b * x.eigen_a.transpose() + x.eigen_a;
  }
}

template <class Run>
void time_it(benchmark::State& state, double operations, const Run& run) {
  for (auto _ : state) {
    run();
    benchmark::ClobberMemory();
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

template <int N, bool Fused>
void add_cases() {
  constexpr double operations = 2.0 * N * N * N;
  const std::string name = (Fused ? "relu_bias/" : "") + std::to_string(N);
  benchmark::RegisterBenchmark((name + "/tenon").c_str(), [](benchmark::State& state) {
    operands<N> x;
    with_tenon<Fused>(x), with_eigen<Fused>(x);
    must_agree("w06c", x.c.data(), x.eigen_c.data(), N * N, 1e-5);
    time_it(state, operations, [&] { with_tenon<Fused>(x); });
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [](benchmark::State& state) {
    operands<N> x;
    time_it(state, operations, [&] { with_eigen<Fused>(x); });
  });
}

template <int N, matrix_case Case>
void add_matrix_cases() {
  constexpr double operations = (Case == matrix_case::chain ? 6.0 : 4.0) * N * N * N;
  const std::string name = (Case == matrix_case::chain ? "chain/" : "filter/") + std::to_string(N);
  benchmark::RegisterBenchmark((name + "/tenon").c_str(), [](benchmark::State& state) {
    operands<N> x;
    with_tenon<Case>(x), with_eigen<Case>(x);
    must_agree("w06c", x.c.data(), x.eigen_c.data(), N * N, 1e-5);
    time_it(state, operations, [&] { with_tenon<Case>(x); });
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [](benchmark::State& state) {
    operands<N> x;
    time_it(state, operations, [&] { with_eigen<Case>(x); });
  });
}

template <int N, vector_case Case>
void add_vector_cases() {
  constexpr bool is_product = Case == vector_case::product, is_dot = Case == vector_case::dot;
  constexpr double operations = is_product ? 2.0 * N * N : is_dot || Case == vector_case::sum ? 2.0 * N : 3.0 * N;
  const char* const names[] = {"vector/", "dot/", "unit/", "sum/"};
  const std::string name = names[static_cast<int>(Case)] + std::to_string(N);
  benchmark::RegisterBenchmark((name + "/tenon").c_str(), [](benchmark::State& state) {
    operands<N> x;
    with_tenon<Case>(x), with_eigen<Case>(x);
    must_agree("w06c", x.w.data(), x.eigen_w.data(), is_dot ? 1 : N, 1e-5);
    time_it(state, operations, [&] { with_tenon<Case>(x); });
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [](benchmark::State& state) {
    operands<N> x;
    time_it(state, operations, [&] { with_eigen<Case>(x); });
  });
}
template <vector_case Case>
void add_all_vector_cases() {
  add_vector_cases<3, Case>(), add_vector_cases<4, Case>(), add_vector_cases<6, Case>(), add_vector_cases<16, Case>();
}

}  // namespace

int main(int count, char** arguments) {
  add_cases<3, false>(), add_cases<4, false>(), add_cases<6, false>(), add_cases<8, false>(), add_cases<16, false>(),
      add_cases<32, false>();
  add_cases<3, true>(), add_cases<4, true>(), add_cases<6, true>(), add_cases<8, true>(), add_cases<16, true>(),
      add_cases<32, true>();
  add_all_vector_cases<vector_case::product>(), add_all_vector_cases<vector_case::dot>();
  add_all_vector_cases<vector_case::unit>(), add_all_vector_cases<vector_case::sum>();
  add_matrix_cases<3, matrix_case::chain>(), add_matrix_cases<4, matrix_case::chain>();
  add_matrix_cases<4, matrix_case::filter>(), add_matrix_cases<6, matrix_case::filter>();
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
