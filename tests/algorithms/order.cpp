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

}  // namespace
