// tests/device/divisor.cpp: division by a product and a shift, against division.
// Numbers around powers of two and dividends around multiples are where a rounded factor would show.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/divisor.hpp>

#include <vector>

#include "support/catch.hpp"

TEST_CASE("quotients are those of division", "[divisor]") {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t number = 1; number < 300; ++number) numbers.push_back(number);
  for (int shift = 9; shift < 31; ++shift) {
    const std::uint32_t power = std::uint32_t{1} << shift;
    for (const std::uint32_t number : {power - 1, power, power + 1, power + power / 3}) numbers.push_back(number);
  }
  numbers.push_back(0x7fffffffu);
  for (const std::uint32_t number : numbers) {
    const tenon::divisor by(number);
    std::uint32_t wrong = 0;
    const auto check = [&](std::uint64_t dividend) {
      if (dividend >= static_cast<std::uint64_t>(tenon::dividend_limit)) return;
      const auto narrow = static_cast<std::uint32_t>(dividend);
      if (by.quotient(narrow) != narrow / number) ++wrong;
    };
    for (std::uint64_t quotient = 0; quotient < 50; ++quotient) {
      for (const std::uint64_t multiple :
           {quotient * number, (0x7fffffffu / number - quotient) * std::uint64_t{number}}) {
        check(multiple), check(multiple + 1), check(multiple + number - 1);
        if (multiple > 0) check(multiple - 1);
      }
    }
    check(0x7fffffffu);
    CAPTURE(number);
    CHECK(wrong == 0);
    CHECK(by.number() == number);
  }
}
