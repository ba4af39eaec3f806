// tests/nn/greatest_gradient.cpp: gradients of windows that lie side by side, against a loop over the definition.
// Lines of every length around vectors, with many equal values and several NaN in a window.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/pool.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// Of windows of 2 rows of `width` elements in planes of `rows` times `columns`.
std::vector<double> side_by_side_gradient(const std::vector<double>& x, const std::vector<double>& gradient,
                                          tenon::index rows, tenon::index columns, tenon::index width) {
  std::vector<double> result(x.size(), 0.0);
  const tenon::index windows = columns / width, lines = rows / 2;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const tenon::index line = static_cast<tenon::index>(i) / windows, window = static_cast<tenon::index>(i) % windows;
    const tenon::index top = line / lines * rows + line % lines * 2;
    tenon::index best = top * columns + window * width;
    for (tenon::index tap = 1; tap < 2 * width; ++tap) {
      const tenon::index place = (top + tap / width) * columns + window * width + tap % width;
      const double value = x[static_cast<std::size_t>(place)], greatest = x[static_cast<std::size_t>(best)];
      if (value > greatest || (std::isnan(value) && !std::isnan(greatest))) best = place;
    }
    result[static_cast<std::size_t>(best)] = gradient[i];
  }
  return result;
}

template <tenon::index Width, class Space>
std::string gradient_difference(tenon::index columns, tenon::index rows = 6) {
  const rank<4> extents(2, 3, rows, columns);
  const auto x = tenon_test::made_tensor<float, Space>(
      extents, [](tenon::index i) { return i * 5 % 9 == 0 ? std::nan("") : static_cast<double>(i * 7 % 5); });
  const nn::max_pool2d<nn::per_axis<2>(2, Width)> layer;
  const auto gradient = tenon_test::counting<float, Space>(rank<4>(layer.output_shape(extents)), 1);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<4>, Space> dx(extents);
  auto backward = layer;
  backward.backward(x, y, gradient, dx.write_view());
  return tenon_test::difference(numbers_of(dx),
                                side_by_side_gradient(numbers_of(x), numbers_of(gradient), rows, columns, Width));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("windows side by side, in lines of every length", "[greatest_gradient]", tenon_test::spaces) {
  for (const tenon::index columns : {2, 3, 7, 8, 14, 15, 30, 32, 33, 70}) {
    CAPTURE(columns);
    CHECK(gradient_difference<2, TestType>(columns) == "");
    CHECK(gradient_difference<2, TestType>(columns, 7) == "");  // of each plane a row is in no window
  }
  for (const tenon::index columns : {3, 48, 50}) CHECK(gradient_difference<3, TestType>(columns) == "");
  for (const tenon::index columns : {4, 28, 70}) CHECK(gradient_difference<4, TestType>(columns) == "");
  for (const tenon::index columns : {5, 37}) CHECK(gradient_difference<5, TestType>(columns) == "");
}

TEMPLATE_LIST_TEST_CASE("a gradient over the input, of an expression", "[greatest_gradient]", tenon_test::spaces) {
  const rank<4> extents(1, 2, 4, 21);
  auto x = tenon_test::counting<float, TestType>(extents, 1);
  const auto gradient = tenon_test::counting<float, TestType>(rank<4>(1, 2, 2, 7), 1);
  const auto expected =
      side_by_side_gradient(numbers_of(x), numbers_of(tenon::evaluated_tensor(gradient * 2)), 4, 21, 3);
  nn::max_pool2d<nn::per_axis<2>(2, 3)> layer;
  layer.backward(x, tenon::evaluated_tensor(layer.forward(x)), gradient * 2, x.write_view());
  CHECK(numbers_of(x) == expected);
}

TEMPLATE_LIST_TEST_CASE("a gradient whose last axis is apart in memory", "[greatest_gradient]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<4>(1, 2, 6, 4), 1);
  const auto gradient = tenon_test::counting<float, TestType>(rank<4>(1, 2, 3, 2), 1);
  nn::max_pool2d<2> layer;
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<4>, TestType> expected(rank<4>(1, 2, 6, 4)), memory(rank<4>(1, 2, 6, 8));
  const tenon::view<float, rank<4>, TestType> apart(memory.write_view().data(), expected.shape(), {{96, 48, 8, 2}});
  layer.backward(x, y, gradient, expected.write_view());
  layer.backward(x, y, gradient, apart);
  CHECK(numbers_of(tenon::as_node(apart)) == numbers_of(expected));
}

#if !defined(__CUDACC__)
namespace {

/// Of windows that may overlap and reach beside planes of `places.image`.
template <class Windows>
std::vector<double> placed_gradient(const Windows& places, const std::vector<double>& x,
                                    const std::vector<double>& gradient) {
  std::vector<double> result(x.size(), 0.0);
  const tenon::index windows = places.output[0] * places.output[1], size = places.image[0] * places.image[1];
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const tenon::index plane = static_cast<tenon::index>(i) / windows, window = static_cast<tenon::index>(i) % windows;
    std::size_t best = x.size();
    for (tenon::index tap = 0; tap < places.most_taps(0) * places.most_taps(1); ++tap) {
      const tenon::index row = places.element(0, window / places.output[1], tap / places.most_taps(1)),
                         column = places.element(1, window % places.output[1], tap % places.most_taps(1));
      if (row < 0 || column < 0) continue;
      const auto place = static_cast<std::size_t>(plane * size + row * places.image[1] + column);
      if (best == x.size() || x[place] > x[best] || (std::isnan(x[place]) && !std::isnan(x[best]))) best = place;
    }
    result[best] += gradient[i];
  }
  return result;
}

template <class T, class Layer>
std::string placed_difference(Layer layer, const rank<4>& extents, const tenon::array<int, 4>& order) {
  const auto made = tenon_test::made_tensor<T, tenon::host>(extents, [](tenon::index i) {
    return i * 5 % 23 == 0 ? std::nan("") : i % 7 == 0 ? -INFINITY : static_cast<double>(i * 7 % 5);
  });
  const auto gradient = tenon_test::counting<T>(rank<4>(layer.output_shape(extents)), 1);
  const auto y = tenon::evaluated_tensor(layer.forward(made));
  tenon::tensor<T, rank<4>> memory(
      rank<4>(extents.extent(order[0]), extents.extent(order[1]), extents.extent(order[2]), extents.extent(order[3])));
  const auto strides = memory.view().strides();
  tenon::array<tenon::index, 4> turned{};
  for (int axis = 0; axis < 4; ++axis) turned[order[axis]] = strides[axis];
  const tenon::view<T, rank<4>> dx(memory.write_view().data(), extents, turned);
  dx = made;  // the gradient of an input may be written over it
  layer.backward(dx, y, gradient * 2, dx);
  return tenon_test::difference(
      numbers_of(tenon::as_node(dx)),
      placed_gradient(layer.placing(extents), numbers_of(made), numbers_of(tenon::evaluated_tensor(gradient * 2))));
}

}  // namespace

TEST_CASE("the gradient of max pools whose windows overlap or reach beside the input", "[greatest_gradient]") {
  using options = nn::pool2d_options;
  for (const tenon::array<int, 4>& order : {tenon::array<int, 4>{{0, 1, 2, 3}}, {{1, 3, 0, 2}}}) {
    const rank<4> extents(2, 3, 9, 12), small(1, 1, 2, 3), none(0, 2, 5, 5);
    CHECK(placed_difference<float>(nn::max_pool2d<3, options{.stride = 2, .padding = 1}>{}, extents, order) == "");
    CHECK(placed_difference<double>(nn::max_pool2d<3, options{.stride = 1}>{}, extents, order) == "");
    CHECK(placed_difference<float>(nn::max_pool2d<nn::per_axis<2>(4, 3), options{.stride = nn::per_axis<2>(3, 2),
                                                                                 .padding = nn::per_axis<2>(2, 0),
                                                                                 .dilation = nn::per_axis<2>(1, 2)}>{},
                                   extents, order) == "");
    CHECK(placed_difference<float>(nn::max_pool2d<4, options{.stride = 3, .ceil_mode = true}>{}, extents, order) == "");
    CHECK(placed_difference<float>(nn::max_pool2d<3, options{.stride = 2, .padding = 1}>{}, small, order) == "");
    CHECK(placed_difference<float>(nn::max_pool2d<3, options{.stride = 2, .padding = 1}>{}, none, order) == "");
    CHECK(placed_difference<float>(nn::adaptive_max_pool2d<nn::per_axis<2>(4, 5)>{}, extents, order) == "");
  }
}
#endif
