// benchmarks/w01_pointwise.cpp: W1, out = (a*b + c)*0.5 - a/(1 + b*b) on n floats.
// Tenon, Eigen, xtensor, libtorch and plain loops on the same data; bytes per second count three reads and one write.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include <Eigen/Core>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include "agree.hpp"
#include "torch.hpp"
#include "xtensor.hpp"

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

#if __has_include(<xtensor/xtensor.hpp>)
void with_xtensor(operands& x) {
  auto a = seen_by_xtensor(x.a), b = seen_by_xtensor(x.b), c = seen_by_xtensor(x.c), out = seen_by_xtensor(x.out);
  xt::noalias(out) = (a * b + c) * 0.5f - a / (1.0f + b * b);
}
#endif

#if defined(BENCHMARKS_TORCH)
void with_torch(operands& x) {
  const auto a = seen_by_torch(x.a), b = seen_by_torch(x.b), c = seen_by_torch(x.c);
  auto out = seen_by_torch(x.out);
  at::sub_out(out, (a * b + c) * 0.5, a / (b * b + 1));
}
#endif

void with_loop(operands& x) {
  const float *a = x.a.data(), *b = x.b.data(), *c = x.c.data();
  float* out = x.out.data();
  for (tn::index i = 0; i < x.out.size(); ++i) out[i] = (a[i] * b[i] + c[i]) * 0.5f - a[i] / (1.0f + b[i] * b[i]);
}

#ifdef __AVX512F__
/// The limit beyond the caches: stores that do not read what they replace.
void at_the_limit(operands& x) {
  for (tn::index i = 0; i < x.out.size(); i += 16) {
    const __m512 a = _mm512_load_ps(x.a.data() + i), b = _mm512_load_ps(x.b.data() + i);
    const __m512 c = _mm512_load_ps(x.c.data() + i), one = _mm512_set1_ps(1.0f), half = _mm512_set1_ps(0.5f);
    const __m512 quotient = _mm512_div_ps(a, _mm512_fmadd_ps(b, b, one));
    _mm512_stream_ps(x.out.data() + i, _mm512_fmsub_ps(_mm512_fmadd_ps(a, b, c), half, quotient));
  }
}
#endif

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
#ifdef __AVX512F__
BENCHMARK(time_it<at_the_limit>)->Name("limit")->Arg(1 << 26);
#endif
#if __has_include(<xtensor/xtensor.hpp>)
BENCHMARK(time_it<with_xtensor>)->Name("xtensor")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
#endif
#if defined(BENCHMARKS_TORCH)
BENCHMARK(time_it<with_torch>)->Name("torch")->Arg(1 << 12)->Arg(1 << 16)->Arg(1 << 20)->Arg(1 << 26);
#endif
BENCHMARK_MAIN();
