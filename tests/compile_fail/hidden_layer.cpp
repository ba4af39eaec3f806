// expect: tenon: layers of a module are members, or elements of a std::vector or std::array
// lines: 10: members are found before they are looked at
// tests/compile_fail/hidden_layer.cpp: a layer in a std::optional, which no optimizer would find.
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>
#include <vector>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<2, 2> first;
#ifdef MISUSE
  std::optional<nn::linear<2, 2>> second;
#else
  std::vector<nn::linear<2, 2>> second;
#endif
};

void statement(network& net) { net.initialise(1); }
