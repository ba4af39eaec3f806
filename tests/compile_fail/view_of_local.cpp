// expect: address of stack memory associated with local variable 'x' returned
// compiler: Clang: others do not look for it
// tests/compile_fail/view_of_local.cpp: a view of a tensor that ends with its function.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef __clang__
#pragma clang diagnostic error "-Wreturn-stack-address"
#endif

#ifdef MISUSE
auto first_row() {
#else
tenon::tensor<float, tenon::rank<1>> first_row() {
#endif
  const tenon::tensor<float, tenon::rank<2>> x = {{1, 2}, {3, 4}};
  return x[0];
}
