// expect: its values stand in braces alone
// tests/compile_fail/values_in_parentheses.cpp: values where extents stand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<1>> v({1, 2, 3});
#else
tenon::tensor<float, tenon::rank<1>> v = {1, 2, 3};
#endif
