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

/// Weights of filters by distance.
double linear_weight(double x) { return std::max(0.0, 1 - std::abs(x)); }
double cubic_weight(double x, double a) {
  x = std::abs(x);
  if (x < 1) return (a + 2) * x * x * x - (a + 3) * x * x + 1;
  return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}
double soft_cubic_weight(double x) { return cubic_weight(x, -0.5); }
double hard_cubic_weight(double x) { return cubic_weight(x, -0.75); }

/// What the layers of a filter should do, told in another way.
struct definition {
  double (*weight)(double);  // none for the nearest
  bool is_antialiased = false;
};
constexpr definition the_nearest{nullptr}, the_linear{linear_weight}, the_cubic{hard_cubic_weight},
    the_antialiased_linear{linear_weight, true}, the_antialiased_cubic{soft_cubic_weight, true};

/// How much each of `from` elements counts in each of `to`, along one axis, row by row of the result; by `scale` where
/// it is above 0, or by the ratio of extents.
std::vector<double> interpolation_matrix(tenon::index from, tenon::index to, const definition& told, bool aligns,
                                         double scale = 0) {
  std::vector<double> matrix(static_cast<std::size_t>(from * to), 0.0);
  const double ratio = static_cast<double>(from) / static_cast<double>(to), step = scale > 0 ? 1 / scale : ratio;
  const double width = told.is_antialiased ? std::max(step, 1.0) : 1;
  for (tenon::index i = 0; i < to; ++i) {
    const auto row = matrix.begin() + i * from;
    double place = step * (static_cast<double>(i) + 0.5) - 0.5, total = 0;
    if (aligns) place = to == 1 ? 0 : static_cast<double>(i * (from - 1)) / static_cast<double>(to - 1);
    if (told.weight == nullptr) {
      const auto nearest = static_cast<tenon::index>(static_cast<float>(step) * static_cast<float>(i));
      row[std::min(nearest, from - 1)] = 1;
      continue;
    }
    for (tenon::index j = -3 - from; j < 2 * from + 3; ++j) {
      const double weight = told.weight((static_cast<double>(j) - place) / width);
      const tenon::index inside = std::min(std::max<tenon::index>(j, 0), from - 1);
      if (told.is_antialiased && j != inside) continue;
      row[inside] += weight, total += weight;
    }
    for (auto each = row; each != row + from; ++each) *each /= total;
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
template <class Space, class T = float, class Shape, class Layer>
void compare_interpolation(const Shape& extents, const Shape& output, Layer layer, const definition& told) {
  const auto numbers = [](tenon::index i) { return static_cast<double>(i * 7 % 11) - 4; };
  const auto x = tenon_test::made_tensor<T, Space>(extents, numbers);
  const auto g = tenon_test::made_tensor<T, Space>(output, numbers);
  CHECK(layer.output_shape(extents).to_array() == output.to_array());
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<T, Shape, Space> dx(extents);
  layer.backward(x, y, g, dx.write_view());
  std::vector<std::vector<double>> matrices;
  for (int axis = 2; axis < Shape::rank; ++axis) {
    matrices.push_back(interpolation_matrix(extents.extent(axis), output.extent(axis), told,
                                            layer.options.align_corners, layer.options.scale_factor[axis - 2]));
  }
  CHECK(tenon_test::difference(numbers_of(y),
                               interpolate_by_definition(numbers_of(x), extents, output, matrices, false), 1e-4) == "");
  CHECK(tenon_test::difference(numbers_of(dx),
                               interpolate_by_definition(numbers_of(g), extents, output, matrices, true), 1e-4) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the nearest element", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 15), nn::upsample_nearest1d<3>{}, the_nearest);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 9, 4), nn::upsample_nearest2d<>{{.size = {9, 4}}},
                                  the_nearest);
  compare_interpolation<TestType>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 4, 12),
                                  nn::upsample_nearest2d<>{{.scale_factor = {1.5, 2.4}}}, the_nearest);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 4, 3, 3), nn::upsample_nearest3d<2, 3, 1>{},
                                  the_nearest);
}

TEMPLATE_LIST_TEST_CASE("linear interpolation", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 10), nn::upsample_linear1d<2>{}, the_linear);
  compare_interpolation<TestType>(rank<3>(0, 3, 5), rank<3>(0, 3, 10), nn::upsample_linear1d<2>{}, the_linear);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 13, 4),
                                  nn::upsample_bilinear2d<>{{.size = {13, 4}}}, the_linear);
  compare_interpolation<TestType>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 4, 12),
                                  nn::upsample_bilinear2d<>{{.scale_factor = {1.5, 2.4}}}, the_linear);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 4, 2, 6), nn::upsample_trilinear3d<2>{},
                                  the_linear);
}

TEMPLATE_LIST_TEST_CASE("linear interpolation between aligned corners", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<3>(2, 3, 5), rank<3>(2, 3, 15),
                                  nn::upsample_linear1d<3>{{.align_corners = true}}, the_linear);
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 13, 1),
                                  nn::upsample_bilinear2d<>{{.size = {13, 1}, .align_corners = true}}, the_linear);
  compare_interpolation<TestType>(rank<5>(1, 2, 2, 1, 3), rank<5>(1, 2, 5, 4, 2),
                                  nn::upsample_trilinear3d<>{{.size = {5, 4, 2}, .align_corners = true}}, the_linear);
}

TEMPLATE_LIST_TEST_CASE("cubic interpolation", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<4>(2, 1, 5, 6), rank<4>(2, 1, 10, 12), nn::upsample_bicubic2d<2>{}, the_cubic);
  compare_interpolation<TestType>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 4, 3), nn::upsample_bicubic2d<>{{.size = {4, 3}}},
                                  the_cubic);
  compare_interpolation<TestType>(rank<4>(1, 2, 1, 2), rank<4>(1, 2, 4, 5), nn::upsample_bicubic2d<>{{.size = {4, 5}}},
                                  the_cubic);
  compare_interpolation<TestType, double>(rank<4>(1, 2, 4, 5), rank<4>(1, 2, 9, 12),
                                          nn::upsample_bicubic2d<>{{.scale_factor = {2.3, 2.4}, .align_corners = true}},
                                          the_cubic);
  compare_interpolation<TestType>(rank<4>(0, 2, 4, 5), rank<4>(0, 2, 9, 1),
                                  nn::upsample_bicubic2d<>{{.size = {9, 1}, .align_corners = true}}, the_cubic);
}

TEMPLATE_LIST_TEST_CASE("smaller images without aliases", "[resampling]", tenon_test::spaces) {
  compare_interpolation<TestType>(rank<4>(2, 1, 9, 16), rank<4>(2, 1, 4, 3),
                                  nn::upsample_bilinear2d_antialias<>{{.size = {4, 3}}}, the_antialiased_linear);
  compare_interpolation<TestType>(rank<4>(1, 2, 7, 5), rank<4>(1, 2, 2, 9),
                                  nn::upsample_bilinear2d_antialias<>{{.scale_factor = {0.3, 1.9}}},
                                  the_antialiased_linear);
  compare_interpolation<TestType>(rank<4>(2, 1, 11, 16), rank<4>(2, 1, 4, 1),
                                  nn::upsample_bicubic2d_antialias<>{{.size = {4, 1}}}, the_antialiased_cubic);
  compare_interpolation<TestType, double>(rank<4>(1, 2, 3, 5), rank<4>(1, 2, 6, 10),
                                          nn::upsample_bicubic2d_antialias<2>{}, the_antialiased_cubic);
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
        "upsample: axis 2: size 3 and scale_factor 2, expected one of both");
  CHECK(text_of<tenon::shape_error>([] { nn::upsample_linear1d<>{}; }) ==
        "upsample: axis 2: size 0 and scale_factor 0, expected one of both");
  CHECK(text_of<tenon::shape_error>([] { nn::upsample_bilinear2d_antialias<>({.size = 3, .align_corners = true}); }) ==
        "upsample: align_corners of an antialiased image, whose elements lie within its edges");
  const tenon::tensor<float, rank<3>> empty({2, 3, 0});
  CHECK(text_of<tenon::shape_error>([&] { nn::upsample_linear1d<2>{}.forward(empty); }) ==
        "upsample: axis 2: 0 elements from 0, expected at least 1 (input [2, 3, 0])");
  CHECK(text_of<tenon::shape_error>([] { nn::pixel_shuffle<2>{}.output_shape(rank<4>(1, 6, 2, 2)); }) ==
        "pixel_shuffle: axis 1: extent 6, expected a multiple of 4 (input [1, 6, 2, 2])");
  CHECK(text_of<tenon::shape_error>([] { nn::pixel_unshuffle<>(2).output_shape(rank<4>(1, 6, 2, 3)); }) ==
        "pixel_unshuffle: axis 3: extent 3, expected a multiple of 2 (input [1, 6, 2, 3])");
}

TEST_CASE("a module has a layer of upsampling as it is", "[resampling]") {
  struct holder {
    nn::upsample_nearest2d<2> twice;
    nn::upsample_bilinear2d<2, 3> smooth;
  };
  const holder made{};
  CHECK(made.twice.output_shape(rank<4>(1, 2, 3, 5)) == rank<4>(1, 2, 6, 10));
  CHECK(made.smooth.output_shape(rank<4>(1, 2, 3, 5)) == rank<4>(1, 2, 6, 15));
}
