// expect: tenon: tolerances have names, isclose(x, y, {.relative = 1e-5, .absolute = 1e-8}), and stand last
// tests/compile_fail/tolerance_without_name.cpp: a tolerance by its place, as in Python.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using vector = tenon::tensor<float, tenon::rank<1>>;

void statement(tenon::tensor<bool, tenon::rank<1>>& y, const vector& a, const vector& b) {
#ifdef MISUSE
  y = tenon::isclose(a, b, 1e-6);
#else
  y = tenon::isclose(a, b, {.relative = 1e-6});
#endif
}
