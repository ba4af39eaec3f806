// tests/contraction/wmma.cpp: products that matrix units multiply.
// The cases are those of every unit, for each element type that has fragments.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/wmma.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

struct tf32_product {
  template <class Left, class Right>
  auto operator()(const Left& left, const Right& right) const {
    return tenon::matmul<tenon::precision::tf32>(left, right);
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("wmma: extents around those of a tile", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_extents<TestType, tenon::half>(64, 32);
  tenon_test::check_extents<TestType, std::int8_t>(64, 64);
  tenon_test::check_extents<TestType, float, tf32_product>(64, 16);
  tenon_test::check_extents<TestType, double>(32, 16);
}

TEMPLATE_LIST_TEST_CASE("wmma: all layouts, copied as they allow", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_layouts<TestType, tenon::half>(64);
  tenon_test::check_layouts<TestType, std::int8_t>(64);
  tenon_test::check_layouts<TestType, float, tf32_product>(64);
  tenon_test::check_layouts<TestType, double>(32);
}

TEMPLATE_LIST_TEST_CASE("wmma: blocks that share a tile", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_parts<TestType, tenon::half>();
  tenon_test::check_parts<TestType, std::int8_t>();
  tenon_test::check_parts<TestType, double>();
}

TEMPLATE_LIST_TEST_CASE("wmma: batches, transposed and strided operands", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_views<TestType, tenon::half>();
  tenon_test::check_views<TestType, double>();
}

TEMPLATE_LIST_TEST_CASE("wmma: what stands before and after the product", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_fusion<TestType, tenon::half>();
  tenon_test::check_fusion<TestType, tenon::bfloat16>();
}

TEMPLATE_LIST_TEST_CASE("wmma: numbers that are none pass through", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_not_finite<TestType, tenon::half>();
  tenon_test::check_not_finite<TestType, tenon::bfloat16>();
}

TEMPLATE_LIST_TEST_CASE("wmma: convolution and both gradients", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_convolutions<TestType, tenon::half>();
}
