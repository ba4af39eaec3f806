// benchmarks/simple_cnn.hpp: the convolutional network of W9 and G8.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>

using image_shape = tenon::shape<tenon::dyn, 3, 28, 28>;

inline auto make_simple_cnn() {
  namespace nn = tenon::nn;
  constexpr nn::conv2d_options same{.padding = 1};
  auto network = nn::sequential(nn::conv2d<3, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                                nn::conv2d<32, 64, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                                nn::flatten{}, nn::linear<3136, 128>{}, nn::relu{}, nn::linear<128, 10>{});
  network.initialise(1);
  return network;
}
