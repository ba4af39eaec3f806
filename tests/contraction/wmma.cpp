// tests/contraction/wmma.cpp: the product kernel of tensor cores.
// The cases are those of every product kernel.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/wmma.hpp>

#include "contraction/kernel_cases.hpp"

TEMPLATE_LIST_TEST_CASE("wmma: tiles full, ragged and empty", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::compare_tiles<TestType, tenon::half>("wmma_product");
}

TEMPLATE_LIST_TEST_CASE("wmma: batches, transposed and strided operands", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::compare_views<TestType, tenon::half>();
}

TEMPLATE_LIST_TEST_CASE("wmma: convolution and both gradients", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::compare_convolutions<TestType, tenon::half>();
}

TEMPLATE_LIST_TEST_CASE("bfloat16 runs on the same kernel", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::compare_product<TestType, tenon::bfloat16>("wmma_product", 65, 33, 40);
}
