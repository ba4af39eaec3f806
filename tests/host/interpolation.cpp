// tests/host/interpolation.cpp: images of another size are sums of the elements that count, whatever lies around them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/interpolation.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/grad/value_and_gradient.hpp>
#include <tenon/products.hpp>

#include "support/catch.hpp"

namespace {

template <class Filter, int Rank>
using float_places = tenon::interpolated_places<float, Rank, Filter>;
using image_stack = tenon::tensor<float, tenon::rank<3>>;

/// From 5 x 7 elements to 8 x 3, edges on edges, as far as a filter wants that.
template <class Filter>
constexpr float_places<Filter, 2> from_five_to_eight{
    {{5, 7}}, {{8, 3}}, {{0.625f, 7.0f / 3}}, Filter::reach == 0 ? 0 : 1};

/// The sum over windows that the docstring promises, term by term.
template <class Filter>
float expected_at(const image_stack& x, tenon::index image, tenon::index row, tenon::index column) {
  const auto& places = from_five_to_eight<Filter>;
  double sum = 0, weights = 0;
  for (tenon::index down = 0; down < places.taps(0); ++down) {
    for (tenon::index right = 0; right < places.taps(1); ++right) {
      const tenon::index i = places.element(0, row, down), j = places.element(1, column, right);
      if (i < 0 || j < 0) continue;
      const double weight = double(places.weight(0, row, down)) * double(places.weight(1, column, right));
      sum += weight * double(x(image, i, j)), weights += weight;
    }
  }
  return static_cast<float>(sum / weights);
}

template <class Filter>
void check_filter() {
  const image_stack x = tenon::uniform<float>({4, 5, 7}, 1);
  const image_stack y = tenon::interpolate(x, from_five_to_eight<Filter>);
  REQUIRE(y.shape() == tenon::rank<3>(4, 8, 3));
  for (tenon::index i = 0; i < y.size(); ++i) {
    CHECK(y.data()[i] == Approx(expected_at<Filter>(x, i / 24, i / 3 % 8, i % 3)).margin(1e-6));
  }
  // The gradient is the transposed product: <interpolated x, s> = <x, gradient of s>.
  const image_stack s = tenon::uniform<float>({4, 8, 3}, 2);
  const auto [value, dx] =
      tenon::value_and_gradient(tenon::sum(tenon::interpolate(x, from_five_to_eight<Filter>) * s), tenon::wrt(x));
  CHECK(float(tenon::sum(dx * x)) == Approx(float(value)).epsilon(1e-5));
  // Into a view with other strides, and of operands that are expressions, views and narrower numbers.
  tenon::tensor<float, tenon::rank<3>> turned({3, 8, 4});
  tenon::permute(turned, tenon::axis<2, 1, 0>) = tenon::interpolate(x, from_five_to_eight<Filter>);
  CHECK(bool(tenon::all(tenon::permute(turned, tenon::axis<2, 1, 0>) == y)));
  const tenon::tensor<float, tenon::rank<3>> twice = tenon::interpolate(x + x, from_five_to_eight<Filter>);
  CHECK(bool(tenon::all(twice == 2 * y)));
  const tenon::tensor<float, tenon::rank<3>> mirrored =
      tenon::interpolate(tenon::flip(tenon::flip(x, tenon::axis<0>), tenon::axis<0>), from_five_to_eight<Filter>);
  CHECK(bool(tenon::all(mirrored == y)));
  const tenon::tensor<tenon::half, tenon::rank<3>> narrow = tenon::cast<tenon::half>(x);
  const tenon::tensor<float, tenon::rank<3>> widened = tenon::cast<float>(narrow);
  const image_stack of_narrow = tenon::interpolate(narrow, from_five_to_eight<Filter>);
  const image_stack of_widened = tenon::interpolate(widened, from_five_to_eight<Filter>);
  CHECK(bool(tenon::all(of_narrow == of_widened)));
}

}  // namespace

TEST_CASE("interpolated elements are weighted means, and gradients their transposes", "[interpolation]") {
  check_filter<tenon::linear_filter>();
  check_filter<tenon::cubic_filter<3>>();
  check_filter<tenon::antialiased<tenon::linear_filter>>();
  check_filter<tenon::antialiased<tenon::cubic_filter<2>>>();
}

TEST_CASE("the gradient of nearest elements is the sum of those that took them", "[interpolation]") {
  const image_stack x = tenon::uniform<float>({4, 5, 7}, 1), s = tenon::uniform<float>({4, 8, 3}, 2);
  const auto taken = tenon::interpolate(x, from_five_to_eight<tenon::nearest_filter>);
  const auto [value, dx] = tenon::value_and_gradient(tenon::sum(taken * s), tenon::wrt(x));
  image_stack expected = tenon::zeros<float>({4, 5, 7});
  for (tenon::index i = 0; i < s.size(); ++i) {
    const auto& places = from_five_to_eight<tenon::nearest_filter>;
    expected(i / 24, places.element(0, i / 3 % 8, 0), places.element(1, i % 3, 0)) += s.data()[i];
  }
  CHECK(float(tenon::max(tenon::abs(dx - expected))) < 1e-6f);
}

TEST_CASE("nearest floats are a pass of their own that keeps their bits, other elements keep their type",
          "[interpolation]") {
  constexpr auto& places = from_five_to_eight<tenon::nearest_filter>;
  tenon::tensor<float, tenon::rank<2>> x = tenon::uniform<float>({5, 7}, 1);
  x(0, 0) = -0.0f, x(1, 2) = std::numeric_limits<float>::quiet_NaN(), x(2, 4) = -std::numeric_limits<float>::infinity();
  const auto taken = tenon::interpolate(x, places);
  static_assert(std::is_same_v<decltype(taken)::kind, tenon::algorithm_kind>);
  const tenon::tensor<float, tenon::rank<2>> y = taken;
  const tenon::tensor<std::int16_t, tenon::rank<2>> whole = tenon::cast<std::int16_t>(tenon::iota<int>({5, 7}));
  const auto numbers = tenon::interpolate(whole, places);
  static_assert(std::is_same_v<decltype(numbers)::element, std::int16_t>);
  const tenon::tensor<std::int16_t, tenon::rank<2>> z = numbers;
  for (tenon::index i = 0; i < 24; ++i) {
    const tenon::index row = places.element(0, i / 3, 0), column = places.element(1, i % 3, 0);
    CHECK(std::bit_cast<std::uint32_t>(y.data()[i]) == std::bit_cast<std::uint32_t>(x(row, column)));
    CHECK(z.data()[i] == whole(row, column));
  }
}

TEST_CASE("an element that is no number reaches its neighbours alone", "[interpolation]") {
  using places = float_places<tenon::antialiased<tenon::linear_filter>, 2>;
  for (const float odd : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    tenon::tensor<float, tenon::rank<2>> x = tenon::ones<float>({9, 9});
    x(4, 4) = odd;
    const tenon::tensor<float, tenon::rank<2>> smaller = tenon::interpolate(x, places{{{9, 9}}, {{3, 3}}, {{3, 3}}, 1});
    CHECK(tenon::index(tenon::count_nonzero(!tenon::isfinite(smaller))) == 1);
    CHECK(!std::isfinite(smaller(1, 1)));
    x = tenon::interpolate(x, places{{{9, 9}}, {{9, 9}}, {{1, 1}}, 1});  // every element is its own mean
    CHECK(tenon::index(tenon::count_nonzero(x == 1)) == 80);
    CHECK(!std::isfinite(x(4, 4)));
  }
}

TEST_CASE("an interpolation may be assigned to its operand", "[interpolation]") {
  image_stack x = tenon::uniform<float>({2, 6, 6}, 1);
  const float_places<tenon::linear_filter, 2> between{{{6, 6}}, {{6, 6}}, {{0.5f, 0.5f}}, 1};
  const image_stack expected = tenon::interpolate(x, between);
  x = tenon::interpolate(x, between);
  CHECK(bool(tenon::all(x == expected)));
}
