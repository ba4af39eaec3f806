// benchmarks/w14_linalg.cpp: W14, n x n matrices of static extents, one and 1,000 of them: the solution of a x = b by
// Cholesky's factors, and the inverse. Tenon and Eigen's fixed-size types on the same data, one thread.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/linalg.hpp>

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/LU>
#include <vector>

#include "agree.hpp"

namespace tn = tenon;

namespace {

enum class task { solve, inverse };

template <class T, int N, tn::index Count>
struct operands {
  using matrix = Eigen::Matrix<T, N, N, Eigen::RowMajor>;
  using vector = Eigen::Matrix<T, N, 1>;
  operands() {
    const tn::tensor<T, tn::shape<Count, N, N>> x = tn::uniform<T>(a.shape(), 1, -1.0f, 1.0f);
    a = tn::matmul(x, tn::transpose(x)) + tn::eye<T>(tn::shape<N, N>());
    b = tn::uniform<T>(b.shape(), 2, -1.0f, 1.0f);
    for (tn::index i = 0; i < Count; ++i) {
      eigen_a.push_back(Eigen::Map<const matrix>(a.data() + i * N * N));
      eigen_b.push_back(Eigen::Map<const vector>(b.data() + i * N));
    }
    eigen_inverses = eigen_a, eigen_solutions = eigen_b;
  }
  tn::tensor<T, tn::shape<Count, N, N>> a, inverses;
  tn::tensor<T, tn::shape<Count, N>> b, solutions;
  std::vector<matrix> eigen_a, eigen_inverses;
  std::vector<vector> eigen_b, eigen_solutions;
};

template <task Task, class T, int N>
void with_tenon(operands<T, N, 1>& x) {
  const tn::view<const T, tn::shape<N, N>> a(x.a.data(), {});
  const tn::view<const T, tn::shape<N>> b(x.b.data(), {});
  if constexpr (Task == task::inverse) tn::view<T, tn::shape<N, N>>(x.inverses.data(), {}) = tn::inverse(a);
  else tn::view<T, tn::shape<N>>(x.solutions.data(), {}) = tn::solve(a, b, {.positive_definite = true});
}
template <task Task, class T, int N, tn::index Count>
void with_tenon(operands<T, N, Count>& x) {
  if constexpr (Task == task::inverse) x.inverses = tn::inverse(x.a);
  else x.solutions = tn::solve(x.a, x.b, {.positive_definite = true});
}
template <task Task, class T, int N, tn::index Count>
void with_eigen(operands<T, N, Count>& x) {
  for (std::size_t i = 0; i < x.eigen_a.size(); ++i) {
    if constexpr (Task == task::inverse) x.eigen_inverses[i] = x.eigen_a[i].inverse();
    else x.eigen_solutions[i] = x.eigen_a[i].llt().solve(x.eigen_b[i]);
  }
}

template <task Task, class T, int N, tn::index Count>
void check(operands<T, N, Count>& x) {
  with_tenon<Task>(x), with_eigen<Task>(x);
  constexpr bool is_inverse = Task == task::inverse;
  constexpr double bound = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  const T* const own = is_inverse ? x.inverses.data() : x.solutions.data();
  const T* const others = is_inverse ? x.eigen_inverses[0].data() : x.eigen_solutions[0].data();
  must_agree("w14", own, others, Count * N * (is_inverse ? N : 1), bound);
}

template <class Run>
void time_it(benchmark::State& state, tn::index matrices, const Run& run) {
  for (auto _ : state) {
    run();
    benchmark::ClobberMemory();
  }
  state.counters["matrices/s"] = benchmark::Counter(
      static_cast<double>(matrices) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

template <task Task, class T, int N, tn::index Count>
void add_case() {
  const std::string name = std::string(Task == task::inverse ? "inverse/" : "cholesky_solve/") +
                           (std::is_same_v<T, float> ? "float/" : "double/") + std::to_string(Count) + "/" +
                           std::to_string(N);
  benchmark::RegisterBenchmark((name + "/tenon").c_str(), [](benchmark::State& state) {
    operands<T, N, Count> x;
    check<Task>(x);
    time_it(state, Count, [&] { with_tenon<Task>(x); });
  });
  benchmark::RegisterBenchmark((name + "/eigen").c_str(), [](benchmark::State& state) {
    operands<T, N, Count> x;
    time_it(state, Count, [&] { with_eigen<Task>(x); });
  });
}

template <task Task, class T, tn::index Count>
void add_extents() {
  add_case<Task, T, 3, Count>(), add_case<Task, T, 4, Count>(), add_case<Task, T, 6, Count>();
}
template <task Task>
void add_cases() {
  add_extents<Task, float, 1>(), add_extents<Task, float, 1000>();
  add_extents<Task, double, 1>(), add_extents<Task, double, 1000>();
}

}  // namespace

int main(int count, char** arguments) {
  add_cases<task::solve>(), add_cases<task::inverse>();
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
