// tests/plan/few_elements.cpp: which statements have few elements everywhere.
// By their types alone: extents at run time, many elements and algorithms are none of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/few_elements.hpp>
#include <tenon/products.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/few_elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::runs_small;
using tenon_test::stays_in_registers;

TEST_CASE("which statements are small", "[few_elements]") {
  const tenon::tensor<float, rank<1>> unknown({4});
  const tenon::tensor<float, shape<65>> long_row;
  const tenon::tensor<float, shape<0>> empty;
  const tenon::tensor<float, shape<4, 80>> wide;
  const tenon::tensor<float, shape<4, 4>> m = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
  CHECK(!stays_in_registers(tenon::sum(unknown)));
  CHECK(!stays_in_registers(tenon::sum(long_row)));
  CHECK(!stays_in_registers(tenon::sum(empty)));
  CHECK(!stays_in_registers(tenon::matmul(wide, tenon::transpose(wide))));
  CHECK(stays_in_registers(tenon::sum(m, axis<1>)));
  CHECK(stays_in_registers(tenon::softmax(m, axis<1>)));
  CHECK(stays_in_registers(m + m));
  CHECK(runs_small(tenon::softmax(m, axis<1>)));
  CHECK(!runs_small(m + m));
  CHECK(static_cast<float>(tenon::sum(empty)) == 0);
}
