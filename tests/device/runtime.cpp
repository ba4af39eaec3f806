// tests/device/runtime.cpp: checked CUDA calls and device properties.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/config.hpp>
#include <tenon/device/runtime.hpp>

#include "support/catch.hpp"
#include "support/text_of.hpp"

TEST_CASE("the runtime's header compiles everywhere", "[device]") {
#if defined(__CUDACC__)
  STATIC_REQUIRE(tenon::compiled_by_nvcc);
#else
  STATIC_REQUIRE_FALSE(tenon::compiled_by_nvcc);
#endif
}

#if defined(__CUDACC__)
TEST_CASE("a failed call is an exception that names call, code and kernel", "[device]") {
  tenon::check_cuda("cudaMalloc", cudaSuccess);
  try {
    tenon::check_cuda("cudaMalloc", cudaErrorMemoryAllocation, "softmax");
    CHECK(false);
  } catch (const tenon::cuda_error& caught) {
    CHECK(std::string(caught.what()).find("cudaMalloc: kernel softmax: cudaErrorMemoryAllocation (2), ") == 0);
  }
}

TEST_CASE("a call that finds no GPU says so", "[device]") {
  for (const auto code : {cudaErrorInsufficientDriver, cudaErrorNoDevice}) {
    const auto text = tenon_test::text_of<tenon::cuda_error>([&] { tenon::check_cuda("cudaGetDevice", code); });
    CHECK(tenon_test::has(text, "; there is no GPU, or no driver for it"));
  }
  CHECK_FALSE(tenon_test::has(
      tenon_test::text_of<tenon::cuda_error>([] { tenon::check_cuda("cudaMalloc", cudaErrorMemoryAllocation); }),
      "GPU"));
}

TEST_CASE("properties are those of the devices that are there", "[device]") {
  CHECK_THROWS_AS(tenon::properties_of(-1), tenon::cuda_error);
  CHECK_THROWS_AS(tenon::properties_of(tenon::cuda_device_count()), tenon::cuda_error);
  for (int device = 0; device < tenon::cuda_device_count(); ++device) {
    CHECK(tenon::properties_of(device).architecture >= 75);
    CHECK(tenon::properties_of(device).multiprocessors > 0);
    CHECK(tenon::properties_of(device).shared_bytes_per_block >= 48 * 1024);
  }
}
#endif
