// tests/portability/macros.cpp: macros that other headers define, before Tenon's are included.
// SPDX-License-Identifier: Apache-2.0
#define check(assertion)  // AssertMacros.h of macOS
#define small char        // rpcndr.h of Windows
#define near
#define far
#define interface struct
#define IN
#define OUT
#define ERROR 0
#define DEBUG 1
#define None 0L  // X.h
#define Status int
#define Bool int
#define Success 0
#define Always 2
#define TRUE 1
#define FALSE 0
#define PI 3.14
#include <complex.h>
#include <tenon/expr/operations/complex.hpp>
#include <tenon/io/png.hpp>
#include <tenon/linalg.hpp>
#include <tenon/nn/key_value_cache.hpp>
#include <tenon/nn/stream.hpp>
#include <tenon/train.hpp>

namespace nn = tenon::nn;

float classify(const tenon::tensor<float, tenon::rank<2>>& x) {
  auto net = nn::sequential(nn::linear<4, 3>{}, nn::batch_norm<3>{}, nn::gelu{});
  nn::inference use(net, tenon::rank<2>(8, 4));
  const tenon::tensor<float, tenon::rank<2>> y = use.run(x);
  const tenon::tensor<int, tenon::rank<1>> rows = tenon::arange<int>(0, 3, 1);
  tenon::tensor<float, tenon::rank<1>> total = tenon::zeros<float>({3});
  tenon::index_add(total, tenon::axis<0>, rows, y(0, 0) * rows);
  return y.at(0, 0) +
         static_cast<float>(tenon::sum(tenon::lgamma(y) + tenon::acosh(y) + tenon::erf(y) * tenon::cbrt(y)));
}
