// expect: tenon: windows<3, 3>(x, 1) slide over the last two axes; along one axis, windows(x, axis<0>, {3}, {1})
// tests/compile_fail/windows_of_one_length.cpp: windows that name no axis.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(const tenon::tensor<float, tenon::rank<1>>& x, tenon::tensor<float, tenon::rank<1>>& means) {
#ifdef MISUSE
  means = tenon::mean(tenon::windows<3>(x, 1), tenon::drop<-1>);
#else
  means = tenon::mean(tenon::windows(x, tenon::axis<0>, {3}, {1}), tenon::drop<-1>);
#endif
}
