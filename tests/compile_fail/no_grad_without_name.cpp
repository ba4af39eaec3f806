// expect: tenon: give no_grad a name
// lines: 8: it is a warning of the line, made an error; g++ names the function before
// flags: -Werror
// tests/compile_fail/no_grad_without_name.cpp: one that ends with its line, behind which everything is traced.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

auto statement(const tenon::tensor<float, tenon::rank<2>>& x) {
#ifdef MISUSE
  tenon::no_grad{};
#else
  const tenon::no_grad testing;
#endif
  return tenon::traced(tenon::mean(x));
}
