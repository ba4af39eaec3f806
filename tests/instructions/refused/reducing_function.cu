// tests/instructions/refused/reducing_function.cu: a function of the host, by which kernels fold.
// found: function_of_map_or_reduce_needs_TENON_HOST_DEVICE
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct product {
  float operator()(float left, float right) const { return left * right; }
};

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = tenon::reduce(x, tenon::axis<0>, 1, product{});
}
