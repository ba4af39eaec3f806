// tests/instructions/matmul_without_unit.cu: threads multiply what the oldest core has no unit for; nothing traps.
// architectures: 75
// has: ld\.shared\.v4\.[bfu]32
// lacks: [ \t]wmma
// lacks: [ \t]trap
// registers: 255
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

template <class T>
using matrix = tenon::tensor<T, tenon::rank<2>, tenon::cuda>;

template <class T>
void product(matrix<T>& y, const matrix<T>& x, const matrix<T>& w) {
  y = tenon::matmul<tenon::precision::tf32>(x, w);
}
template void product(matrix<tenon::bfloat16>&, const matrix<tenon::bfloat16>&, const matrix<tenon::bfloat16>&);
template void product(matrix<float>&, const matrix<float>&, const matrix<float>&);
template void product(matrix<double>&, const matrix<double>&, const matrix<double>&);
