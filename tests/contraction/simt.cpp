// tests/contraction/simt.cpp: the product kernel of full precision.
// The cases are those of every product kernel.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/simt.hpp>

#include "contraction/kernel_cases.hpp"

TEMPLATE_LIST_TEST_CASE("simt: tiles full, ragged and empty", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::compare_tiles<TestType, float>("simt_product");
}

TEMPLATE_LIST_TEST_CASE("simt: batches, transposed and strided operands", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::compare_views<TestType, float>();
}

TEMPLATE_LIST_TEST_CASE("simt: convolution and both gradients", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::compare_convolutions<TestType, float>();
}

TEMPLATE_LIST_TEST_CASE("integers accumulate in 64 bits", "[simt]", tenon_test::kernel_spaces) {
  const auto big = tenon::evaluated_tensor<TestType>(tenon::constants(tenon::rank<2>(3, 5), std::int64_t{1} << 30));
  CHECK(tenon_test::numbers_of(tenon::matmul(big, tenon::transpose(big)))[0] == 5 * 0x1p60);
}

TEMPLATE_LIST_TEST_CASE("double is full precision", "[simt]", tenon_test::kernel_spaces) {
  tenon_test::compare_product<TestType, double>("wmma_product", 65, 33, 40);
}
