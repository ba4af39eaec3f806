// tests/expr/random.cpp: random numbers as generators.
// They are a pure function of seed and position, so every space draws the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>

#include <algorithm>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::chi_square;
using tenon_test::numbers_of;
using tenon_test::text_of;

struct moments {
  double mean, variance, skewness, kurtosis;
};

moments moments_of(const std::vector<double>& values) {
  const double n = static_cast<double>(values.size());
  double total = 0, second = 0, third = 0, fourth = 0;
  for (const double each : values) total += each;
  const double centre = total / n;
  for (const double each : values) {
    const double d = each - centre;
    second += d * d, third += d * d * d, fourth += d * d * d * d;
  }
  const double variance = second / n;
  return {centre, variance, third / n / std::pow(variance, 1.5), fourth / n / (variance * variance)};
}

double correlation(const std::vector<double>& left, const std::vector<double>& right) {
  const auto x = moments_of(left), y = moments_of(right);
  double total = 0;
  for (std::size_t i = 0; i < left.size(); ++i) total += (left[i] - x.mean) * (right[i] - y.mean);
  return total / static_cast<double>(left.size()) / std::sqrt(x.variance * y.variance);
}

double normal_probability_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

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

TEMPLATE_TEST_CASE("neighbours drawn together are those that are drawn one by one", "[random]", float, double,
                   tenon::half) {
  const rank<1> extents(150);
  CHECK(tenon_test::count_unlike_alone(tenon::uniform<TestType>(extents, 3)) == 0);
  CHECK(tenon_test::count_unlike_alone(tenon::normal<TestType>(extents, 3)) == 0);
  CHECK(tenon_test::count_unlike_alone(tenon::bernoulli<TestType>(extents, 3, 0.4)) == 0);
}

TEMPLATE_TEST_CASE("integers drawn together are those that are drawn one by one", "[random]", std::int16_t,
                   std::int32_t, std::uint32_t, std::int64_t, float) {
  CHECK(tenon_test::count_unlike_alone(tenon::randint<TestType>({150}, 7, 3, 30000)) == 0);
  const tenon::index low = -(tenon::index{1} << 40);
  CHECK(tenon_test::count_unlike_alone(tenon::randint<std::int64_t>({150}, 7, low, low + (tenon::index{1} << 32))) ==
        0);
}

TEST_CASE("nothing is drawn of numbers that are certain", "[random]") {
  const auto ones = tenon::bernoulli<float>({100}, 1, 1.0), zeros = tenon::bernoulli<float>({100}, 1, 0.0);
  CHECK(ones.generator.is_certain());
  CHECK(zeros.generator.is_certain());
  CHECK_FALSE(tenon::bernoulli<float>({100}, 1, 0.999).generator.is_certain());
  CHECK(numbers_of(ones) == std::vector<double>(100, 1.0));
  CHECK(numbers_of(zeros) == std::vector<double>(100, 0.0));
  CHECK(numbers_of(tenon::flip(ones, tenon::axis<0>)) == std::vector<double>(100, 1.0));
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

TEMPLATE_LIST_TEST_CASE("normal numbers have the moments and the shape of their distribution", "[random]",
                        tenon_test::spaces) {
  const auto values = numbers_of<TestType>(tenon::normal<float>(rank<1>(100000), 17, 3.0f, 2.0f));
  const auto found = moments_of(values);
  CHECK(tenon_test::is_close(found.mean, 3.0, 0.01));
  CHECK(tenon_test::is_close(found.variance, 4.0, 0.02));
  CHECK(std::fabs(found.skewness) < 0.03);
  CHECK(std::fabs(found.kurtosis - 3) < 0.06);
  std::vector<double> counts(100, 0.0);
  for (const double each : values)
    counts[static_cast<std::size_t>(100 * normal_probability_below((each - 3.0) / 2.0))] += 1;
  CHECK(std::fabs(chi_square(counts)) < 4);
}

TEMPLATE_LIST_TEST_CASE("normal numbers are Box and Muller's of the bits at their position", "[random]",
                        tenon_test::spaces) {
  const auto values = numbers_of<TestType>(tenon::normal<float>(rank<1>(4001), 23));
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = tenon::philox_bits(23, i / 4, 4);
    const auto pair = static_cast<tenon::index>(i % 4 / 2 * 2);
    const double radius = std::sqrt(-2 * std::log((static_cast<double>(bits[pair]) + 1) * 0x1p-32));
    const double angle = (static_cast<double>(bits[pair + 1]) * 0x1p-32 - 0.125) * 2 * 3.14159265358979323846;
    const double expected = radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    greatest = std::max(greatest, std::fabs(values[i] - expected));
  }
  CHECK(greatest < 2e-6);
}

TEMPLATE_LIST_TEST_CASE("normal doubles are Box and Muller's of 128 bits at their position", "[random]",
                        tenon_test::spaces) {
  const auto values = numbers_of<TestType>(tenon::normal<double>(rank<1>(4001), 23));
  double greatest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto bits = tenon::philox_bits(23, i / 2, 20);
    const double radius = std::sqrt(-2 * std::log(bits[0] * 0x1p-32 + bits[1] * 0x1p-64));
    const double turn = bits[2] * 0x1p-32 + bits[3] * 0x1p-64 - 0.125;
    const double angle = turn * 2 * 3.14159265358979323846;
    const double expected = radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
    greatest = std::max(greatest, std::fabs(values[i] - expected));
  }
  CHECK(greatest < 4e-15);
}

TEMPLATE_LIST_TEST_CASE("doubles are drawn in double, ends and centres included", "[random]", tenon_test::spaces) {
  const auto distinct = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return std::unique(values.begin(), values.end()) - values.begin();
  };
  CHECK(distinct(numbers_of<TestType>(tenon::uniform<double>(rank<1>(100000), 7))) == 100000);
  for (const auto& [low, high] : {std::pair{1e9, 1e9 + 1}, std::pair{16777217.0, 16777219.0}, std::pair{0.0, 1e300}}) {
    const auto values = numbers_of<TestType>(tenon::uniform<double>(rank<1>(5000), 1, low, high));
    CHECK(*std::min_element(values.begin(), values.end()) >= low);
    CHECK(*std::max_element(values.begin(), values.end()) < high);
    CHECK(tenon_test::is_close((moments_of(values).mean - low) / (high - low), 0.5, 0.03));
  }
  CHECK(std::fabs(moments_of(numbers_of<TestType>(tenon::normal<double>(rank<1>(20000), 1, 1e8, 1))).variance - 1) <
        0.05);
  CHECK(distinct(numbers_of<TestType>(tenon::normal<double>(rank<1>(5000), 1, 0, 1e-60))) == 5000);
  const auto cut = numbers_of<TestType>(
      tenon::truncated_normal<double>(rank<1>(5000), 1, {.centre = 1e9, .low = 1e9 - 1, .high = 1e9 + 1}));
  CHECK(distinct(cut) == 5000);
  CHECK(std::fabs(moments_of(cut).mean - 1e9) < 0.03);
}

TEST_CASE("normal doubles have the moments of their distribution and long tails", "[random]") {
  const auto found = moments_of(numbers_of(tenon::normal<double>(rank<1>(100000), 17, 3, 2)));
  CHECK(tenon_test::is_close(found.mean, 3.0, 0.01));
  CHECK(tenon_test::is_close(found.variance, 4.0, 0.02));
  CHECK(std::fabs(found.skewness) < 0.03);
  CHECK(std::fabs(found.kurtosis - 3) < 0.06);
  const std::uint32_t full = 0xffffffffu;
  CHECK(tenon::detail::log_from_bits(full, full) == 0.0);
  CHECK(tenon_test::is_close(tenon::detail::log_from_bits(0, 0), -64 * std::log(2.0), 1e-15));
  CHECK(tenon_test::is_close(tenon::detail::normal_from_bits({0, 0, 0x20000000u, 0}, false),
                             std::sqrt(128 * std::log(2.0)), 1e-15));
}

TEST_CASE("ranges that are not finite or descend, and negative deviations, are refused", "[random]") {
  const double endless = std::numeric_limits<double>::infinity();
  CHECK(text_of<tenon::error>([] { tenon::uniform<double>({3}, 1, 2, 1); }) ==
        "uniform: range [2, 1), expected ends in ascending order");
  CHECK(text_of<tenon::error>([&] { tenon::uniform<double>({3}, 1, 0, endless); }) ==
        "uniform: range [0, inf), expected a finite length");
  CHECK_THROWS_AS(tenon::uniform<double>({3}, 1, -1.5e308, 1.5e308), tenon::error);
  CHECK_THROWS_AS(tenon::uniform<float>({3}, 1, -3e38f, 3e38f), tenon::error);
  CHECK_THROWS_AS(tenon::uniform<double>({3}, 1, std::nan(""), 1), tenon::error);
  CHECK(text_of<tenon::error>([] { tenon::normal<double>({3}, 1, 0, -0.5); }) ==
        "normal: deviation -0.5, expected at least 0");
  CHECK_THROWS_AS(tenon::normal<float>({3}, 1, 0, std::nanf("")), tenon::error);
}

TEST_CASE("draws of different kinds from one seed are independent", "[random]") {
  const rank<1> count(20000);
  const std::vector<std::vector<double>> kinds{
      numbers_of(tenon::uniform<float>(count, 1)),          numbers_of(tenon::uniform<double>(count, 1)),
      numbers_of(tenon::normal<float>(count, 1)),           numbers_of(tenon::normal<double>(count, 1)),
      numbers_of(tenon::truncated_normal<float>(count, 1)), numbers_of(tenon::truncated_normal<double>(count, 1)),
      numbers_of(tenon::bernoulli<int>(count, 1, 0.5)),     numbers_of(tenon::randint<int>(count, 1, 0, 1000)),
      numbers_of(tenon::permutation(count.extent(0), 1))};
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) CHECK(std::fabs(correlation(kinds[i], kinds[k])) < 4 / std::sqrt(20000.0));
  }
  const auto sizes = [](const auto& values) {  // neighbours share their radius
    std::vector<double> result;
    for (const double each : values) result.push_back(std::fabs(each));
    return result;
  };
  CHECK(std::fabs(correlation(kinds[0], sizes(kinds[2]))) < 4 / std::sqrt(20000.0));
  CHECK(std::fabs(correlation(kinds[1], sizes(kinds[3]))) < 4 / std::sqrt(20000.0));
}

TEST_CASE("one seed gives the same numbers whatever the extents", "[random]") {
  CHECK(numbers_of(tenon::uniform<float>({10}, 5)) == numbers_of(tenon::uniform<float>({5, 2}, 5)));
  CHECK(numbers_of(tenon::normal<double>({10}, 5)) == numbers_of(tenon::normal<double>({5, 2}, 5)));
}

TEST_CASE("normal numbers of extreme bits are finite", "[random]") {
  CHECK(tenon::detail::log_from_bits(0xffffffffu) == 0.0f);
  CHECK(tenon_test::is_close(static_cast<double>(tenon::detail::log_from_bits(0u)), -32 * std::log(2.0), 1e-7));
  CHECK(std::isfinite(tenon::detail::normal_from_bits(0u, 0u, 0)));
  CHECK(tenon::detail::normal_from_bits(0xffffffffu, 7u, 1) == 0.0f);
}

TEMPLATE_LIST_TEST_CASE("truncated normal numbers are the part of normal ones within their ends", "[random]",
                        tenon_test::spaces) {
  const tenon::truncated_normal_options options{.centre = 1, .deviation = 2, .low = 0, .high = 2.5f};
  const auto values = numbers_of<TestType>(tenon::truncated_normal<float>(rank<2>(100, 1000), 29, options));
  const double first = normal_probability_below(-0.5), within = normal_probability_below(0.75) - first;
  std::vector<double> counts(50, 0.0);
  bool inside = true;
  for (const double each : values) {
    inside = inside && each >= 0 && each <= 2.5;
    const double share = (normal_probability_below((each - 1) / 2) - first) / within;
    if (inside) counts[std::min<std::size_t>(49, static_cast<std::size_t>(50 * share))] += 1;
  }
  CHECK(inside);
  CHECK(std::fabs(chi_square(counts)) < 4);
  CHECK(std::fabs(correlation(std::vector<double>(values.begin(), values.end() - 1),
                              std::vector<double>(values.begin() + 1, values.end()))) < 0.013);
}

TEMPLATE_LIST_TEST_CASE("truncated normal numbers are the same on every space", "[random]", tenon_test::spaces) {
  const auto drawn = tenon::truncated_normal<float>(rank<1>(5001), 31);
  CHECK(numbers_of<TestType>(drawn) == numbers_of<tenon::host>(drawn));
}

TEST_CASE("truncated normal numbers far from their ends are normal", "[random]") {
  const auto whole =
      moments_of(numbers_of(tenon::truncated_normal<float>(rank<1>(100000), 3, {.low = -50, .high = 50})));
  CHECK(std::fabs(whole.variance - 1) < 0.02);
  CHECK(std::fabs(whole.kurtosis - 3) < 0.06);
}

TEST_CASE("ends that hold next to nothing are refused", "[random]") {
  const auto refused = [](const tenon::truncated_normal_options& options) {
    return text_of<tenon::error>([&] { tenon::truncated_normal<float>(rank<1>(3), 1, options); });
  };
  CHECK(tenon_test::has(refused({.low = 4, .high = 5}), "truncated_normal: [4, 5] holds 3.1"));
  CHECK(refused({.low = 1, .high = -1}) == "truncated_normal: [1, -1], expected ends in ascending order");
  CHECK(tenon_test::has(refused({.deviation = 0}), "with deviation 0"));
}

TEMPLATE_LIST_TEST_CASE("bernoulli numbers are 1 with their probability", "[random]", tenon_test::spaces) {
  for (const double probability : {0.0, 0.001, 0.3, 0.9, 1.0}) {
    const auto values = numbers_of<TestType>(tenon::bernoulli<bool>(rank<2>(100, 1000), 5, probability));
    const double deviation = std::sqrt(probability * (1 - probability) / 100000);
    CHECK(std::fabs(moments_of(values).mean - probability) <= 4 * deviation);
  }
  CHECK(text_of<tenon::error>([] { tenon::bernoulli<float>(rank<1>(3), 1, 1.5); }) ==
        "bernoulli: probability 1.5, expected within [0, 1]");
}

TEMPLATE_LIST_TEST_CASE("integers are uniform over their range", "[random]", tenon_test::spaces) {
  std::vector<double> counts(97, 0.0);
  bool inside = true;
  for (const double each : numbers_of<TestType>(tenon::randint<int>(rank<1>(97000), 3, -50, 47))) {
    inside = inside && each >= -50 && each < 47;
    if (inside) counts[static_cast<std::size_t>(each + 50)] += 1;
  }
  CHECK(inside);
  CHECK(std::fabs(chi_square(counts)) < 4);
}

TEST_CASE("integers of the widest and the narrowest range", "[random]") {
  const tenon::index widest = tenon::index{1} << 32;
  const auto wide = moments_of(numbers_of(tenon::randint<std::int64_t>(rank<1>(50000), 3, -1, widest - 1)));
  CHECK(tenon_test::is_close(wide.mean / static_cast<double>(widest), 0.5, 0.01));
  CHECK(numbers_of(tenon::randint<int>(rank<1>(3), 3, 8, 9)) == std::vector<double>(3, 8.0));
  constexpr std::uint64_t largest = 0xffffffffu;
  CHECK(tenon::detail::below_from_bits(largest, largest, std::uint64_t{1} << 32) == largest);
  CHECK(text_of<tenon::error>([] { tenon::randint<int>(rank<1>(3), 1, 4, 4); }) ==
        "randint: range [4, 4), expected 1 to 4294967296 numbers");
  CHECK_THROWS_AS(tenon::randint<std::int64_t>(rank<1>(3), 1, -1, widest), tenon::error);
}

TEST_CASE("integers that the element type does not hold are refused", "[random]") {
  CHECK(numbers_of(tenon::randint<std::uint8_t>(rank<1>(3), 1, 255, 256)) == std::vector<double>(3, 255.0));
  CHECK_THROWS_AS(tenon::randint<std::uint8_t>(rank<1>(3), 1, 0, 257), tenon::dtype_error);
  CHECK_THROWS_AS(tenon::randint<std::uint8_t>(rank<1>(3), 1, -1, 5), tenon::dtype_error);
}

TEST_CASE("bins of uniform numbers, and pairs of neighbours, fill evenly", "[random]") {
  const auto values = numbers_of(tenon::uniform<float>(rank<1>(100000), 29));
  std::vector<double> counts(64, 0.0), pairs(64, 0.0);
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    counts[static_cast<std::size_t>(64 * values[i])] += 1;
    pairs[static_cast<std::size_t>(8 * values[i]) * 8 + static_cast<std::size_t>(8 * values[i + 1])] += 1;
  }
  CHECK(std::fabs(chi_square(counts)) < 4);
  CHECK(std::fabs(chi_square(pairs)) < 4);
}

TEST_CASE("seeds, even neighbouring ones, are independent", "[random]") {
  const auto draw = [](std::uint64_t seed) { return numbers_of(tenon::normal<float>(rank<1>(20000), seed)); };
  const auto first = draw(1);
  for (const std::uint64_t seed :
       {std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1} << 32, std::uint64_t{1} << 63}) {
    CHECK(std::fabs(correlation(first, draw(seed))) < 4 / std::sqrt(20000.0));
  }
}

TEST_CASE("extents of random numbers stand in braces", "[random]") {
  const rank<2> extents(3, 5);
  CHECK(numbers_of(tenon::uniform<float>({3, 5}, 7, 1, 2)) == numbers_of(tenon::uniform<float>(extents, 7, 1, 2)));
  CHECK(numbers_of(tenon::normal<float>({3, 5}, 7, 1, 2)) == numbers_of(tenon::normal<float>(extents, 7, 1, 2)));
  CHECK(numbers_of(tenon::truncated_normal<float>({3, 5}, 7, {.low = 0})) ==
        numbers_of(tenon::truncated_normal<float>(extents, 7, {.low = 0})));
  CHECK(numbers_of(tenon::bernoulli<int>({3, 5}, 7, 0.5)) == numbers_of(tenon::bernoulli<int>(extents, 7, 0.5)));
  CHECK(numbers_of(tenon::randint<int>({3, 5}, 7, 1, 9)) == numbers_of(tenon::randint<int>(extents, 7, 1, 9)));
}
