// tests/device/freeing_streams.cpp: streams in whose order memory is freed.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/config.hpp>
#include <tenon/device/freeing_streams.hpp>

#include "support/catch.hpp"

TEST_CASE("the header of freeing streams compiles everywhere", "[device]") {
#if defined(__CUDACC__)
  if (tenon::cuda_device_count() == 0) return;
  const int device = tenon::current_cuda_device();
  const auto freeing = tenon::detail::freeing_stream(device);
  CHECK(freeing == tenon::detail::freeing_stream(device));
  CHECK(freeing.handle != nullptr);
  const tenon::stream home, other;
  tenon::event mark, of_freeing, of_default;
  mark.record(other.handle());
  of_freeing.record(tenon::detail::handle_of(freeing));
  of_default.record(nullptr);
  tenon::detail::await_streams_of_device({home.handle(), device});
  CHECK(mark.is_done());
  CHECK(of_freeing.is_done());
  CHECK(of_default.is_done());
#else
  STATIC_REQUIRE_FALSE(tenon::compiled_by_nvcc);
#endif
}
