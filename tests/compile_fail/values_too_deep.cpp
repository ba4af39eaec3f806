// expect: tenon: values stand in a list for each axis
// tests/compile_fail/values_too_deep.cpp: values of a vector in a list of lists.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<1>> v = {{1, 2}, {3, 4}};
#else
tenon::tensor<float, tenon::rank<1>> v = {1, 2, 3, 4};
#endif
