// tests/device/simd_pairs.cpp: products and sums with their rounding errors, of packs and of numbers.
// Errors are held to the C library's fma, what is made of pairs of floats to long double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_pairs.hpp>

#include "support/accuracy.hpp"

namespace simd = tenon::simd;

namespace {

template <class T>
long double total(const simd::pair_of<T>& pair) {
  return static_cast<long double>(pair.high) + static_cast<long double>(pair.low);
}

/// A pair of random numbers, the lower beyond the higher's last bit.
template <class T>
simd::pair_of<T> random_pair(tenon_test::random_source& source) {
  const T high = static_cast<T>(source.uniform(0.5, 4));
  return {high, high * static_cast<T>(source.uniform(-0.4, 0.4)) * std::numeric_limits<T>::epsilon()};
}

}  // namespace

TEMPLATE_TEST_CASE("a product and its error are the product", "[simd_pairs]", float, double) {
  tenon_test::random_source source(71);
  using pack = simd::pack<TestType, 4>;
  const TestType epsilon = std::numeric_limits<TestType>::epsilon();
  bool high_is_rounded = true, low_is_rest = true, lanes_agree = true;
  for (int i = 0; i < 1000; ++i) {
    pack x{}, y{};
    for (int lane = 0; lane < 4; ++lane) {
      x[lane] = static_cast<TestType>(source.uniform(-9, 9)),
      y[lane] = static_cast<TestType>(source.uniform(-1e9, 1e9));
    }
    const simd::pair_of<pack> product = simd::exact_product(x, y);
    for (int lane = 0; lane < 4; ++lane) {
      const simd::pair_of<TestType> alone = simd::exact_product(x[lane], y[lane]);
      const TestType high = product.high[lane], low = product.low[lane], rest = std::fma(x[lane], y[lane], -high);
      high_is_rounded = high_is_rounded && high == x[lane] * y[lane];
      low_is_rest = low_is_rest && std::fabs(low - rest) <= std::fabs(high) * epsilon * epsilon;
      lanes_agree = lanes_agree && alone.high == high && alone.low == low;
    }
  }
  CHECK(high_is_rounded);
  CHECK(low_is_rest);
  CHECK(lanes_agree);
  CHECK(simd::exact_product(1 + epsilon, 1 - epsilon).high == 1);
  CHECK(simd::exact_product(1 + epsilon, 1 - epsilon).low == -epsilon * epsilon);
}

TEMPLATE_TEST_CASE("halves of mantissas multiply exactly", "[simd_pairs]", float, double) {
  const TestType x = TestType(1.1), upper = simd::detail::upper_half(x), lower = x - upper;
  CHECK(upper != x);
  for (const auto& [left, right] : {std::pair(upper, upper), std::pair(upper, lower)}) {
    CHECK(std::fma(left, right, -(left * right)) == 0);
  }
}

TEMPLATE_TEST_CASE("a sum and its error are the sum", "[simd_pairs]", float, double) {
  const TestType epsilon = std::numeric_limits<TestType>::epsilon();
  const simd::pair_of<TestType> sum = simd::ordered_sum(TestType(3), epsilon / 8);
  CHECK(sum.high == 3);
  CHECK(sum.low == epsilon / 8);
  const simd::pair_of<TestType> rising = simd::exact_sum(epsilon / 8, TestType(3));
  CHECK(rising.high == 3);
  CHECK(rising.low == epsilon / 8);
  const simd::pair_of<TestType> of_zero = simd::ordered_sum(TestType(0), epsilon);
  CHECK(of_zero.high == epsilon);
  CHECK(of_zero.low == 0);
}

TEST_CASE("sums and products of pairs have twice the bits of float", "[simd_pairs]") {
  tenon_test::random_source source(72);
  double worst = 0;
  const auto compare = [&worst](const simd::pair_of<float>& found, long double expected) {
    worst = std::max(worst, static_cast<double>(std::fabs(total(found) / expected - 1)));
  };
  for (int i = 0; i < 1000; ++i) {
    const auto x = random_pair<float>(source), y = random_pair<float>(source), small = random_pair<float>(source);
    const simd::pair_of<float> wide{x.high * 16, x.low * 16};
    const float factor = small.high * 0x1p-21f;
    compare(x * y, total(x) * total(y));
    compare(simd::inverse_of(x), 1 / total(x));
    const simd::pair_of<float> t{x.high / 8, x.low / 8};
    constexpr tenon::array<float, 3> first{{3, 2, 1}};
    compare(simd::polynomial(t, first, tenon::array<float, 1>{{0.5f}}),
            3 + total(t) * (2 + total(t) * (1 + total(t) * 0.5L)));
    compare(simd::ordered_sum(wide, y), total(wide) + total(y));
    compare(simd::add_product(wide, factor, y.high),
            total(wide) + static_cast<long double>(factor) * static_cast<long double>(y.high));
  }
  CHECK(worst < 0x1p-44);
}
