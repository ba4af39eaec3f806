// expect: a mapped function returns an element type
// tests/compile_fail/map_result.cpp: a mapped function that returns what no tensor holds.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
struct word {
  char letters[4];
};
#else
using word = int;
#endif

void statement(const tenon::tensor<float, tenon::rank<1>>& a) {
  (void)tenon::map([](float) { return word{}; }, a).shape();
}
