// tests/package/main.cpp: the program of a user who has just installed Tenon.
// Every way of getting at the package builds it and reads what it prints.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tenon/tenon.hpp>

namespace tn = tenon;

int main() {
  const tn::tensor<float, tn::rank<1>> a({3}, {1, 2, 3});
  tn::tensor<float, tn::rank<1>> b({3});
  b = a * a + 1;
  std::printf("%g %g %g\n", b(0), b(1), b(2));
}
