// tests/device/profiler_range.cpp: ranges open and close without a profiler, nested and from several threads.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/profiler_range.hpp>
#include <thread>
#include <type_traits>

#include "support/catch.hpp"

TEST_CASE("ranges nest, on any thread", "[device]") {
  const tenon::profiler_range outer("outer");
  const tenon::profiler_range inner("inner");
  std::thread([] { const tenon::profiler_range elsewhere("elsewhere"); }).join();
  CHECK_FALSE(std::is_convertible_v<const char*, tenon::profiler_range>);
#if defined(__CUDACC__)
  CHECK(TENON_NVTX == 1);  // the toolkit brings the headers
#else
  CHECK(TENON_NVTX == 0);  // nothing of CUDA is looked for outside nvcc
#endif
}
