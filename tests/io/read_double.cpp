// tests/io/read_double.cpp: the number that a text starts with, as std::from_chars reads it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/read_double.hpp>

#include <cmath>
#include <string>
#include <system_error>

#include "support/catch.hpp"

namespace {

struct found {
  std::errc status;
  long length;
  double value;

  bool operator==(const found&) const = default;
};

found read(std::string_view text) {
  double value = -7;
  const auto [end, status] = tenon::detail::read_double(text, value);
  return {status, end - text.data(), value};
}

}  // namespace

TEST_CASE("a number is read as far as it goes", "[read_double]") {
  CHECK(read("12") == found{{}, 2, 12});
  CHECK(read("-0.25e-1,8") == found{{}, 8, -0.025});
  CHECK(read(".5 1") == found{{}, 2, 0.5});
  CHECK(read("1.7976931348623157e308") == found{{}, 22, 1.7976931348623157e308});
  CHECK(read("5e-324") == found{{}, 6, 5e-324});
  CHECK(read("0x10") == found{{}, 1, 0});
  CHECK(read("0 1") == found{{}, 1, 0});
  CHECK(read("0e-999") == found{{}, 6, 0});
  CHECK(read("1,5") == found{{}, 1, 1});
  CHECK(read("inf") == found{{}, 3, HUGE_VAL});
  CHECK(read("-Infinity") == found{{}, 9, -HUGE_VAL});
  const found none = read("nan");
  CHECK((none.status == std::errc{} && none.length == 3 && std::isnan(none.value)));
}

TEST_CASE("a text without a number leaves the value as it was", "[read_double]") {
  for (const char* text : {"", "-", "+1", " 1", "--1", "-+1", "- 1", "e5", "x", "x4", ",5", "."}) {
    CAPTURE(text);
    CHECK(read(text) == found{std::errc::invalid_argument, 0, -7});
  }
}

TEST_CASE("a number beyond the range says so", "[read_double]") {
  CHECK(read("1e999") == found{std::errc::result_out_of_range, 5, -7});
  CHECK(read("-1e-999;") == found{std::errc::result_out_of_range, 7, -7});
}
