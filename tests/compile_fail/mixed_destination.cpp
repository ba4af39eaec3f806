// expect: tenon: the operands of one statement must lie in one memory space
// tests/compile_fail/mixed_destination.cpp: a destination in another memory space than the operands.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using other = tenon::host;
#else
using other = tenon::emulated;
#endif

void statement(const tenon::tensor<float, tenon::rank<1>, tenon::emulated>& a,
               tenon::tensor<float, tenon::rank<1>, other>& c) {
  c = a * 2;
}
