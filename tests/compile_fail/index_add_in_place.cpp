// expect: tenon: index_add(y, axis<0>, ...) writes into a tensor or view; of traced values
// lines: 6: g++ says in which function, and where the header stands
// tests/compile_fail/index_add_in_place.cpp: slices added to a traced value in its place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

using nodes = tenon::traced<float, tenon::rank<2>>;

auto statement(const nodes& sums, const tenon::tensor<int, tenon::rank<1>>& places, const nodes& messages) {
#ifdef MISUSE
  tenon::index_add(sums, tenon::axis<0>, places, messages);
#else
  return tenon::index_add(tenon::axis<0>, sums, places, messages);
#endif
}
