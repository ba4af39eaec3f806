// tests/train/schedule.cpp: learning rates over the steps.
// Values at the ends, in the middle, and beyond.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/schedule.hpp>

#include "support/catch.hpp"

TEST_CASE("a cosine falls from its first rate to zero", "[schedule]") {
  CHECK(tenon::train::cosine(0.5f, 0, 100) == 0.5f);
  CHECK(tenon::train::cosine(0.5f, 50, 100) == 0.25f);
  CHECK(std::fabs(tenon::train::cosine(1.0f, 25, 100) - 0.85355339) < 1e-7);
  CHECK(tenon::train::cosine(0.5f, 99, 100) > 0.0f);
  CHECK(tenon::train::cosine(0.5f, 100, 100) == 0.0f);
  CHECK(tenon::train::cosine(0.5f, 1000, 100) == 0.0f);
  CHECK(tenon::train::cosine(0.5f, 0, 0) == 0.0f);
  for (int step = 1; step < 100; ++step) {
    CHECK(tenon::train::cosine(0.5f, step, 100) < tenon::train::cosine(0.5f, step - 1, 100));
  }
}
