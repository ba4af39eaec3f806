// benchmarks/w07_convolution.cpp: W7, convolutions of eight images with bias and ReLU.
// Tenon and oneDNN, in plain layouts and in its own, on the same data; operations per second count two for each product
// of the definition.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expressions.hpp>

#include <memory>

#include "agree.hpp"
#include "onednn_convolution.hpp"

namespace tn = tenon;

namespace {

constexpr convolution_case cases[] = {{"3x224x224_k7_s2_64/", 8, 3, 224, 64, 7, 2, 3, 1},
                                      {"64x56x56_k3_64/", 8, 64, 56, 64, 3, 1, 1, 1},
                                      {"128x28x28_k3_128/", 8, 128, 28, 128, 3, 1, 1, 1},
                                      {"256x14x14_k1_1024/", 8, 256, 14, 1024, 1, 1, 0, 1},
                                      {"256x28x28_k3_depthwise/", 8, 256, 28, 256, 3, 1, 1, 256}};

struct operands {
  explicit operands(const convolution_case& of)
      : geometry{.stride = {{of.stride, of.stride}}, .padding = {{of.padding, of.padding}}, .groups = of.groups},
        image({of.batch, of.channels, of.extent, of.extent}),
        weight({of.outputs, of.channels / of.groups, of.kernel, of.kernel}),
        bias({1, of.outputs, 1, 1}),
        result({of.batch, of.outputs, of.windows(), of.windows()}) {
    image = tn::uniform<float>(image.shape(), 1, -1.0f, 1.0f);
    weight = tn::uniform<float>(weight.shape(), 2, -0.1f, 0.1f);
    bias = tn::uniform<float>(bias.shape(), 3, -1.0f, 1.0f);
  }
  void with_tenon() { result = tn::relu(tn::convolve(image, weight, geometry) + bias); }

  tn::window_geometry<2> geometry;
  tn::tensor<float, tn::rank<4>> image, weight, bias, result;
};

/// Compares with sums in double.
void check(const operands& x, const tn::tensor<float, tn::rank<4>>& found) {
  tn::tensor<double, tn::rank<4>> expected(found.shape());
  expected = tn::relu(tn::convolve(tn::cast<double>(x.image), tn::cast<double>(x.weight), x.geometry) + x.bias);
  must_agree("w07", found.data(), expected.data(), found.size(), 1e-4);
}

void count_operations(benchmark::State& state, const convolution_case& of) {
  state.counters["FLOP/s"] =
      benchmark::Counter(of.operations() * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

void with_tenon(benchmark::State& state, const convolution_case& of) {
  operands x(of);
  x.with_tenon();
  check(x, x.result);
  for (auto _ : state) {
    x.with_tenon();
    benchmark::DoNotOptimize(x.result.data());
    benchmark::ClobberMemory();
  }
  count_operations(state, of);
}

#if defined(BENCHMARKS_ONEDNN)
void with_onednn(benchmark::State& state, const convolution_case& of, bool plain) {
  operands x(of);
  onednn_convolution convolution(of, plain, x.image.data(), x.weight.data(), x.bias.data());
  convolution.run();
  convolution.read(x.result.data());
  check(x, x.result);
  for (auto _ : state) {
    convolution.run();
    benchmark::ClobberMemory();
  }
  count_operations(state, of);
}
#endif

}  // namespace

int main(int count, char** arguments) {
  for (const convolution_case& each : cases) {
    const auto add = [&](const char* library, auto function, auto... options) {
      benchmark::RegisterBenchmark((std::string(each.name) + library).c_str(), function, each, options...);
    };
    add("tenon", with_tenon);
#if defined(BENCHMARKS_ONEDNN)
    add("onednn", with_onednn, false);
    add("onednn_plain", with_onednn, true);
#endif
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
