// tests/kernels/long_rows.cpp: few long rows, each shared by blocks that wait for each other.
// Against the host, with more parts than blocks, several rows, in place, odd lengths and rows of two axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/long_rows.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

auto random_rows(tenon::index rows, tenon::index length) {
  return tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(rows, length), 3, -4.0f, 4.0f));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("long rows are shared by blocks, in one launch", "[long_rows]", tenon_test::kernel_spaces) {
  const tenon::index sizes[][2] = {{1, 32768}, {1, 70000}, {1, 49153}, {3, 40000}};
  for (const auto& [rows, length] : sizes) {
    const auto host = random_rows(rows, length);
    const auto x = host.template to<TestType>();
    CAPTURE(rows, length);
    tenon::tensor<float, rank<2>, TestType> y({rows, length});
    const tenon::launch_counter counter;
    y = tenon::standardise(x, axis<-1>);
    CHECK(counter.count() == 1);
    CHECK(difference(numbers_of(y), numbers_of(tenon::standardise(host, axis<-1>)), 1e-4) == "");
    y = tenon::softmax(x, axis<-1>) * static_cast<float>(length);
    CHECK(difference(numbers_of(y), numbers_of(tenon::softmax(host, axis<-1>) * static_cast<float>(length)), 1e-3) ==
          "");
  }
}

TEMPLATE_LIST_TEST_CASE("long rows are written in place, by any number of blocks alike", "[long_rows]",
                        tenon_test::kernel_spaces) {
  const auto host = random_rows(2, 36000);
  const auto written = [&](int blocks) {
    tenon::emulation_options options;
    options.resident_blocks = blocks;
    options.seed = static_cast<std::uint64_t>(blocks);
    const tenon::emulation_scope scope(options);
    auto x = host.template to<TestType>();
    x = x - tenon::max(x, axis<1>) / tenon::sum(tenon::abs(x - tenon::mean(x, axis<1>)), axis<1>);
    return numbers_of(x);
  };
  const auto expected = written(6);
  CHECK(written(1) == expected);
  CHECK(written(3) == expected);
  CHECK(written(17) == expected);
  CHECK(difference(expected,
                   numbers_of(host - tenon::max(host, axis<1>) /
                                         tenon::sum(tenon::abs(host - tenon::mean(host, axis<1>)), axis<1>)),
                   1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("long rows of two axes and of 16 bits", "[long_rows]", tenon_test::kernel_spaces) {
  const auto host =
      tenon::evaluated_tensor(tenon::cast<tenon::half>(tenon::uniform<float>(rank<3>(2, 300, 256), 3, -1.0f, 1.0f)));
  const auto x = host.template to<TestType>();
  const auto statement = [](const auto& values) {
    return numbers_of(tenon::cast<float>(values) -
                      tenon::mean(tenon::cast<float>(values), axis<1, 2>) * tenon::max(values, axis<1, 2>));
  };
  CHECK(difference(statement(x), statement(host), 1e-5) == "");
}
