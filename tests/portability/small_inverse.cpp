// tests/portability/small_inverse.cpp: statements that keep short vectors compile without a warning of plain x86-64.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/linalg.hpp>

namespace tn = tenon;

int main() {
  const tn::tensor<double, tn::shape<4, 4>> x = tn::eye<double>(4), y = tn::inverse(x);
  const tn::tensor<float, tn::rank<1>> places = {0, 9};
  const tn::tensor<bool, tn::rank<2>> mask = tn::new_axis<1>(places) == tn::arange<int>(10);  // compared in double
  return y(0, 0) == 1.0 && mask(1, 9) ? 0 : 1;
}
