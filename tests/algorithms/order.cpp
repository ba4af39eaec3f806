// tests/algorithms/order.cpp: the order of elements is total, with NaN the greatest.
// Compile-time facts over the table of all pairs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/order.hpp>

#include "support/catch.hpp"

namespace {

using tenon::ascending_order;
using tenon::descending_order;
using tenon::located;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

static_assert(ascending_order{}(1, 2) && !ascending_order{}(2, 1) && !ascending_order{}(2, 2));
static_assert(ascending_order{}(false, true) && descending_order{}(true, false));
static_assert(ascending_order{}(infinity, nan) && !ascending_order{}(nan, infinity) && !ascending_order{}(nan, nan));
static_assert(descending_order{}(nan, infinity) && descending_order{}(infinity, 1.0) && !descending_order{}(0.0, -0.0));
static_assert(ascending_order{}(located<int>{5, 1}, located<int>{5, 2}));
static_assert(descending_order{}(located<int>{5, 1}, located<int>{5, 2}));
static_assert(descending_order{}(located<int>{6, 2}, located<int>{5, 1}));
static_assert(!ascending_order{}(located<double>{nan, 2}, located<double>{nan, 1}));

using tenon::order_key;

/// Whether keys compare as the elements do, in both directions.
template <class T>
constexpr bool keys_agree(T left, T right) {
  return (order_key<false>(left) < order_key<false>(right)) == ascending_order{}(left, right) &&
         (order_key<true>(left) < order_key<true>(right)) == descending_order{}(left, right);
}
template <class T>
constexpr bool keys_agree(std::initializer_list<double> values) {
  for (const double left : values) {
    for (const double right : values) {
      if (!keys_agree(static_cast<T>(left), static_cast<T>(right))) return false;
    }
  }
  return true;
}
static_assert(keys_agree<double>({nan, -nan, infinity, 1e300, 1, 1e-310, 0.0, -0.0, -1e-310, -2, -infinity}));
static_assert(keys_agree<float>({nan, -nan, infinity, 3e38, 1, 1e-40, 0.0, -0.0, -1e-40, -2, -infinity}));
static_assert(keys_agree<std::int8_t>({-128, -127, -1, 0, 1, 127}) && keys_agree<bool>({0, 1}));
static_assert(keys_agree<std::uint16_t>({0, 1, 32767, 32768, 65535}) && keys_agree<std::int64_t>({-0x1p63, -1, 0, 1}));
static_assert(sizeof(order_key<false>(tenon::half{})) == 2 && sizeof(order_key<true>(true)) == 1);

}  // namespace

TEMPLATE_TEST_CASE("keys of short floats compare as these do", "[order]", tenon::half, tenon::bfloat16) {
  int wrong = 0;
  for (unsigned left = 0; left < 65536; left += 13) {
    for (unsigned right = 0; right < 65536; right += 511) {
      const auto one = tenon::detail::bits_as<TestType>(static_cast<std::uint16_t>(left));
      const auto other = tenon::detail::bits_as<TestType>(static_cast<std::uint16_t>(right));
      const auto value = static_cast<float>(one), next = static_cast<float>(other);
      const bool before = ascending_order{}(value, next), behind = descending_order{}(value, next);
      wrong += (order_key<false>(one) < order_key<false>(other)) != before ? 1 : 0;
      wrong += (order_key<true>(one) < order_key<true>(other)) != behind ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}
