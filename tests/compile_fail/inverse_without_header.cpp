// expect: tenon: include <tenon/linalg.hpp>, or these arguments do not fit
// expect: linear_algebra_call
// tests/compile_fail/inverse_without_header.cpp: linear algebra, which no other door brings.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifndef MISUSE
#include <tenon/linalg.hpp>
#endif

using namespace tenon;

tensor<float, rank<2>> statement(const tensor<float, rank<2>>& x) { return inverse(x); }
