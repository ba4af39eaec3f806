// tests/expr/window_functions.cpp: windows against NumPy's numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/window_functions.hpp>

#include "support/elements.hpp"
#include "support/text_of.hpp"

using tenon_test::difference;
using tenon_test::numbers_of;
using decimals_of_window = std::vector<double>;

TEST_CASE("windows have NumPy's numbers, and periodic ones are the begin of longer ones", "[window_functions]") {
  // python3 -c "import numpy as np; print(np.hanning(5), np.hamming(5), np.blackman(5), np.kaiser(5, 14))"
  const decimals_of_window hann = {0, 0.5, 1, 0.5, 0}, hamming = {0.08, 0.54, 1, 0.54, 0.08},
                           blackman = {0, 0.34, 1, 0.34, 0},
                           kaiser = {7.726866835270368e-06, 0.16493218754795194, 1.0, 0.16493218754795194,
                                     7.726866835270368e-06};
  CHECK(difference(numbers_of(tenon::hann_window<double>(5, false)), hann, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::hamming_window<double>(5, false)), hamming, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::blackman_window<double>(5, false)), blackman, 1e-15) == "");
  CHECK(difference(numbers_of(tenon::kaiser_window<double>(5, false, 14)), kaiser, 1e-14) == "");
  const auto begin_of = [](decimals_of_window all) { return all.pop_back(), all; };
  CHECK(difference(numbers_of(tenon::hann_window<float>(4)), begin_of(hann), 1e-7) == "");
  CHECK(difference(numbers_of(tenon::hamming_window<float>(4)), begin_of(hamming), 1e-7) == "");
  CHECK(difference(numbers_of(tenon::blackman_window<float>(4)), begin_of(blackman), 1e-7) == "");
  CHECK(difference(numbers_of(tenon::kaiser_window<float>(4, true, 14)), begin_of(kaiser), 1e-7) == "");
  // python3 -c "import numpy as np; print(np.kaiser(8, 500))"
  CHECK(difference(numbers_of(tenon::kaiser_window<double>(8, false, 500)),
                   {3.992319612944512e-216, 7.974678585538032e-66, 1.1723383830615402e-21, 0.005957029805908048,
                    0.005957029805908048, 1.1723383830615402e-21, 7.974678585538032e-66, 3.992319612944512e-216},
                   1e-12) == "");
}

TEST_CASE("windows of one element are 1, and of none empty", "[window_functions]") {
  for (const bool is_periodic : {false, true}) {
    CHECK(numbers_of(tenon::hann_window<float>(1, is_periodic)) == decimals_of_window{1});
    CHECK(numbers_of(tenon::blackman_window<double>(1, is_periodic)) == decimals_of_window{1});
    CHECK(numbers_of(tenon::kaiser_window<double>(1, is_periodic)) == decimals_of_window{1});
    CHECK(numbers_of(tenon::hamming_window<double>(0, is_periodic)).empty());
  }
  CHECK(tenon_test::text_of<tenon::shape_error>([] { tenon::hann_window<float>(-1); }) ==
        "hann_window: -1 elements, expected 0 or more");
  CHECK(tenon_test::text_of<tenon::error>([] { tenon::kaiser_window<float>(4, true, -1); }) ==
        "kaiser_window: beta -1, expected 0 to 500");
}
