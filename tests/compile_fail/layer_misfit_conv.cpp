// expect: tenon: this layer does not fit its input; the extents must be equal
// expect: input_has<32
// expect: layer_takes<16
// lines: 11: each layer asserts what it takes; the layers before it stand in between
// tests/compile_fail/layer_misfit_conv.cpp: a convolution that takes other channels than it is given.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

#ifdef MISUSE
constexpr tenon::index channels = 16;
#else
constexpr tenon::index channels = 32;
#endif

auto network() { return nn::sequential(nn::conv2d<3, 32, 3>{}, nn::relu{}, nn::conv2d<channels, 64, 3>{}); }
