// tests/expr/operations/quantise.cpp: real numbers as small integers and back, against loops in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/quantise.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

template <class T>
double quantised_number(double x, double scale, double zero_point) {
  using limits = std::numeric_limits<T>;
  const double step = std::nearbyint(x / scale) + zero_point;
  return std::min(std::max(step, static_cast<double>(limits::min())), static_cast<double>(limits::max()));
}

/// All three functions on 3 x 5 numbers, rows with scales of their own, and on a vector with one for all.
template <class T, class Space>
void check_quantised_rows(const std::vector<T>& zero_points) {
  const auto x = tenon_test::made_tensor<float, Space>(rank<2>(3, 5), tenon_test::far_scattered);
  const numbers scales = {0.5, 0.03125, 0.25};
  const auto s = tenon_test::tensor_of<Space, float>(rank<1>(3), {0.5f, 0.03125f, 0.25f});
  const auto z = tenon_test::tensor_of<Space, T>(rank<1>(3), zero_points);
  numbers rows, back, all;
  const numbers values = numbers_of(x);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double zero_point = static_cast<double>(zero_points[i / 5]);
    rows.push_back(quantised_number<T>(values[i], scales[i / 5], zero_point));
    back.push_back((rows.back() - zero_point) * scales[i / 5]);
    all.push_back(quantised_number<T>(values[i], 0.125, 3));
  }
  const auto q = tenon::quantise<T>(x, s, z, tenon::axis<-2>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(q)::element, T>);
  CHECK(numbers_of(q) == rows);
  CHECK(numbers_of(tenon::dequantise(tenon::evaluated_tensor(q), s, z, tenon::axis<0>)) == back);
  CHECK(numbers_of(tenon::fake_quantise<T>(x, s, z, tenon::axis<0>)) == back);
  CHECK(numbers_of(tenon::quantise<T>(x, 0.125f, 3)) == all);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("numbers are quantised and brought back", "[quantise]", tenon_test::spaces) {
  check_quantised_rows<std::int8_t, TestType>({0, -100, 5});
  check_quantised_rows<std::uint8_t, TestType>({128, 0, 255});
  check_quantised_rows<std::int16_t, TestType>({0, 32767, -32768});
  check_quantised_rows<std::uint16_t, TestType>({0, 65535, 1000});
}

TEMPLATE_LIST_TEST_CASE("ties go to the even integer before the zero point is added", "[quantise]",
                        tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<1>(6), {-1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 3.5f});
  CHECK(numbers_of(tenon::quantise<std::int8_t>(x, 1.0f)) == numbers{-2, 0, 0, 2, 2, 4});
  CHECK(numbers_of(tenon::quantise<std::int8_t>(x, 1.0f, 1)) == numbers{-1, 1, 1, 3, 3, 5});
}

TEMPLATE_LIST_TEST_CASE("what integers cannot hold becomes their nearest", "[quantise]", tenon_test::spaces) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto x = tenon_test::tensor_of<TestType, float>(rank<1>(5), {-infinity, -1e30f, 1e30f, infinity, nan});
  CHECK(numbers_of(tenon::quantise<std::uint8_t>(x, 0.5f, 7)) == numbers{0, 0, 255, 255, 0});
  CHECK(numbers_of(tenon::quantise<std::int32_t>(x, 0.5f)) ==
        numbers{-2147483648.0, -2147483648.0, 2147483647, 2147483647, 0});
  const numbers back = numbers_of(tenon::fake_quantise<std::int8_t>(x, 0.5f, 7));
  CHECK(numbers(back.begin(), back.end() - 1) == numbers{-67.5, -67.5, 60, 60});
  CHECK(std::isnan(back.back()));
  const tenon::tensor<float, rank<1>, TestType> nothing({0});
  CHECK(numbers_of(tenon::quantise<std::int8_t>(nothing, 0.5f)).empty());
}

TEST_CASE("types of quantised numbers", "[quantise]") {
  const tenon::tensor<tenon::half, rank<1>> x({1}, {tenon::half(300.0f)});
  CHECK(numbers_of(tenon::quantise<std::uint16_t>(x, 0.25f, 1)) == numbers{1201});
  const tenon::tensor<std::int8_t, rank<1>> q({1}, {std::int8_t(-3)});
  const tenon::tensor<double, rank<1>> scale({1}, {0.1});
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::dequantise(q, 0.5))::element, float>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::dequantise(q, scale))::element, double>);
  CHECK(numbers_of(tenon::dequantise(q, scale, 1)) == numbers{-4 * 0.1});
}

TEST_CASE("integers are brought back where they are read", "[quantise]") {
  const tenon::tensor<std::int8_t, rank<2>> weight({3, 4});
  const tenon::tensor<float, rank<1>> scales({3});
  const tenon::tensor<float, rank<2>> x({4, 2});
  CHECK(tenon::kernel_count<decltype(tenon::quantise<std::int8_t>(x * 2, 0.5f))> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::matmul(tenon::dequantise(weight, scales, 0, tenon::axis<0>), x))> == 1);
}

TEST_CASE("gradients take rounding for none", "[quantise]") {
  const tenon::tensor<double, rank<1>> x({5}, {-40, -1.4, 0.3, 2.2, 40});
  const auto scale = tenon_test::counting<double>(tenon::shape<>{}, 0.5),
             zero_point = tenon_test::counting<double>(tenon::shape<>{}, 3);
  const auto v = tenon::variable<0>(x);
  const auto s = tenon::variable<1>(scale);
  const auto z = tenon::variable<2>(zero_point);
  const auto y = tenon::fake_quantise<std::int8_t>(v, s, z);
  const auto g = tenon_test::counting<double>(rank<1>(5), 1);
  const auto [dx, ds, dz] = tenon::vjp(y, g, tenon::wrt(v, s, z));
  CHECK(numbers_of(dx) == numbers{1, 2, 3, 4, 5});
  const numbers steps = {-80, -3, 1, 4, 80}, exact = {-80, -2.8, 0.6, 4.4, 80};
  double of_scale = 0;
  for (std::size_t i = 0; i < 5; ++i) of_scale += static_cast<double>(i + 1) * (steps[i] - exact[i]);
  CHECK(tenon_test::difference(numbers_of(ds), {of_scale}, 1e-12) == "");
  CHECK(numbers_of(dz) == numbers{0});

  const tenon::tensor<double, rank<1>> far({2}, {-70, 70});
  const auto w = tenon::variable<0>(far);
  const auto [dw, dfar, dzero] = tenon::vjp(tenon::fake_quantise<std::int8_t>(w, s, z),
                                            tenon_test::counting<double>(rank<1>(2), 1), tenon::wrt(w, s, z));
  CHECK(numbers_of(dw) == numbers{0, 0});
  CHECK(numbers_of(dfar) == numbers{(-128 - 3) + 2 * (127 - 3)});
  CHECK(numbers_of(dzero) == numbers{-0.5 - 2 * 0.5});
}
