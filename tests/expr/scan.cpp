// tests/expr/scan.cpp: scans as they are named: their extents and elements; nothing runs before a statement.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/scan.hpp>

#include "support/catch.hpp"

using tenon::axis;
using tenon::rank;

namespace {

template <class T, class Shape>
using variable_leaf = tenon::leaf<const T, Shape, tenon::host, tenon::variable_name<0>>;

template <class T, int... I>
using named_scan = decltype(tenon::cumsum(std::declval<const variable_leaf<T, rank<2>>&>(), axis<I>...));

}  // namespace

TEST_CASE("a scan of a variable is a node of its extents", "[scan]") {
  using node = named_scan<float, -1>;
  static_assert(std::is_same_v<typename node::kind, tenon::algorithm_kind>);
  static_assert(std::is_same_v<typename node::shape_type, rank<2>>);
  static_assert(std::is_same_v<decltype(node::options), tenon::scan_algorithm<tenon::sum_monoid, 1>>);
  static_assert(tenon::depends_on<0, node> && !tenon::depends_on<1, node>);
  const tenon::tensor<float, rank<2>> x({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto scan = tenon::make_scan<tenon::max_monoid, 0>(tenon::as_node(x), {.reverse = true});
  CHECK(scan.shape() == x.shape());
  CHECK(scan.options == tenon::scan_algorithm<tenon::max_monoid, 0>{{.reverse = true}});
  CHECK(!(scan.options == tenon::scan_algorithm<tenon::max_monoid, 0>{{.exclusive = true, .reverse = true}}));
}

TEST_CASE("scans of integers and bool have elements of 64 bits", "[scan]") {
  using tenon::detail::scan_element;
  static_assert(std::is_same_v<scan_element<tenon::sum_monoid, std::int8_t>, std::int64_t>);
  static_assert(std::is_same_v<scan_element<tenon::prod_monoid, bool>, std::int64_t>);
  static_assert(std::is_same_v<scan_element<tenon::max_monoid, std::int8_t>, std::int8_t>);
  static_assert(std::is_same_v<scan_element<tenon::sum_monoid, float>, float>);
  CHECK(std::string(tenon::cumsum.name) == "cumsum");
  CHECK(std::string(tenon::cumprod.name) == "cumprod");
  CHECK(std::string(tenon::cummax.name) == "cummax");
  CHECK(std::string(tenon::cummin.name) == "cummin");
}
