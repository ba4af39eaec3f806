// expect: tenon: a module derives from nn::module of its own name alone: struct net : nn::module<net>
// lines: 10: the optimizer asserts it, and g++ says where it stands
// tests/compile_fail/module_of_another.cpp: a module whose base has the name of another one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train.hpp>

namespace nn = tenon::nn;

struct actor : nn::module<actor> {
  nn::linear<3, 4> head;
  auto forward(const auto& x) { return head(x); }
};
#ifdef MISUSE
struct critic : nn::module<actor> {
#else
struct critic : nn::module<critic> {
#endif
  nn::linear<3, 1> head;
  auto forward(const auto& x) { return head(x); }
};

void statement(critic& network) { tenon::train::adam<> optimizer(network, {.lr = 1e-3}); }
