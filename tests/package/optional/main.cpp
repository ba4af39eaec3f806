// tests/package/optional/main.cpp: a statement that uses what is there, and the names of what is there.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <tenon/expressions.hpp>

namespace tn = tenon;

int main() {
  tn::tensor<float, tn::rank<1>> a({1000}), b({1000});
  a = 0.5F;
  b = tn::tanh(a);
  for (tn::index i = 0; i < 1000; ++i) {
    if (!(std::abs(b(i) - std::tanh(0.5F)) < 1e-6F)) return 1;
  }
  std::printf("with");
#if defined(_OPENMP)
  std::printf(" OpenMP");
#endif
  if (TENON_XSIMD != 0) std::printf(" xsimd");
  if (TENON_PNG != 0) std::printf(" PNG");
  if (TENON_ZLIB != 0) std::printf(" ZLIB");
  std::printf("\n");
}
