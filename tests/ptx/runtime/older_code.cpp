// tests/ptx/runtime/older_code.cpp: a program for sm_75, as nvcc makes it by default, on a device for sm_90.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>

#include "support/catch.hpp"

TEST_CASE("kernels are chosen for the architecture that they were made for", "[ptx]") {
  const int device = tenon::current_cuda_device();
  CHECK(tenon::properties_of(device).architecture == 90);
  CHECK(tenon::space_devices<tenon::cuda>::architecture() == 75);
}
