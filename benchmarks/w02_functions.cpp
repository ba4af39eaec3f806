// benchmarks/w02_functions.cpp: W2, out = tanh(a)*exp(-b*b) + log1p(abs(c)) on n floats.
// Tenon, Eigen, xtensor, libtorch and a plain loop on the same data, checked against a loop in double; bytes per second
// count three reads and one write.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>
#include <vector>

#include "agree.hpp"
#include "torch.hpp"
#include "xtensor.hpp"

namespace tn = tenon;

namespace {

struct operands {
  explicit operands(tn::index n) : a({n}), b({n}), c({n}), out({n}) {
    a = tn::uniform<float>(tn::rank<1>(n), 1, -4.0f, 4.0f);
    b = tn::uniform<float>(tn::rank<1>(n), 2, -2.0f, 2.0f);
    c = tn::uniform<float>(tn::rank<1>(n), 3, -8.0f, 8.0f);
  }
  tn::tensor<float, tn::rank<1>> a, b, c, out;
};

void with_tenon(operands& x) { x.out = tn::tanh(x.a) * tn::exp(-x.b * x.b) + tn::log1p(tn::abs(x.c)); }

void with_eigen(operands& x) {
  using map = Eigen::Map<Eigen::ArrayXf>;
  map a(x.a.data(), x.a.size()), b(x.b.data(), x.b.size()), c(x.c.data(), x.c.size()), out(x.out.data(), x.out.size());
  out = a.tanh() * (-b * b).exp() + c.abs().log1p();
}

#if __has_include(<xtensor/xtensor.hpp>)
void with_xtensor(operands& x) {
  auto a = seen_by_xtensor(x.a), b = seen_by_xtensor(x.b), c = seen_by_xtensor(x.c), out = seen_by_xtensor(x.out);
  xt::noalias(out) = xt::tanh(a) * xt::exp(-b * b) + xt::log1p(xt::abs(c));
}
#endif

#if defined(BENCHMARKS_TORCH)
void with_torch(operands& x) {
  const auto a = seen_by_torch(x.a), b = seen_by_torch(x.b), c = seen_by_torch(x.c);
  auto out = seen_by_torch(x.out);
  at::add_out(out, at::tanh(a) * at::exp(-b * b), at::log1p(at::abs(c)));
}
#endif

template <typename Real>
void evaluate(const operands& x, Real* out) {
  const float *a = x.a.data(), *b = x.b.data(), *c = x.c.data();
  for (tn::index i = 0; i < x.out.size(); ++i) {
    const Real s = a[i], t = b[i], u = c[i];
    out[i] = std::tanh(s) * std::exp(-t * t) + std::log1p(std::abs(u));
  }
}

void with_loop(operands& x) { evaluate(x, x.out.data()); }

template <void (*Run)(operands&)>
void time_it(benchmark::State& state) {
  operands x(state.range(0));
  std::vector<double> reference(static_cast<std::size_t>(x.out.size()));
  Run(x), evaluate(x, reference.data());
  must_agree("w02", x.out.data(), reference.data(), x.out.size(), 1e-6);
  for (auto _ : state) {
    Run(x);
    benchmark::DoNotOptimize(x.out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 16);
}

}  // namespace

BENCHMARK(time_it<with_tenon>)->Name("tenon")->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(time_it<with_eigen>)->Name("eigen")->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
BENCHMARK(time_it<with_loop>)->Name("loop")->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
#if __has_include(<xtensor/xtensor.hpp>)
BENCHMARK(time_it<with_xtensor>)->Name("xtensor")->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<with_torch>)->Name("torch")->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 24);
#endif
BENCHMARK_MAIN();
