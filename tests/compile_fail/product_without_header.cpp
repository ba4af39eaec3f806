// expect: tenon: include <tenon/products.hpp>
// expect: matmul_call
// tests/compile_fail/product_without_header.cpp: a product behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifndef MISUSE
#include <tenon/products.hpp>
#endif

using matrix = tenon::tensor<float, tenon::rank<2>>;

matrix statement(const matrix& a, const matrix& b) { return tenon::matmul(a, b); }
