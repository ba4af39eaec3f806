// expect: tenon: braces hold a tensor's values; counts are extents and stand in parentheses
// tests/compile_fail/count_in_braces.cpp: extents where values stand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

tenon::tensor<float, tenon::rank<2>> zeros_of(tenon::index rows, tenon::index columns) {
#ifdef MISUSE
  return tenon::tensor<float, tenon::rank<2>>{{rows, columns}};
#else
  return tenon::tensor<float, tenon::rank<2>>({rows, columns});
#endif
}
