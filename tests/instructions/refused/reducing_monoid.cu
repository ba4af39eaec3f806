// tests/instructions/refused/reducing_monoid.cu: a monoid of the host, by which kernels fold.
// found: monoid_of_reduce_needs_TENON_HOST_DEVICE
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct product_monoid : tenon::prod_monoid {
  static constexpr const char* name = "product";
  template <class V>
  static V combine(V left, V right) {
    return left * right;
  }
};

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = tenon::reduce<product_monoid>(x, tenon::axis<0>);
}
