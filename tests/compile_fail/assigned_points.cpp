// expect: tenon: a vector, span or array is assigned through a view of it, x = view(values)
// tests/compile_fail/assigned_points.cpp: points of a program's own containers, given to a view.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include <array>
#include <vector>

void statement(const tenon::view<float, tenon::rank<2>>& x, const std::vector<std::array<float, 3>>& points) {
#ifdef MISUSE
  x = points;
#else
  x = tenon::view(points);
#endif
}
