// expect: tenon: a struct of layers is a module, too: struct block : nn::module<block>; nobody trains others
// lines: 12: members are looked at within functions of the module
// tests/compile_fail/struct_of_layers.cpp: a member that holds a layer and is no module, so that nobody would train it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>

namespace nn = tenon::nn;

#ifdef MISUSE
struct block {
#else
struct block : nn::module<block> {
#endif
  nn::linear<2, 2> inner;
};
struct network : nn::module<network> {
  nn::linear<2, 2> first;
  block second;
};

void statement(network& net) { net.initialise(1); }
