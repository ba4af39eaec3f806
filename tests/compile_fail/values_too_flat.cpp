// expect: tenon: values stand in a list for each axis
// tests/compile_fail/values_too_flat.cpp: values of a matrix in one list.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

#ifdef MISUSE
tenon::tensor<float, tenon::rank<2>> w = {1, 2, 3, 4};
#else
tenon::tensor<float, tenon::rank<2>> w = {{1, 2}, {3, 4}};
#endif
