// tests/instructions/reductions.cu: full sums, rows, columns and positions of extremes.
// has: ld\.global\.v4\.f32
// has: shfl\.sync
// lacks: \.f64
// registers: 64
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

using matrix = tenon::tensor<float, tenon::rank<2>, tenon::cuda>;
using vector = tenon::tensor<float, tenon::rank<1>, tenon::cuda>;

void reductions(vector& rows, vector& columns, tenon::tensor<tenon::index, tenon::rank<1>, tenon::cuda>& where,
                const matrix& x) {
  rows = tenon::sum(x, tenon::drop<1>);
  columns = tenon::max(x, tenon::drop<0>);
  where = tenon::argmax(x, tenon::drop<1>);
}
