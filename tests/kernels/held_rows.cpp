// tests/kernels/held_rows.cpp: rows that are read once and kept in shared memory.
// Which sources are the same elements, what fits, and statements on both sides of the limit, in place and of 16 bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/held_rows.hpp>
#include <tenon/tenon.hpp>

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

TEST_CASE("sources are kept when they occur again, row for row", "[held_rows]") {
  float x[4], z[4];
  row_source_list<2> list;
  sources first{{{{100, 1}}, {{0, 1}}}, {x, z}},
      second{{{{100, 1}}, {{100, 0}}, {{200, 1}}, {{0, 1}}, {{100, 0}}}, {x, x, x, z, x}};
  CHECK(list.add(first, row_axis, extents) == 0);
  CHECK(list.add(second, row_axis, extents) == 2);
  const auto kept = list.kept(100, 8);
  CHECK(kept.place[0] == 0);
  CHECK(kept.place[2] == 0);
  CHECK(kept.place[1] == 416);  // whole 32 bytes
  CHECK(kept.place[5] == 416);
  CHECK_FALSE(kept.is_kept(3));  // one element for the row
  CHECK_FALSE(kept.is_kept(6));
  CHECK_FALSE(kept.is_kept(4));  // other rows
  CHECK(kept.first == 0b11);
  CHECK(kept.bytes == 832);
}

TEST_CASE("a single row has no step, and rows that do not fit are not kept", "[held_rows]") {
  float x[4], z[4];
  sources once{{{{100, 1}}, {{7, 1}}}, {x, z}}, again{{{{3, 1}}, {{7, 1}}}, {x, z}};
  row_source_list<2> list;
  list.add(once, row_axis, array<tenon::index, 2>{{1, 100}});
  list.add(again, row_axis, array<tenon::index, 2>{{1, 100}});
  CHECK(list.kept(100, 1).bytes == 832);
  CHECK(list.kept(8192, 1).bytes == 32768);  // of two such rows a block has room for one
  CHECK(list.kept(12288, 1).bytes == 49152);
  CHECK(list.kept(12296, 1).bytes == 0);
  CHECK(list.kept(1024, 8).bytes == 4096);
  for (int i = 0; i < 16; ++i) list.add(again, row_axis, extents);
  CHECK(list.kept(100, 1).bytes == 0);  // more sources than are numbered
}

TEMPLATE_LIST_TEST_CASE("rows of every length around what is kept", "[held_rows]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {4, 64, 1024, 1028, 12288, 12292}) {
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

TEMPLATE_LIST_TEST_CASE("16-bit rows are kept as they are", "[held_rows]", tenon_test::kernel_spaces) {
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
