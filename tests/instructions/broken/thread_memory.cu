// tests/instructions/broken/thread_memory.cu: a table that a thread indexes lies in its own memory.
// found: a kernel has .*local
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

struct from_table {
  __host__ __device__ float operator()(float x) const {
    float table[16];
    for (int i = 0; i < 16; ++i) table[i] = x * static_cast<float>(i * i);
    return table[static_cast<int>(x) & 15];
  }
};

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = tenon::map(from_table{}, x);
}
