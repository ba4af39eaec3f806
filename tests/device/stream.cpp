// tests/device/stream.cpp: streams and events.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/config.hpp>
#include <tenon/device/stream.hpp>

#include "support/catch.hpp"

TEST_CASE("the streams' header compiles everywhere", "[device]") {
#if defined(__CUDACC__)
  STATIC_REQUIRE(tenon::compiled_by_nvcc);
#else
  STATIC_REQUIRE_FALSE(tenon::compiled_by_nvcc);
#endif
}

#if defined(__CUDACC__)
TEST_CASE("a scope sets the thread's stream and puts it back", "[device]") {
  if (tenon::cuda_device_count() == 0) return;
  const cudaStream_t outer = tenon::current_stream();
  tenon::stream own, other;
  {
    const tenon::stream_scope scope(own);
    CHECK(tenon::current_stream() == own.handle());
    tenon::event mark;
    mark.record();
    mark.hold(other.handle());
    mark.synchronize();
    tenon::synchronize();
  }
  CHECK(tenon::current_stream() == outer);
  const cudaStream_t within = tenon::with_stream(other, [] { return tenon::current_stream(); });
  CHECK(within == other.handle());
  CHECK(tenon::current_stream() == outer);
  other.synchronize();
  tenon::event mark;
  mark.record(other.handle());
  mark.synchronize();
  CHECK(mark.is_done());
  CHECK(other.device() == tenon::current_cuda_device());
  const tenon::stream moved(std::move(own));
  CHECK(own.handle() == nullptr);
  CHECK(moved.handle() != nullptr);
}
#endif
