// benchmarks/w01_pointwise.cpp: W1, out = (a*b + c)*0.5 - a/(1 + b*b) on n floats.
// Tenon, Eigen and a plain loop on the same data; bytes per second count three reads and one write.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expressions.hpp>

#include <Eigen/Core>

#include "agree.hpp"

namespace tn = tenon;

namespace {

struct operands {
  explicit operands(tn::index n) : a({n}), b({n}), c({n}), out({n}) {
    a = tn::uniform<float>(tn::rank<1>(n), 1, -1.0f, 1.0f);
    b = tn::uniform<float>(tn::rank<1>(n), 2, -1.0f, 1.0f);
    c = tn::uniform<float>(tn::rank<1>(n), 3, -1.0f, 1.0f);
  }
  tn::tensor<float, tn::rank<1>> a, b, c, out;
};

void with_tenon(operands& x) { x.out = (x.a * x.b + x.c) * 0.5f - x.a / (1.0f + x.b * x.b); }

void with_eigen(operands& x) {
  using map = Eigen::Map<Eigen::ArrayXf>;
  map a(x.a.data(), x.a.size()), b(x.b.data(), x.b.size()), c(x.c.data(), x.c.size()), out(x.out.data(), x.out.size());
  out = (a * b + c) * 0.5f - a / (1.0f + b * b);
}

void with_loop(operands& x) {
  const float *a = x.a.data(), *b = x.b.data(), *c = x.c.data();
  float* out = x.out.data();
  for (tn::index i = 0; i < x.out.size(); ++i) out[i] = (a[i] * b[i] + c[i]) * 0.5f - a[i] / (1.0f + b[i] * b[i]);
}

template <void (*Run)(operands&)>
void time_it(benchmark::State& state) {
  operands x(state.range(0)), reference(state.range(0));
  Run(x), with_loop(reference);
  must_agree("w01", x.out.data(), reference.out.data(), x.out.size(), 1e-6);
  for (auto _ : state) {
    Run(x);
    benchmark::DoNotOptimize(x.out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}

}  // namespace

BENCHMARK(time_it<with_tenon>)->Name("tenon")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_eigen>)->Name("eigen")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK(time_it<with_loop>)->Name("loop")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
BENCHMARK_MAIN();
