// expect: tenon: an optimizer moves one network; several, and loose parameters, are members of one nn::module
// lines: 10: the constructor asserts it, and g++ says where it stands
// tests/compile_fail/optimizer_of_list.cpp: an optimizer of a list of networks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

struct critics : nn::module<critics> {
  nn::linear<3, 1> first, second;
  nn::parameter<float, tenon::shape<1>> log_alpha;
};

void statement() {
  critics both;
#ifdef MISUSE
  auto& [first, second, alone] = both;
  tenon::train::adam<> optimizer({first, second}, {.lr = 1e-3});
#else
  tenon::train::adam<> optimizer(both, {.lr = 1e-3});
#endif
}
