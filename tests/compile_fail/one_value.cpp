// expect: explicit
// tests/compile_fail/one_value.cpp: a number that could be a value as well as an extent.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<1>> v = {5};
#else
tenon::tensor<float, tenon::rank<1>> v({5});
#endif
