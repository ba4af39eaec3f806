// expect: tenon: axes stand behind the operand, sum(x, drop<0>)
// lines: 9: the sentence stands in the line of a deleted function, which g++ shows behind the call
// tests/compile_fail/drop_called.cpp: axes called as if they were a function.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

const tenon::tensor<float, tenon::rank<2>> x = {{1, 2}, {3, 4}};
#ifdef MISUSE
const auto y = tenon::drop<1>(x);
#else
const auto y = tenon::sum(x, tenon::drop<1>);
#endif
