// tests/support/random.hpp: reproducible random values, and closeness to a reference in double.
// The generator is not the library's: a test must not lean on what it tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace tenon_test {

/// splitmix64 (Steele, Lea, Flood 2014): the same sequence on every machine.
class random_source {
 public:
  explicit random_source(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t mixed = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 31);
  }
  double uniform(double low, double high) { return low + (high - low) * static_cast<double>(bits() >> 11) * 0x1p-53; }
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(count));
  }

 private:
  std::uint64_t state_;
};

/// `count` values of T in [low, high).
template <class T>
std::vector<T> random_values(std::size_t count, std::uint64_t seed, double low = -1, double high = 1) {
  random_source source(seed);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<float>(source.uniform(low, high))));
  return values;
}

/// Checks |actual - expected| <= bound * max(1, |expected|) everywhere, NaN and infinities exactly; names the first
/// element that is not so.
template <class Actual, class Expected>
void check_close(const Actual& actual, const Expected& expected, double bound) {
  REQUIRE(static_cast<std::size_t>(actual.size()) == static_cast<std::size_t>(expected.size()));
  auto wanted = expected.begin();
  std::size_t at = 0;
  for (const auto& each : actual) {
    const double found = static_cast<double>(each), reference = static_cast<double>(*wanted++);
    const bool same = found == reference || (std::isnan(found) && std::isnan(reference));
    if (!same && !(std::fabs(found - reference) <= bound * std::fmax(1.0, std::fabs(reference)))) {
      FAIL_CHECK("at " << at << ": " << found << ", expected " << reference << ", bound " << bound);
      return;
    }
    ++at;
  }
}

/// Pearson's statistic of equally likely bins, in standard deviations from its expectation.
inline double chi_square(const std::vector<double>& counts) {
  double total = 0, statistic = 0;
  for (const double each : counts) total += each;
  const double expected = total / static_cast<double>(counts.size());
  for (const double each : counts) statistic += (each - expected) * (each - expected) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1;
  return (statistic - freedom) / std::sqrt(2 * freedom);
}

}  // namespace tenon_test
