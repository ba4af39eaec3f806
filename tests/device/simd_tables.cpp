// tests/device/simd_tables.cpp: whole numbers and powers of two as bits, and polynomials, of numbers and of packs.
// Split constants are compared with long double ones.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/device/simd_tables.hpp>

#include "support/catch.hpp"

namespace simd = tenon::simd;

TEMPLATE_TEST_CASE("a whole number is near every number", "[simd_tables]", float, double) {
  for (const double x : {0.0, 0.4, -0.4, 1.6, -7.7, 100.2, -1000.9}) {
    const simd::whole_near<TestType> near(static_cast<TestType>(x));
    CHECK(near.number == std::nearbyint(static_cast<TestType>(x)));
    CHECK(static_cast<double>(near.whole) == static_cast<double>(near.number));
    CHECK(simd::number_of<TestType>(near.whole) == near.number);
  }
}

TEMPLATE_TEST_CASE("powers of two are exact, from the least normal number to the greatest", "[simd_tables]", float,
                   double) {
  using table = simd::math_table<TestType>;
  for (const int exponent : {1 - table::exponent_bias, -20, -1, 0, 1, 33, table::exponent_bias}) {
    CHECK(simd::power_of_two<TestType>(exponent) == std::ldexp(TestType(1), exponent));
  }
  CHECK(simd::power_of_two<TestType>(1 - table::exponent_bias) == table::least_normal);
}

TEMPLATE_TEST_CASE("a polynomial's first coefficient is its constant", "[simd_tables]", float, double) {
  constexpr tenon::array<TestType, 3> c{{3, 5, 7}};
  CHECK(simd::polynomial(TestType(2), c) == 3 + 2 * (5 + 2 * 7));
  using pack = simd::pack<TestType, 4>;
  const auto values = simd::polynomial(simd::constant_like<pack>(2), c);
  for (int lane = 0; lane < 4; ++lane) CHECK(values[lane] == 41);
}

TEMPLATE_TEST_CASE("split constants sum to the constant, and their first parts have zeros at the end", "[simd_tables]",
                   float, double) {
  using table = simd::math_table<TestType>;
  const long double ln2 = std::log(2.0L), half_pi = std::acos(0.0L);
  const long double ulp = std::ldexp(1.0L, -table::mantissa_bits);
  CHECK(std::abs(static_cast<long double>(table::ln2_high) + static_cast<long double>(table::ln2_low) - ln2) <
        ulp * std::abs(static_cast<long double>(table::ln2_low)));
  long double total = 0;
  for (int part = 3; part >= 0; --part) total += static_cast<long double>(table::half_pi[part]);
  CHECK(std::abs(total - half_pi) <= 0x1p-63L);
  const auto scaled = std::ldexp(table::ln2_high, table::mantissa_bits - 10);
  CHECK(scaled == std::floor(scaled));  // products with whole numbers of ten bits are exact
}
