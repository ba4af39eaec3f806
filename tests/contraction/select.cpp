// tests/contraction/select.cpp: which kernel a product runs on, in which tiles, by how many blocks.
// Seen from the name of the launch, and from the choice for a number of multiprocessors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/select.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::rank;

namespace {

template <class T, class Space>
std::string kernel_of() {
  const auto x = tenon_test::counting<T, Space>(rank<2>(4, 4));
  tenon::evaluated_tensor(tenon::matmul(x, x));
  return tenon::launch_count().last_kind;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("elements with matrix units go to them, others to threads", "[select]",
                        tenon_test::kernel_spaces) {
  CHECK(kernel_of<tenon::half, TestType>() == "mma_product");
  CHECK(kernel_of<tenon::bfloat16, TestType>() == "mma_product");
  CHECK(kernel_of<std::int8_t, TestType>() == "mma_product");
  CHECK(kernel_of<double, TestType>() == "wmma_product");
  CHECK(kernel_of<float, TestType>() == "simt_product");
  CHECK(kernel_of<std::int32_t, TestType>() == "simt_product");
  const auto x = tenon_test::counting<float, TestType>(rank<2>(4, 4));
  tenon::evaluated_tensor(tenon::matmul<tenon::precision::tf32>(x, x));
  CHECK(tenon::launch_count().last_kind == std::string("mma_product"));
  tenon::evaluated_tensor(tenon::matmul<tenon::precision::full>(x, x));
  CHECK(tenon::launch_count().last_kind == std::string("simt_product"));
}

TEMPLATE_LIST_TEST_CASE("bytes that are cast to integers are multiplied as bytes", "[select]",
                        tenon_test::kernel_spaces) {
  const auto small = [](tenon::index i) { return i % 121 - 60; };
  const auto a = tenon_test::made_tensor<std::int8_t>(rank<2>(12, 40), small),
             b = tenon_test::made_tensor<std::int8_t>(rank<2>(40, 9), small);
  const auto statement = [](const auto& x, const auto& y) {
    return tenon::evaluated_tensor(tenon::matmul(tenon::cast<int>(x), tenon::cast<int>(y)));
  };
  const auto found = statement(a.template to<TestType>(), b.template to<TestType>());
  CHECK(tenon::launch_count().last_kind == std::string("mma_product"));
  CHECK(tenon_test::numbers_of(found) == tenon_test::numbers_of(statement(a, b)));
}
