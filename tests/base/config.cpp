// tests/base/config.cpp: version, markers and defaults.
// The macros are the whole interface, so their values are what there is to test.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/config.hpp>

#include "support/catch.hpp"

namespace {

TENON_INLINE int forced() { return 3; }
TENON_HOST_DEVICE int marked() { return 4; }

}  // namespace

TEST_CASE("the version is major * 10000 + minor * 100 + patch", "[config]") {
  CHECK(TENON_VERSION / 10000 == 0);
  CHECK(TENON_VERSION / 100 % 100 >= 1);
}

TEST_CASE("switches are numbers, so that #if and if constexpr may read them", "[config]") {
  CHECK((TENON_CHECKED == 0 || TENON_CHECKED == 1));
  CHECK((TENON_XSIMD == 0 || TENON_XSIMD == 1));
}

TEST_CASE("markers may stand before any function", "[config]") { CHECK(forced() + marked() == 7); }

TEST_CASE("the compiler is known as a value", "[config]") {
#if defined(__CUDACC__)
  CHECK(tenon::compiled_by_nvcc);
#else
  CHECK(!tenon::compiled_by_nvcc);
#endif
}
