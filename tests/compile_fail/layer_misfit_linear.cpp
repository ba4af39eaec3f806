// expect: tenon: this layer does not fit its input; the extents must be equal
// expect: input_has<3136
// expect: layer_takes<1568
// lines: 11: each layer asserts what it takes; the layers before it stand in between
// tests/compile_fail/layer_misfit_linear.cpp: a linear layer that does not fit the flattened images of a pass.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

#ifdef MISUSE
constexpr tenon::index features = 32 * 7 * 7;
#else
constexpr tenon::index features = 64 * 7 * 7;
#endif

auto make_network() {
  constexpr nn::conv2d_options same{.padding = 1};
  return nn::sequential(nn::conv2d<1, 64, 3, same>{}, nn::max_pool2d<2>{}, nn::max_pool2d<2>{}, nn::flatten{},
                        nn::linear<features, 10>{});
}

void statement(const tenon::tensor<float, tenon::shape<tenon::dyn, 1, 28, 28>>& images) {
  auto net = make_network();
  nn::pass<decltype(net), tenon::shape<tenon::dyn, 1, 28, 28>> pass(net);
  pass.forward(images.view());
}
