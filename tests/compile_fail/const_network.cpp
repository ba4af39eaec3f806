// expect: tenon: a network is called by a name that is not const
// lines: 6: g++ says in which function
// tests/compile_fail/const_network.cpp: a network that is const, so that it could take no gradient.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<3, 4> layer;
  auto forward(const auto& x) { return layer(x); }
};

#ifdef MISUSE
auto statement(const network& net, const tenon::tensor<float, tenon::rank<2>>& x) { return net(x); }
#else
auto statement(network& net, const tenon::tensor<float, tenon::rank<2>>& x) { return net(x); }
#endif
