// expect: to assign an expression include <tenon/expressions.hpp>
// lines: 6: the class that the evaluator specialises asserts it, one instantiation below the assignment
// tests/compile_fail/assign_without_evaluator.cpp: a statement where nothing that evaluates was included.
// SPDX-License-Identifier: Apache-2.0
#ifdef MISUSE
#include <tenon/core/tensor.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#else
#include <tenon/expressions.hpp>
#endif

void statement(const tenon::tensor<float, tenon::rank<1>>& a, tenon::tensor<float, tenon::rank<1>>& c) { c = a + a; }
