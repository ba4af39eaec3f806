// tests/contraction/tiled_product.cpp: the kernel of all tiled products.
// What does not depend on the unit: where tiles lie, what a launch says of itself, units that a device may lack.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/tiled_product.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;

/// As wmma_unit, but for the fallback of devices that lack the unit.
template <class Element>
using fallback_unit = typename tenon::wmma_unit<Element, typename tenon::product_tiles<Element>::small>::fallback;

/// A product of a unit that the library would not choose here.
template <class Space, class Unit, class E>
auto evaluated_with(const E& node, int parts) {
  tenon::tensor<typename E::element, typename E::shape_type, Space> result(node.shape());
  const tenon::strided_target<typename E::element, 2> target{result.data(), result.view().strides()};
  tenon::detail::launch_product<Unit, Space>(node, tenon::make_kernel_epilogue<E>(target, node), parts);
  return result;
}

template <class Space, class Element, class T = tenon::fragment_storage<Element>>
void check_fallback() {
  const auto a = tenon_test::random_tensor<T>(rank<2>(50, 70), 1), b = tenon_test::random_tensor<T>(rank<2>(70, 66), 2);
  const auto turned = tenon::evaluated_tensor(tenon::transpose(a));
  const auto x = a.template to<Space>(), y = b.template to<Space>(), z = turned.template to<Space>();
  using unit = fallback_unit<Element>;
  const auto found = numbers_of(evaluated_with<Space, unit>(tenon::matmul(x, y), 1));
  CHECK(tenon_test::product_error<T>(found, numbers_of(a), numbers_of(b), 50, 66, 70) == "");
  CHECK(numbers_of(evaluated_with<Space, unit>(tenon::matmul(tenon::transpose(z), y), 1)) == found);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiles in groups of rows cover the results", "[tiled_product]", tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<float>(rank<2>(64 * 19 + 5, 1), 0, 0.25);
  const auto b = tenon_test::counting<float>(rank<2>(1, 64 * 2 + 3), 1);
  const auto x = a.template to<TestType>(), y = b.template to<TestType>();
  const auto found = tenon_test::evaluated_by<TestType>({1, 1}, tenon::matmul(x, y));
  CHECK(numbers_of(found) == numbers_of(tenon::matmul(a, b)));
}

TEMPLATE_LIST_TEST_CASE("more batches than a grid has along its last axes", "[tiled_product]",
                        tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<double>(rank<3>(70'000, 1, 2));
  const auto b = tenon_test::counting<double>(rank<2>(2, 1), 1);
  const auto x = a.template to<TestType>();
  const auto y = b.template to<TestType>();
  const auto found = numbers_of(tenon_test::evaluated_by<TestType>({1, 1}, tenon::matmul(x, y)));
  CHECK(found[69'999] == 139'998.0 + 2 * 139'999.0);
}

TEMPLATE_LIST_TEST_CASE("threads multiply what a device has no unit for", "[tiled_product]",
                        tenon_test::kernel_spaces) {
  check_fallback<TestType, tenon::bfloat16>();
  check_fallback<TestType, double>();
  check_fallback<TestType, tenon::tf32>();
}

TEMPLATE_LIST_TEST_CASE("results go to targets of any strides", "[tiled_product]", tenon_test::kernel_spaces) {
  const auto a = tenon_test::random_tensor<tenon::half>(rank<2>(24, 40), 1),
             b = tenon_test::random_tensor<tenon::half>(rank<2>(40, 32), 2);
  const auto x = a.template to<TestType>(), y = b.template to<TestType>();
  const auto expected = numbers_of(tenon::matmul(x, y));
  for (const tenon::array<tenon::index, 2>& strides : {tenon::array<tenon::index, 2>{{1, 24}}, {{33, 1}}, {{40, 1}}}) {
    for (const tenon::index first : {0, 1}) {
      tenon::tensor<tenon::half, rank<1>, TestType> memory(rank<1>(2000));
      const tenon::strided_target<tenon::half, 2> target{memory.data() + first, strides};
      tenon::run_contraction_kernel<TestType>(target, tenon::matmul(x, y));
      const tenon::view<const tenon::half, rank<2>, TestType> written(memory.data() + first, rank<2>(24, 32), strides);
      CHECK(numbers_of(written) == expected);
    }
  }
}
