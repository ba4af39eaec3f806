// tests/contraction/simt.cpp: products that threads multiply.
// The cases are those of every unit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/simt.hpp>

#include "contraction/kernel_cases.hpp"

TEMPLATE_LIST_TEST_CASE("simt: extents around those of a tile", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_extents<TestType, float>(64, 8);
  tenon_test::check_extents<TestType, std::int32_t>(32, 8);
}

TEMPLATE_LIST_TEST_CASE("simt: all layouts, copied as they allow", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_layouts<TestType, float>(64);
}

TEMPLATE_LIST_TEST_CASE("simt: blocks that share a tile", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_parts<TestType, float>();
  tenon_test::check_parts<TestType, std::int64_t>();
}

TEMPLATE_LIST_TEST_CASE("simt: batches, transposed and strided operands", "[simt]", tenon_test::kernel_spaces) {
  for (const tenon::index depth : {17, 20}) {  // copied in other widths, or not at all
    tenon_test::check_views<TestType, float>(depth);
  }
}

TEMPLATE_LIST_TEST_CASE("simt: what stands before and after the product", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_fusion<TestType, float>();
}

TEMPLATE_LIST_TEST_CASE("simt: numbers that are none pass through", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_not_finite<TestType, float>();
}

TEMPLATE_LIST_TEST_CASE("simt: convolution and both gradients", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::check_convolutions<TestType, float>();
}

TEMPLATE_LIST_TEST_CASE("integers accumulate in 64 bits", "[simt]", tenon_test::kernel_spaces) {
  const auto big = tenon::evaluated_tensor<TestType>(tenon::constants(tenon::rank<2>(3, 5), std::int64_t{1} << 30));
  CHECK(tenon_test::numbers_of(tenon::matmul(big, tenon::transpose(big)))[0] == 5 * 0x1p60);
}
