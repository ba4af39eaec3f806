// tests/instructions/float8.cu: conversions of floats of 8 bits, one instruction each where there are any.
// architectures: 90a 120
// has: cvt\.rn\.satfinite\.e4m3x2\.f32
// has: cvt\.rn\.satfinite\.e5m2x2\.f32
// has: cvt\.rn\.f16x2\.e4m3x2
// has: cvt\.rn\.f16x2\.e5m2x2
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

template <class T>
using vector = tenon::tensor<T, tenon::rank<1>, tenon::cuda>;

void convert(vector<tenon::float8_e4m3>& y, const vector<tenon::float8_e5m2>& x, vector<tenon::float8_e5m2>& z) {
  y = tenon::cast<tenon::float8_e4m3>(x * 2);
  z = tenon::cast<tenon::float8_e5m2>(y + 1);
}
