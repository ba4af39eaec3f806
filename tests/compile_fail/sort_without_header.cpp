// expect: tenon: include <tenon/algorithms.hpp>
// expect: sort_call
// tests/compile_fail/sort_without_header.cpp: an algorithm behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifndef MISUSE
#include <tenon/algorithms.hpp>
#endif

using namespace tenon;

tensor<float, rank<1>> statement(const tensor<float, rank<1>>& x) { return sort(x, axis<0>); }
