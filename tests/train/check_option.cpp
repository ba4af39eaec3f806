// tests/train/check_option.cpp: options at their bounds, beyond them, and NaN.
// The text names whose option it is, what was given and what is expected.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/check_option.hpp>

#include "support/text_of.hpp"

namespace train = tenon::train;
using tenon_test::text_of;

TEST_CASE("options within their bounds are taken", "[check_option]") {
  CHECK_NOTHROW(train::check_option("rule", "share", 0.0, 0, 1));
  CHECK_NOTHROW(train::check_option("rule", "lr", 1e300, 0));
  CHECK_NOTHROW(train::check_option("rule", "count", tenon::index{1}, 1));
  CHECK_NOTHROW(train::check_finite("rule", "shift", -1e300));
}

TEST_CASE("options beyond their bounds are refused by name", "[check_option]") {
  const auto number = [](double given) {
    return text_of<tenon::error>([&] { train::check_option("rule", "share", given, 0, 1); });
  };
  CHECK(number(1) == "rule: share: 1, expected at least 0 and below 1");
  CHECK(number(-0.5) == "rule: share: -0.5, expected at least 0 and below 1");
  CHECK(number(std::nan("")) == "rule: share: nan, expected at least 0 and below 1");
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(text_of<tenon::error>([&] { train::check_option("rule", "lr", infinity, 0); }) ==
        "rule: lr: inf, expected a finite number");
  CHECK_NOTHROW(train::check_share("rule", "share", 0));
  CHECK_NOTHROW(train::check_share("rule", "share", 1));
  CHECK(text_of<tenon::error>([] { train::check_share("rule", "share", std::nan("")); }) ==
        "rule: share: nan, expected at least 0 and at most 1");
  CHECK(text_of<tenon::error>([] { train::check_option("rule", "count", tenon::index{0}, 1); }) ==
        "rule: count: 0, expected at least 1");
  CHECK(text_of<tenon::error>([&] { train::check_finite("rule", "shift", -infinity); }) ==
        "rule: shift: -inf, expected a finite number");
}
