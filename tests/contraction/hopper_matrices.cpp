// tests/contraction/hopper_matrices.cpp: which products of matrices Hopper's kernel takes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_matrices.hpp>

#include "contraction/hopper_cases.hpp"

using tenon::rank;

namespace {

template <class E>
tenon::hopper_operands operands_of(const E& product) {
  return tenon::hopper_operands_of<typename E::element>(tenon::extents_of_product(product), tenon::left_matrix(product),
                                                        tenon::right_matrix(product));
}
template <class E>
bool takes(const E& product) {
  return tenon::hopper_takes(tenon::extents_of_product(product), operands_of(product));
}

}  // namespace

TEST_CASE("operands in memory, in either order", "[hopper]") {
  const auto x = tenon_test::counting<tenon::half>(rank<2>(40, 64)),
             w = tenon_test::counting<tenon::half>(rank<2>(64, 48));
  const auto plain = operands_of(tenon::matmul(x, w));
  CHECK(plain.left.data == x.data());
  CHECK_FALSE(plain.left.lines_are_adjacent);
  CHECK(plain.left.pitch == 64);
  CHECK(plain.right.data == w.data());
  CHECK(plain.right.lines_are_adjacent);
  CHECK(plain.right.pitch == 48);
  const auto turned = operands_of(tenon::matmul(tenon::transpose(w), tenon::transpose(x)));
  CHECK(turned.left.lines_are_adjacent);
  CHECK_FALSE(turned.right.lines_are_adjacent);
  const auto tensor = turned.left.tensor<128>(2);
  CHECK(tensor == tenon::tiled_tensor{w.data(), {{48, 64, 1}}, {{96, 96 * 64}}, {{64, 64}}});
  CHECK(plain.left.tensor<128>(2) == tenon::tiled_tensor{x.data(), {{64, 40, 1}}, {{128, 128 * 40}}, {{64, 128}}});
  CHECK(takes(tenon::matmul(x, w)));
}

TEST_CASE("batches a step apart, shared operands, and rows over several axes", "[hopper]") {
  const auto x = tenon_test::counting<tenon::half>(rank<3>(3, 40, 64));
  const auto own = tenon_test::counting<tenon::half>(rank<3>(3, 64, 48));
  const auto shared = tenon_test::counting<tenon::half>(rank<2>(64, 48));
  const auto batched = operands_of(tenon::matmul(x, own));
  CHECK(batched.left.batch_step == 40 * 64);
  CHECK(batched.right.batch_step == 64 * 48);
  CHECK(batched.right.tensor<256>(2).extents[2] == 3);
  const auto rows = operands_of(tenon::matmul(x, shared));  // one product of 120 rows
  CHECK(rows.left.lines == 120);
  CHECK(rows.left.batches == 1);
  const auto heads = tenon_test::counting<tenon::half>(rank<4>(2, 5, 32, 64));
  const auto keys = tenon_test::counting<tenon::half>(rank<4>(2, 5, 64, 32));
  CHECK(operands_of(tenon::matmul(heads, keys)).left.batch_step == 32 * 64);
  const auto exchanged = tenon::permute(heads, tenon::axis<1, 0, 2, 3>);
  const auto keys_exchanged = tenon::permute(keys, tenon::axis<1, 0, 2, 3>);
  CHECK(operands_of(tenon::matmul(exchanged, keys_exchanged)).left.data == nullptr);
}

TEST_CASE("what tiles cannot be copied of is left to other kernels", "[hopper]") {
  const auto x = tenon_test::counting<tenon::half>(rank<2>(40, 64)),
             w = tenon_test::counting<tenon::half>(rank<2>(64, 48));
  const auto odd = tenon_test::counting<tenon::half>(rank<2>(64, 49)),
             wide = tenon_test::counting<tenon::half>(rank<2>(40, 136));
  CHECK_FALSE(takes(tenon::matmul(x, odd)));
  CHECK_FALSE(takes(tenon::matmul(x * 2, w)));
  const auto from = [&](tenon::index first, tenon::index step) {
    return tenon::matmul(tenon::slice(wide, tenon::all_of, tenon::range(first, first + 64 * step, step)), w);
  };
  CHECK(takes(from(8, 1)));
  CHECK_FALSE(takes(from(1, 1)));
  CHECK_FALSE(takes(from(0, 2)));
  CHECK_FALSE(takes(tenon::matmul(tenon::flip(x, tenon::axis<0>), w)));
}

TEST_CASE("elements of 8 and of 32 bits are taken with their depth side by side, others in copies", "[hopper]") {
  const auto x = tenon_test::counting<float>(rank<2>(300, 256)), w = tenon_test::counting<float>(rank<2>(256, 1000));
  const tenon::product_extents<2> extents{300, 1000, 256, {{1, 1}}};
  auto operands = tenon::hopper_operands_of<tenon::tf32>(extents, tenon::left_matrix(tenon::matmul(x, w)),
                                                         tenon::right_matrix(tenon::matmul(x, w)));
  CHECK_FALSE(operands.left.lines_are_adjacent);
  CHECK(operands.right.lines_are_adjacent);
  CHECK(tenon::is_worth_depth_copies<tenon::tf32>(extents, operands));
  CHECK_FALSE(tenon::is_worth_depth_copies<tenon::tf32>(tenon::product_extents<2>{200, 1000, 512, {{1, 1}}},
                                                        operands));  // few rows
  CHECK_FALSE(tenon::is_worth_depth_copies<tenon::tf32>(tenon::product_extents<2>{300, 1000, 100, {{1, 1}}},
                                                        operands));  // little to do
  CHECK(tenon::planes_to_copy<tenon::tf32>(operands.left).images == 0);
  const auto planes = tenon::planes_to_copy<tenon::tf32>(operands.right);
  CHECK(planes.data == w.data());
  CHECK(planes.channels == 256);
  CHECK(planes.pixels == 1000);
  CHECK(operands.right.pitch == 256);
  CHECK_FALSE(operands.right.lines_are_adjacent);
  CHECK(operands.right.tensor<128>(4) ==
        tenon::tiled_tensor{operands.right.data, {{256, 1000, 1}}, {{1024, 1024 * 1000}}, {{32, 128}}});
  auto halves = operands_of(tenon::matmul(tenon::cast<tenon::half>(x), tenon::cast<tenon::half>(w)));
  CHECK(tenon::planes_to_copy<tenon::half>(halves.right).images == 0);
}

TEST_CASE("small products are left to other kernels", "[hopper]") {
  const auto product = [](tenon::index m, tenon::index n, tenon::index k) {
    return takes(tenon::matmul(tenon_test::counting<tenon::half>(rank<2>(m, k)),
                               tenon_test::counting<tenon::half>(rank<2>(k, n))));
  };
  CHECK(product(32, 32, 64));
  CHECK_FALSE(product(16, 32, 64));
  CHECK_FALSE(product(32, 16, 64));
  CHECK_FALSE(product(32, 32, 32));
  CHECK_FALSE(product(0, 32, 64));
  CHECK_FALSE(product(32, 32, 0));
}

TEST_CASE("tiles are wide where that leaves no more processors idle", "[hopper]") {
  CHECK(tenon::prefers_wide_tiles(2048, 4096, 132));
  CHECK(tenon::prefers_wide_tiles(128, 256, 132));
  CHECK_FALSE(tenon::prefers_wide_tiles(32, 64, 132));
  CHECK_FALSE(tenon::prefers_wide_tiles(133, 264, 132));
}

TEMPLATE_LIST_TEST_CASE("statements take Hopper's kernel where there is one", "[hopper]", tenon_test::kernel_spaces) {
  bool has_hopper = false;
#if defined(__CUDACC__)
  has_hopper = tenon::properties_of(tenon::current_cuda_device()).architecture == 90;
#endif
  const auto check = [&](const auto& product, bool is_taken) {
    tenon::evaluated_tensor(product);
    CHECK((std::string(tenon::launch_count().last_kind) == "hopper_product") == (is_taken && has_hopper));
  };
  const auto x = tenon_test::counting<tenon::half, TestType>(rank<2>(64, 64));
  check(tenon::matmul(x, x), true);
  const auto floats = tenon_test::counting<float, TestType>(rank<2>(64, 64));
  const auto bytes = tenon_test::counting<std::int8_t, TestType>(rank<2>(64, 64));
  check(tenon_test::hopper_matmul(floats, tenon::transpose(floats)), true);
  check(tenon_test::hopper_matmul(bytes, tenon::transpose(bytes)), true);
  check(tenon::matmul(floats, tenon::transpose(floats)), false);
  check(tenon_test::hopper_matmul(bytes, bytes), false);  // too little to copy an operand for
}

TEST_CASE("few rows or columns fill tiles where their matrix is large", "[hopper]") {
  const auto fills = [](tenon::index rows, tenon::index columns, tenon::index depth, tenon::index batches = 1) {
    return tenon::fills_warpgroup_tiles(tenon::product_extents<3>{rows, columns, depth, {{batches, 1, 1}}});
  };
  CHECK(fills(32, 32, 64));
  CHECK(fills(4, 8192, 8192));
  CHECK(fills(8192, 16, 512));
  CHECK(fills(64, 128, 64, 100));
  CHECK_FALSE(fills(64, 64, 64, 100));
  CHECK_FALSE(fills(31, 1024, 1024));
  CHECK_FALSE(fills(16, 8192, 256));
  CHECK_FALSE(fills(16, 128, 65536));
  CHECK_FALSE(fills(1, 8192, 8192));  // a vector
}

TEST_CASE("blocks share the depth of few tiles", "[hopper]") {
  const auto parts = [](int tiles, int steps) {
    return tenon::parts_of_tiles<tenon::square_hopper_tile>(tiles, steps, 132);
  };
  CHECK(parts(4, 1024) == 22);
  CHECK(parts(4, 40) == 4);
  CHECK(parts(20, 1024) == 6);
  CHECK(parts(100, 1024) == 1);
  CHECK(parts(1000, 1024) == 1);
  CHECK(parts(0, 1024) == 1);
}
