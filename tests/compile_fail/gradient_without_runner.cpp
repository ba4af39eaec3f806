// expect: tenon: to run gradients of attention include <tenon/algorithms/attention_gradient.hpp> or
// lines: 20: it stands where the statement runs, below the evaluator
// tests/compile_fail/gradient_without_runner.cpp: gradients of attention, whose loops are not included.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/gradient.hpp>
#include <tenon/products.hpp>
#ifndef MISUSE
#include <tenon/algorithms/attention_gradient.hpp>
#endif

using matrix = tenon::tensor<float, tenon::rank<2>>;

matrix statement(const matrix& query, const matrix& key, const matrix& value) {
  const auto v = tenon::variable<0>(value);
  const auto [dv] = tenon::gradient(tenon::sum(tenon::scaled_dot_product_attention(query, key, v)), tenon::wrt(v));
  return dv;
}
