// tests/nn/resampling.cpp: interpolation and pixel shuffles against plain loops, forward and backward.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/resampling.hpp>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;
using tenon_test::text_of;

namespace {

/// How much each of `from` elements counts in each of `to`, along one axis, row by row of the result; by `scale` where
/// it is above 0, or by the ratio of extents.
std::vector<double> interpolation_matrix(tenon::index from, tenon::index to, bool is_linear, bool aligns,
                                         double scale = 0) {
  std::vector<double> matrix(static_cast<std::size_t>(from * to), 0.0);
  const double ratio = static_cast<double>(from) / static_cast<double>(to), step = scale > 0 ? 1 / scale : ratio;
  for (tenon::index i = 0; i < to; ++i) {
    double place = step * (static_cast<double>(i) + 0.5) - 0.5;
    if (aligns) place = to == 1 ? 0 : static_cast<double>(i * (from - 1)) / static_cast<double>(to - 1);
    if (!is_linear) place = std::floor(static_cast<double>(static_cast<float>(step) * static_cast<float>(i)));
    for (tenon::index j = 0; j < from; ++j) {
      const double distance =
          std::abs(std::min(std::max(place, 0.0), static_cast<double>(from - 1)) - static_cast<double>(j));
      matrix[static_cast<std::size_t>(i * from + j)] = std::max(0.0, 1 - distance);
    }
  }
  return matrix;
}

/// Multiplies the middle axis of [outer, from, inner] by a matrix [to, from], or by its transpose.
std::vector<double> along_axis(const std::vector<double>& x, const std::vector<double>& matrix, std::size_t outer,
                               std::size_t from, std::size_t to, std::size_t inner, bool is_transposed) {
  std::vector<double> result(outer * to * inner, 0.0);
  for (std::size_t i = 0; i < outer * to * inner; ++i) {
    const std::size_t row = i / inner % to, rest = i / (inner * to) * from;
    for (std::size_t j = 0; j < from; ++j) {
      result[i] += matrix[is_transposed ? j * to + row : row * from + j] * x[(rest + j) * inner + i % inner];
    }
  }
  return result;
}

/// Interpolates axes behind the second one after another; backwards, `x` is the gradient of the result.
template <class Shape>
std::vector<double> interpolate_by_definition(std::vector<double> x, const Shape& input, const Shape& output,
                                              const std::vector<std::vector<double>>& matrices, bool is_backward) {
  auto extents = is_backward ? output : input;
  for (int axis = 2; axis < Shape::rank; ++axis) {
    std::size_t outer = 1, inner = 1;
    for (int other = 0; other < Shape::rank; ++other) {
      if (other < axis) outer *= static_cast<std::size_t>(extents.extent(other));
      if (other > axis) inner *= static_cast<std::size_t>(extents.extent(other));
    }
    const auto from = static_cast<std::size_t>(extents.extent(axis));
    const tenon::index to = (is_backward ? input : output).extent(axis);
    x = along_axis(x, matrices[static_cast<std::size_t>(axis - 2)], outer, from, static_cast<std::size_t>(to), inner,
                   is_backward);
    auto changed = extents.to_array();
    changed[axis] = to;
    extents = Shape(changed);
  }
  return x;
}

/// Compares both passes of a layer with the definition.
template <class Space, class Shape, class Layer>
void compare_interpolation(const Shape& extents, const Shape& output, Layer layer, bool is_linear) {
  const auto numbers = [](tenon::index i) { return static_cast<double>(i * 7 % 11) - 4; };
  const auto x = tenon_test::made_tensor<float, Space>(extents, numbers);
  const auto g = tenon_test::made_tensor<float, Space>(output, numbers);
  CHECK(layer.output_shape(extents).to_array() == output.to_array());
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, Shape, Space> dx(extents);
  layer.backward(x, y, g, dx.write_view());
  std::vector<std::vector<double>> matrices;
  for (int axis = 2; axis < Shape::rank; ++axis) {
    matrices.push_back(interpolation_matrix(extents.extent(axis), output.extent(axis), is_linear,
                                            layer.options.align_corners, layer.options.scale_factor[axis - 2]));
  }
  CHECK(tenon_test::difference(numbers_of(y),
                               interpolate_by_definition(numbers_of(x), extents, output, matrices, false), 1e-4) == "");
  CHECK(tenon_test::difference(numbers_of(dx),
                               interpolate_by_definition(numbers_of(g), extents, output, matrices, true), 1e-4) == "");
}

/// Whether those that see an element, and count it, are the ones that say they do, and each once.
template <class Places>
bool is_consistent(const Places& places, tenon::index taps) {
  for (tenon::index element = 0; element < places.image[0]; ++element) {
    std::vector<tenon::index> expected, found;
    for (tenon::index window = 0; window < places.output[0]; ++window) {
      for (tenon::index tap = 0; tap < taps; ++tap) {
        const bool is_seen = places.element(0, window, tap) == element && places.weight(0, window, tap) > 0;
        if (is_seen) expected.push_back(window);
      }
    }
    for (tenon::index k = 0; k < places.seers(0); ++k) {
      const tenon::index window = places.seer(0, element, k);
      if (window < 0) continue;
      const tenon::index tap = places.tap(0, element, window);
      if (places.element(0, window, tap) != element) return false;
      if (places.weight(0, window, tap) > 0) found.push_back(window);
    }
    if (found != expected) return false;
  }
  return true;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the nearest element", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 15), nn::upsample_nearest1d<3>{}, false);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 9, 4), nn::upsample_nearest2d<>{{.size = {9, 4}}},
                                  false);
  compare_interpolation<TestType>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 4, 12),
                                  nn::upsample_nearest2d<>{{.scale_factor = {1.5, 2.4}}}, false);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 4, 3, 3), nn::upsample_nearest3d<2, 3, 1>{},
                                  false);
}

TEMPLATE_LIST_TEST_CASE("linear interpolation", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 10), nn::upsample_linear1d<2>{}, true);
  compare_interpolation<TestType>(rank<3>(0, 3, 5), rank<3>(0, 3, 10), nn::upsample_linear1d<2>{}, true);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 13, 4),
                                  nn::upsample_bilinear2d<>{{.size = {13, 4}}}, true);
  compare_interpolation<TestType>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 4, 12),
                                  nn::upsample_bilinear2d<>{{.scale_factor = {1.5, 2.4}}}, true);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 4, 2, 6), nn::upsample_trilinear3d<2>{}, true);
}

TEMPLATE_LIST_TEST_CASE("linear interpolation between aligned corners", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 15),
                                  nn::upsample_linear1d<3>{{.align_corners = true}}, true);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 13, 1),
                                  nn::upsample_bilinear2d<>{{.size = {13, 1}, .align_corners = true}}, true);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 5, 4, 2),
                                  nn::upsample_trilinear3d<>{{.size = {5, 4, 2}, .align_corners = true}}, true);
}

TEST_CASE("elements are seen by whom they are seen by", "[resampling]") {
  for (tenon::index from = 1; from <= 9; ++from) {
    for (tenon::index to = 1; to <= 30; ++to) {
      const float ratio = static_cast<float>(from) / static_cast<float>(to);
      const float aligned = to == 1 ? 0.0f : static_cast<float>(from - 1) / static_cast<float>(to - 1);
      CAPTURE(from, to);
      CHECK(is_consistent(nn::interpolated_places<float, 1, 1>{{{from}}, {{to}}, {{ratio}}, 0}, 1));
      CHECK(is_consistent(nn::interpolated_places<float, 1, 2>{{{from}}, {{to}}, {{ratio}}, 1}, 2));
      CHECK(is_consistent(nn::interpolated_places<float, 1, 2>{{{from}}, {{to}}, {{aligned}}, 0}, 2));
    }
  }
}

TEST_CASE("rounded positions of long axes find their way back", "[resampling]") {
  const tenon::index from = 50'000'001, to = 300'000'007;
  const nn::interpolated_places<float, 1, 2> places{
      {{from}}, {{to}}, {{static_cast<float>(from) / static_cast<float>(to)}}, 1};
  int lost = 0;
  for (tenon::index window = 0; window < to; window += 100'003) {
    const tenon::index element = places.element(0, window, 0);
    bool is_found = false;
    for (tenon::index k = 0; k < places.seers(0); ++k) is_found = is_found || places.seer(0, element, k) == window;
    lost += is_found ? 0 : 1;
  }
  CHECK(lost == 0);
}

TEMPLATE_LIST_TEST_CASE("pixels are shuffled out of channels and back", "[resampling]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<4>(2, 18, 2, 5));
  nn::pixel_shuffle<3> shuffle;
  const auto y = tenon::evaluated_tensor(shuffle.forward(x));
  REQUIRE(y.shape() == rank<4>(2, 2, 6, 15));
  std::vector<double> expected;
  for (tenon::index i = 0; i < y.shape().count(); ++i) {
    const tenon::index column = i % 15, row = i / 15 % 6, image = i / 90;
    const tenon::index channel = image * 9 + row % 3 * 3 + column % 3;
    expected.push_back(static_cast<double>((channel * 2 + row / 3) * 5 + column / 3));
  }
  CHECK(numbers_of(y) == expected);
  nn::pixel_unshuffle<> unshuffle(3);
  const auto z = tenon::evaluated_tensor(unshuffle.forward(y));
  CHECK(z.shape() == x.shape());
  CHECK(numbers_of(z) == numbers_of(x));

  tenon::tensor<float, rank<4>, TestType> dx(x.shape()), dy(y.shape());
  shuffle.backward(x, y, y, dx.write_view());
  CHECK(numbers_of(dx) == numbers_of(x));
  unshuffle.backward(y, z, z, dy.write_view());
  CHECK(numbers_of(dy) == numbers_of(y));
}

TEST_CASE("types know the extents of resampled images", "[resampling]") {
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::upsample_nearest2d<2>{}.output_shape(shape<dyn, 3, 5, 6>{})), shape<dyn, 3, 10, 12>>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::upsample_bilinear2d<>({.size = 4}).output_shape(shape<dyn, 3, 5, 6>{})),
                                shape<dyn, 3, dyn, dyn>>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::pixel_shuffle<2>{}.output_shape(shape<dyn, 8, 5, dyn>{})), shape<dyn, 2, 10, dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::pixel_unshuffle<2>{}.output_shape(shape<3, 4, 6>{})), shape<12, 2, 3>>);
}

TEST_CASE("sizes that cannot be are refused", "[resampling]") {
  CHECK(text_of<tenon::shape_error>([] { nn::upsample_nearest1d<>({.size = 3, .scale_factor = 2}); }) ==
        "upsample: axis 2: size 3 and scale_factor 2.000000, expected one of both");
  CHECK(text_of<tenon::shape_error>([] { nn::upsample_linear1d<>{}; }) ==
        "upsample: axis 2: size 0 and scale_factor 0.000000, expected one of both");
  const tenon::tensor<float, rank<3>> empty({2, 3, 0});
  CHECK(text_of<tenon::shape_error>([&] { nn::upsample_linear1d<2>{}.forward(empty); }) ==
        "upsample: axis 2: 0 elements from 0, expected at least 1 (input [2, 3, 0])");
  CHECK(text_of<tenon::shape_error>([] { nn::pixel_shuffle<2>{}.output_shape(rank<4>(1, 6, 2, 2)); }) ==
        "pixel_shuffle: axis 1: extent 6, expected a multiple of 4 (input [1, 6, 2, 2])");
  CHECK(text_of<tenon::shape_error>([] { nn::pixel_unshuffle<>(2).output_shape(rank<4>(1, 6, 2, 3)); }) ==
        "pixel_unshuffle: axis 3: extent 3, expected a multiple of 2 (input [1, 6, 2, 3])");
}
