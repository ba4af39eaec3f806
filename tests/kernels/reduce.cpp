// tests/kernels/reduce.cpp: the kernel of statements that reduce.
// Teams of one thread, some lanes, warps and a block; each against sums in double, and the same in every schedule.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/reduce.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("rows of every team", "[reduce]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {1, 9, 300}) {
    for (const tenon::index columns : {1, 2, 16, 17, 33, 1024, 1025, 3000}) {
      if (rows * columns > 300000) continue;
      const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, columns), 3, -1.0f, 1.0f));
      const auto x = host.template to<TestType>();
      std::vector<double> expected(static_cast<std::size_t>(rows), 0.0);
      for (tenon::index i = 0; i < rows * columns; ++i) {
        expected[static_cast<std::size_t>(i / columns)] += static_cast<double>(host.data()[i]) * 2;
      }
      CAPTURE(rows, columns);
      CHECK(tenon_test::difference(numbers_of(tenon::sum(x * 2, axis<1>)), expected, 1e-5) == "");
      CHECK(tenon_test::difference(numbers_of(tenon::sum(tenon::transpose(x) * 2, axis<0>)), expected, 1e-5) == "");
      CHECK(numbers_of(tenon::argmax(x, axis<1>)) == numbers_of(tenon::argmax(host, axis<1>)));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("teams of every size fold rows of every length", "[reduce]", tenon_test::kernel_spaces) {
  const auto check = [](const auto& host) {
    const auto x = host.template to<TestType>();
    const auto difference_of = [](const auto& found, const auto& expected) {
      return tenon_test::difference(numbers_of(found), numbers_of(expected), 1e-4);
    };
    CHECK(numbers_of(tenon::max(x, axis<1>)) == numbers_of(tenon::max(host, axis<1>)));
    CHECK(numbers_of(tenon::argmin(x, axis<1>)) == numbers_of(tenon::argmin(host, axis<1>)));
    CHECK(difference_of(tenon::variance(tenon::cast<float>(x), axis<1>),
                        tenon::variance(tenon::cast<float>(host), axis<1>)) == "");
  };
  for (tenon::index columns = 1; columns <= 130; columns += columns % 8 == 1 ? 3 : columns % 8 == 4 ? 4 : 1) {
    const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(37, columns), 3, -1.0f, 1.0f));
    CAPTURE(columns);
    check(host);
    check(tenon::evaluated_tensor(tenon::cast<tenon::bfloat16>(host)));
    check(tenon::evaluated_tensor(tenon::cast<tenon::half>(host)));
    check(tenon::evaluated_tensor(tenon::cast<double>(host)));
  }
}

TEMPLATE_LIST_TEST_CASE("a NaN is found by its own row alone", "[reduce]", tenon_test::kernel_spaces) {
  for (const tenon::index columns : {20, 64, 65, 300, 2056}) {
    auto host = tenon_test::counting<float>(rank<2>(21, columns));
    host(4, columns - 2) = std::numeric_limits<float>::quiet_NaN();
    const auto greatest = numbers_of(tenon::max(host.template to<TestType>(), axis<1>));
    CAPTURE(columns);
    for (std::size_t row = 0; row < greatest.size(); ++row) CHECK(std::isnan(greatest[row]) == (row == 4));
  }
}

TEMPLATE_LIST_TEST_CASE("rows without elements and no rows at all", "[reduce]", tenon_test::kernel_spaces) {
  const tenon::tensor<float, rank<2>, TestType> empty_rows({5, 0}), no_rows({0, 64});
  CHECK(numbers_of(tenon::sum(empty_rows, axis<1>)) == std::vector<double>(5, 0.0));
  CHECK(numbers_of(tenon::sum(no_rows, axis<1>)).empty());
  CHECK(numbers_of(tenon::softmax(no_rows, axis<1>)).empty());
  CHECK(numbers_of(tenon::softmax(empty_rows, axis<1>)).empty());
}

TEMPLATE_LIST_TEST_CASE("reductions of different lengths share a statement", "[reduce]", tenon_test::kernel_spaces) {
  const auto x = tenon_test::counting<float>(rank<2>(40, 40));
  const auto statement = [](const auto& a) {
    return tenon::evaluated_tensor(tenon::max(a, axis<0>) + tenon::min(tenon::transpose(a), axis<0>) * 0.5f);
  };
  CHECK(numbers_of(statement(x.to<TestType>())) == numbers_of(statement(x)));
}

TEMPLATE_LIST_TEST_CASE("more results than blocks", "[reduce]", tenon_test::kernel_spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<2>(70000, 2));
  const auto sums = numbers_of(tenon::sum(x, axis<1>));
  CHECK(sums.size() == 70000);
  CHECK(sums.back() == 139998.0 + 139999.0);
}

TEMPLATE_LIST_TEST_CASE("the last block of a result combines the parts of all", "[reduce]", tenon_test::kernel_spaces) {
  for (const tenon::index columns : {40000, 40001, 70000}) {
    for (const tenon::index rows : {1, 3}) {
      const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, columns), 3, -1.0f, 1.0f));
      const auto x = host.template to<TestType>();
      CAPTURE(rows, columns);
      const auto once = numbers_of(tenon::sum(x, axis<1>));
      CHECK(tenon_test::difference(once, numbers_of(tenon::sum(host, axis<1>)), 1e-5) == "");
      CHECK(numbers_of(tenon::sum(x, axis<1>)) == once);  // whichever block is the last
      CHECK(numbers_of(tenon::argmin(x, axis<1>)) == numbers_of(tenon::argmin(host, axis<1>)));
      CHECK(tenon_test::difference(numbers_of(tenon::variance(x, axis<1>)), numbers_of(tenon::variance(host, axis<1>)),
                                   1e-5) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("several long reductions of one statement", "[reduce]", tenon_test::kernel_spaces) {
  const auto host = tenon_test::counting<float>(rank<1>(50000));
  const auto x = host.template to<TestType>();
  const auto range = [](const auto& a) { return static_cast<float>(tenon::max(a) - tenon::min(a) + tenon::max(a)); };
  CHECK(range(x) == range(host));
}
