// benchmarks/w07b_pools.cpp: W7, pools of eight images of 64 x 112 x 112: the greatest or the mean of each window.
// Tenon, plain loops and oneDNN, in plain layout and in its own, on the same data; bytes per second count the image and
// the results once. The limit reads and writes as many bytes and compares each number once, with no windows.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/nn/pool.hpp>

#include <algorithm>
#include <string>

#include "agree.hpp"
#include "onednn_pool.hpp"

namespace tn = tenon;

namespace {

struct operands {
  explicit operands(const pool_case& of)
      : image({of.batch, of.channels, of.extent, of.extent}),
        result({of.batch, of.channels, of.windows(), of.windows()}) {
    image = tn::uniform<float>(image.shape(), 1, -1.0f, 1.0f);
  }
  tn::tensor<float, tn::rank<4>> image, result;
};

template <tn::index Kernel>
void run_tenon(const pool_case& of, operands& x) {
  if (of.padding != 0) {
    x.result = tn::nn::max_pool2d<3, tn::nn::pool2d_options{.stride = 2, .padding = 1}>{}.forward(x.image);
    return;
  }
  const auto windows = tn::windows<Kernel, Kernel>(x.image, of.stride);
  if (of.is_mean) x.result = tn::mean(windows, tn::axis<-2, -1>);
  else x.result = tn::max(windows, tn::axis<-2, -1>);
}
void run_tenon(const pool_case& of, operands& x) { of.kernel == 2 ? run_tenon<2>(of, x) : run_tenon<3>(of, x); }

void run_loop(const pool_case& of, operands& x) {
  const long windows = of.windows();
  float* to = x.result.data();
  for (long plane = 0; plane < of.batch * of.channels; ++plane) {
    const float* const from = x.image.data() + plane * of.extent * of.extent;
    for (long p = 0; p < windows; ++p) {
      for (long q = 0; q < windows; ++q) {
        const long top = p * of.stride - of.padding, left = q * of.stride - of.padding;
        float greatest = -INFINITY, sum = 0;
        for (long i = std::max(top, 0l); i < std::min(top + of.kernel, of.extent); ++i) {
          for (long j = std::max(left, 0l); j < std::min(left + of.kernel, of.extent); ++j) {
            const float value = from[i * of.extent + j];
            greatest = value > greatest ? value : greatest, sum += value;
          }
        }
        *to++ = of.is_mean ? sum / static_cast<float>(of.kernel * of.kernel) : greatest;
      }
    }
  }
}

void count_bytes(benchmark::State& state, const operands& x) {
  state.SetBytesProcessed(state.iterations() * (x.image.size() + x.result.size()) * 4);
}

template <class Run>
void time_it(benchmark::State& state, const pool_case& of, operands& x, const Run& run) {
  run(), run();
  operands reference(of);
  run_loop(of, reference);
  must_agree("w07b", x.result.data(), reference.result.data(), x.result.size(), 1e-5);
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(x.result.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, x);
}

void with_tenon(benchmark::State& state, const pool_case& of) {
  operands x(of);
  time_it(state, of, x, [&] { run_tenon(of, x); });
}
void with_loop(benchmark::State& state, const pool_case& of) {
  operands x(of);
  time_it(state, of, x, [&] { run_loop(of, x); });
}

void with_limit(benchmark::State& state, const pool_case& of) {
  operands x(of);
  constexpr int width = tn::simd::native_width<float>;
  const long packs = x.result.size() / width, each = x.image.size() / x.result.size();
  for (auto _ : state) {
    const float* from = x.image.data();
    for (long pack = 0; pack < packs; ++pack) {
      auto greatest = tn::simd::load<float, width>(from);
      for (from += width; from < x.image.data() + (pack + 1) * each * width; from += width) {
        greatest = tn::simd::at_least(tn::simd::load<float, width>(from), greatest);
      }
      tn::simd::store<width>(x.result.data() + pack * width, greatest);
    }
    benchmark::ClobberMemory();
  }
  count_bytes(state, x);
}

#if defined(BENCHMARKS_ONEDNN)
void with_onednn(benchmark::State& state, const pool_case& of, bool plain) {
  operands x(of);
  onednn_pool pool(of, plain, x.image.data());
  pool.run(), pool.read(x.result.data());
  time_it(state, of, x, [&] { pool.run(); });
}
#endif

constexpr pool_case cases[] = {{"max_2x2_s2/", 8, 64, 112, 2, 2, 0, false},
                               {"max_3x3_s2/", 8, 64, 112, 3, 2, 0, false},
                               {"max_3x3_s2_padded/", 8, 64, 112, 3, 2, 1, false},
                               {"mean_2x2_s2/", 8, 64, 112, 2, 2, 0, true},
                               {"mean_3x3_s1/", 8, 64, 112, 3, 1, 0, true}};

}  // namespace

int main(int count, char** arguments) {
  for (const pool_case& each : cases) {
    const auto add = [&](const char* library, auto function, auto... options) {
      benchmark::RegisterBenchmark((std::string(each.name) + library).c_str(), function, each, options...);
    };
    add("tenon", with_tenon);
    add("loop", with_loop);
    add("limit", with_limit);
#if defined(BENCHMARKS_ONEDNN)
    add("onednn", with_onednn, false);
    add("onednn_plain", with_onednn, true);
#endif
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
