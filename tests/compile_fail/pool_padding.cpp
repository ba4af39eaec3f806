// expect: tenon: a pool's kernel, stride and dilation are at least 1, its padding at most half of the window
// lines: 8: each layer of pools derives from the one that asserts it
// tests/compile_fail/pool_padding.cpp: a pool whose windows lie in padding alone.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#ifdef MISUSE
constexpr tenon::nn::pool2d_options options{.padding = 2};
#else
constexpr tenon::nn::pool2d_options options{.padding = 1};
#endif

void statement(const tenon::tensor<float, tenon::rank<4>>& x, tenon::tensor<float, tenon::rank<4>>& y) {
  y = tenon::nn::max_pool2d<3, options>{}.forward(x);
}
