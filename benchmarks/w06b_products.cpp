// benchmarks/w06b_products.cpp: W6b, products of few rows, of a linear layer, of bfloat16 and of bytes.
// Tenon and oneDNN on the same data; operations per second count 2 m n k.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include <memory>

#include "agree.hpp"
#include "blas.hpp"

namespace tn = tenon;

namespace {

/// y = x w, or relu(x w^T + bias) where `Linear`, of elements From; bytes are added in 32 bits.
template <class From, class To, bool Linear>
struct product {
  product(tn::index m, tn::index n, tn::index k)
      : x({m, k}), w({Linear ? n : k, Linear ? k : n}), bias({n}), y({m, n}) {
    const float most = std::is_integral_v<From> ? 127.0f : 1.0f;
    x = tn::cast<From>(tn::uniform<float>(tn::rank<2>(m, k), 1, -most, most));
    w = tn::cast<From>(tn::uniform<float>(w.shape(), 2, -most, most));
    bias = tn::uniform<float>(tn::rank<1>(n), 3, -1.0f, 1.0f);
  }
  void with_tenon() {
    if constexpr (Linear) y = tn::relu(tn::matmul(x, tn::transpose(w)) + bias);
    else if constexpr (std::is_integral_v<From>) y = tn::matmul(tn::cast<To>(x), tn::cast<To>(w));
    else y = tn::matmul(x, w);
  }
#if defined(BENCHMARKS_ONEDNN)
  void with_onednn() {
    using type = onednn_product::type;
    constexpr type from = std::is_integral_v<From> ? type::s8 : sizeof(From) == 2 ? type::bf16 : type::f32;
    constexpr type to = std::is_integral_v<To> ? type::s32 : sizeof(To) == 2 ? type::bf16 : type::f32;
    if (!prepared) {
      const onednn_product::extents size{x.extent(0), y.extent(1), x.extent(1), Linear};
      prepared = std::make_unique<onednn_product>(size, from, to, x.data(), w.data(), y.data(),
                                                  Linear ? bias.data() : nullptr);
    }
    prepared->run();
  }
  std::unique_ptr<onednn_product> prepared;
#endif
  tn::tensor<From, tn::rank<2>> x, w;
  tn::tensor<float, tn::rank<1>> bias;
  tn::tensor<To, tn::rank<2>> y;
};

/// Compares with products in double.
template <class Product>
void check(Product& it, bool linear, double bound) {
  const auto x = tn::evaluated_tensor(tn::cast<double>(it.x)), w = tn::evaluated_tensor(tn::cast<double>(it.w));
  tn::tensor<double, tn::rank<2>> expected(it.y.shape());
  if (linear) expected = tn::relu(tn::matmul(x, tn::transpose(w)) + it.bias);
  else expected = tn::matmul(x, w);
  const auto found = tn::evaluated_tensor(tn::cast<float>(it.y));
  must_agree("w06b", found.data(), expected.data(), found.size(), bound);
}

template <class From, class To, bool Linear, bool Ours>
void time_it(benchmark::State& state) {
  product<From, To, Linear> it(state.range(0), state.range(1), state.range(2));
  const auto run = [&] {
    if constexpr (Ours) it.with_tenon();
#if defined(BENCHMARKS_ONEDNN)
    else it.with_onednn();
#endif
  };
  run();
  check(it, Linear, sizeof(To) == 2 ? 1e-2 : 1e-4);
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(it.y.data());
    benchmark::ClobberMemory();
  }
  const double operations = 2.0 * static_cast<double>(state.range(0) * state.range(1) * state.range(2));
  state.counters["FLOP/s"] =
      benchmark::Counter(operations * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

template <bool Ours>
void add_cases(const std::string& library) {
  const auto add = [&](const std::string& name, auto function, long m, long n, long k) {
    benchmark::RegisterBenchmark((name + library).c_str(), function)->Args({m, n, k});
  };
  add("float/", time_it<float, float, false, Ours>, 1, 4096, 4096);
  add("float/", time_it<float, float, false, Ours>, 64, 1024, 4096);
  for (const long rows : {8, 16, 32, 128, 1024}) add("linear/", time_it<float, float, true, Ours>, rows, 1024, 1024);
  add("bfloat16/", time_it<tn::bfloat16, tn::bfloat16, false, Ours>, 1024, 1024, 1024);
  add("int8/", time_it<std::int8_t, std::int32_t, false, Ours>, 1024, 1024, 1024);
}

}  // namespace

int main(int count, char** arguments) {
  add_cases<true>("tenon");
#if defined(BENCHMARKS_ONEDNN)
  add_cases<false>("onednn");
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
