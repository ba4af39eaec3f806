// tests/algorithms/order.cpp: the order of elements is total, with NaN the greatest, and so is that of their keys.
// Tables of all pairs; at run time where NaN is in them, which nvcc does not compare in constant expressions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/order.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

using tenon::ascending_order;
using tenon::descending_order;
using tenon::located;
using tenon::order_key;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

static_assert(ascending_order{}(1, 2) && !ascending_order{}(2, 1) && !ascending_order{}(2, 2));
static_assert(ascending_order{}(false, true) && descending_order{}(true, false));
static_assert(ascending_order{}(located<int>{5, 1}, located<int>{5, 2}));
static_assert(descending_order{}(located<int>{5, 1}, located<int>{5, 2}));
static_assert(descending_order{}(located<int>{6, 2}, located<int>{5, 1}));
static_assert(sizeof(order_key<false>(tenon::half{})) == 2 && sizeof(order_key<true>(true)) == 1);

/// Pairs of values whose keys compare otherwise than they do, in either direction.
template <class T>
int misfits(const std::vector<T>& values) {
  int found = 0;
  for (const T left : values) {
    for (const T right : values) {
      const auto one = static_cast<tenon::compute_type<T>>(left), other = static_cast<tenon::compute_type<T>>(right);
      found += (order_key<false>(left) < order_key<false>(right)) != ascending_order{}(one, other) ? 1 : 0;
      found += (order_key<true>(left) < order_key<true>(right)) != descending_order{}(one, other) ? 1 : 0;
    }
  }
  return found;
}

/// Every `step`-th pattern of 16 bits.
template <class T>
std::vector<T> patterns(unsigned step) {
  std::vector<T> values;
  for (unsigned bits = 0; bits < 65536; bits += step) {
    values.push_back(tenon::detail::bits_as<T>(static_cast<std::uint16_t>(bits)));
  }
  return values;
}

}  // namespace

TEST_CASE("NaN is greater than every number and equal to itself", "[order]") {
  CHECK((ascending_order{}(infinity, not_a_number) && !ascending_order{}(not_a_number, infinity) &&
         !ascending_order{}(not_a_number, not_a_number)));
  CHECK((descending_order{}(not_a_number, infinity) && descending_order{}(infinity, 1.0) &&
         !descending_order{}(0.0, -0.0)));
  CHECK(!ascending_order{}(located<double>{not_a_number, 2}, located<double>{not_a_number, 1}));
}

TEST_CASE("keys compare as their elements do", "[order]") {
  CHECK(misfits<double>({not_a_number, -not_a_number, infinity, 1e300, 1, 1e-310, 0.0, -0.0, -1e-310, -2, -infinity}) ==
        0);
  CHECK(misfits<float>({static_cast<float>(not_a_number), 3e38f, 1, 1e-40f, 0.0f, -0.0f, -1e-40f, -2, -3e38f}) == 0);
  CHECK(misfits(patterns<tenon::half>(61)) == 0);
  CHECK(misfits(patterns<tenon::bfloat16>(61)) == 0);
  CHECK(misfits(patterns<std::int16_t>(61)) == 0);
  CHECK(misfits(patterns<std::uint16_t>(61)) == 0);
  CHECK(misfits<std::int8_t>({-128, -127, -1, 0, 1, 127}) == 0);
  CHECK(misfits<std::int64_t>({tenon::lowest_value<std::int64_t>(), -1, 0, 1, 1ll << 40}) == 0);
  CHECK(misfits<std::uint64_t>({0, 1, 1ull << 63, ~0ull}) == 0);
  CHECK((order_key<false>(false) < order_key<false>(true) && order_key<true>(true) < order_key<true>(false)));
}
