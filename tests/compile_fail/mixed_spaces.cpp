// expect: tenon: the operands of one statement must lie in one memory space
// tests/compile_fail/mixed_spaces.cpp: operands of two memory spaces.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/expressions.hpp>

#ifdef MISUSE
using other = tenon::emulated;
#else
using other = tenon::host;
#endif

void statement(const tenon::tensor<float, tenon::rank<1>>& a, const tenon::tensor<float, tenon::rank<1>, other>& b,
               tenon::tensor<float, tenon::rank<1>>& c) {
  c = a * b;
}
