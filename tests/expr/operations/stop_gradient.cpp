// tests/expr/operations/stop_gradient.cpp: the value passes; tests/grad/pull_back.cpp tests that the gradient does not.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/stop_gradient.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

TEMPLATE_LIST_TEST_CASE("the value passes", "[stop_gradient]", tenon_test::spaces) {
  const auto x = tenon_test::made_tensor<float, TestType>(tenon::rank<1>(37), [](tenon::index i) { return i - 8; });
  CHECK(tenon_test::numbers_of(tenon::stop_gradient(x)) == tenon_test::numbers_of(x));
}
