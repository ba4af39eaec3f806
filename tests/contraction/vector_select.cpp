// tests/contraction/vector_select.cpp: which products run as those of a matrix with a few vectors.
// Seen from the name of the launch; what has too many vectors, too little depth or no single axes runs elsewhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/vector_select.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::rank;

template <class Left, class Right>
bool runs_as_vectors(const Left& left, const Right& right) {
  tenon::evaluated_tensor(tenon::matmul(left, right));
  return tenon::launch_count().last_kind == std::string("vector_product");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a few rows or columns, and enough depth", "[vector_select]", tenon_test::kernel_spaces) {
  const auto of = [](tenon::index rows, tenon::index columns) {
    return tenon_test::counting<float, TestType>(rank<2>(rows, columns));
  };
  CHECK(runs_as_vectors(of(8, 32), of(32, 40)));
  CHECK(runs_as_vectors(of(40, 32), of(32, 8)));
  CHECK(runs_as_vectors(of(2, 32), of(32, 2)));
  CHECK_FALSE(runs_as_vectors(of(9, 32), of(32, 40)));
  CHECK_FALSE(runs_as_vectors(of(8, 31), of(31, 40)));
  const auto vector = tenon_test::counting<float, TestType>(rank<1>(32));
  CHECK(runs_as_vectors(vector, of(32, 40)));
  CHECK(runs_as_vectors(of(40, 32), vector));
}

TEMPLATE_LIST_TEST_CASE("axes that are not one in memory go to tiles", "[vector_select]", tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<float>(rank<3>(4, 5, 36), -3, 0.01);
  const auto v = tenon_test::counting<float>(rank<1>(36), -1, 0.1);
  const auto statement = [](const auto& x, const auto& y) {
    return tenon::evaluated_tensor(
        tenon::tensordot(tenon::permute(x, tenon::axis<1, 0, 2>), y, tenon::axis<2>, tenon::axis<0>));
  };
  const auto found = statement(a.template to<TestType>(), v.template to<TestType>());
  CHECK(tenon::launch_count().last_kind == std::string("simt_product"));
  CHECK(tenon_test::difference(tenon_test::numbers_of(found), tenon_test::numbers_of(statement(a, v)), 1e-4) == "");
}

TEST_CASE("blocks share a product with vectors by its extents", "[vector_select]") {
  const auto lines = tenon::vector_sharing::of(true, 8192, 8192, 1, 8);
  CHECK(lines.team == 256);
  CHECK(lines.groups == 2048);
  CHECK(lines.parts == 1);
  const auto few_lines = tenon::vector_sharing::of(true, 4, 1 << 20, 1, 4);
  CHECK(few_lines.groups == 1);
  CHECK(few_lines.parts == 256);
  CHECK(tenon::vector_sharing::of(true, 100, 256, 3, 8).team == 32);
  const auto rows = tenon::vector_sharing::of(false, 8192, 8192, 1, 8);
  CHECK(rows.tile == 256);
  CHECK(rows.parts == 32);
}
