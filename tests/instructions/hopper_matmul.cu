// tests/instructions/hopper_matmul.cu: products of short floats on Hopper are its warpgroups', fed by copies of tiles.
// The registers are those at entry; roles of warps then change them.
// architectures: 90a
// has: wgmma\.mma_async\.sync\.aligned\.m64n256k16\.f32\.bf16\.bf16
// has: wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.bf16\.bf16
// has: cp\.async\.bulk\.tensor\.3d\.shared::cluster\.global
// has: mbarrier\.try_wait\.parity
// has: mbarrier\.arrive\.expect_tx
// has: setmaxnreg\.inc\.sync\.aligned\.u32[ \t]+232
// has: setmaxnreg\.dec\.sync\.aligned\.u32[ \t]+40
// has: ld\.global\.(nc\.)?v4
// has: st\.global\.v4
// lacks: \.f64
// registers: 168
// spills: 72
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

using matrix = tenon::tensor<tenon::bfloat16, tenon::rank<2>, tenon::cuda>;
using vector = tenon::tensor<tenon::bfloat16, tenon::rank<1>, tenon::cuda>;

void product(matrix& y, const matrix& x, const matrix& w, const vector& b, const matrix& r) {
  y = tenon::relu(tenon::matmul(x, w) + b) + r;
}

using batch = tenon::tensor<tenon::half, tenon::rank<3>, tenon::cuda>;

void batched(batch& y, const batch& x, const batch& w) { y = tenon::matmul(x, w); }

using maps = tenon::cuda_tile_map;
static_assert(tenon::hopper_product_kernel<tenon::wide_hopper_tile, tenon::half, maps, maps, 2, int>::shared_bytes <=
              tenon::max_shared_bytes);
static_assert(tenon::hopper_product_kernel<tenon::square_hopper_tile, tenon::half, maps, maps, 2, int>::shared_bytes <=
              tenon::max_shared_bytes);
