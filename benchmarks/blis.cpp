// benchmarks/blis.cpp: calls BLIS by its own interface.
// SPDX-License-Identifier: Apache-2.0
#include "blis.hpp"

#include <blis.h>

void multiply_with_blis(long n, float* a, float* b, float* c) {
  float one = 1.0f, zero = 0.0f;
  bli_sgemm(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, n, n, n, &one, a, n, 1, b, n, 1, &zero, c, n, 1);
}
