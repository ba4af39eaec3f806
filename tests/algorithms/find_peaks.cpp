// tests/algorithms/find_peaks.cpp: peaks against SciPy's, and their prominences against walks from each of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/find_peaks.hpp>

#include "support/elements.hpp"
#include "support/operations.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using heights_of_signal = std::vector<double>;

/// The numbers i * i * 7919 % 2003 / `divisor`, rounded down.
auto rough_signal(tenon::index count, tenon::index divisor) {
  return tenon_test::made_tensor<double>(
      rank<1>(count), [&](tenon::index i) { return static_cast<double>(i * i * 7919 % 2003 / divisor); });
}

/// The height above the higher saddle, by a walk to either side.
double prominence_of(const heights_of_signal& x, std::size_t peak) {
  double saddle = -tenon_test::infinity;
  for (const int step : {-1, 1}) {
    double least = x[peak];
    for (std::size_t i = peak; i < x.size() && x[i] <= x[peak]; i += static_cast<std::size_t>(step)) {
      least = std::fmin(least, x[i]);
    }
    saddle = std::fmax(saddle, least);
  }
  return x[peak] - saddle;
}

}  // namespace

TEST_CASE("peaks are SciPy's", "[find_peaks]") {
  // from scipy.signal import find_peaks; x = np.array([i * i * 7919 % 2003 // 100 for i in range(40)], float)
  const auto x = rough_signal(40, 100), y = rough_signal(60, 1);
  const auto all = tenon::find_peaks(x);
  CHECK(numbers_of(all.indices) == heights_of_signal{1, 5, 7, 10, 14, 18, 21, 25, 29, 32, 36, 38});
  CHECK(numbers_of(all.prominences) == heights_of_signal{19, 11, 8, 4, 16, 17, 5, 17, 17, 5, 8, 12});
  CHECK(numbers_of(tenon::find_peaks(x, {.height = 15}).indices) == heights_of_signal{1, 5, 14, 18, 25, 29, 36, 38});
  CHECK(numbers_of(tenon::find_peaks(x, {.prominence = 9}).indices) == heights_of_signal{1, 5, 14, 18, 25, 29, 38});
  // of y = i * i * 7919 % 2003, 60 numbers that all differ
  CHECK(numbers_of(tenon::find_peaks(y, {.distance = 5}).indices) ==
        heights_of_signal{1, 7, 18, 25, 32, 38, 45, 50, 58});
  CHECK(numbers_of(tenon::find_peaks(y, {.height = 1000, .distance = 7, .prominence = 1400}).indices) ==
        heights_of_signal{1, 18, 25, 38, 45});
}

TEST_CASE("heights and prominences of peaks", "[find_peaks]") {
  const auto check = [](const auto& x) {
    const auto [indices, heights, prominences] = tenon::find_peaks(x);
    const auto signal = numbers_of(x);
    REQUIRE(indices.size() > 0);
    for (tenon::index k = 0; k < indices.size(); ++k) {
      const auto place = static_cast<std::size_t>(indices(k));
      CHECK(static_cast<double>(heights(k)) == signal[place]);
      CHECK(prominences(k) == prominence_of(signal, place));
    }
  };
  const auto x = rough_signal(300, 50);
  check(x);
  check(tenon::flip(x, tenon::axis<0>));
  check(tenon::slice(x, tenon::range(0, 300, 3)));
  check(20 - x);
  check(tenon::evaluated_tensor(tenon::cast<std::int8_t>(x * 6 - 128)));
  check(tenon::evaluated_tensor(tenon::cast<tenon::half>(x)));
}

TEST_CASE("plateaus, ends, NaN and short signals", "[find_peaks]") {
  const auto peaks_of = [](const heights_of_signal& values) {
    return numbers_of(tenon::find_peaks(tenon::view(values)).indices);
  };
  CHECK(peaks_of({1, 2, 2, 2, 2, 1, 3, 3, 0, 4, 4}) == heights_of_signal{2, 6});
  CHECK(peaks_of({3, 1, 1, 0, 5}).empty());
  CHECK(peaks_of({0, tenon_test::nan_value, 0, 1, tenon_test::nan_value, 1, 2, 1}) == heights_of_signal{6});
  CHECK(peaks_of({1, 1}).empty());
  CHECK(numbers_of(tenon::find_peaks(tenon::tensor<float, rank<1>>({0})).indices).empty());
  const heights_of_signal equal = {0, 1, 0, 1, 0, 1, 0};
  CHECK(numbers_of(tenon::find_peaks(tenon::view(equal), {.distance = 3}).indices) == heights_of_signal{1, 5});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::find_peaks(tenon::view(equal), {.distance = 0}); }) ==
        "find_peaks: a distance of 0, expected at least 1");
}
