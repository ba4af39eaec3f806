// benchmarks/blis.hpp: matrix products of BLIS, where the build found it (BENCHMARKS_BLIS).
// In a file of their own: its header and OpenBLAS's declare the same names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// c = a b of n x n floats.
void multiply_with_blis(long n, float* a, float* b, float* c);
