// tests/contraction/hopper_convolution.cpp: convolutions on Hopper's warpgroups.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_convolution.hpp>

#include "contraction/channels_last.hpp"
#include "contraction/hopper_cases.hpp"

using tenon::array;
using tenon::rank;

namespace {

using namespace tenon_test;
using tile = tenon::hopper_tile<128, 64, 3>;

/// target = statement, by Hopper's kernel in blocks of `Tile`, of copies where operands lie in planes; false where it
/// does not take the convolution.
template <class Tile, class Space, class Target, class Statement>
bool run_windows(const Target& target, const Statement& statement, int blocks) {
  const auto& product = tenon::contraction_of(statement);
  using product_type = std::remove_cvref_t<decltype(product)>;
  using element = typename product_type::element;
  constexpr int rank = product_type::axes;
  auto image = tenon::arranged_image(product), weight = tenon::arranged_weight(product);
  const auto image_copy = image.template copy<Space>(), weight_copy = weight.template copy<Space>();
  const auto of = tenon::hopper_convolution_of(product, image.source, weight.source);
  const auto epilogue = tenon::make_exchangeable_epilogue<product_type>(
      tenon::strided_target<element, rank>{target.data(), target.strides()}, statement);
  if (!of.exists) return false;
  tenon::launch_hopper_convolution<Space, Tile, element>(tenon::extents_of_product(product), of, epilogue, blocks);
  return true;
}

/// A tensor of a space, seen as [n, c, ...], in memory as [n, c, ...].
template <class Space, class T, int Axes>
class planes_tensor {
 public:
  explicit planes_tensor(const tenon::tensor<T, rank<Axes>>& values) : memory_(values.template to<Space>()) {}
  explicit planes_tensor(const rank<Axes>& extents)
      : planes_tensor(tenon::evaluated_tensor(tenon::zeros<T>(extents))) {}

  auto view() { return memory_.view(); }
  std::vector<double> numbers() const { return numbers_of(memory_.template to<tenon::host>()); }

 private:
  tenon::tensor<T, rank<Axes>, Space> memory_;
};

/// Where images and results, and weights, have their channels.
template <bool ImagesInPlanes, bool WeightsInPlanes>
struct lies {
  template <class Space, class T, int Axes>
  using images =
      std::conditional_t<ImagesInPlanes, planes_tensor<Space, T, Axes>, channels_last_tensor<Space, T, Axes>>;
  template <class Space, class T, int Axes>
  using weights =
      std::conditional_t<WeightsInPlanes, planes_tensor<Space, T, Axes>, channels_last_tensor<Space, T, Axes>>;
};
using all_last = lies<false, false>;
using all_planes = lies<true, true>;

/// Forward with a bias and ReLU, and the gradient to the image, beside the host's.
template <class Tile, class Space, class T, class Lies = all_last, int Rank>
void check_windows(const convolution_case<Rank>& of, bool has_gradient = true) {
  if (!has_hopper<Space>()) return;
  CAPTURE(of.channels, of.outputs, of.image, of.kernel, of.geometry.groups);
  using images_type = typename Lies::template images<Space, T, Rank + 2>;
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
  images_type images(image), gradients(gradient), found(of.result_extents()), found_gradient(of.image_extents());
  typename Lies::template weights<Space, T, Rank + 2> weights(weight);
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

/// The gradient of a weight, shared by `parts` blocks, beside the host's.
template <class Tile, class Space, class T, class Lies = all_last, int Rank>
void check_weight_gradient(const convolution_case<Rank>& of, int parts) {
  if (!has_hopper<Space>()) return;
  CAPTURE(of.channels, of.outputs, of.image, of.kernel, of.geometry.groups, parts);
  const auto image = random_tensor<T>(of.image_extents(), 1), gradient = random_tensor<T>(of.result_extents(), 3);
  typename Lies::template images<Space, T, Rank + 2> images(image), gradients(gradient);
  typename Lies::template weights<Space, T, Rank + 2> found(of.weight_extents());
  const auto gradient_of = [&](const auto& y, const auto& x) {
    return tenon::convolve_weight_gradient(y, x, of.kernel, of.geometry);
  };
  const auto node = gradient_of(gradients.view(), images.view());
  using node_type = std::remove_const_t<decltype(node)>;
  auto image_there = tenon::arranged_image(node), gradient_there = tenon::arranged_gradient(node);
  const auto image_copy = image_there.template copy<Space>(), gradient_copy = gradient_there.template copy<Space>();
  const auto told = tenon::hopper_weight_gradient_of(node, image_there.source, gradient_there.source);
  REQUIRE(told.exists);
  const auto target = found.view();
  const auto epilogue =
      tenon::make_kernel_epilogue<node_type>(tenon::strided_target<T, Rank + 2>{target.data(), target.strides()}, node,
                                             tenon::channels_last_order<node_type>{true});
  tenon::launch_hopper_weight_gradient<Space, Tile, T>(tenon::extents_of_product(node), told, epilogue, 4, parts);
  const auto expected = numbers_of(tenon::evaluated_tensor(gradient_of(gradient, image)));
  CHECK(difference(found.numbers(), expected, 200 * roundoff<T>) == "");
}

/// How Hopper's kernel takes a statement's operands as they lie.
template <class Node>
bool takes_convolution(const Node& node) {
  return tenon::hopper_convolution_of(node, node.lower_image(), node.lower_left()).exists;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("hopper: convolutions in boxes of windows", "[hopper]", kernel_spaces) {
  check_windows<tile, TestType, tenon::half>(convolution_case<2>{2, 64, 64, {{9, 8}}, {{3, 3}}, {.padding = {{1, 1}}}});
  check_windows<tile, TestType, tenon::bfloat16>(
      convolution_case<2>{3, 40, 72, {{7, 6}}, {{3, 2}}, {.padding = {{1, 0}}, .dilation = {{1, 2}}}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<2>{1, 64, 128, {{5, 9}}, {{1, 3}}, {.padding = {{0, 1}}, .groups = 2}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<2>{2, 32, 24, {{13, 10}}, {{3, 3}}, {.stride = {{2, 3}}, .padding = {{1, 1}}}}, false);
}

TEMPLATE_LIST_TEST_CASE("hopper: convolutions along one and three axes", "[hopper]", kernel_spaces) {
  check_windows<tile, TestType, tenon::half>(convolution_case<1>{3, 64, 40, {{50}}, {{4}}, {.padding = {{2}}}});
  check_windows<tile, TestType, tenon::half>(
      convolution_case<3>{2, 32, 32, {{4, 3, 5}}, {{2, 3, 2}}, {.padding = {{1, 1, 0}}}});
}

TEMPLATE_LIST_TEST_CASE("hopper: convolutions of planes, by copies with channels last", "[hopper]", kernel_spaces) {
  using half = tenon::half;
  const tenon::window_geometry<2> keeps{.padding = {{1, 1}}};
  check_windows<tile, TestType, half, all_planes>(convolution_case<2>{2, 64, 64, {{5, 16}}, {{3, 3}}, keeps});
  check_windows<tile, TestType, half, all_planes>(convolution_case<2>{2, 32, 72, {{6, 12}}, {{3, 3}}, keeps});
  check_windows<tile, TestType, half, all_planes>(convolution_case<2>{2, 40, 72, {{6, 10}}, {{3, 3}}, keeps});
  check_windows<tile, TestType, tenon::bfloat16, all_planes>(
      convolution_case<2>{3, 35, 70, {{7, 9}}, {{3, 2}}, {.padding = {{1, 0}}, .dilation = {{1, 2}}}});
  check_windows<tile, TestType, half, all_planes>(
      convolution_case<2>{2, 64, 128, {{5, 9}}, {{1, 3}}, {.padding = {{0, 1}}, .groups = 2}});
  check_windows<tile, TestType, half, all_planes>(
      convolution_case<2>{2, 96, 24, {{13, 10}}, {{1, 1}}, {.stride = {{2, 3}}}}, false);
  check_windows<tile, TestType, half, all_planes>(
      convolution_case<3>{2, 32, 32, {{4, 3, 8}}, {{2, 3, 2}}, {.padding = {{1, 1, 0}}}});
  check_windows<tile, TestType, half, lies<false, true>>(convolution_case<2>{2, 64, 72, {{7, 6}}, {{3, 3}}, keeps});
  check_windows<tile, TestType, half, lies<true, false>>(convolution_case<2>{2, 64, 72, {{7, 6}}, {{3, 3}}, keeps});
  check_weight_gradient<tile, TestType, half, all_planes>(convolution_case<2>{2, 64, 72, {{8, 16}}, {{3, 3}}, keeps},
                                                          2);
  check_weight_gradient<tile, TestType, half, lies<true, false>>(
      convolution_case<2>{16, 64, 128, {{2, 2}}, {{3, 3}}, {.padding = {{1, 1}}, .groups = 2}}, 1);
}

TEMPLATE_LIST_TEST_CASE("hopper: the tiles of devices for convolutions", "[hopper]", kernel_spaces) {
  const convolution_case<2> of{1, 64, 264, {{6, 5}}, {{3, 3}}, {.padding = {{1, 1}}}};
  check_windows<tenon::narrow_hopper_tile, TestType, tenon::half>(of, false);
  check_windows<tenon::square_hopper_tile, TestType, tenon::half>(of, false);
  check_windows<tenon::wide_hopper_tile, TestType, tenon::half>(of, false);
}

TEMPLATE_LIST_TEST_CASE("hopper: gradients of weights in boxes of windows", "[hopper]", kernel_spaces) {
  const convolution_case<2> of{2, 64, 72, {{8, 16}}, {{3, 3}}, {.padding = {{1, 1}}}};
  for (const int parts : {1, 2, 4}) check_weight_gradient<tile, TestType, tenon::half>(of, parts);
  check_weight_gradient<tenon::flat_hopper_tile, TestType, tenon::bfloat16>(of, 2);
  check_weight_gradient<tile, TestType, tenon::half>(
      convolution_case<2>{4, 64, 64, {{9, 9}}, {{3, 2}}, {.stride = {{2, 2}}, .dilation = {{1, 2}}}}, 1);
  check_weight_gradient<tile, TestType, tenon::half>(
      convolution_case<2>{16, 64, 128, {{2, 2}}, {{3, 3}}, {.padding = {{1, 1}}, .groups = 2}}, 1);
  check_weight_gradient<tile, TestType, tenon::half>(convolution_case<1>{2, 128, 40, {{35}}, {{4}}, {}}, 1);
}

TEST_CASE("convolutions that Hopper's kernel leaves to others", "[hopper]") {
  const auto takes = [](const rank<4>& image, const rank<4>& weight, const tenon::window_geometry<2>& geometry) {
    const auto x = counting<tenon::half>(image), w = counting<tenon::half>(weight);
    channels_last_tensor<tenon::host, tenon::half, 4> images(x), weights(w);
    return takes_convolution(tenon::convolve(images.view(), weights.view(), geometry));
  };
  CHECK(takes({2, 64, 8, 8}, {64, 64, 3, 3}, {}));
  CHECK_FALSE(takes({2, 60, 8, 8}, {64, 60, 3, 3}, {}));                     // pixels that are not 16 bytes apart
  CHECK_FALSE(takes({2, 16, 8, 8}, {64, 16, 3, 3}, {}));                     // most of a step would be zeros
  CHECK_FALSE(takes({2, 80, 8, 8}, {64, 40, 3, 3}, {.groups = 2}));          // another group's channels lie behind
  CHECK_FALSE(takes({2, 64, 0, 8}, {64, 64, 3, 3}, {.padding = {{2, 1}}}));  // of nothing, no tile is copied
  CHECK_FALSE(takes({2, 64, 99, 8}, {64, 64, 3, 3}, {.stride = {{9, 1}}}));
  const auto x = counting<tenon::half>(rank<4>(2, 64, 8, 8)), w = counting<tenon::half>(rank<4>(64, 64, 3, 3));
  CHECK_FALSE(takes_convolution(tenon::convolve(x, w)));
  channels_last_tensor<tenon::host, tenon::half, 4> images(x), weights(w);
  CHECK_FALSE(takes_convolution(tenon::convolve(images.view(), w)));
  const tenon::window_geometry<2> steps{.stride = {{2, 2}}};
  const auto gradient = tenon::convolve_image_gradient(images.view(), weights.view(), {{17, 17}}, steps);
  CHECK_FALSE(takes_convolution(gradient));
  const auto weight_gradient = [](const rank<4>& image, const rank<4>& of_result) {
    channels_last_tensor<tenon::host, tenon::half, 4> own_images(counting<tenon::half>(image)),
        gradients(counting<tenon::half>(of_result));
    const auto node = tenon::convolve_weight_gradient(gradients.view(), own_images.view(), {{1, 1}});
    return tenon::hopper_weight_gradient_of(node, node.lower_image(), node.lower_left()).exists;
  };
  CHECK(weight_gradient({2, 64, 8, 8}, {2, 64, 8, 8}));
  CHECK_FALSE(weight_gradient({2, 64, 8, 9}, {2, 64, 8, 9}));  // boxes would hold places that are no windows
  CHECK_FALSE(weight_gradient({2, 72, 8, 8}, {2, 64, 8, 8}));  // lines are blocks of 64 channels
}
