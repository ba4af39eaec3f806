// tests/expr/random_exponential.cpp: exponential numbers, and choices by weights that are made of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random_exponential.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::exponential;
using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::text_of;

/// Kolmogorov's statistic of numbers and the exponential distribution, times the root of their count.
double distance_from_exponential(std::vector<double> values, double rate) {
  std::sort(values.begin(), values.end());
  const double count = static_cast<double>(values.size());
  double farthest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double expected = 1 - std::exp(-rate * values[i]), below = static_cast<double>(i) / count;
    farthest = std::max({farthest, expected - below, below + 1 / count - expected});
  }
  return farthest * std::sqrt(count);
}

template <class T>
double exponential_of_bits(std::uint32_t bits) {
  return static_cast<double>(
      tenon::exponential_generator<T>{.seed = 1, .scale = 1}.of_block({{bits, bits, bits, bits}}, 0));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("exponential numbers have the distribution of their rate", "[random_exponential]",
                        tenon_test::spaces) {
  const tenon::tensor<float, rank<1>, TestType> x = exponential<float>({200000}, 7, 0.5f);
  CHECK(distance_from_exponential(numbers_of(x), 0.5) < 1.95);
  const tenon::tensor<double, rank<1>, TestType> y = exponential<double>({200000}, 7, 3.0);
  CHECK(distance_from_exponential(numbers_of(y), 3) < 1.95);
  CHECK(distance_from_exponential(numbers_of(y), 3.03) > 1.95);
}

TEST_CASE("exponential numbers of extreme bits are finite and above 0", "[random_exponential]") {
  CHECK(exponential_of_bits<float>(0) == Approx(22.1807));
  CHECK(exponential_of_bits<double>(0) == Approx(44.3614));
  CHECK(exponential_of_bits<float>(~0u) == 0x1p-26);
  CHECK(exponential_of_bits<double>(~0u) == 0x1p-55);
}

TEST_CASE("exponential numbers are a function of seed and position", "[random_exponential]") {
  CHECK(numbers_of(exponential<float>({6}, 3)) == numbers_of(exponential<float>(rank<2>(2, 3), 3)));
  CHECK(numbers_of(exponential<float>({6}, 3)) != numbers_of(exponential<float>({6}, 4)));
  const double one = exponential<double>(tenon::shape<>{}, 3);
  CHECK(one == numbers_of(exponential<double>({6}, 3))[0]);
}

TEMPLATE_TEST_CASE("exponential numbers drawn together are those that are drawn one by one", "[random_exponential]",
                   float, double, tenon::half) {
  CHECK(tenon_test::count_unlike_alone(exponential<TestType>({150}, 3, 0.3f)) == 0);
}

TEST_CASE("rates that are not above 0, or not finite, are refused", "[random_exponential]") {
  const auto refused = [](auto rate) {
    return text_of<tenon::error>([&] { (void)exponential<decltype(rate)>({3}, 1, rate); });
  };
  CHECK(refused(0.0f) == "exponential: rate 0, expected above 0, and finite with its inverse");
  CHECK(refused(-2.0) == "exponential: rate -2, expected above 0, and finite with its inverse");
  CHECK(refused(std::numeric_limits<double>::infinity()) ==
        "exponential: rate inf, expected above 0, and finite with its inverse");
  CHECK(refused(std::numeric_limits<float>::denorm_min()).substr(0, 17) == "exponential: rate");
  CHECK(refused(std::numeric_limits<float>::quiet_NaN()).substr(0, 17) == "exponential: rate");
}

TEMPLATE_LIST_TEST_CASE("the greatest quotient of weights by exponential numbers is a choice by weights",
                        "[random_exponential]", tenon_test::spaces) {
  const std::vector<double> shares = {0.5, 0.0, 0.2, 0.3};
  const auto weights = tenon_test::tensor_of<TestType>(rank<1>(4), std::vector<double>{5, 0, 2, 3});
  const tenon::tensor<tenon::index, rank<1>, TestType> chosen =
      tenon::argmax(weights / exponential<double>({100000, 4}, 11), axis<-1>);
  std::vector<double> counts(4);
  for (const double each : numbers_of(chosen)) ++counts[static_cast<std::size_t>(each)];
  CHECK(counts[1] == 0);
  double statistic = 0;
  for (const std::size_t i : {0u, 2u, 3u}) {
    const double expected = 100000 * shares[i];
    statistic += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  CHECK(statistic < 13.8);  // one seed in 1000 gives more, of 2 degrees of freedom
}
