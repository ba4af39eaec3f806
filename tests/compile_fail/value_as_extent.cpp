// expect: tenon: an extent is a whole number; one value stands behind its extent
// lines: 7: g++ shows the constructor behind the statement
// tests/compile_fail/value_as_extent.cpp: a single value in braces, where an extent is read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<1>> v{0.5f};
#else
tenon::tensor<float, tenon::rank<1>> v({1}, {0.5f});
#endif
