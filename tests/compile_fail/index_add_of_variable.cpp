// expect: tenon: what is written in place has no gradient; index_add(axis<0>, y, indices, x)
// lines: 8: scatters say it at one place, below the function that is called
// tests/compile_fail/index_add_of_variable.cpp: slices of a traced value that are added to a tensor in its place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

using nodes = tenon::traced<float, tenon::rank<2>>;

void statement(tenon::tensor<float, tenon::rank<2>>& sums, const tenon::tensor<int, tenon::rank<1>>& places,
               const nodes& messages) {
#ifdef MISUSE
  tenon::index_add(sums, tenon::axis<0>, places, messages);
#else
  tenon::index_add(sums, tenon::axis<0>, places, tenon::stop_gradient(messages));
#endif
}
