// tests/expr/random.cpp: random numbers as generators.
// They are a pure function of seed and position, so every space draws the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("each value is philox at its position", "[random]", tenon_test::spaces) {
  const std::uint64_t seed = 0x123456789abcdefull;
  const auto values = numbers_of<TestType>(tenon::uniform<float>(rank<2>(5, 7), seed, -2.0f, 6.0f));
  int wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = tenon::philox_bits(seed, i / 4);
    const double share = static_cast<double>(bits[static_cast<tenon::index>(i % 4)] >> 8) / 16777216.0;
    wrong += tenon_test::is_close(values[i], -2.0 + 8.0 * share, 1e-6) ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a slice of random numbers is the numbers at its positions", "[random]") {
  const auto all = tenon::uniform<float>(rank<1>(100), 3);
  const auto part = numbers_of(tenon::slice(all, tenon::range(10, 90, 7)));
  const auto values = numbers_of(all);
  for (std::size_t i = 0; i < part.size(); ++i) CHECK(part[i] == values[10 + 7 * i]);
}

TEST_CASE("seeds differ, equal seeds do not", "[random]") {
  const auto draw = [](std::uint64_t seed) { return numbers_of(tenon::uniform<double>(rank<1>(64), seed)); };
  CHECK(draw(1) == draw(1));
  CHECK(draw(1) != draw(2));
  CHECK(draw(1) != draw(std::uint64_t{1} << 32));
}

TEST_CASE("uniform numbers stay in range and have the moments of their distribution", "[random]") {
  const auto values = numbers_of(tenon::uniform<float>(rank<1>(100000), 11, 2.0f, 5.0f));
  double low = 9, high = 0, total = 0, squares = 0;
  for (const double each : values) {
    low = std::min(low, each), high = std::max(high, each);
    total += each, squares += each * each;
  }
  const double n = 100000, average = total / n;
  CHECK(low >= 2.0);
  CHECK(high < 5.0);
  CHECK(tenon_test::is_close(average, 3.5, 0.005));
  CHECK(tenon_test::is_close(squares / n - average * average, 0.75, 0.02));
}

TEMPLATE_TEST_CASE("numbers of every type stay below the upper end", "[random]", tenon::half, tenon::bfloat16, float) {
  double greatest = 0;
  for (const double each : numbers_of(tenon::uniform<TestType>(rank<1>(20000), 5))) greatest = std::max(greatest, each);
  CHECK(greatest < 1.0);
}
