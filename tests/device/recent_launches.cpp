// tests/device/recent_launches.cpp: which kernels and statements a failure is put down to.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/recent_launches.hpp>

#include <thread>

#include "support/catch.hpp"

TEST_CASE("the latest launches come first, with their statements", "[device]") {
  std::thread([] {
    CHECK(tenon::recent_launches() == "");
    tenon::remember_launch("scan");
    const std::int64_t extents[] = {3, 4};
    {
      const tenon::statement_note_scope outer("add", extents, 2);
      tenon::remember_launch("pointwise");
      {
        const tenon::statement_note_scope part("sum", nullptr, 0);
        tenon::remember_launch("reduce");
      }
      tenon::remember_launch("rows");
    }
    CHECK(tenon::recent_launches() == "rows of add [3, 4], reduce of sum [], pointwise of add [3, 4], scan");
    tenon::remember_launch("sort");
    CHECK(tenon::recent_launches() == "sort, rows of add [3, 4], reduce of sum [], pointwise of add [3, 4]");
  }).join();
}

TEST_CASE("the first to hear of a failure names the suspects for all", "[device]") {
  std::thread([] {
    tenon::remember_launch("guilty");
    CHECK(tenon::suspects_of_failure() ==
          "; a kernel started earlier failed, this thread's latest were: guilty; with CUDA_LAUNCH_BLOCKING=1 in the "
          "environment the failing launch itself throws");
    tenon::remember_launch("innocent");
  }).join();
  tenon::remember_launch("innocent");
  CHECK(tenon::suspects_of_failure().find("innocent") == std::string::npos);
}
