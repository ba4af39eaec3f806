// tests/instructions/broken/double_arithmetic.cu: a function of floats that computes in double.
// found: a kernel has .*f64
// lacks: \.f64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct third {
  __host__ __device__ float operator()(float x) const { return static_cast<float>(x * (1.0 / 3.0)); }
};

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = tenon::map(third{}, x);
}
