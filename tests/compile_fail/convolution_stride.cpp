// expect: tenon: a convolution's kernel, stride and dilation are at least 1, its paddings at least 0
// lines: 6: the base of all convolution layers asserts it
// tests/compile_fail/convolution_stride.cpp: a convolution that does not move.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#ifdef MISUSE
constexpr tenon::nn::conv2d_options options{.stride = 0};
#else
constexpr tenon::nn::conv2d_options options{.stride = 1};
#endif

tenon::index channels() { return tenon::nn::conv2d<3, 8, 3, options>{}.out_channels; }
