// tests/expr/runtime_axes.cpp: reductions over axes that only the running program knows.
// Every subset of the axes of every order against the same axes as a constant, and each refusal by its text.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/runtime_axes.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axes;
using tenon::axis;
using tenon::axis_list;
using tenon::rank;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// The same reductions with the axes in the type and in a value.
template <class Tensor, int... Axes>
void check_same(const Tensor& x, axis_list<Axes...> known, const axes& named) {
  CAPTURE(extents_of(x), std::vector<int>{Axes...});
  CHECK(extents_of(tenon::sum(x, named)) == extents_of(tenon::sum(x, known)));
  CHECK(difference(numbers_of(tenon::sum(x, named)), numbers_of(tenon::sum(x, known)), 1e-6) == "");
  CHECK(numbers_of(tenon::max(x * 2, named)) == numbers_of(tenon::max(x * 2, known)));
  CHECK(numbers_of(tenon::argmin(x, named)) == numbers_of(tenon::argmin(x, known)));
  CHECK(difference(numbers_of(tenon::stddev(x, named, 1)), numbers_of(tenon::stddev(x, known, 1)), 1e-6) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("every subset of run-time axes is the constant one", "[runtime_axes]", tenon_test::spaces) {
  const tenon::array<tenon::index, 3> sizes[] = {{{3, 5, 7}}, {{1, 1, 1}}, {{2, 67, 33}}, {{70, 3, 9}}, {{5, 1, 130}}};
  for (const auto& extents : sizes) {
    const auto x = tenon_test::made_tensor<float, TestType>(rank<3>(extents), scattered);
    check_same(x, axis<>, {});
    check_same(x, axis<0>, {0});
    check_same(x, axis<1>, {-2});
    check_same(x, axis<-1>, {-1});
    check_same(x, axis<0, 1>, {1, 0});
    check_same(x, axis<0, -1>, {0, 2});
    check_same(x, axis<-2, -1>, {1, 2});
    check_same(x, axis<0, 1, 2>, {2, 0, -2});
  }
}

TEMPLATE_LIST_TEST_CASE("the type does not depend on run-time axes", "[runtime_axes]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<2>(2, 3));
  const auto total = tenon::evaluated_tensor(tenon::sum(x, axes{0}));
  STATIC_REQUIRE(std::is_same_v<typename decltype(total)::shape_type, rank<2>>);
  CHECK(numbers_of(total) == numbers{3, 5, 7});
  const std::vector<int> chosen = {1};
  const auto other = tenon::evaluated_tensor(tenon::sum(x, axes(chosen)));
  STATIC_REQUIRE(std::is_same_v<decltype(other), decltype(total)>);
  CHECK(numbers_of(other) == numbers{3, 12});
  CHECK(extents_of(other) == std::vector<tenon::index>{2, 1});
  CHECK(numbers_of(x - tenon::mean(x, axes{1})) == numbers{-1, 0, 1, -1, 0, 1});
  CHECK(numbers_of(tenon::count_nonzero(x, axes{0, 1})) == numbers{5});
  CHECK(tenon::kernel_count<decltype(tenon::sqrt(tenon::sum(x * x, axes{1})))> == 1);
  CHECK(tenon::kernel_count<decltype(2 * tenon::stddev(x, axes{1}, 1))> == 1);
  CHECK(tenon::kernel_count<decltype(x - tenon::mean(x, axes{1}))> == 2);
}

TEMPLATE_LIST_TEST_CASE("run-time axes of nothing", "[runtime_axes]", tenon_test::spaces) {
  const auto none = tenon_test::counting<float, TestType>(rank<2>(2, 0));
  CHECK(numbers_of(tenon::sum(none, axes{1})) == numbers{0, 0});
  CHECK(numbers_of(tenon::max(none, axes{0})).empty());
  CHECK(text_of<tenon::shape_error>([&] { tenon::max(none, axes{1}); }) ==
        "max: axis 1: extent 0, expected at least 1 (operand [2, 0])");
  const auto number = tenon_test::counting<float, TestType>(tenon::shape<>(), 5);
  CHECK(numbers_of(tenon::sum(number, axes{})) == numbers{5});
}

TEST_CASE("run-time axes that an operand lacks are refused", "[runtime_axes]") {
  const auto x = tenon_test::counting<float>(rank<2>(2, 3));
  CHECK(text_of<tenon::index_error>([&] { tenon::sum(x, axes{2}); }) ==
        "sum: axes: axis 2, expected -2 to 1 (operand [2, 3])");
  CHECK(text_of<tenon::index_error>([&] { tenon::max(x, axes{0, -3}); }) ==
        "max: axes: axis -3, expected -2 to 1 (operand [2, 3])");
  CHECK(text_of<tenon::index_error>([&] { tenon::mean(x, axes{1, -1}); }) ==
        "mean: axes: axis -1 is named twice (operand [2, 3])");
  CHECK(text_of<tenon::index_error>([&] { tenon::stddev(x, axes{3}, 1); }) ==
        "variance: axes: axis 3, expected -2 to 1 (operand [2, 3])");
  CHECK(text_of<tenon::index_error>([&] { axes(std::vector<int>(17)); }) == "axes: 17 axes, expected at most 16");
}
