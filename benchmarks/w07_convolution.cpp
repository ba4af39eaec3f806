// benchmarks/w07_convolution.cpp: W7, convolutions of eight images with bias and ReLU, gradients of images and weights.
// Tenon and oneDNN, in plain layouts and in its own, on the same data; operations per second count two for each product
// of the definition.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

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

constexpr convolution_case image_cases[] = {{"64x28x28_k3_s2_128_image_gradient/", 8, 64, 28, 128, 3, 2, 1, 1},
                                            {"3x224x224_k7_s2_64_image_gradient/", 8, 3, 224, 64, 7, 2, 3, 1},
                                            {"256x28x28_k3_depthwise_image_gradient/", 8, 256, 28, 256, 3, 1, 1, 256}};

constexpr convolution_case weight_cases[] = {
    {"64x56x56_k3_64_weight_gradient/", 8, 64, 56, 64, 3, 1, 1, 1},
    {"256x28x28_k3_depthwise_weight_gradient/", 8, 256, 28, 256, 3, 1, 1, 256}};

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
  /// What `result` holds as the gradient of the result.
  void draw_gradient() { result = tn::uniform<float>(result.shape(), 4, -1.0f, 1.0f); }
  void image_gradient_with_tenon() {
    image = tn::convolve_image_gradient(result, weight, {{image.shape().extent(2), image.shape().extent(3)}}, geometry);
  }
  void weight_gradient_with_tenon() {
    const auto kernel = weight.shape();
    weight = tn::convolve_weight_gradient(result, image, {{kernel.extent(2), kernel.extent(3)}}, geometry);
  }

  tn::window_geometry<2> geometry;
  tn::tensor<float, tn::rank<4>> image, weight, bias, result;
};

/// Compares with sums in double.
void check(const operands& x, const tn::tensor<float, tn::rank<4>>& found) {
  tn::tensor<double, tn::rank<4>> expected(found.shape());
  expected = tn::relu(tn::convolve(tn::cast<double>(x.image), tn::cast<double>(x.weight), x.geometry) + x.bias);
  must_agree("w07", found.data(), expected.data(), found.size(), 1e-4);
}

/// The same of gradients: of an image, and of a weight.
void check_image(const operands& x) {
  tn::tensor<double, tn::rank<4>> expected(x.image.shape());
  expected = tn::convolve_image_gradient(tn::cast<double>(x.result), tn::cast<double>(x.weight),
                                         {{x.image.shape().extent(2), x.image.shape().extent(3)}}, x.geometry);
  must_agree("w07", x.image.data(), expected.data(), x.image.size(), 1e-4);
}
void check_weight(const operands& x) {
  tn::tensor<double, tn::rank<4>> expected(x.weight.shape());
  expected = tn::convolve_weight_gradient(tn::cast<double>(x.result), tn::cast<double>(x.image),
                                          {{x.weight.shape().extent(2), x.weight.shape().extent(3)}}, x.geometry);
  must_agree("w07", x.weight.data(), expected.data(), x.weight.size(), 1e-3);
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

/// Times `gradient`, which works on operands.
template <class Gradient>
void time_gradient(benchmark::State& state, const convolution_case& of, operands& x, const Gradient& gradient) {
  for (auto _ : state) {
    gradient();
    benchmark::DoNotOptimize(x.image.data());
    benchmark::ClobberMemory();
  }
  count_operations(state, of);
}

void image_gradient_with_tenon(benchmark::State& state, const convolution_case& of) {
  operands x(of);
  x.draw_gradient();
  x.image_gradient_with_tenon();
  check_image(x);
  time_gradient(state, of, x, [&] { x.image_gradient_with_tenon(); });
}
void weight_gradient_with_tenon(benchmark::State& state, const convolution_case& of) {
  operands x(of);
  x.draw_gradient();
  x.weight_gradient_with_tenon();
  check_weight(x);
  time_gradient(state, of, x, [&] { x.weight_gradient_with_tenon(); });
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

void image_gradient_with_onednn(benchmark::State& state, const convolution_case& of, bool plain) {
  operands x(of);
  x.draw_gradient();
  onednn_image_gradient gradient(of, plain, x.result.data(), x.weight.data());
  gradient.run();
  gradient.read(x.image.data());
  check_image(x);
  time_gradient(state, of, x, [&] { gradient.run(); });
}
void weight_gradient_with_onednn(benchmark::State& state, const convolution_case& of, bool plain) {
  operands x(of);
  x.draw_gradient();
  onednn_weight_gradient gradient(of, plain, x.result.data(), x.image.data());
  gradient.run();
  gradient.read(x.weight.data());
  check_weight(x);
  time_gradient(state, of, x, [&] { gradient.run(); });
}
#endif

}  // namespace

int main(int count, char** arguments) {
  const auto add = [](const convolution_case& of, const char* library, auto function, auto... options) {
    benchmark::RegisterBenchmark((std::string(of.name) + library).c_str(), function, of, options...);
  };
  for (const convolution_case& each : cases) add(each, "tenon", with_tenon);
  for (const convolution_case& each : image_cases) add(each, "tenon", image_gradient_with_tenon);
  for (const convolution_case& each : weight_cases) add(each, "tenon", weight_gradient_with_tenon);
#if defined(BENCHMARKS_ONEDNN)
  for (const bool plain : {false, true}) {
    const char* const name = plain ? "onednn_plain" : "onednn";
    for (const convolution_case& each : cases) add(each, name, with_onednn, plain);
    for (const convolution_case& each : image_cases) add(each, name, image_gradient_with_onednn, plain);
    for (const convolution_case& each : weight_cases) add(each, name, weight_gradient_with_onednn, plain);
  }
#endif
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
