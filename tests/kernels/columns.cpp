// tests/kernels/columns.cpp: sums of columns and their like, by blocks of neighbouring results.
// Columns around a group, rows around a block's share and beyond; several reductions, other axes and what is no column.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/columns.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::drop;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class E>
bool is_in_columns(const E& node) {
  const auto extents = node.shape().to_array();
  return tenon::folds_columns(tenon::kernel_folds_of(tenon::lower_reductions(node, extents), extents), extents);
}

}  // namespace

TEST_CASE("results are folded side by side where their values are neighbours", "[columns]") {
  const tenon::tensor<float, rank<2>> x({64, 64}), narrow({64, 4});
  CHECK(is_in_columns(tenon::as_node(tenon::sum(x, drop<0>))));
  CHECK(is_in_columns(tenon::as_node(tenon::sum(tenon::transpose(x), drop<1>))));
  CHECK_FALSE(is_in_columns(tenon::as_node(tenon::sum(x, drop<1>))));
  CHECK_FALSE(is_in_columns(tenon::as_node(tenon::sum(narrow, drop<0>))));
  CHECK_FALSE(is_in_columns(tenon::as_node(tenon::sum(tenon::slice(x, range(), range(1, 38)), drop<1>))));
  CHECK_FALSE(is_in_columns(tenon::as_node(tenon::sum(x))));
  const tenon::tensor<float, rank<1>> row({64});
  CHECK_FALSE(is_in_columns(tenon::as_node(tenon::sum(tenon::broadcast_to(row, rank<2>(8, 64)), drop<0>))));
}

TEST_CASE("threads share a result where its values are many, or blocks few", "[columns]") {
  const auto rows = [](tenon::index results, tenon::index values, int width) {
    return tenon::team_of_columns(results, values, width).rows();
  };
  CHECK(rows(64, 9, 8) == 1);
  CHECK(rows(64, 50, 8) == 8);
  CHECK(rows(1 << 20, 50, 4) == 1);
  CHECK(rows(1 << 20, 200, 4) == 8);
  CHECK(rows(4096, 200, 4) == 32);
  CHECK(rows(1 << 20, 2000, 4) == 32);
  CHECK(rows(4096, 2000, 1) == 8);
}

TEMPLATE_LIST_TEST_CASE("columns of every length, and any number of them", "[columns]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {1, 7, 8, 9, 255, 256, 600}) {
    for (const tenon::index columns : {8, 31, 32, 33, 100}) {
      const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, columns), 3, -1.0f, 1.0f));
      const auto x = host.template to<TestType>();
      CAPTURE(rows, columns);
      CHECK(difference(numbers_of(tenon::sum(x * 2, drop<0>)), numbers_of(tenon::sum(host * 2, drop<0>)), 1e-4) == "");
      CHECK(numbers_of(tenon::argmax(x, drop<0>)) == numbers_of(tenon::argmax(host, drop<0>)));
      CHECK(difference(numbers_of(tenon::variance(x, drop<0>) + tenon::max(x, drop<0>)),
                       numbers_of(tenon::variance(host, drop<0>) + tenon::max(host, drop<0>)), 1e-5) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("packets of columns, stored in packets or one by one", "[columns]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {1, 2, 16, 17, 300, 2000}) {
    for (const tenon::index columns : {8, 24, 264, 12}) {
      const auto host = tenon::evaluated_tensor(tenon::uniform<tenon::half>(rank<2>(rows, columns), 3, -1.0f, 1.0f));
      const auto x = host.template to<TestType>();
      CAPTURE(rows, columns);
      const auto of = [](const auto& a) { return tenon::max(a, drop<0>) * tenon::mean(a, drop<0>); };
      CHECK(difference(numbers_of(of(x)), numbers_of(of(host)), 2e-3) == "");
      tenon::tensor<float, rank<1>, TestType> means({columns}), deviations({columns});
      tenon::evaluate(tenon::assign(means, tenon::mean(tenon::cast<float>(x), drop<0>)),
                      tenon::assign(deviations, tenon::variance(tenon::cast<float>(x), drop<0>)));
      CHECK(difference(numbers_of(means), numbers_of(tenon::mean(tenon::cast<float>(host), drop<0>)), 1e-5) == "");
      CHECK(difference(numbers_of(deviations), numbers_of(tenon::variance(tenon::cast<float>(host), drop<0>)), 1e-5) ==
            "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("windows over images with channels last", "[columns]", tenon_test::kernel_spaces) {
  const auto host = counting<tenon::half>(rank<4>(2, 7, 9, 16));
  const auto x = host.template to<TestType>();
  const auto windows = [](const auto& a) {
    return tenon::windows(a, tenon::axis<1, 2>, tenon::shape<3, 3>{}, {{2, 3}});
  };
  CHECK(is_in_columns(tenon::as_node(tenon::max(windows(host), drop<4, 5>))));
  CHECK(numbers_of(tenon::max(windows(x), drop<4, 5>)) == numbers_of(tenon::max(windows(host), drop<4, 5>)));
  CHECK(numbers_of(tenon::argmax(windows(x), drop<4, 5>)) == numbers_of(tenon::argmax(windows(host), drop<4, 5>)));
  const auto part = [](const auto& a) { return tenon::slice(a, range(), range(), range(), range(1, 16)); };
  CHECK(numbers_of(tenon::max(windows(part(x)), drop<4, 5>)) ==
        numbers_of(tenon::max(windows(part(host)), drop<4, 5>)));
}

TEMPLATE_LIST_TEST_CASE("threads share values along axes that do not follow each other", "[columns]",
                        tenon_test::kernel_spaces) {
  const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(5, 6, 7, 64), 3, -1.0f, 1.0f));
  const auto x = host.template to<TestType>();
  CHECK(difference(numbers_of(tenon::sum(x, drop<0, 2>)), numbers_of(tenon::sum(host, drop<0, 2>)), 1e-5) == "");
  CHECK(numbers_of(tenon::argmax(x, drop<0, 2>)) == numbers_of(tenon::argmax(host, drop<0, 2>)));
  const auto windows = [](const auto& a) {
    return tenon::windows(a, tenon::axis<1, 2>, tenon::shape<5, 5>{}, {{1, 2}});
  };
  CHECK(numbers_of(tenon::argmax(windows(x), drop<4, 5>)) == numbers_of(tenon::argmax(windows(host), drop<4, 5>)));
}

TEMPLATE_LIST_TEST_CASE("middle axes, slices and broadcast operands", "[columns]", tenon_test::kernel_spaces) {
  const auto host = counting<float>(rank<3>(3, 40, 36));
  const auto x = host.template to<TestType>();
  const auto weights = counting<float>(rank<2>(40, 1), 2);
  const auto there = weights.template to<TestType>();
  CHECK(numbers_of(tenon::max(x, drop<1>)) == numbers_of(tenon::max(host, drop<1>)));
  CHECK(numbers_of(tenon::max(x, drop<0, 1>)) == numbers_of(tenon::max(host, drop<0, 1>)));
  CHECK(numbers_of(tenon::min(x * there, drop<1>)) == numbers_of(tenon::min(host * weights, drop<1>)));
  const auto part = [](const auto& a) { return tenon::slice(a, range(), range(1, 39, 2), range(3, 30)); };
  CHECK(numbers_of(tenon::max(part(x), drop<1>)) == numbers_of(tenon::max(part(host), drop<1>)));
  const auto empty = counting<float, TestType>(rank<2>(0, 40));
  CHECK(numbers_of(tenon::sum(empty, drop<0>)) == std::vector<double>(40, 0.0));
}

TEMPLATE_LIST_TEST_CASE("the same sums each time, whichever block is the last", "[columns]",
                        tenon_test::kernel_spaces) {
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<2>(3000, 40), 3, -1.0f, 1.0f));
  const auto once = numbers_of(tenon::sum(x, drop<0>));
  for (int again = 0; again < 3; ++again) CHECK(numbers_of(tenon::sum(x, drop<0>)) == once);
}
