// expect: tenon: the host reads elements of this space after a copy, x.to<tenon::host>()
// lines: 8: g++ prints the loop with the deleted function before the line where that is declared
// tests/compile_fail/loop_on_device.cpp: a loop of the host over elements that lie on a device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using space = tenon::cuda;
#else
using space = tenon::host;
#endif

float statement(const tenon::tensor<float, tenon::rank<1>, space>& x) {
  float total = 0;
  for (const float each : x) total += each;
  return total;
}
