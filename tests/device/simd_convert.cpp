// tests/device/simd_convert.cpp: lanes of one type as lanes of another.
// Packs must convert as numbers do, for any bits; what numbers do is tested in base/dtype.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tenon/device/simd_convert.hpp>

#include "support/random.hpp"

namespace simd = tenon::simd;

namespace {

/// How many lanes of random bits, and of numbers around the range of `Whole`, convert otherwise than as numbers.
template <class Float, class Whole>
int wrong_lanes() {
  constexpr int width = simd::width_for(static_cast<int>(std::max(sizeof(Float), sizeof(Whole))));
  using lanes = simd::pack<Float, width>;
  using word = std::conditional_t<sizeof(Float) == 4, std::uint32_t, std::uint64_t>;
  tenon_test::random_source random(11);
  int wrong = 0;
  for (int i = 0; i < 2000; ++i) {
    lanes values{};
    for (int lane = 0; lane < width; ++lane) {
      const auto scale = static_cast<Float>(random.uniform(-1.5, 1.5));
      values[lane] = i % 2 == 0 ? __builtin_bit_cast(Float, static_cast<word>(random.bits()))
                                : tenon::first_above<Whole, Float> * scale;
    }
    const auto whole = simd::convert<Float, Whole>(values);
    for (int lane = 0; lane < width; ++lane) wrong += whole[lane] == tenon::saturated_to<Whole>(values[lane]) ? 0 : 1;
  }
  return wrong;
}

template <class Whole>
void check_packs() {
  INFO(tenon::dtype_name<Whole>());
  CHECK(wrong_lanes<float, Whole>() == 0);
  CHECK(wrong_lanes<double, Whole>() == 0);
}

/// How many lanes of random bits convert otherwise than as numbers.
template <class From, class To>
int wrong_integers() {
  constexpr int width = simd::width_for(static_cast<int>(std::max(sizeof(From), sizeof(To))));
  tenon_test::random_source random(12);
  int wrong = 0;
  for (int i = 0; i < 100; ++i) {
    const auto numbers =
        simd::generate<From, width>([&](tenon::index) { return static_cast<From>(random.bits() >> i % 32); });
    const auto converted = simd::convert<From, To>(numbers);
    for (int lane = 0; lane < width; ++lane) wrong += converted[lane] == static_cast<To>(numbers[lane]) ? 0 : 1;
  }
  return wrong;
}

template <class From>
void check_integers() {
  INFO(tenon::dtype_name<From>());
  CHECK(wrong_integers<From, std::int8_t>() + wrong_integers<From, std::uint8_t>() == 0);
  CHECK(wrong_integers<From, std::int16_t>() + wrong_integers<From, std::uint16_t>() == 0);
  CHECK(wrong_integers<From, std::int32_t>() + wrong_integers<From, std::uint32_t>() == 0);
  CHECK(wrong_integers<From, std::int64_t>() + wrong_integers<From, std::uint64_t>() == 0);
  CHECK(wrong_integers<From, float>() + wrong_integers<From, double>() == 0);
}

}  // namespace

TEST_CASE("lanes convert as numbers do", "[simd_convert]") {
  constexpr int width = simd::native_width<double>;
  const auto values = simd::generate<double, width>([](tenon::index lane) { return static_cast<double>(lane) - 1.75; });
  const auto whole = simd::convert<double, std::int32_t>(values);
  const auto truths = simd::convert<double, bool>(values - values[0]);
  const auto ones = simd::convert<bool, float>(truths);
  for (int lane = 0; lane < width; ++lane) {
    CHECK(whole[lane] == static_cast<std::int32_t>(values[lane]));
    CHECK(ones[lane] == (lane == 0 ? 0.0f : 1.0f));
  }
  CHECK(simd::convert<double, std::int32_t>(-2.75) == -2);
  CHECK(simd::convert<double, bool>(0.5));
}

TEST_CASE("lanes beyond the range of integers become the nearest one", "[simd_convert]") {
  check_packs<std::int8_t>(), check_packs<std::uint8_t>();
  check_packs<std::int16_t>(), check_packs<std::uint16_t>();
  check_packs<std::int32_t>(), check_packs<std::uint32_t>();
  check_packs<std::int64_t>(), check_packs<std::uint64_t>();
}

TEST_CASE("lanes of integers of every size convert as numbers do", "[simd_convert]") {
  check_integers<std::int8_t>(), check_integers<std::uint8_t>();
  check_integers<std::int16_t>(), check_integers<std::uint16_t>();
  check_integers<std::int32_t>(), check_integers<std::uint32_t>();
  check_integers<std::int64_t>(), check_integers<std::uint64_t>();
}
