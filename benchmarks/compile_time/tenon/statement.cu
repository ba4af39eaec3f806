// benchmarks/compile_time/tenon/statement.cu: one statement of tensors on a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tenon/tenon.hpp>

namespace tn = tenon;

int main() {
  const tn::tensor<float, tn::rank<2>> rows({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto x = rows.to<tn::cuda>();
  tn::tensor<float, tn::rank<2>, tn::cuda> y({2, 3});
  y = tn::softmax(x * 0.5f - 1.0f, tn::axis<-1>);
  const auto result = y.to<tn::host>();
  for (tn::index i = 0; i < result.size(); ++i) std::printf(" %.4f", static_cast<double>(result.data()[i]));
  std::printf("\n");
  return 0;
}
