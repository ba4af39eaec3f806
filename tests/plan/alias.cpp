// tests/plan/alias.cpp: when a statement must go through a temporary.
// Needless temporaries are a fault as well as missing ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/alias.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::range;
using tenon::rank;

namespace {

tenon::tensor<float, rank<2>> a({4, 4}), b({4, 4});

template <class View, class E>
bool overwrites_operands(const View& target, const E& expression) {
  const auto& node = tenon::as_node(expression);
  using type = std::remove_cvref_t<decltype(node)>;
  return tenon::reads_of(tenon::block_of(target), {&node, &tenon::statement_type_of<type>}).elsewhere;
}

template <class E>
bool needs_temporary(const E& expression) {
  return overwrites_operands(a.write_view(), expression);
}

}  // namespace

TEST_CASE("elements read where they are written need none", "[alias]") {
  CHECK(!needs_temporary(a + 1));
  CHECK(!needs_temporary(a * b - a));
  CHECK(!needs_temporary(b + tenon::transpose(b)));
  CHECK(!needs_temporary(tenon::softmax(a, axis<-1>)));
  CHECK(!needs_temporary(tenon::transpose(tenon::transpose(a))));
}

TEST_CASE("elements read elsewhere need one", "[alias]") {
  CHECK(needs_temporary(tenon::transpose(a)));
  CHECK(needs_temporary(a + tenon::slice(a, tenon::only(0))));
  CHECK(needs_temporary(tenon::matmul(a, b)));
  CHECK(needs_temporary(tenon::softmax(tenon::transpose(a), axis<-1>)));
  CHECK(needs_temporary(tenon::slice(a, range(tenon::open_end, tenon::open_end, -1))));
}

TEST_CASE("parts of one tensor that do not touch need none", "[alias]") {
  tenon::tensor<float, rank<1>> v({10});
  const auto written = tenon::slice(v, range(0, 5));
  CHECK(!overwrites_operands(written, tenon::slice(v, range(5, 10))));
  CHECK(overwrites_operands(written, tenon::slice(v, range(4, 9))));
  const auto even = tenon::slice(v, range(0, 10, 2)), odd = tenon::slice(v, range(1, 10, 2));
  CHECK(!overwrites_operands(even, odd * 2));
  const auto left = tenon::slice(a, tenon::all_of, range(0, 2)), right = tenon::slice(a, tenon::all_of, range(2, 4));
  CHECK(!overwrites_operands(left, right));
  CHECK(overwrites_operands(left, tenon::slice(a, tenon::all_of, range(1, 3))));
}

TEST_CASE("the same bytes as another type need one", "[alias]") {
  tenon::tensor<std::int32_t, rank<1>> whole({8});
  const tenon::view<float, rank<1>> floats(reinterpret_cast<float*>(whole.data()), rank<1>(8));
  CHECK(overwrites_operands(whole.write_view(), floats));
}

TEST_CASE("destinations of one statement lie apart", "[alias]") {
  tenon::tensor<float, rank<1>> v({10});
  const auto even = tenon::block_of(tenon::slice(v, range(0, 10, 2))),
             odd = tenon::block_of(tenon::slice(v, range(1, 10, 2))),
             none = tenon::block_of(tenon::slice(v, range(4, 4))),
             last = tenon::block_of(tenon::slice(v, range(9, 10)));
  const tenon::any_block apart[] = {even, none, odd, none}, meeting[] = {even, odd, last};
  tenon::check_apart(apart, 4);
  CHECK(tenon_test::text_of<tenon::storage_error>([&] { tenon::check_apart(meeting, 3); }) ==
        "evaluate: outputs 1 and 2, of extents [5] and [1], have elements in common; assign one after the other");
}
