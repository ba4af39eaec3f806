// expect: tenon: to run products, convolutions and attention include <tenon/products.hpp> or <tenon/tenon.hpp>
// lines: 20: it stands where the statement runs, below the evaluator
// tests/compile_fail/product_without_runner.cpp: a product that is named, but whose loops are not included.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifdef MISUSE
#include <tenon/expr/matmul.hpp>
#else
#include <tenon/products.hpp>
#endif

using matrix = tenon::tensor<float, tenon::rank<2>>;

matrix statement(const matrix& a, const matrix& b) { return tenon::matmul(a, b); }
