// expect: tenon: a module is a struct without constructors whose layers are public members
// lines: 9: the members are asked for where the network is used
// tests/compile_fail/module_constructor.cpp: a module with a constructor, whose members nobody can list.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<3, 4> layer;
#ifdef MISUSE
  network() { layer.initialise(1); }
#endif
  auto forward(const auto& x) { return layer(x); }
};

void statement() {
  network net;
  net.initialise(1);
}
