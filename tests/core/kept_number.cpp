// tests/core/kept_number.cpp: numbers that checkpoints keep.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/kept_number.hpp>

#include "support/catch.hpp"

TEST_CASE("a kept number reads as a number, and is set where its owner says", "[kept_number]") {
  int owner = 3, sets = 0;
  tenon::kept_number number(owner, {.least = 0, .most = 7}, [&](int given) { owner = given, ++sets; });
  CHECK(number + 1 == 4);
  CHECK(number.number() == 3);
  CHECK(number.bounds().least == 0);
  CHECK(number.bounds().most == 7);
  number = 5;
  CHECK(owner == 5);
  CHECK(number.number() == 5);
  CHECK(sets == 1);
}

TEST_CASE("a variable within bounds is the variable", "[kept_number]") {
  double variable = 0.5;
  auto number = tenon::kept_within(variable, {.least = 0});
  CHECK(number.bounds().most == std::numeric_limits<double>::max());
  number = 2;
  CHECK(variable == 2);
  CHECK(number.is_needed());
  CHECK_FALSE(tenon::kept_within(variable, {.least = 0}, false).is_needed());
  static_assert(tenon::is_number_of_state<decltype(number)>);
  static_assert(tenon::is_number_of_state<long> && !tenon::is_number_of_state<int*>);
}

TEST_CASE("a fixed number may be itself alone, and older files may lack it", "[kept_number]") {
  auto number = tenon::kept_fixed(7);
  CHECK(number.bounds().least == 7);
  CHECK(number.bounds().most == 7);
  CHECK_FALSE(number.is_needed());
}
