// expect: tenon: a class with a forward is a module of public layers, struct block : nn::module<block>; nobody
// lines: 12: members are looked at within functions of the module
// tests/compile_fail/class_of_layers.cpp: a member whose layers are private, so that nobody would train them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>

namespace nn = tenon::nn;

#ifdef MISUSE
class block {
 public:
  auto forward(const auto& x) { return inner(x); }

 private:
#else
struct block : nn::module<block> {
  auto forward(const auto& x) { return inner(x); }
#endif
  nn::linear<2, 2> inner;
};
struct network : nn::module<network> {
  nn::linear<2, 2> first;
  block second;
};

void statement(network& net) { net.initialise(1); }
