// tests/base/array.cpp: the fixed array and compile-time loops.
// Everything holds in constant expressions too, because shapes are computed in types.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/array.hpp>

#include <type_traits>
#include <vector>

#include "support/catch.hpp"

namespace {

constexpr tenon::array<int, 3> doubled(tenon::array<int, 3> values) {
  for (int& each : values) each *= 2;
  return values;
}

}  // namespace

TEST_CASE("an array is an aggregate of its values and no more", "[array]") {
  STATIC_REQUIRE(std::is_aggregate_v<tenon::array<float, 4>>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<tenon::array<double, 5>>);
  STATIC_REQUIRE(sizeof(tenon::array<float, 4>) == 16);
  STATIC_REQUIRE(std::is_empty_v<tenon::array<tenon::index, 0>>);
}

TEST_CASE("values are read and written by position", "[array]") {
  tenon::array<int, 3> values{{1, 2, 3}};
  values[1] = 20;
  CHECK(values[0] == 1);
  CHECK(values[1] == 20);
  CHECK(std::vector<int>(values.begin(), values.end()) == std::vector<int>{1, 20, 3});
  STATIC_REQUIRE(tenon::array<int, 3>::size() == 3);
  STATIC_REQUIRE(doubled({{1, 2, 3}}) == tenon::array<int, 3>{{2, 4, 6}});
}

TEST_CASE("arrays are equal when all their values are", "[array]") {
  const tenon::array<int, 2> a{{1, 2}}, b{{1, 2}}, c{{1, 3}};
  CHECK(a == b);
  CHECK_FALSE(a == c);
  CHECK(a != c);
  STATIC_REQUIRE(tenon::array<int, 0>{} == tenon::array<int, 0>{});
}

TEST_CASE("an empty array has an empty range", "[array]") {
  const tenon::array<int, 0> none{};
  CHECK(none.size() == 0);
  CHECK(none.begin() == none.end());
}

TEST_CASE("filled arrays repeat a value", "[array]") {
  STATIC_REQUIRE(tenon::filled_array<3>(7) == tenon::array<int, 3>{{7, 7, 7}});
  STATIC_REQUIRE(tenon::filled_array<0>(7).size() == 0);
}

TEST_CASE("compile-time loops visit every index in order", "[array]") {
  std::vector<int> seen;
  tenon::for_each_index<4>([&](auto i) {
    constexpr int value = decltype(i)::value;
    seen.push_back(value);
  });
  CHECK(seen == std::vector<int>{0, 1, 2, 3});
  tenon::for_each_index<0>([&](auto) { seen.clear(); });
  CHECK(seen.size() == 4);
}
