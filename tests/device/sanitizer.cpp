// tests/device/sanitizer.cpp: telling sanitizers about fibers.
// What the reports find is tested where kernels run: tests/device/emulated.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/sanitizer.hpp>

#include "support/catch.hpp"

static_assert(!(tenon::detail::address_sanitized && tenon::detail::thread_sanitized));

TEST_CASE("accesses that are not observed happen all the same", "[device]") {
  int value = 1;
  {
    const tenon::detail::unobserved outer;
    const tenon::detail::unobserved inner;
    value = 2;
  }
  tenon::detail::release_to(&value);
  tenon::detail::acquire_from(&value);
  CHECK(value == 2);
}
