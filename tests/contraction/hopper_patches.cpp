// tests/contraction/hopper_patches.cpp: convolutions on Hopper's warpgroups.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_patches.hpp>

#include "contraction/channels_last.hpp"
#include "contraction/hopper_cases.hpp"

using tenon::array;
using tenon::rank;

namespace {

using namespace tenon_test;
using tile = tenon::hopper_tile<128, 64, 3>;

/// target = statement, by Hopper's kernel in blocks of `Tile`; false where it does not take the convolution.
template <class Tile, class Space, class Target, class Statement>
bool run_windows(const Target& target, const Statement& statement, int blocks) {
  const auto& product = tenon::contraction_of(statement);
  using product_type = std::remove_cvref_t<decltype(product)>;
  using element = typename product_type::element;
  constexpr int rank = product_type::axes;
  const auto of = tenon::hopper_convolution_of(product);
  const auto epilogue = tenon::make_exchangeable_epilogue<product_type>(
      tenon::strided_target<element, rank>{target.data(), target.strides()}, statement);
  if (!of.exists || !epilogue.is_exchanged) return false;
  tenon::launch_hopper_convolution<Space, Tile, element>(tenon::extents_of_product(product), of, epilogue, blocks);
  return true;
}

/// Forward with a bias and ReLU, and the gradient to the image, beside the host's.
template <class Tile, class Space, class T, int Rank>
void check_windows(const convolution_case<Rank>& of, bool has_gradient = true) {
  if (!has_hopper<Space>()) return;
  CAPTURE(of.channels, of.outputs, of.image, of.kernel, of.geometry.groups);
  const auto image = random_tensor<T>(of.image_extents(), 1);
  const auto weight = random_tensor<T>(of.weight_extents(), 2);
  const auto gradient = random_tensor<T>(of.result_extents(), 3);
  const auto bias = random_tensor<T>(rank<1>(of.outputs), 4);
  const auto with_bias = [&](const auto& product, const auto& b) {
    array<tenon::index, Rank + 2> extents = tenon::filled_array<Rank + 2>(tenon::index{1});
    extents[1] = of.outputs;
    return tenon::relu(product + tenon::reshape(b, rank<Rank + 2>(extents)));
  };
  const double bound = 60 * roundoff<T>;
  channels_last<Space, T, Rank + 2> images(image), weights(weight), gradients(gradient);
  channels_last<Space, T, Rank + 2> found(of.result_extents()), found_gradient(of.image_extents());
  const auto bias_there = bias.template to<Space>();
  REQUIRE(run_windows<Tile, Space>(
      found.view(), with_bias(tenon::convolve(images.view(), weights.view(), of.geometry), bias_there), 3));
  CHECK(difference(found.numbers(),
                   numbers_of(tenon::evaluated_tensor(with_bias(tenon::convolve(image, weight, of.geometry), bias))),
                   bound) == "");
  if (!has_gradient) return;
  const auto of_image = [&](const auto& y, const auto& w) {
    return tenon::convolve_image_gradient(y, w, of.image, of.geometry);
  };
  REQUIRE(run_windows<Tile, Space>(found_gradient.view(), of_image(gradients.view(), weights.view()), 2));
  CHECK(difference(found_gradient.numbers(), numbers_of(tenon::evaluated_tensor(of_image(gradient, weight))), bound) ==
        "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("hopper: convolutions in boxes of windows", "[hopper]", kernel_spaces) {
  check_windows<tile, TestType, tenon::half>(
      convolution_case<2>{2, 64, 64, {{9, 8}}, {{3, 3}}, {.padding = {{1, 1}}}});
  check_windows<tile, TestType, tenon::bfloat16>(
      convolution_case<2>{3, 40, 72, {{7, 6}}, {{3, 2}}, {.padding = {{1, 0}}, .dilation = {{1, 2}}}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<2>{1, 64, 128, {{5, 9}}, {{1, 3}}, {.padding = {{0, 1}}, .groups = 2}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<2>{2, 32, 24, {{13, 10}}, {{3, 3}}, {.stride = {{2, 3}}, .padding = {{1, 1}}}}, false);
}

TEMPLATE_LIST_TEST_CASE("hopper: convolutions along one and three axes", "[hopper]", kernel_spaces) {
  check_windows<tile, TestType, tenon::half>(
      convolution_case<1>{3, 64, 40, {{50}}, {{4}}, {.padding = {{2}}}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<3>{2, 32, 32, {{4, 3, 5}}, {{2, 3, 2}}, {.padding = {{1, 1, 0}}}});
}

TEMPLATE_LIST_TEST_CASE("hopper: the tiles of devices for convolutions", "[hopper]", kernel_spaces) {
  const convolution_case<2> of{1, 64, 264, {{6, 5}}, {{3, 3}}, {.padding = {{1, 1}}}};
  check_windows<tenon::narrow_hopper_tile, TestType, tenon::half>(of, false);
  check_windows<tenon::square_hopper_tile, TestType, tenon::half>(of, false);
  check_windows<tenon::wide_hopper_tile, TestType, tenon::half>(of, false);
}

TEST_CASE("boxes cover few windows too many", "[hopper]") {
  const auto boxes = [](const array<int, 4>& windows, int most = 256) {
    return tenon::boxes_of_windows(windows, 7, tenon::filled_array<4>(most));
  };
  CHECK(boxes({{56, 56, 1, 256}}).covered() == 56 * 56 * 256);
  CHECK(boxes({{7, 7, 1, 256}}).covered() == 7 * 7 * 256);
  CHECK(boxes({{128, 1, 1, 1}}).bits == array<int, 4>{{7, 0, 0, 0}});
  CHECK(boxes({{128, 2, 1, 1}}, 64).bits == array<int, 4>{{6, 1, 0, 0}});
  CHECK(boxes({{7, 7, 1, 2}}).covered() == 128);
  for (int i = 0; i < 128; ++i) {  // each window of a box once, none outside
    const tenon::box_lines lines{{{8, 0, 0, 2}}, {{11, 3, 1, 5}}, {{2, 2, 0, 3}}};
    const int x = 8 + i % 4, y = i / 4 % 4, n = 2 + i / 16;
    const bool is_inside = x < 11 && y < 3 && n < 5;
    CHECK((lines[i] < 11 * 3 * 5) == is_inside);
    if (is_inside) CHECK(lines[i] == (n * 3 + y) * 11 + x);
  }
}

TEST_CASE("convolutions that Hopper's kernel leaves to others", "[hopper]") {
  const auto takes = [](const rank<4>& image, const rank<4>& weight, const tenon::window_geometry<2>& geometry) {
    const auto x = counting<tenon::half>(image), w = counting<tenon::half>(weight);
    channels_last<tenon::host, tenon::half, 4> images(x), weights(w);
    return tenon::hopper_convolution_of(tenon::convolve(images.view(), weights.view(), geometry)).exists;
  };
  CHECK(takes({2, 64, 8, 8}, {64, 64, 3, 3}, {}));
  CHECK_FALSE(takes({2, 60, 8, 8}, {64, 60, 3, 3}, {}));                // pixels that are not 16 bytes apart
  CHECK_FALSE(takes({2, 16, 8, 8}, {64, 16, 3, 3}, {}));                // most of a step would be zeros
  CHECK_FALSE(takes({2, 80, 8, 8}, {64, 40, 3, 3}, {.groups = 2}));     // another group's channels lie behind
  CHECK_FALSE(takes({2, 64, 99, 8}, {64, 64, 3, 3}, {.stride = {{9, 1}}}));
  const auto x = counting<tenon::half>(rank<4>(2, 64, 8, 8)), w = counting<tenon::half>(rank<4>(64, 64, 3, 3));
  CHECK_FALSE(tenon::hopper_convolution_of(tenon::convolve(x, w)).exists);
  channels_last<tenon::host, tenon::half, 4> images(x), weights(w);
  CHECK_FALSE(tenon::hopper_convolution_of(tenon::convolve(images.view(), w)).exists);
  const tenon::window_geometry<2> steps{.stride = {{2, 2}}};
  const auto gradient = tenon::convolve_image_gradient(images.view(), weights.view(), {{17, 17}}, steps);
  CHECK_FALSE(tenon::hopper_convolution_of(gradient).exists);
}
