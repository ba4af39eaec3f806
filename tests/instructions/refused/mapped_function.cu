// tests/instructions/refused/mapped_function.cu: a function of the host, mapped in kernels.
// found: function_of_map_or_reduce_needs_TENON_HOST_DEVICE
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct squared {
  float operator()(float x) const { return x * x; }
};

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = tenon::map(squared{}, x);
}
