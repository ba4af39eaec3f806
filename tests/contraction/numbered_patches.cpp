// tests/contraction/numbered_patches.cpp: patches of images as kernels read them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/numbered_patches.hpp>

#include "contraction/channels_last.hpp"

using tenon::rank;

namespace {

using namespace tenon_test;

/// Elements that a kernel reads in runs of eight, beside those of the definition, which `row_of` finds.
template <class Patches, class RowOf>
void check_runs(const Patches& numbered, tenon::index rows, tenon::index columns, const RowOf& row_of) {
  int wrong = 0;
  for (tenon::index row = 0; row < rows; ++row) {
    for (tenon::index column = 0; column < columns; ++column) {
      tenon::array<float, 8> found{};
      const int count = static_cast<int>(columns - column < 8 ? columns - column : 8);
      numbered.read_along_row(found, row, column, count);
      for (int k = 0; k < 8; ++k) {
        const float expected = k < count ? numbered.matrix.value(row_of(row), column + k) : 0;
        wrong += found[k] == expected ? 0 : 1;
      }
    }
  }
  for (tenon::index row = 0; row + 8 <= rows; row += 8) {
    for (tenon::index column = 0; column < columns; ++column) {
      tenon::array<float, 8> found{};
      numbered.read_along_column(found, row, column, 8);
      for (int k = 0; k < 8; ++k) wrong += found[k] == numbered.matrix.value(row_of(row + k), column) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

/// All ways to number the patches of `node`.
template <class Node>
void check_patches(const Node& node) {
  const auto patches = tenon::patches_of_images(node);
  const tenon::index channels = tenon::detail::channels_of_window(node), taps = patches.geometry.taps();
  const tenon::index images = node.shape().extent(0), columns = images * patches.geometry.windows();
  for (const bool is_narrow : {true, false}) {
    auto numbered = tenon::number_patches(patches, images, channels, false);
    CHECK(numbered.is_narrow);
    numbered.is_narrow = is_narrow;
    check_runs(numbered, channels * taps, columns, [](tenon::index row) { return row; });
  }
  if (channels % 8 != 0) return;
  const auto last = tenon::number_patches(patches, images, channels, true);
  check_runs(last, channels * taps, columns, [&](tenon::index row) { return row % channels * taps + row / channels; });
}

/// A convolution and its gradients of images with channels last.
template <class Space, class T, int Rank>
void check_channels_last(const convolution_case<Rank>& of) {
  CAPTURE(of.channels, of.outputs, of.image, of.kernel, of.geometry.groups);
  const auto image = random_tensor<T>(of.image_extents(), 1);
  const auto weight = random_tensor<T>(of.weight_extents(), 2);
  const auto gradient = random_tensor<T>(of.result_extents(), 3);
  const double bound = 30 * roundoff<T> + 1e-4;
  channels_last_tensor<Space, T, Rank + 2> images(image), weights(weight), gradients(gradient);
  {
    channels_last_tensor<Space, T, Rank + 2> found(of.result_extents());
    found.view() = tenon::convolve(images.view(), weights.view(), of.geometry);
    const auto expected = tenon::evaluated_tensor(tenon::convolve(image, weight, of.geometry));
    CHECK(difference(found.numbers(), numbers_of(expected), bound) == "");
    tenon::tensor<T, rank<Rank + 2>, Space> apart(of.result_extents());
    apart = tenon::convolve(images.view(), weight.template to<Space>(), of.geometry) * T(2);
    CHECK(difference(numbers_of(apart), numbers_of(tenon::evaluated_tensor(expected * T(2))), 2 * bound) == "");
  }
  {
    channels_last_tensor<Space, T, Rank + 2> found(of.image_extents());
    found.view() = tenon::convolve_image_gradient(gradients.view(), weights.view(), of.image, of.geometry);
    const auto expected =
        tenon::evaluated_tensor(tenon::convolve_image_gradient(gradient, weight, of.image, of.geometry));
    CHECK(difference(found.numbers(), numbers_of(expected), bound) == "");
  }
  {
    channels_last_tensor<Space, T, Rank + 2> found(of.weight_extents());
    found.view() = tenon::convolve_weight_gradient(gradients.view(), images.view(), of.kernel, of.geometry);
    const auto expected =
        tenon::evaluated_tensor(tenon::convolve_weight_gradient(gradient, image, of.kernel, of.geometry));
    CHECK(difference(found.numbers(), numbers_of(expected), bound) == "");
  }
}

}  // namespace

TEST_CASE("runs of patches are those of the definition", "[patches]") {
  for (const auto& of : hard_convolutions()) {
    CAPTURE(of.channels, of.image, of.kernel);
    const auto image = counting<float>(of.image_extents(), 1), weight = counting<float>(of.weight_extents());
    check_patches(tenon::convolve(image, weight, of.geometry));
    const auto gradient = counting<float>(of.result_extents(), 1);
    check_patches(tenon::convolve_image_gradient(gradient, weight, of.image, of.geometry));
  }
}

TEST_CASE("channels are numbered last where they lie side by side, in chunks of one tap", "[patches]") {
  const auto is_last = [](tenon::index channels, bool by_channels) {
    const auto image = counting<float>(rank<4>(2, channels, 5, 5)),
               weight = counting<float>(rank<4>(4, channels, 3, 3));
    channels_last_tensor<tenon::host, float, 4> stored(image);
    const auto node = tenon::convolve(stored.view(), weight), plain = tenon::convolve(image, weight);
    return by_channels ? tenon::numbers_channels_last(node, node) : tenon::numbers_channels_last(plain, plain);
  };
  CHECK(is_last(8, true));
  CHECK(is_last(12, true));
  CHECK_FALSE(is_last(6, true));
  CHECK_FALSE(is_last(8, false));
}

TEMPLATE_LIST_TEST_CASE("convolutions with channels last, and their gradients", "[patches]",
                        tenon_test::kernel_spaces) {
  for (const auto& of : hard_convolutions()) check_channels_last<TestType, tenon::half>(of);
#if !defined(__CUDACC__)  // where each type takes half a minute more to compile
  for (const auto& of : hard_convolutions()) check_channels_last<TestType, float>(of);
  check_channels_last<TestType, tenon::half>(
      convolution_case<1>{3, 16, 24, {{19}}, {{4}}, {.stride = {{2}}, .padding = {{1}}}});
#endif
}
