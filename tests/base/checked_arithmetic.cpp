// tests/base/checked_arithmetic.cpp: sums and products at the ends of the range.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/checked_arithmetic.hpp>

#include "support/catch.hpp"

using tenon::checked_extent;

TEST_CASE("sums, differences and products know whether they fit", "[checked_arithmetic]") {
  const checked_extent most = INT64_MAX, least = INT64_MIN, half = tenon::index{1} << 62;
  CHECK((checked_extent(3) * 4 + 5 - 6).value() == 11);
  CHECK((checked_extent(3) * 4 + 5 - 6).fits());
  CHECK((most + 0).fits());
  CHECK_FALSE((most + 1).fits());
  CHECK_FALSE((least - 1).fits());
  CHECK((least + most).value() == -1);
  CHECK((half * -2).fits());
  CHECK_FALSE((half * 2).fits());
  CHECK_FALSE((least * -1).fits());
  CHECK((half * 0).fits());
}

TEST_CASE("what follows a number that does not fit does not fit", "[checked_arithmetic]") {
  const checked_extent beyond = checked_extent(INT64_MAX) + 1;
  CHECK_FALSE((beyond * 0).fits());
  CHECK_FALSE((checked_extent(1) - beyond).fits());
}

TEST_CASE("checked numbers are constants too", "[checked_arithmetic]") {
  STATIC_REQUIRE((checked_extent(7) * 6 + 1).value() == 43);
  STATIC_REQUIRE((checked_extent(7) - 8).fits());
}
