// expect: tenon: this layer does not fit its input; the extents must be equal
// expect: input_has<3136
// expect: layer_takes<1568
// lines: 11: each layer asserts what it takes; the calls that lead to it stand in between
// tests/compile_fail/layer_misfit_linear.cpp: a linear layer of a module that does not fit its flattened images.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

#ifdef MISUSE
constexpr tenon::index features = 32 * 7 * 7;
#else
constexpr tenon::index features = 64 * 7 * 7;
#endif

struct network : nn::module<network> {
  nn::conv2d<1, 64, 3, nn::conv2d_options{.padding = 1}> images;
  nn::max_pool2d<4> pool;
  nn::flatten flat;
  nn::linear<features, 10> head;

  auto forward(const auto& x) { return head(flat(pool(images(x)))); }
};

void statement(const tenon::tensor<float, tenon::shape<tenon::dyn, 1, 28, 28>>& images) {
  network net;
  net(images);
}
