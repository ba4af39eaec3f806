// tests/contraction/select.cpp: which kernel a product runs on.
// Seen from the name of the launch.
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

TEMPLATE_LIST_TEST_CASE("matrix units multiply what they have room for, threads everything else", "[select]",
                        tenon_test::kernel_spaces) {
  CHECK(kernel_of<tenon::half, TestType>() == "mma_product");
  CHECK(kernel_of<tenon::bfloat16, TestType>() == "mma_product");
  CHECK(kernel_of<std::int8_t, TestType>() == "mma_product");
  CHECK(kernel_of<float, TestType>() == "simt_product");
  CHECK(kernel_of<double, TestType>() == "wmma_product");
  CHECK(kernel_of<std::int32_t, TestType>() == "simt_product");
}
