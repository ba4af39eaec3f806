// tests/fault_injection/statements.cpp: statements at which memory runs out.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"

namespace {

using tenon::rank;
using tenon_test::bits_of;

/// Operands and a destination, which has other elements or, empty, other extents.
struct operands {
  tenon::tensor<float, rank<2>> left, right, result;

  operands(tenon::index rows, tenon::index depth, tenon::index columns)
      : left(tenon::uniform<float>(rank<2>(rows, depth), 1, -1.0f, 1.0f)),
        right(tenon::uniform<float>(rank<2>(depth, columns), 2, -1.0f, 1.0f)) {}
};

template <class Run>
bool statement_holds(const char* name, const Run& run) {
  const auto make = [] { return std::make_unique<operands>(70, 133, 90); };
  const auto elements = [](const operands& all) { return bits_of(all.result) + bits_of(all.left); };
  return tenon_test::attack(name, make, run, elements).is_good();
}

}  // namespace

TEST_CASE("a statement without memory leaves its destination", "[statements]") {
  CHECK(statement_holds("pointwise", [](operands& all) { all.result = all.left * 2.0f + tenon::exp(all.left); }));
  CHECK(statement_holds("flip, over its operand",
                        [](operands& all) { all.left = tenon::flip(all.left, tenon::axis<0>); }));
  CHECK(statement_holds("product", [](operands& all) { all.result = tenon::matmul(all.left, all.right); }));
  CHECK(statement_holds("reduction", [](operands& all) { all.result = tenon::sum(all.left, tenon::axis<0>); }));
  CHECK(statement_holds("softmax", [](operands& all) { all.result = tenon::softmax(all.left, tenon::axis<1>); }));
  CHECK(statement_holds("sort", [](operands& all) { all.result = tenon::sort(all.left, tenon::axis<1>); }));
  CHECK(statement_holds("scan", [](operands& all) { all.result = tenon::cumsum(all.left, tenon::axis<0>); }));
}
