// benchmarks/w03_reduce.cpp: W3, the sum of (a - b)^2 over n floats.
// Tenon, Eigen, xtensor, libtorch and a loop in double on the same data; bytes per second count two reads.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>

#include "agree.hpp"
#include "torch.hpp"
#include "xtensor.hpp"

namespace tn = tenon;

namespace {

struct operands {
  explicit operands(tn::index n) : a({n}), b({n}) {
    a = tn::uniform<float>(tn::rank<1>(n), 1, -1.0f, 1.0f);
    b = tn::uniform<float>(tn::rank<1>(n), 2, -1.0f, 1.0f);
  }
  tn::tensor<float, tn::rank<1>> a, b;
};

float with_tenon(const operands& x) { return tn::sum(tn::square(x.a - x.b)); }

float with_eigen(const operands& x) {
  using map = Eigen::Map<const Eigen::ArrayXf>;
  return (map(x.a.data(), x.a.size()) - map(x.b.data(), x.b.size())).square().sum();
}

#if __has_include(<xtensor/xtensor.hpp>)
float with_xtensor(const operands& x) {
  return xt::sum(xt::square(seen_by_xtensor(x.a) - seen_by_xtensor(x.b)), xt::evaluation_strategy::immediate)();
}
#endif

#if defined(BENCHMARKS_TORCH)
float with_torch(const operands& x) {
  return at::sum(at::square(seen_by_torch(x.a) - seen_by_torch(x.b))).item<float>();
}
#endif

float with_loop(const operands& x) {
  double total = 0;
  for (tn::index i = 0; i < x.a.size(); ++i) {
    const double difference = static_cast<double>(x.a.data()[i]) - static_cast<double>(x.b.data()[i]);
    total += difference * difference;
  }
  return static_cast<float>(total);
}

/// Eigen and xtensor add in a row, so the bounds of their errors grow with n; Tenon's does not.
constexpr double bound_of_tenon = 1e-6, bound_of_a_row = 0.25;

template <float (*Run)(const operands&), const double& Bound>
void time_it(benchmark::State& state) {
  const operands x(state.range(0));
  const float actual = Run(x), expected = with_loop(x);
  must_agree("w03", &actual, &expected, 1, Bound);
  for (auto _ : state) benchmark::DoNotOptimize(Run(x));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

}  // namespace

BENCHMARK(time_it<with_tenon, bound_of_tenon>)->Name("tenon")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_eigen, bound_of_a_row>)->Name("eigen")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_loop, bound_of_tenon>)
    ->Name("loop_in_double")
    ->Arg(1 << 12)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Arg(1 << 26);
#if __has_include(<xtensor/xtensor.hpp>)
BENCHMARK(time_it<with_xtensor, bound_of_a_row>)
    ->Name("xtensor")
    ->Arg(1 << 12)
    ->Arg(1 << 16)
    ->Arg(1 << 20)
    ->Arg(1 << 26);
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<with_torch, bound_of_a_row>)->Name("torch")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
#endif
BENCHMARK_MAIN();
