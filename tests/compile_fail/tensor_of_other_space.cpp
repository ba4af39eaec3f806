// expect: tenon: the other tensor lies in another memory space; copy it, y = x.to<Space>()
// tests/compile_fail/tensor_of_other_space.cpp: a tensor on the host made from one on a device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using other = tenon::emulated;
#else
using other = tenon::host;
#endif

void statement(const tenon::tensor<float, tenon::rank<1>, other>& there) {
  const tenon::tensor<float, tenon::rank<1>> here = there;
  static_cast<void>(here);
}
