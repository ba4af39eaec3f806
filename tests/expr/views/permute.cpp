// tests/expr/views/permute.cpp: axes in another order.
// Positions are followed one by one, and static extents with their axes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/permute.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::numbers_of;

}  // namespace

TEMPLATE_LIST_TEST_CASE("axis i of the result is axis Axes[i] of the operand", "[permute]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 3, 4));
  const auto check = [&](const auto& permuted) {
    const auto values = numbers_of(permuted);
    std::size_t at = 0;
    for (tenon::index k = 0; k < 4; ++k) {
      for (tenon::index i = 0; i < 2; ++i) {
        for (tenon::index j = 0; j < 3; ++j) CHECK(values[at++] == static_cast<double>((i * 3 + j) * 4 + k));
      }
    }
  };
  check(tenon::permute(x, axis<2, 0, 1>));
  check(tenon::permute(x, axis<-1, 0, -2>));
  check(tenon::permute(x + 0, axis<2, 0, 1>));
}

TEMPLATE_LIST_TEST_CASE("transpose exchanges the last two axes", "[permute]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 3));
  CHECK(numbers_of(tenon::transpose(x)) == std::vector<double>{0, 3, 1, 4, 2, 5});
  CHECK(numbers_of(tenon::transpose(tenon::transpose(x + 0))) == std::vector<double>{0, 1, 2, 3, 4, 5});
  const auto batches = counting<float, TestType>(rank<3>(2, 2, 2));
  CHECK(numbers_of(tenon::transpose(batches)) == std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
}

TEMPLATE_LIST_TEST_CASE("axes are swapped and moved", "[permute]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(shape<2, 3, 4, 5>{});
  const auto same = [](const auto& moved, const auto& permuted) {
    STATIC_REQUIRE(std::is_same_v<typename std::remove_cvref_t<decltype(moved)>::shape_type,
                                  typename std::remove_cvref_t<decltype(permuted)>::shape_type>);
    return numbers_of(moved) == numbers_of(permuted);
  };
  CHECK(same(tenon::swap_axes(x, axis<0, -1>), tenon::permute(x, axis<3, 1, 2, 0>)));
  CHECK(same(tenon::swap_axes(x, axis<2, 1>), tenon::permute(x, axis<0, 2, 1, 3>)));
  CHECK(same(tenon::swap_axes(x + 0, axis<1, 1>), tenon::permute(x, axis<0, 1, 2, 3>)));
  CHECK(same(tenon::move_axis(x, axis<0>, axis<2>), tenon::permute(x, axis<1, 2, 0, 3>)));
  CHECK(same(tenon::move_axis(x, axis<-1>, axis<1>), tenon::permute(x, axis<0, 3, 1, 2>)));
  CHECK(same(tenon::move_axis(x * 1, axis<1>, axis<-1>), tenon::permute(x, axis<0, 2, 3, 1>)));
  CHECK(same(tenon::move_axis(x, axis<3>, axis<0>), tenon::permute(x, axis<3, 0, 1, 2>)));
  CHECK(same(tenon::move_axis(x, axis<2>, axis<2>), x));
}

TEST_CASE("static extents move with their axes", "[permute]") {
  const tenon::tensor<float, shape<2, tenon::dyn, 4>> x({2, 3, 4});
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::permute(x, axis<2, 0, 1>))::shape_type, shape<4, 2, tenon::dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::transpose(x * 2))::shape_type, shape<2, 4, tenon::dyn>>);
}

TEST_CASE("the result of permuting a tensor can be assigned to", "[permute]") {
  auto x = tenon::zeros<float>(shape<2, 3>{});
  tenon::transpose(x) = counting<float>(shape<3, 2>{});
  CHECK(numbers_of(x) == std::vector<double>{0, 2, 4, 1, 3, 5});
}
