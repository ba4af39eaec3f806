// expect: tenon: a view of const elements cannot be assigned to
// tests/compile_fail/assign_to_const.cpp: an output of a joint statement that lies in a tensor which is const.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
using matrix = const tenon::tensor<float, tenon::rank<2>>;
#else
using matrix = tenon::tensor<float, tenon::rank<2>>;
#endif

void statement(matrix& f, const tenon::tensor<float, tenon::rank<1>>& v) {
  tenon::evaluate(tenon::assign(tenon::select(f, tenon::axis<1>, 0), v * 2),
                  tenon::assign(tenon::select(f, tenon::axis<1>, 1), v + 1));
}
