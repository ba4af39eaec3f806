// expect: tenon: a module holds its layers, no pointers to them
// lines: 12: members are looked at within functions of the module
// tests/compile_fail/pointer_to_layer.cpp: a module that points to a layer, which nobody would train.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>

struct head : tenon::nn::module<head> {
#ifdef MISUSE
  tenon::nn::linear<3, 2>* layer = nullptr;
#else
  const tenon::nn::linear<3, 2>* layer = nullptr;  // read, and trained by whoever owns it
#endif
};

void statement(head& net) { net.train(); }
