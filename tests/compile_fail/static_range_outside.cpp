// expect: tenon: a static_range begins within the extent of its axis
// lines: 10: g++ says from where
// tests/compile_fail/static_range_outside.cpp: a part behind the end of an axis whose extent types know.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void take_columns(const tenon::tensor<float, tenon::shape<tenon::dyn, 3>>& points) {
#ifdef MISUSE
  (void)tenon::slice(points, tenon::all_of, tenon::static_range<4, 5>{});
#else
  (void)tenon::slice(points, tenon::all_of, tenon::static_range<3, 5>{});
#endif
}
