// expect: tenon: an input has the element type and memory space that nn::inference was made for;
// tests/compile_fail/inference_of_bytes.cpp: bytes for a network of floats.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

void statement(tenon::nn::linear<4, 2>& net, const tenon::tensor<std::uint8_t, tenon::rank<2>>& x) {
  tenon::nn::inference use(tenon::nn::sequential(net), tenon::shape<1, 4>{});
#ifdef MISUSE
  use.run(x);
#else
  use.run(tenon::tensor<float, tenon::rank<2>>(x));
#endif
}
