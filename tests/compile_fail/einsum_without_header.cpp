// expect: tenon: include <tenon/products.hpp>
// expect: einsum_call
// tests/compile_fail/einsum_without_header.cpp: a product in letters behind the smallest door alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#ifndef MISUSE
#include <tenon/products.hpp>
#endif

using matrix = tenon::tensor<float, tenon::rank<2>>;

matrix statement(const matrix& a, const matrix& b) { return tenon::einsum<"ij,jk->ik">(a, b); }
