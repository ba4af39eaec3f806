// tests/expr/convolve.cpp: convolution and its two gradients in every space.
// Compared with six nested loops; the gradients also by the adjoint identity <g, conv(x, w)> = <dx, x> = <dw, w>.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/convolve.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;
using extents4 = tenon::array<tenon::index, 4>;

double scattered(tenon::index i) { return static_cast<double>(i * 7919 % 203) / 101.0 - 1.0; }

struct problem {
  extents4 image, weight;
  tenon::window_geometry geometry;
};

problem make_problem(const extents4& image, const extents4& weight, tenon::index stride, tenon::index padding) {
  return {image, weight, {.stride = {{stride, stride}}, .padding = {{padding, padding}}}};
}

const problem problems[] = {make_problem({{1, 1, 3, 3}}, {{1, 1, 3, 3}}, 1, 0),
                            make_problem({{2, 3, 7, 6}}, {{4, 3, 3, 3}}, 1, 1),
                            make_problem({{2, 2, 9, 8}}, {{5, 2, 3, 2}}, 2, 1),
                            make_problem({{3, 1, 5, 5}}, {{2, 1, 1, 1}}, 1, 0),
                            make_problem({{1, 4, 12, 11}}, {{3, 4, 5, 5}}, 3, 2),
                            make_problem({{2, 3, 10, 10}}, {{17, 3, 3, 3}}, 1, 0),
                            {{{2, 2, 8, 9}}, {{3, 2, 2, 4}}, {.stride = {{2, 1}}, .padding = {{0, 3}}}}};

double at(const numbers& values, const extents4& extents, const extents4& position) {
  tenon::index offset = 0;
  for (int axis = 0; axis < 4; ++axis) {
    if (position[axis] < 0 || position[axis] >= extents[axis]) return 0;
    offset = offset * extents[axis] + position[axis];
  }
  return values[static_cast<std::size_t>(offset)];
}

extents4 output_of(const problem& p) {
  const auto count = [&](int i) {
    return tenon::window_count(p.image[2 + i], p.weight[2 + i], p.geometry.stride[i], p.geometry.padding[i]);
  };
  return {{p.image[0], p.weight[0], count(0), count(1)}};
}

/// One window's sum of products.
double window_sum(const problem& p, const numbers& image, const numbers& weight, const extents4& o) {
  double total = 0;
  const tenon::index taps = p.weight[1] * p.weight[2] * p.weight[3];
  for (tenon::index tap = 0; tap < taps; ++tap) {
    const tenon::index c = tap / (p.weight[2] * p.weight[3]), r = tap / p.weight[3] % p.weight[2],
                       s = tap % p.weight[3];
    const tenon::index h = o[2] * p.geometry.stride[0] - p.geometry.padding[0] + r;
    const tenon::index w = o[3] * p.geometry.stride[1] - p.geometry.padding[1] + s;
    total += at(image, p.image, {{o[0], c, h, w}}) * at(weight, p.weight, {{o[1], c, r, s}});
  }
  return total;
}

numbers by_definition(const problem& p, const numbers& image, const numbers& weight) {
  const extents4 output = output_of(p);
  numbers result;
  for (tenon::index i = 0; i < output[0] * output[1] * output[2] * output[3]; ++i) {
    const tenon::index q = i % output[3], row = i / output[3] % output[2], o = i / output[3] / output[2];
    result.push_back(window_sum(p, image, weight, {{o / output[1], o % output[1], row, q}}));
  }
  return result;
}

double dot(const numbers& left, const numbers& right) {
  REQUIRE(left.size() == right.size());
  double total = 0;
  for (std::size_t i = 0; i < left.size(); ++i) total += left[i] * right[i];
  return total;
}

template <class T, class Space>
auto scattered_tensor(const extents4& extents, tenon::index first = 0) {
  return tenon_test::made_tensor<T, Space>(rank<4>(extents), [=](tenon::index i) { return scattered(i + first); });
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("convolution is the sum over each window", "[convolve]", tenon_test::spaces) {
  for (const problem& p : problems) {
    CAPTURE(p.image[2], p.weight[2], p.geometry.stride[0], p.geometry.padding[0]);
    const auto image = scattered_tensor<float, TestType>(p.image),
               weight = scattered_tensor<float, TestType>(p.weight, 5);
    const auto result = tenon::convolve(image, weight, p.geometry);
    CHECK(result.shape() == rank<4>(output_of(p)));
    CHECK(difference(numbers_of(result), by_definition(p, numbers_of(image), numbers_of(weight)), 1e-5) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("16-bit images convolve too", "[convolve]", tenon_test::spaces) {
  const problem& p = problems[1];
  const auto image = scattered_tensor<tenon::half, TestType>(p.image),
             weight = scattered_tensor<tenon::half, TestType>(p.weight);
  const auto expected = by_definition(p, numbers_of(image), numbers_of(weight));
  CHECK(difference(numbers_of(tenon::convolve(image, weight, p.geometry)), expected, 1e-3) == "");
}

TEMPLATE_LIST_TEST_CASE("bias and activation are fused behind, pointwise operands before", "[convolve]",
                        tenon_test::spaces) {
  const problem& p = problems[2];
  const auto image = scattered_tensor<float, TestType>(p.image),
             weight = scattered_tensor<float, TestType>(p.weight, 3);
  const auto bias = scattered_tensor<float, TestType>({{1, 5, 1, 1}});
  const auto e = tenon::relu(tenon::convolve(image * 2, weight - 0.25f, p.geometry) + bias);
  auto expected = by_definition(p, numbers_of(tenon::evaluated_tensor(image * 2)), numbers_of(weight - 0.25f));
  const extents4 output = output_of(p);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto channel = static_cast<tenon::index>(i) / (output[2] * output[3]) % 5;
    expected[i] = std::fmax(0.0, expected[i] + scattered(channel));
  }
  CHECK(difference(numbers_of(e), expected, 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("both gradients are adjoint to the convolution", "[convolve]", tenon_test::spaces) {
  for (const problem& p : problems) {
    CAPTURE(p.image[2], p.weight[2], p.geometry.stride[0], p.geometry.padding[0]);
    const auto image = scattered_tensor<double, TestType>(p.image),
               weight = scattered_tensor<double, TestType>(p.weight, 5);
    const auto gradient = scattered_tensor<double, TestType>(output_of(p), 9);
    const double expected = dot(numbers_of(gradient), numbers_of(tenon::convolve(image, weight, p.geometry)));
    const tenon::array<tenon::index, 2> pixels{{p.image[2], p.image[3]}}, taps{{p.weight[2], p.weight[3]}};
    const auto to_image = tenon::convolve_image_gradient(gradient, weight, pixels, p.geometry);
    const auto to_weight = tenon::convolve_weight_gradient(gradient, image, taps, p.geometry);
    CHECK(tenon_test::is_close(dot(numbers_of(to_image), numbers_of(image)), expected, 1e-12));
    CHECK(tenon_test::is_close(dot(numbers_of(to_weight), numbers_of(weight)), expected, 1e-12));
  }
}

TEMPLATE_LIST_TEST_CASE("gradients of one element are the derivative", "[convolve]", tenon_test::spaces) {
  const problem& p = problems[4];
  const auto weight = scattered_tensor<double, TestType>(p.weight, 5);
  const auto gradient = scattered_tensor<double, TestType>(output_of(p), 9);
  const auto to_image =
      numbers_of(tenon::convolve_image_gradient(gradient, weight, {{p.image[2], p.image[3]}}, p.geometry));
  for (const tenon::index place : {0, 1, 12, 57, 131, 300, 527}) {
    const auto unit =
        tenon_test::made_tensor<double, TestType>(rank<4>(p.image), [&](tenon::index i) { return i == place ? 1 : 0; });
    const double expected = dot(numbers_of(gradient), numbers_of(tenon::convolve(unit, weight, p.geometry)));
    CHECK(tenon_test::is_close(to_image[static_cast<std::size_t>(place)], expected, 1e-12));
  }
}

TEST_CASE("the number of windows is PyTorch's", "[convolve]") {
  STATIC_REQUIRE(tenon::window_count(28, 3, 1, 1) == 28);
  STATIC_REQUIRE(tenon::window_count(7, 3, 2, 0) == 3);
  STATIC_REQUIRE(tenon::window_count(8, 3, 2, 0) == 3);
  STATIC_REQUIRE(tenon::window_count(2, 3, 1, 0) == 0);
}

TEST_CASE("images, weights and geometries that do not fit are refused", "[convolve]") {
  const tenon::tensor<float, rank<4>> image({1, 3, 5, 5}), weight({2, 4, 3, 3}), large({2, 3, 7, 7});
  CHECK(has(text_of<tenon::shape_error>([&] { tenon::convolve(image, weight); }),
            "convolve: axis 1: 3 channels, expected 4"));
  const auto text = text_of<tenon::shape_error>([&] { tenon::convolve(image, large); });
  CHECK(has(text, "convolve: axis 2: extent 5"));
  CHECK(has(text, "[2, 3, 7, 7]"));
  CHECK_THROWS_AS(tenon::convolve(image, image, {.stride = {{0, 1}}}), tenon::shape_error);
  CHECK_THROWS_AS(tenon::convolve(image, image, {.padding = {{0, -1}}}), tenon::shape_error);
}
