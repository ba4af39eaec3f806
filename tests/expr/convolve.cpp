// tests/expr/convolve.cpp: convolution, its gradients and its transpose in every space.
// Compared with a walk over all products; gradients also by the adjoint identity <g, conv(x, w)> = <dx, x> = <dw, w>.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/convolve.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/golden.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::text_of;
using numbers = std::vector<double>;
template <int Rank>
using problem = tenon_test::convolution_problem<Rank>;

template <class T, class Space, int Axes>
auto scattered_tensor(const tenon::array<tenon::index, Axes>& extents, tenon::index first = 0) {
  return tenon_test::made_tensor<T, Space>(rank<Axes>(extents), [=](tenon::index i) { return scattered(i + first); });
}

double dot(const numbers& left, const numbers& right) {
  REQUIRE(left.size() == right.size());
  double total = 0;
  for (std::size_t i = 0; i < left.size(); ++i) total += left[i] * right[i];
  return total;
}

template <int Rank>
numbers convolved(const problem<Rank>& p, const numbers& image, const numbers& weight) {
  numbers sums(static_cast<std::size_t>(rank<Rank + 2>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { sums[at] += image[pixel] * weight[tap]; });
  return sums;
}
template <int Rank>
numbers image_gradient(const problem<Rank>& p, const numbers& gradient, const numbers& weight) {
  numbers sums(static_cast<std::size_t>(rank<Rank + 2>(p.image).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { sums[pixel] += gradient[at] * weight[tap]; });
  return sums;
}
template <int Rank>
numbers weight_gradient(const problem<Rank>& p, const numbers& gradient, const numbers& image) {
  numbers sums(static_cast<std::size_t>(rank<Rank + 2>(p.weight).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { sums[tap] += gradient[at] * image[pixel]; });
  return sums;
}

/// The convolution of `p`, both gradients, and the transposed convolution of which `p` is the gradient.
template <class T, class Space, int Rank>
void compare_all(const problem<Rank>& p, double bound) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.extra_padding,
                              p.geometry.dilation, p.geometry.groups));
  const auto image = scattered_tensor<T, Space>(p.image), weight = scattered_tensor<T, Space>(p.weight, 5),
             gradient = scattered_tensor<T, Space>(p.result(), 9);
  const numbers x = numbers_of(image), w = numbers_of(weight), g = numbers_of(gradient);
  const auto result = tenon::convolve(image, weight, p.geometry);
  CHECK(result.shape() == rank<Rank + 2>(p.result()));
  CHECK(difference(numbers_of(result), convolved(p, x, w), bound) == "");
  const auto pixels = p.behind_channels(p.image), taps = p.behind_channels(p.weight);
  const auto to_image = numbers_of(tenon::convolve_image_gradient(gradient, weight, pixels, p.geometry));
  const auto to_weight = numbers_of(tenon::convolve_weight_gradient(gradient, image, taps, p.geometry));
  CHECK(difference(to_image, image_gradient(p, g, w), bound) == "");
  CHECK(difference(to_weight, weight_gradient(p, g, x), bound) == "");
  const double expected = dot(g, numbers_of(result));
  CHECK(tenon_test::is_close(dot(to_image, x), expected, 100 * bound));
  CHECK(tenon_test::is_close(dot(to_weight, w), expected, 100 * bound));
  tenon::array<tenon::index, Rank> output_padding{};  // what the stride leaves over
  for (int i = 0; i < Rank; ++i) {
    output_padding[i] = (pixels[i] + 2 * p.geometry.padding[i] + p.geometry.extra_padding[i] -
                         p.geometry.dilation[i] * (taps[i] - 1) - 1) %
                        p.geometry.stride[i];
  }
  const auto transposed = tenon::convolve_transpose(gradient, weight, p.geometry, output_padding);
  CHECK(transposed.shape() == rank<Rank + 2>(p.image));
  CHECK(numbers_of(transposed) == to_image);
}

template <int Rank, class Space>
void compare_random() {
  constexpr int count = std::is_same_v<Space, tenon::host> ? 60 : 10;
  std::mt19937 generator(static_cast<unsigned>(Rank));
  for (int i = 0; i < count; ++i) compare_all<float, Space>(tenon_test::random_problem<Rank>(generator), 1e-5);
}

/// Output and gradients of one of PyTorch's cases, but for the bias.
template <int Rank, class Space>
struct golden_convolution {
  explicit golden_convolution(const std::string& name) : golden(name) {}
  tenon_test::golden_case golden;

  auto read(const char* file) const { return golden.template read<float, Rank + 2, Space>(file); }
  auto bias() const {
    tenon::array<tenon::index, Rank + 2> extents = tenon::filled_array<Rank + 2>(tenon::index{1});
    extents[1] = read("output_output").extent(1);
    tenon::tensor<float, rank<Rank + 2>, Space> result{rank<Rank + 2>(extents)};
    result = tenon::zeros<float, Space>(rank<Rank + 2>(extents));
    if (std::filesystem::exists(golden.folder() / "parameter_bias.npy")) {
      result = tenon::reshape(golden.template read<float, 1, Space>("parameter_bias"), rank<Rank + 2>(extents));
    }
    return result;
  }
  template <class Result, class ToImage, class ToWeight>
  void compare(const Result& result, const ToImage& to_image, const ToWeight& to_weight) const {
    CHECK(tenon_test::golden_difference(result + bias(), read("output_output")) == "");
    CHECK(tenon_test::golden_difference(to_image, read("gradient_input")) == "");
    CHECK(tenon_test::golden_difference(to_weight, read("gradient_weight")) == "");
  }
};

template <int Rank, class Space>
void compare_convolution(const std::string& name, const tenon::window_geometry<Rank>& geometry) {
  CAPTURE(name);
  const golden_convolution<Rank, Space> expected(name);
  if (!expected.golden) return;
  const auto x = expected.read("input_input"), w = expected.read("parameter_weight"),
             g = expected.read("grad_output_output");
  const auto pixels = problem<Rank>::behind_channels(x.shape().to_array()),
             taps = problem<Rank>::behind_channels(w.shape().to_array());
  expected.compare(tenon::convolve(x, w, geometry), tenon::convolve_image_gradient(g, w, pixels, geometry),
                   tenon::convolve_weight_gradient(g, x, taps, geometry));
}

template <int Rank, class Space>
void compare_transposed(const std::string& name, const tenon::window_geometry<Rank>& geometry,
                        const tenon::array<tenon::index, Rank>& output_padding = {}) {
  CAPTURE(name);
  const golden_convolution<Rank, Space> expected(name);
  if (!expected.golden) return;
  const auto x = expected.read("input_input"), w = expected.read("parameter_weight"),
             g = expected.read("grad_output_output");
  const auto taps = problem<Rank>::behind_channels(w.shape().to_array());
  expected.compare(tenon::convolve_transpose(x, w, geometry, output_padding), tenon::convolve(g, w, geometry),
                   tenon::convolve_weight_gradient(x, g, taps, geometry));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("convolutions along one axis, and their gradients", "[convolve]", tenon_test::spaces) {
  compare_random<1, TestType>();
}

TEMPLATE_LIST_TEST_CASE("convolutions along two axes, and their gradients", "[convolve]", tenon_test::spaces) {
  compare_random<2, TestType>();
  compare_all<double, TestType>(problem<2>{{{2, 6, 7, 5}}, {{4, 3, 3, 2}}, {.padding = {{1, 1}}, .groups = 2}}, 1e-13);
  compare_all<float, TestType>(problem<2>{{{2, 3, 5, 70}}, {{9, 3, 3, 3}}, {.padding = {{1, 1}}}}, 1e-4);
  compare_all<float, TestType>(problem<2>{{{1, 18, 9, 8}}, {{18, 1, 3, 3}}, {.groups = 18}}, 1e-5);
}

TEMPLATE_LIST_TEST_CASE("convolutions along three axes, and their gradients", "[convolve]", tenon_test::spaces) {
  compare_random<3, TestType>();
}

TEMPLATE_LIST_TEST_CASE("convolutions without images or channels", "[convolve]", tenon_test::spaces) {
  compare_all<float, TestType>(problem<2>{{{0, 3, 5, 5}}, {{4, 3, 3, 3}}, {}}, 0);
  compare_all<float, TestType>(problem<2>{{{2, 0, 5, 5}}, {{4, 0, 3, 3}}, {}}, 0);
  compare_all<float, TestType>(problem<1>{{{2, 3, 5}}, {{0, 3, 3}}, {}}, 0);
}

TEMPLATE_LIST_TEST_CASE("convolutions are PyTorch's", "[convolve]", tenon_test::spaces) {
  compare_convolution<1, TestType>("conv1d_groups2", {.groups = 2});
  compare_convolution<1, TestType>("conv1d_padding1", {.padding = {{1}}});
  compare_convolution<1, TestType>("conv1d_stride2_dilation2_padding2",
                                   {.stride = {{2}}, .padding = {{2}}, .dilation = {{2}}});
  compare_convolution<2, TestType>("conv2d_depthwise", {.padding = {{1, 1}}, .groups = 4});
  compare_convolution<2, TestType>("conv2d_dilation2_padding2", {.padding = {{2, 2}}, .dilation = {{2, 2}}});
  compare_convolution<2, TestType>("conv2d_groups2_padding1", {.padding = {{1, 1}}, .groups = 2});
  compare_convolution<2, TestType>("conv2d_kernel_1x1", {});
  compare_convolution<2, TestType>("conv2d_kernel_rectangular", {.padding = {{0, 1}}});
  compare_convolution<2, TestType>("conv2d_no_bias_stride3", {.stride = {{3, 3}}});
  compare_convolution<2, TestType>("conv2d_stem", {.stride = {{2, 2}}, .padding = {{3, 3}}});
  compare_convolution<2, TestType>("conv2d_stride2x1_padding1x0", {.stride = {{2, 1}}, .padding = {{1, 0}}});
  compare_convolution<2, TestType>("conv2d_wide", {.padding = {{1, 1}}});
  compare_convolution<3, TestType>("conv3d_dilation1x2x1", {.dilation = {{1, 2, 1}}});
  compare_convolution<3, TestType>("conv3d_padding1", {.padding = {{1, 1, 1}}});
  compare_convolution<3, TestType>("conv3d_stride2_groups2", {.stride = {{2, 2, 2}}, .groups = 2});
}

TEMPLATE_LIST_TEST_CASE("transposed convolutions are PyTorch's", "[convolve]", tenon_test::spaces) {
  compare_transposed<1, TestType>("conv_transpose1d", {.stride = {{2}}, .padding = {{1}}});
  compare_transposed<2, TestType>("conv_transpose2d", {});
  compare_transposed<2, TestType>("conv_transpose2d_dilation2_padding1", {.padding = {{1, 1}}, .dilation = {{2, 2}}});
  compare_transposed<2, TestType>("conv_transpose2d_groups2_stride2", {.stride = {{2, 2}}, .groups = 2});
  compare_transposed<2, TestType>("conv_transpose2d_no_bias_stride1x3", {.stride = {{1, 3}}});
  compare_transposed<2, TestType>("conv_transpose2d_stride2_padding1_output_padding1",
                                  {.stride = {{2, 2}}, .padding = {{1, 1}}}, {{1, 1}});
  compare_transposed<3, TestType>("conv_transpose3d", {.stride = {{2, 2, 2}}, .padding = {{1, 1, 1}}});
}

TEMPLATE_LIST_TEST_CASE("16-bit images convolve too", "[convolve]", tenon_test::spaces) {
  const problem<2> p{{{2, 6, 7, 6}}, {{4, 3, 3, 3}}, {.padding = {{1, 1}}, .groups = 2}};
  compare_all<tenon::half, TestType>(p, 2e-3);
  compare_all<tenon::bfloat16, TestType>(p, 2e-2);
}

TEMPLATE_LIST_TEST_CASE("bias and activation are fused behind, pointwise operands before", "[convolve]",
                        tenon_test::spaces) {
  const problem<2> p{{{2, 4, 9, 8}}, {{6, 2, 3, 2}}, {.stride = {{2, 2}}, .padding = {{1, 1}}, .groups = 2}};
  const auto image = scattered_tensor<float, TestType>(p.image),
             weight = scattered_tensor<float, TestType>(p.weight, 3);
  const auto bias = scattered_tensor<float, TestType>(tenon::array<tenon::index, 4>{{1, 6, 1, 1}});
  const auto e = tenon::relu(tenon::convolve(image * 2, weight - 0.25f, p.geometry) + bias);
  auto expected = convolved(p, numbers_of(image * 2), numbers_of(weight - 0.25f));
  const auto output = p.result();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto channel = static_cast<tenon::index>(i) / (output[2] * output[3]) % 6;
    expected[i] = std::fmax(0.0, expected[i] + scattered(channel));
  }
  CHECK(difference(numbers_of(e), expected, 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("images with channels last are read and written where they lie", "[convolve]",
                        tenon_test::spaces) {
  const problem<2> p{{{2, 6, 5, 7}}, {{4, 3, 3, 3}}, {.padding = {{1, 1}}, .groups = 2}};
  const auto image = scattered_tensor<float, TestType>(p.image), weight = scattered_tensor<float, TestType>(p.weight);
  const auto last = tenon::evaluated_tensor(tenon::permute(image, tenon::axis<0, 2, 3, 1>));
  const auto first = tenon::axis<0, 3, 1, 2>;
  tenon::tensor<float, rank<4>, TestType> result({2, 5, 7, 4});
  tenon::permute(result, first) = tenon::convolve(tenon::permute(last, first), weight, p.geometry);
  const auto expected = numbers_of(tenon::convolve(image, weight, p.geometry));
  CHECK(difference(numbers_of(tenon::permute(result, first)), expected, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("what is generated around grouped convolutions knows its position", "[convolve]",
                        tenon_test::spaces) {
  const problem<1> p{{{2, 4, 6}}, {{6, 2, 2}}, {.groups = 2}};
  const auto image = scattered_tensor<float, TestType>(p.image), weight = scattered_tensor<float, TestType>(p.weight);
  const auto positions = tenon::iota<float>(rank<3>(p.result()));
  auto expected = convolved(p, numbers_of(image), numbers_of(weight));
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += static_cast<double>(i);
  CHECK(difference(numbers_of(tenon::convolve(image, weight, p.geometry) + positions), expected, 1e-5) == "");
}

TEST_CASE("images, weights and geometries that do not fit are refused", "[convolve]") {
  const tenon::tensor<float, rank<4>> image({1, 3, 5, 5}), weight({2, 4, 3, 3}), large({2, 3, 7, 7}),
      kernel({2, 3, 3, 3});
  const auto refused = [](const auto& statement, const char* part) {
    const auto text = text_of<tenon::shape_error>(statement);
    CAPTURE(text);
    CHECK(has(text, part));
  };
  refused([&] { tenon::convolve(image, weight); }, "convolve: axis 1: 3 channels, expected 4 (image [1, 3, 5, 5]");
  refused([&] { tenon::convolve(image, large); }, "convolve: axis 2: extent 5 with padding 0, expected at least");
  refused([&] { tenon::convolve(image, large); }, "[2, 3, 7, 7]");
  refused([&] { tenon::convolve(image, kernel, {.dilation = {{1, 3}}}); },
          "axis 3: extent 5 with padding 0, expected at least the kernel's 7");
  refused([&] { tenon::convolve(image, kernel, {.stride = {{0, 1}}}); }, "axis 2: stride 0, dilation 1");
  refused([&] { tenon::convolve(image, kernel, {.padding = {{0, -1}}}); }, "axis 3: stride 1, dilation 1, padding -1");
  refused([&] { tenon::convolve(image, kernel, {.extra_padding = {{0, -1}}}); }, "padding 0 and -1");
  refused([&] { tenon::convolve(image, kernel, {.groups = 0}); }, "weight axis 0: 2 channels");
  refused([&] { tenon::convolve(image, kernel, {.groups = 3}); }, "expected a multiple of 3 groups");
  refused([&] { tenon::convolve_image_gradient(image, kernel, {{5, 5}}); },
          "convolve_image_gradient: axis 1: 3 channels, expected 2 (gradient [1, 3, 5, 5]");
  const tenon::tensor<float, rank<4>> gradient({1, 2, 3, 3}), others({2, 2, 3, 3});
  refused([&] { tenon::convolve_image_gradient(gradient, kernel, {{5, 6}}); },
          "convolve_image_gradient: axis 3: extent 3, expected 4");
  refused([&] { tenon::convolve_weight_gradient(gradient, image, {{3, 2}}); },
          "convolve_weight_gradient: axis 3: extent 3, expected 4");
  refused([&] { tenon::convolve_weight_gradient(others, image, {{3, 3}}); },
          "convolve_weight_gradient: axis 0: extent 2, expected 1");
  refused([&] { tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, {.groups = 2}); }, "axis 1: 3 channels");
  refused([&] { tenon::convolve_transpose(image, kernel); }, "convolve_transpose: axis 1: 3 channels, expected 2");
  refused([&] { tenon::convolve_transpose(gradient, kernel, {}, {{0, 1}}); },
          "convolve_transpose: axis 3: output padding 1");
}

TEST_CASE("geometries beyond 64 bits are refused", "[convolve]") {
  const tenon::tensor<float, rank<4>> image({1, 3, 5, 5}), kernel({2, 3, 3, 3}), gradient({1, 2, 3, 3});
  const auto refused = [](const auto& statement) { return has(text_of<tenon::shape_error>(statement), "axis 2: "); };
  const auto named = [](const auto& statement, const char* part) {
    return has(text_of<tenon::shape_error>(statement), part);
  };
  const tenon::index half = tenon::index{1} << 62, most = INT64_MAX;
  for (const tenon::index number : {half, most}) {
    CHECK(named([&] { tenon::convolve(image, kernel, {.padding = {{number, 0}}}); }, "convolve: kernel 3"));
    CHECK(named([&] { tenon::convolve(image, kernel, {.dilation = {{number, 1}}}); }, "convolve: kernel 3"));
    CHECK(refused([&] { tenon::convolve_transpose(gradient, kernel, {.stride = {{number, 1}}}); }));
    CHECK(refused([&] { tenon::convolve_transpose(gradient, kernel, {.dilation = {{number, 1}}}); }));
  }
  CHECK(refused([&] { tenon::convolve(image, kernel, {.padding = {{most, 0}}, .extra_padding = {{1, 0}}}); }));
}
