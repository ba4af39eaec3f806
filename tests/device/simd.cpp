// tests/device/simd.cpp: packs of lanes against the same operation on numbers.
// A pack must be nothing but its lanes, for every type and width that statements use.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tenon/device/simd.hpp>

#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace simd = tenon::simd;

namespace {

/// Elements with both signs, zeros of both signs, and for floating types infinities and NaN.
template <class T>
std::vector<T> samples() {
  std::vector<T> values;
  for (int i = 0; i < 64; ++i)
    values.push_back(static_cast<T>(i % 7 == 0 ? 0 : i * 37 % 101 - (std::is_signed_v<T> ? 50 : 0)));
  if constexpr (std::is_floating_point_v<T>) {
    values[3] = std::numeric_limits<T>::quiet_NaN(), values[4] = std::numeric_limits<T>::infinity();
    values[5] = -std::numeric_limits<T>::infinity(), values[6] = -T(0);
  }
  return values;
}

template <class T>
bool is_equal(T left, T right) {
  return left == right || (left != left && right != right);
}

/// Whether a binary operation on packs is the operation on their lanes.
template <class T, class Operation>
bool agrees(const Operation& operation) {
  constexpr int width = simd::native_width<T>;
  const auto values = samples<T>();
  for (std::size_t shift = 1; shift < 20; ++shift) {
    for (std::size_t i = 0; i + width + shift <= values.size(); i += width) {
      const auto left = simd::load<T, width>(values.data() + i),
                 right = simd::load<T, width>(values.data() + i + shift);
      const auto lanes = operation(left, right);
      for (int lane = 0; lane < width; ++lane) {
        const auto at = i + static_cast<std::size_t>(lane);
        if (!is_equal<T>(lanes[lane], operation(values[at], values[at + shift]))) return false;
      }
    }
  }
  return true;
}

}  // namespace

TEMPLATE_TEST_CASE("packs behave as their lanes", "[simd]", float, double, std::int32_t, std::uint32_t, std::int64_t) {
  CHECK(agrees<TestType>([](auto x, auto y) { return simd::max(x, y); }));
  CHECK(agrees<TestType>([](auto x, auto y) { return simd::min(x, y); }));
  CHECK(agrees<TestType>([](auto x, auto y) { return simd::at_least(x, y); }));
  CHECK(agrees<TestType>([](auto x, auto y) { return simd::at_most(x, y); }));
  CHECK(agrees<TestType>([](auto x, auto) { return simd::abs(x); }));
  CHECK(agrees<TestType>([](auto x, auto y) { return simd::select(x > y, x, y); }));
}

TEMPLATE_TEST_CASE("elements are loaded and stored", "[simd]", float, double, std::int32_t, tenon::half,
                   tenon::bfloat16, std::int8_t) {
  using value = tenon::compute_type<TestType>;
  constexpr int width = simd::native_width<value>;
  std::vector<TestType> memory;
  for (int i = 0; i < 128; ++i) memory.push_back(static_cast<TestType>(static_cast<value>(i)));
  const auto adjacent = simd::load<value, width>(memory.data() + 3);
  for (int lane = 0; lane < width; ++lane) CHECK(adjacent[lane] == static_cast<value>(3 + lane));
  std::vector<TestType> written(128, TestType{});
  simd::store<width>(written.data() + 1, adjacent);
  CHECK(static_cast<value>(written[0]) == value(0));
  CHECK(static_cast<value>(written[1]) == value(3));
  CHECK(static_cast<value>(written[static_cast<std::size_t>(width)]) == static_cast<value>(2 + width));
  CHECK(static_cast<value>(written[static_cast<std::size_t>(width) + 1]) == value(0));
}

TEST_CASE("masks are logic", "[simd]") {
  constexpr int width = 4;
  const auto left = simd::generate<bool, width>([](tenon::index lane) { return lane % 2 == 0; });
  const auto right = simd::generate<bool, width>([](tenon::index lane) { return lane < 2; });
  const bool both[] = {true, false, false, false}, either[] = {true, true, true, false};
  for (int lane = 0; lane < width; ++lane) {
    CHECK((simd::logical_and(left, right)[lane] != 0) == both[lane]);
    CHECK((simd::logical_or(left, right)[lane] != 0) == either[lane]);
    CHECK((simd::logical_not(left)[lane] != 0) == (lane % 2 == 1));
  }
  CHECK(simd::logical_and(true, true));
  CHECK(!simd::logical_or(false, false));
}

TEST_CASE("the same number stands in every lane", "[simd]") {
  const auto lanes = simd::broadcast<float, 4>(2.5f);
  const auto truths = simd::broadcast<bool, 4>(true);
  for (int lane = 0; lane < 4; ++lane) {
    CHECK(lanes[lane] == 2.5f);
    CHECK(truths[lane] == -1);
  }
  CHECK(simd::constant_like<simd::pack<float, 4>>(3)[3] == 3.0f);
}

TEMPLATE_TEST_CASE("one lane that is great enough is found, wherever it is", "[simd]", std::uint32_t, std::uint64_t) {
  constexpr int width = simd::native_width<TestType>;
  using lanes = simd::pack<TestType, width>;
  const auto bound = simd::broadcast<TestType, width>(std::numeric_limits<TestType>::max() / 2 + 1);
  const auto less = static_cast<lanes>(bound - simd::broadcast<TestType, width>(1));
  CHECK_FALSE(simd::any_at_least(less, bound));
  for (int lane = 0; lane < width; ++lane) {
    lanes each = less;
    each[lane] += 1;
    CAPTURE(lane);
    CHECK(simd::any_at_least(each, bound));
  }
  CHECK(simd::any_at_least(TestType{3}, TestType{3}));
  CHECK_FALSE(simd::any_at_least(TestType{2}, TestType{3}));
}
