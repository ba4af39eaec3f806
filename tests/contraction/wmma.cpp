// tests/contraction/wmma.cpp: products that matrix units multiply.
// The cases are those of every unit, for each element type that has fragments.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/wmma.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

struct tf32_fragments {
  using units = tenon::fragment_units<tenon::tf32>;

  template <class Left, class Right>
  auto operator()(const Left& left, const Right& right) const {
    return tenon::matmul<tenon::precision::tf32>(left, right);
  }
};

template <class T>
using fragments = tenon::fragment_units<T>;
template <class T>
using product_by_fragments = tenon_test::product_by<fragments<T>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("wmma: extents around those of a tile", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_extents<TestType, tenon::half, product_by_fragments<tenon::half>>(64, 32);
  tenon_test::check_extents<TestType, std::int8_t, product_by_fragments<std::int8_t>>(64, 64);
  tenon_test::check_extents<TestType, float, tf32_fragments>(64, 16);
  tenon_test::check_extents<TestType, double, product_by_fragments<double>>(32, 16);
}

TEMPLATE_LIST_TEST_CASE("wmma: all layouts, copied as they allow", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_layouts<TestType, tenon::half, product_by_fragments<tenon::half>>(64);
  tenon_test::check_layouts<TestType, std::int8_t, product_by_fragments<std::int8_t>>(64);
  tenon_test::check_layouts<TestType, float, tf32_fragments>(64);
  tenon_test::check_layouts<TestType, double, product_by_fragments<double>>(32);
}

TEMPLATE_LIST_TEST_CASE("wmma: blocks that share a tile", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_parts<TestType, tenon::half, product_by_fragments<tenon::half>>();
  tenon_test::check_parts<TestType, std::int8_t, product_by_fragments<std::int8_t>>();
  tenon_test::check_parts<TestType, double, product_by_fragments<double>>();
}

TEMPLATE_LIST_TEST_CASE("wmma: batches, transposed and strided operands", "[wmma]", tenon_test::kernel_spaces) {
  for (const tenon::index depth : {17, 20}) {  // copied in other widths, or not at all
    tenon_test::check_views<TestType, tenon::half, fragments<tenon::half>>(depth);
    tenon_test::check_views<TestType, double, fragments<double>>(depth);
  }
}

TEMPLATE_LIST_TEST_CASE("wmma: what stands before and after the product", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_fusion<TestType, tenon::half, fragments<tenon::half>>();
  tenon_test::check_fusion<TestType, tenon::bfloat16, fragments<tenon::bfloat16>>();
}

TEMPLATE_LIST_TEST_CASE("wmma: numbers that are none pass through", "[wmma]", tenon_test::kernel_spaces) {
  tenon_test::check_not_finite<TestType, tenon::half, fragments<tenon::half>>();
  tenon_test::check_not_finite<TestType, tenon::bfloat16, fragments<tenon::bfloat16>>();
}
