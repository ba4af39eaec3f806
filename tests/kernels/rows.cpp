// tests/kernels/rows.cpp: the kernel of row-resident statements.
// Teams of one thread, a warp and a block, against the host's loops and the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/rows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("row-resident statements of every team", "[rows]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {1, 9, 300}) {
    for (const tenon::index length : {1, 2, 16, 17, 33, 1024, 1025, 2000}) {
      if (rows * length > 300000) continue;
      const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, length), 3, -4.0f, 4.0f));
      const auto x = host.template to<TestType>();
      CAPTURE(rows, length);
      CHECK(difference(numbers_of(tenon::softmax(x, axis<-1>)), numbers_of(tenon::softmax(host, axis<-1>)), 1e-6) ==
            "");
      const auto totals = numbers_of(tenon::sum(tenon::softmax(x, axis<-1>), axis<-1>));
      CHECK(difference(totals, std::vector<double>(static_cast<std::size_t>(rows), 1.0), 1e-5) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("rows of two axes written through strides", "[rows]", tenon_test::kernel_spaces) {
  const auto host = tenon_test::counting<float>(rank<3>(4, 5, 6));
  const auto x = host.to<TestType>();
  auto destination = tenon::full<float, TestType>(rank<3>(6, 4, 5), -1.0f);
  const auto moved = tenon::permute(destination, axis<1, 2, 0>);
  moved = x - tenon::mean(x, axis<1, 2>);
  const auto expected = tenon::permute(tenon::evaluated_tensor(host - tenon::mean(host, axis<1, 2>)), axis<2, 0, 1>);
  CHECK(difference(numbers_of(destination), numbers_of(expected), 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("16-bit rows are computed in float", "[rows]", tenon_test::kernel_spaces) {
  const auto host = tenon_test::counting<tenon::half>(rank<2>(3, 50), -2, 0.125);
  const auto x = host.to<TestType>();
  CHECK(difference(numbers_of(tenon::standardise(x, axis<-1>)), numbers_of(tenon::standardise(host, axis<-1>)), 1e-3) ==
        "");
}

TEMPLATE_LIST_TEST_CASE("rows are written in place and in packets of any width", "[rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {4, 30, 32, 1200}) {
    const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(7, length), 5, -2.0f, 2.0f));
    auto x = host.template to<TestType>();
    x = tenon::softmax(x, axis<1>);
    CAPTURE(length);
    CHECK(difference(numbers_of(x), numbers_of(tenon::softmax(host, axis<1>)), 1e-6) == "");
    tenon::tensor<tenon::bfloat16, rank<2>, TestType> narrow({7, length});
    narrow = host.template to<TestType>() - tenon::mean(host.template to<TestType>(), axis<1>);
    CHECK(difference(numbers_of(narrow), numbers_of(host - tenon::mean(host, axis<1>)), 2e-2) == "");
  }
}
