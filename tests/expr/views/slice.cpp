// tests/expr/views/slice.cpp: regular parts of axes.
// Every begin, end and step on small axes is compared with Python's rule, walked position by position.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/slice.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::all_of;
using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// What Python's x[begin:end:step] picks of 0 .. extent - 1, by walking.
numbers walked(tenon::index extent, tenon::index begin, tenon::index end, tenon::index step) {
  if (begin < 0) begin += extent;
  if (end < 0) end += extent;
  numbers picked;
  for (tenon::index i = begin; step > 0 ? i < end : i > end; i += step) {
    if (i >= 0 && i < extent) picked.push_back(static_cast<double>(i));
  }
  return picked;
}

}  // namespace

TEST_CASE("begin, end and step follow Python's rule", "[slice]") {
  int wrong = 0;
  for (const tenon::index extent : {1, 2, 5}) {
    const auto x = counting<float>(rank<1>(extent));
    for (tenon::index begin = -extent; begin < extent; ++begin) {
      for (tenon::index end = -extent; end <= extent + 2; ++end) {
        for (const tenon::index step : {-3, -2, -1, 1, 2, 3}) {
          wrong += numbers_of(tenon::slice(x, range(begin, end, step))) == walked(extent, begin, end, step) ? 0 : 1;
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("open ends depend on the direction", "[slice]") {
  const auto x = counting<float>(rank<1>(5));
  CHECK(numbers_of(tenon::slice(x, range(open_end, open_end, -1))) == numbers{4, 3, 2, 1, 0});
  CHECK(numbers_of(tenon::slice(x, range(open_end, open_end, 2))) == numbers{0, 2, 4});
  CHECK(numbers_of(tenon::slice(x, range(2, open_end))) == numbers{2, 3, 4});
  CHECK(numbers_of(tenon::slice(x, range(2, open_end, -1))) == numbers{2, 1, 0});
  CHECK(numbers_of(tenon::slice(x, range(1, -1))) == numbers{1, 2, 3});
  CHECK(numbers_of(tenon::slice(x, all_of)) == numbers{0, 1, 2, 3, 4});
}

TEST_CASE("only keeps one position", "[slice]") {
  const auto x = counting<float>(rank<2>(3, 4));
  CHECK(numbers_of(tenon::slice(x, tenon::only(1))) == numbers{4, 5, 6, 7});
  CHECK(numbers_of(tenon::slice(x, all_of, tenon::only(-1))) == numbers{3, 7, 11});
  CHECK(numbers_of(tenon::slice(x, tenon::only(-3), tenon::only(-2))) == numbers{2});
  CHECK(tenon::slice(x, tenon::only(1)).shape() == rank<2>(1, 4));
}

TEMPLATE_LIST_TEST_CASE("types know the extents of parts", "[slice]", tenon_test::spaces) {
  using tenon::dyn;
  using tenon::shape;
  using tenon::static_range;
  auto x = counting<float, TestType>(shape<dyn, 5, 2>(3, 5, 2));
  const auto columns = tenon::slice(x, range(1, 3), static_range<1, 4>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(columns)::shape_type, shape<dyn, 3, 2>>);
  CHECK(numbers_of(columns) == numbers_of(tenon::slice(x, range(1, 3), range(1, 4), range(0, 2))));
  const auto backwards = tenon::slice(x * 2, all_of, static_range<-1, open_end, -2>{}, static_range<0, 9>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(backwards)::shape_type, shape<dyn, 3, 2>>);
  CHECK(numbers_of(backwards) == numbers_of(tenon::slice(x * 2, all_of, range(-1, open_end, -2))));
  const auto none = tenon::slice(x, static_range<0, 2>{}, static_range<5, 7>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(none)::shape_type, shape<dyn, 0, 2>>);
  CHECK(none.size() == 0);
  const auto either = [](bool whole) { return whole ? all_of : range(0, 2); };
  CHECK(tenon::slice(x, either(true)).shape() == shape<3, 5, 2>{});
  CHECK(tenon::slice(x, either(false)).shape() == shape<2, 5, 2>{});
  tenon::slice(x, all_of, static_range<1, 4>{}) = 0;
  CHECK(numbers_of(tenon::slice(x, range(0, 1))) == numbers{0, 1, 0, 0, 0, 0, 0, 0, 8, 9});
  STATIC_REQUIRE(std::is_same_v<typename decltype(x[range(1, 3)])::shape_type, shape<dyn, 5, 2>>);
  CHECK_THROWS_AS(tenon::slice(x, static_range<4, 5>{}), tenon::index_error);
}

TEMPLATE_LIST_TEST_CASE("slices are read and written in every space", "[slice]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(3, 5));
  CHECK(numbers_of(tenon::slice(x, range(2, open_end, -2), range(1, 5, 3)) * 1) == numbers{11, 14, 1, 4});
  tenon::slice(x, range(1, 3), range(0, 5, 2)) = tenon::slice(x, range(0, 1), range(2, 5)) * 100;
  CHECK(numbers_of(x) == numbers{0, 1, 2, 3, 4, 200, 6, 300, 8, 400, 200, 11, 300, 13, 400});
  tenon::slice(x, range(0, 1)) = 7.0f;
  CHECK(numbers_of(tenon::slice(x, tenon::only(0))) == numbers{7, 7, 7, 7, 7});
}

TEMPLATE_LIST_TEST_CASE("empty slices compute nothing", "[slice]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(4));
  CHECK(tenon::slice(x, range(3, 1)).size() == 0);
  CHECK(numbers_of(tenon::slice(x, range(4, open_end)) + 1).empty());
  tenon::slice(x, range(2, 2)) = 9.0f;
  CHECK(numbers_of(x) == numbers{0, 1, 2, 3});
  const auto none = counting<float, TestType>(rank<1>(0));
  CHECK(numbers_of(tenon::slice(none, range(open_end, open_end, -1)) + 1).empty());
}

TEST_CASE("ranges that cannot be are refused", "[slice]") {
  const auto x = counting<float>(rank<2>(3, 5));
  const auto text = tenon_test::text_of<tenon::index_error>([&] { tenon::slice(x, all_of, range(6, open_end)); });
  CHECK(tenon_test::has(text, "slice: axis 1: begin 6, expected within the extent 5"));
  CHECK_THROWS_AS(tenon::slice(x, range(-4, open_end)), tenon::index_error);
  CHECK_THROWS_AS(tenon::slice(x, tenon::only(3) /* one beyond */, all_of), tenon::index_error);
  CHECK(tenon_test::has(tenon_test::text_of<tenon::index_error>([&] { tenon::slice(x, range(0, 3, 0)); }), "step 0"));
}
