// benchmarks/w03_reduce.cpp: W3, the sum of (a - b)^2 over n floats.
// Tenon, Eigen and a loop in double on the same data; bytes per second count two reads.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expressions.hpp>

#include <Eigen/Core>

#include "agree.hpp"

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

float with_loop(const operands& x) {
  double total = 0;
  for (tn::index i = 0; i < x.a.size(); ++i) {
    const double difference = static_cast<double>(x.a.data()[i]) - static_cast<double>(x.b.data()[i]);
    total += difference * difference;
  }
  return static_cast<float>(total);
}

template <float (*Run)(const operands&)>
void time_it(benchmark::State& state) {
  const operands x(state.range(0));
  const float actual = Run(x), expected = with_loop(x);
  must_agree("w03", &actual, &expected, 1, 1e-2);  // Eigen adds in a row: at 2^26 it is 0.15 % off
  for (auto _ : state) benchmark::DoNotOptimize(Run(x));
  state.SetBytesProcessed(state.iterations() * state.range(0) * 8);
}

}  // namespace

BENCHMARK(time_it<with_tenon>)->Name("tenon")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_eigen>)->Name("eigen")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_loop>)->Name("loop_in_double")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK_MAIN();
