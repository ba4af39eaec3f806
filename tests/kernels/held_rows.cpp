// tests/kernels/held_rows.cpp: rows that are read once and held in registers.
// Which sources are the same elements, teams of every size, whole and not, two rows at once, in place and of 16 bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/held_rows.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::array;
using tenon::axis;
using tenon::rank;
using tenon::row_source_list;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

/// Sources of a program, as `visit` shows them.
struct sources {
  std::vector<array<tenon::index, 2>> strides;
  std::vector<const float*> data;

  template <class Visitor>
  void visit(Visitor& visitor) {
    for (std::size_t i = 0; i < data.size(); ++i) visitor(strides[i], data[i]);
    visitor(array<tenon::index, 2>{{1, 1}}, tenon::index{0});  // positions are no elements in memory
  }
};

constexpr array<int, 2> row_axis{{0, -1}};
const array<tenon::index, 2> extents{{8, 100}};

}  // namespace

TEST_CASE("the first rows that occur again are held, row for row", "[held_rows]") {
  float x[400], z[4];
  row_source_list<2> list;
  sources first{{{{100, 1}}, {{0, 1}}}, {x, z}},
      second{{{{100, 1}}, {{100, 0}}, {{200, 1}}, {{0, 1}}, {{100, 0}}}, {x, x, x, z, x}};
  const array<int, 2> begin{{list.add(first, row_axis, extents), list.add(second, row_axis, extents)}};
  CHECK(begin[1] == 2);
  const auto two = list.held<float, 2>(begin);
  CHECK(two.data[0] == x);
  CHECK(two.step[0] == array<tenon::index, 2>{{100, 0}});
  CHECK(two.data[1] == z);
  CHECK(two.step[1] == array<tenon::index, 2>{{0, 0}});
  CHECK(two.same_as_held[0] == array<std::uint32_t, 2>{{0b101, 0b100010}});
  CHECK(two.same_as_held[1] == array<std::uint32_t, 2>{{0b1, 0b1000}});  // not one element, not other rows
  const auto one = list.held<float, 1>(begin);
  CHECK(one.data[0] == x);
  CHECK(list.held<double, 1>(begin).data[0] == nullptr);  // of another size
  CHECK(two.row(0, {{3, 0}}) == x + 300);
}

TEST_CASE("rows that differ from each other are held before one that all read", "[held_rows]") {
  float weight[100], x[800];
  row_source_list<2> list;
  sources both{{{{0, 1}}, {{100, 1}}}, {weight, x}}, again = both;
  const array<int, 2> begin{{list.add(both, row_axis, extents), list.add(again, row_axis, extents)}};
  CHECK(list.held<float, 1>(begin).data[0] == x);
  const auto two = list.held<float, 2>(begin);
  CHECK(two.data[1] == weight);
  CHECK(two.same_as_held[1] == array<std::uint32_t, 2>{{0b10, 0b1}});
}

TEST_CASE("a single row has no step, and too many sources are not compared", "[held_rows]") {
  float x[4], z[4];
  sources once{{{{100, 1}}, {{7, 1}}}, {x, z}}, again{{{{3, 1}}, {{9, 1}}}, {x, z}};
  row_source_list<2> list;
  const array<int, 2> begin{{list.add(once, row_axis, array<tenon::index, 2>{{1, 100}}),
                             list.add(again, row_axis, array<tenon::index, 2>{{1, 100}})}};
  CHECK(list.held<float, 1>(begin).data[0] == x);
  CHECK(list.held<float, 1>(begin).step[0] == array<tenon::index, 2>{{0, 0}});
  for (int i = 0; i < 16; ++i) list.add(again, row_axis, extents);
  CHECK(list.held<float, 1>(begin).data[0] == nullptr);
}

TEMPLATE_LIST_TEST_CASE("rows of every length around what is held", "[held_rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {4, 64, 72, 124, 256, 1024, 1028, 2048, 8192, 8196}) {
    const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(9, length), 3, -4.0f, 4.0f));
    const auto gamma = tenon::evaluated_tensor(tenon::uniform<float>(rank<1>(length), 4, -1.0f, 1.0f));
    const auto normal = [](const auto& x, const auto& scale) {
      return tenon::standardise(x, axis<-1>) * scale + scale;
    };
    auto x = host.template to<TestType>();
    CAPTURE(length);
    CHECK(difference(numbers_of(normal(x, gamma.template to<TestType>())), numbers_of(normal(host, gamma)), 2e-5) ==
          "");
    x = tenon::log_softmax(x, axis<-1>);
    CHECK(difference(numbers_of(x), numbers_of(tenon::log_softmax(host, axis<-1>)), 2e-5) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("slices of one tensor are rows of their own", "[held_rows]", tenon_test::kernel_spaces) {
  const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(12, 64), 3, -4.0f, 4.0f));
  const auto x = host.template to<TestType>();
  const auto statement = [](const auto& values) {
    const auto top = tenon::slice(values, tenon::range(0, 6)), apart = tenon::slice(values, tenon::range(0, 12, 2));
    const auto row = tenon::slice(values, tenon::range(0, 1));
    return numbers_of(top - tenon::max(apart, axis<1>) + tenon::sum(top * row, axis<1>) * row);
  };
  CHECK(difference(statement(x), statement(host), 1e-4) == "");
}

TEMPLATE_LIST_TEST_CASE("rows of several runs are read where they are", "[held_rows]", tenon_test::kernel_spaces) {
  const auto host = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(6, 8, 16), 3, -4.0f, 4.0f));
  const auto x = host.template to<TestType>();
  const auto statement = [](const auto& values) {
    const auto upper = tenon::slice(values, tenon::range(), tenon::range(0, 4));
    const auto apart = tenon::slice(values, tenon::range(), tenon::range(0, 8, 2));
    return numbers_of(upper - tenon::sum(apart, axis<1, 2>) + tenon::max(upper, axis<1, 2>));
  };
  CHECK(difference(statement(x), statement(host), 1e-4) == "");
}

TEMPLATE_LIST_TEST_CASE("16-bit rows are held as they are", "[held_rows]", tenon_test::kernel_spaces) {
  const auto host =
      tenon::evaluated_tensor(tenon::cast<tenon::bfloat16>(tenon::uniform<float>(rank<2>(5, 2048), 3, -4.0f, 4.0f)));
  const auto x = host.template to<TestType>();
  tenon::tensor<float, rank<2>, TestType> y({5, 2048});
  y = tenon::softmax(tenon::cast<float>(x), axis<1>);  // packets of 16 bytes of the float that is written
  CHECK(difference(numbers_of(y), numbers_of(tenon::softmax(tenon::cast<float>(host), axis<1>)), 1e-6) == "");
  tenon::tensor<tenon::bfloat16, rank<2>, TestType> z({5, 2048});
  z = tenon::softmax(x, axis<1>);
  CHECK(difference(numbers_of(z), numbers_of(y), 2e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("teams of every size hold rows, whole or not", "[held_rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {8, 16, 24, 64, 120, 128, 512, 1000, 1024, 1032, 2048, 4096, 8184, 8192}) {
    const tenon::index rows = length > 2048 ? 70 : 131;  // the last block has teams without a row
    const auto host = tenon::evaluated_tensor(
        tenon::cast<tenon::bfloat16>(tenon::uniform<float>(rank<2>(rows, length), 3, -4.0f, 4.0f)));
    auto x = host.template to<TestType>();
    CAPTURE(length);
    tenon::tensor<float, rank<2>> expected = tenon::softmax(tenon::cast<float>(host), axis<1>);
    x = tenon::softmax(x, axis<1>);  // in place
    CHECK(difference(numbers_of(x), numbers_of(expected), 4e-3) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("two rows are held where a reduction reads two", "[held_rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {4, 60, 64, 512, 1100, 4096, 4100}) {
    const auto left = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(70, length), 3, -1.0f, 1.0f));
    const auto right = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(70, length), 4, -1.0f, 1.0f));
    const auto statement = [](const auto& g, const auto& y) {
      return numbers_of((g - tenon::sum(g * y, axis<1>)) * y);
    };
    CAPTURE(length);
    CHECK(difference(statement(left.template to<TestType>(), right.template to<TestType>()), statement(left, right),
                     1e-4) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("types that promise more than pointers keep do no harm", "[held_rows]",
                        tenon_test::kernel_spaces) {
  const auto x = tenon_test::counting<float>(rank<2>(9, 64)), y = tenon_test::counting<float>(rank<2>(9, 64), 5, 3);
  const auto one_type = [](const auto& left, const auto& right) {
    return numbers_of(left - tenon::max(left, axis<1>) + tenon::max(right, axis<1>));
  };
  const auto other_rows = [](const auto& left, const auto& right) {
    return numbers_of(left - tenon::max(left, axis<1>) + tenon::min(right, axis<1>));
  };
  const auto one_type_of_two = [](const auto& left, const auto& right) {
    return numbers_of(left - tenon::max(left + right, axis<1>) + tenon::max(left + left, axis<1>));
  };
  const auto left = x.to<TestType>(), right = y.to<TestType>();
  CHECK(one_type(left, right) == one_type(x, y));
  CHECK(other_rows(left, right) == other_rows(x, y));
  CHECK(one_type_of_two(left, right) == one_type_of_two(x, y));
}

TEMPLATE_LIST_TEST_CASE("a NaN fills its own row alone", "[held_rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {16, 68, 256, 2048}) {
    auto host = tenon_test::counting<float>(rank<2>(40, length));
    host(7, length - 3) = std::numeric_limits<float>::quiet_NaN();
    const auto shares = numbers_of(tenon::softmax(host.template to<TestType>(), axis<1>));
    CAPTURE(length);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      REQUIRE(std::isnan(shares[i]) == (static_cast<tenon::index>(i) / length == 7));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("rows of several results, one of them a number for each row", "[held_rows]",
                        tenon_test::kernel_spaces) {
  using half_rows = tenon::tensor<tenon::half, rank<2>, TestType>;
  using numbers = tenon::tensor<float, rank<2>, TestType>;
  for (const tenon::index length : {7, 64, 250, 256, 1028}) {
    CAPTURE(length);
    const auto x = tenon::tensor<tenon::half, rank<2>>(tenon::normal<tenon::half>({21, length}, 1)),
               y = tenon::tensor<tenon::half, rank<2>>(tenon::normal<tenon::half>({21, length}, 2));
    const auto left = x.template to<TestType>();
    half_rows sum = y.template to<TestType>(), shares({21, length});
    numbers totals({21, 1});
    tenon::evaluate(tenon::assign(shares, tenon::softmax(left + sum, axis<1>)),
                    tenon::assign(totals, tenon::logsumexp(left + sum, axis<1>)), tenon::assign(sum, left + sum));
    CHECK(difference(numbers_of(sum), numbers_of(x + y), 0) == "");
    CHECK(difference(numbers_of(shares), numbers_of(tenon::softmax(x + y, axis<1>)), 1e-3) == "");
    CHECK(difference(numbers_of(totals), numbers_of(tenon::logsumexp(x + y, axis<1>)), 3e-3) == "");
  }
}
