// expect: tenon: include <tenon/algorithms.hpp>, or these arguments do not fit; axes are written as in sort(x, axis<1>)
// expect: algorithm_call
// tests/compile_fail/sort_without_header.cpp: an algorithm behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifndef MISUSE
#include <tenon/algorithms.hpp>
#endif

using namespace tenon;

tensor<float, rank<1>> statement(const tensor<float, rank<1>>& x) { return sort(x, axis<0>); }
