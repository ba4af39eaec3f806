// expect: tenon: the channels of a convolution's image must be a multiple of its weight's
// expect: left_extent<3
// expect: right_extent<4
// tests/compile_fail/convolution_channels.cpp: an image with other channels than the weight.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/products.hpp>

#ifdef MISUSE
constexpr tenon::index channels = 4;
#else
constexpr tenon::index channels = 3;
#endif

void statement(const tenon::tensor<float, tenon::shape<tenon::dyn, 3, 28, 28>>& image,
               const tenon::tensor<float, tenon::shape<8, channels, 3, 3>>& weight,
               tenon::tensor<float, tenon::rank<4>>& c) {
  c = tenon::convolve(image, weight);
}
