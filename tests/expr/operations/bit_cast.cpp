// tests/expr/operations/bit_cast.cpp: bits survive, whatever they mean.
// Against std::bit_cast, there and back, with NaN payloads and signed zeros among the numbers.
// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cstring>
#include <limits>
#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

template <class T>
constexpr T special_values[5] = {T(0), T(1), static_cast<T>(-2), std::numeric_limits<T>::max(),
                                 std::numeric_limits<T>::lowest()};
template <>
constexpr float special_values<float>[5] = {0.0f, -0.0f, 1.5f, std::bit_cast<float>(0x7fa00001u), -1e-45f};
template <>
constexpr double special_values<double>[5] = {0.0, -0.0, 1.5, std::bit_cast<double>(0x7ff0000000000123u), -1e-310};

/// Elements whose bits, cast to `To`, are not those that std::bit_cast gives.
template <class From, class To, class Space>
int wrong_elements(tenon::index count, tenon::index step) {
  tenon::tensor<From, tenon::rank<1>> source({count * step});
  for (tenon::index i = 0; i < source.size(); ++i) source(i) = special_values<From>[i % 5];
  const auto there = source.template to<Space>();
  const auto strided = tenon::slice(there, tenon::range(tenon::open_end, tenon::open_end, step));
  const tenon::tensor<To, tenon::rank<1>, Space> cast = tenon::bit_cast<To>(strided);
  const tenon::tensor<From, tenon::rank<1>, Space> restored = tenon::bit_cast<From>(tenon::bit_cast<To>(strided));
  const auto result = cast.template to<tenon::host>();
  const auto back = restored.template to<tenon::host>();
  int wrong = 0;
  for (tenon::index i = 0; i < count; ++i) {
    const To expected = std::bit_cast<To>(source(i * step));
    wrong += std::memcmp(&result(i), &expected, sizeof(To)) != 0;
    wrong += std::memcmp(&back(i), &source(i * step), sizeof(From)) != 0;
  }
  return wrong;
}

template <class From, class To, class Space>
int wrong_elements() {
  int wrong = 0;
  for (const tenon::index count : {0, 1, 7, 64, 131}) {
    wrong += wrong_elements<From, To, Space>(count, 1) + wrong_elements<From, To, Space>(count, 3);
  }
  return wrong;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("bits as elements of another type", "[bit_cast]", tenon_test::spaces) {
  using space = TestType;
  CHECK(wrong_elements<float, std::int32_t, space>() == 0);
  CHECK(wrong_elements<std::uint32_t, float, space>() == 0);
  CHECK(wrong_elements<double, std::int64_t, space>() == 0);
  CHECK(wrong_elements<std::int64_t, double, space>() == 0);
  CHECK(wrong_elements<std::int8_t, std::uint8_t, space>() == 0);
  CHECK(wrong_elements<std::uint16_t, std::int16_t, space>() == 0);
}

TEST_CASE("bit_cast fuses with what stands around it", "[bit_cast]") {
  tenon::tensor<float, tenon::rank<1>> x({3}, {1, -2, 0.5f});
  const tenon::tensor<std::int32_t, tenon::rank<1>> exponents =
      (tenon::bit_cast<std::int32_t>(x * x)) / (1 << 23) - 127;
  CHECK(exponents(0) == 0);
  CHECK(exponents(1) == 2);
  CHECK(exponents(2) == -2);
}
