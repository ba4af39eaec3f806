// tests/expr/reduce.cpp: reductions over axes, in every space.
// Results are compared with a plain loop in double over the same elements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/reduce.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::axis_list;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// Sums over the axes of [a, b, c] that `reduced` names, by definition.
numbers sums_by_definition(const numbers& values, const tenon::array<tenon::index, 3>& extents,
                           const tenon::array<bool, 3>& reduced) {
  tenon::array<tenon::index, 3> kept{};
  for (int i = 0; i < 3; ++i) kept[i] = reduced[i] ? 1 : extents[i];
  numbers result(static_cast<std::size_t>(kept[0] * kept[1] * kept[2]), 0.0);
  for (tenon::index i = 0; i < extents[0]; ++i) {
    for (tenon::index j = 0; j < extents[1]; ++j) {
      for (tenon::index k = 0; k < extents[2]; ++k) {
        const tenon::index to =
            ((reduced[0] ? 0 : i) * kept[1] + (reduced[1] ? 0 : j)) * kept[2] + (reduced[2] ? 0 : k);
        const tenon::index from = (i * extents[1] + j) * extents[2] + k;
        result[static_cast<std::size_t>(to)] += values[static_cast<std::size_t>(from)];
      }
    }
  }
  return result;
}

template <class Space, int... Axes>
void check_sums(const tenon::array<tenon::index, 3>& extents, axis_list<Axes...> axes) {
  CAPTURE(extents[0], extents[1], extents[2], std::vector<int>{Axes...});
  const auto x = tenon_test::made_tensor<float, Space>(rank<3>(extents), scattered);
  const auto expected = sums_by_definition(numbers_of(x), extents, tenon::axis_set<3>(axes));
  CHECK(difference(numbers_of(tenon::sum(x, axes)), expected, 2e-5) == "");
  const auto turned = tenon::permute(tenon::permute(x, axis<2, 0, 1>), axis<1, 2, 0>);  // the same, through two maps
  CHECK(difference(numbers_of(tenon::sum(turned + 0, axes)), expected, 2e-5) == "");
}

/// `reduce(x, drop<...>)` against `reduce(x, axis<...>)` without its axes of extent 1, alone and inside a statement.
template <class Space, class Element, int... Axes>
void check_dropped(const tenon::array<tenon::index, 3>& extents, axis_list<Axes...> axes) {
  CAPTURE(extents[0], extents[1], extents[2], std::vector<int>{Axes...});
  const auto x = tenon_test::made_tensor<Element, Space>(rank<3>(extents), scattered);
  const auto kept = tenon::evaluated_tensor(tenon::sum(x, axes));
  const auto dropped = tenon::sum(x, tenon::drop<Axes...>);
  STATIC_REQUIRE(decltype(dropped)::shape_type::rank == 3 - static_cast<int>(sizeof...(Axes)));
  STATIC_REQUIRE(tenon::kernel_count<decltype(dropped * 2 + tenon::max(x * 2, tenon::drop<Axes...>))> == 1);
  CHECK(tenon_test::extents_of(dropped) == tenon_test::extents_of(tenon::squeeze(kept, axes)));
  CHECK(difference(numbers_of(dropped), numbers_of(kept), 1e-6) == "");
  const auto both = tenon::evaluated_tensor(kept * 2 + tenon::max(x * 2, axes));
  CHECK(difference(numbers_of(dropped * 2 + tenon::max(x * 2, tenon::drop<Axes...>)), numbers_of(both), 1e-6) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("sums over every set of axes and odd extents", "[reduce]", tenon_test::spaces) {
  const tenon::array<tenon::index, 3> sizes[] = {{{3, 5, 7}},  {{1, 1, 1}},   {{2, 67, 33}},
                                                 {{70, 3, 9}}, {{5, 1, 130}}, {{4, 0, 3}}};
  for (const auto& extents : sizes) {
    check_sums<TestType>(extents, axis<0>);
    check_sums<TestType>(extents, axis<1>);
    check_sums<TestType>(extents, axis<-1>);
    check_sums<TestType>(extents, axis<0, 1>);
    check_sums<TestType>(extents, axis<0, -1>);
    check_sums<TestType>(extents, axis<-2, -1>);
    check_sums<TestType>(extents, axis<0, 1, 2>);
    check_sums<TestType>(extents, axis<>);
  }
}

TEMPLATE_LIST_TEST_CASE("every reduction on a small table", "[reduce]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {3, 1, 2, -6, -4, -5});
  CHECK(numbers_of(tenon::sum(x, axis<1>)) == numbers{6, -15});
  CHECK(numbers_of(tenon::mean(x, axis<1>)) == numbers{2, -5});
  CHECK(numbers_of(tenon::prod(x, axis<1>)) == numbers{6, -120});
  CHECK(numbers_of(tenon::max(x, axis<1>)) == numbers{3, -4});
  CHECK(numbers_of(tenon::min(x, axis<0>)) == numbers{-6, -4, -5});
  CHECK(numbers_of(tenon::argmax(x, axis<1>)) == numbers{0, 1});
  CHECK(numbers_of(tenon::argmin(x, axis<0>)) == numbers{1, 1, 1});
  CHECK(numbers_of(tenon::all(x, axis<1>)) == numbers{1, 1});
  CHECK(numbers_of(tenon::any(x, axis<0>)) == numbers{1, 1, 1});
  CHECK(difference(numbers_of(tenon::variance(x, axis<1>)), {2.0 / 3, 2.0 / 3}, 1e-6) == "");
  CHECK(numbers_of(tenon::sum(x)) == numbers{-9});
  CHECK(numbers_of(tenon::argmax(x)) == numbers{0});
  CHECK(numbers_of(tenon::argmin(x)) == numbers{3});
}

TEMPLATE_LIST_TEST_CASE("argmax over several axes counts in row-major order of the reduced", "[reduce]",
                        tenon_test::spaces) {
  auto values = numbers(2 * 3 * 4, 0.0);
  values[5] = 9, values[12 + 7] = 9;  // [0, 1, 1] and [1, 1, 3]
  const auto x = tensor_of<TestType, double>(rank<3>(2, 3, 4), values);
  CHECK(numbers_of(tenon::argmax(x, axis<1, 2>)) == numbers{5, 7});
  CHECK(numbers_of(tenon::argmax(x, axis<0, 2>)) == numbers{0, 1, 0});
  CHECK(numbers_of(tenon::argmax(tenon::transpose(x), axis<1, 2>)) == numbers{1 * 3 + 1, 3 * 3 + 1});
}

TEMPLATE_LIST_TEST_CASE("NaN is found wherever it stands, in long rows too", "[reduce]", tenon_test::spaces) {
  const double nan = std::nan("");
  for (const tenon::index at : {0, 1, 31, 500, 998}) {
    auto x = tenon_test::made_tensor<float, TestType>(rank<1>(999),
                                                      [&](tenon::index i) { return i == at ? nan : scattered(i); });
    CHECK(difference(numbers_of(tenon::max(x)), {nan}) == "");
    CHECK(difference(numbers_of(tenon::min(x)), {nan}) == "");
    CHECK(numbers_of(tenon::argmax(x)) == numbers{static_cast<double>(at)});
  }
}

TEMPLATE_LIST_TEST_CASE("nothing folds to the identity, or is refused where there is none", "[reduce]",
                        tenon_test::spaces) {
  const auto none = counting<float, TestType>(rank<2>(3, 0));
  CHECK(numbers_of(tenon::sum(none, axis<1>)) == numbers{0, 0, 0});
  CHECK(numbers_of(tenon::prod(none, axis<1>)) == numbers{1, 1, 1});
  CHECK(numbers_of(tenon::sum(none, axis<0>)).empty());
  CHECK(numbers_of(tenon::max(none, axis<0>)).empty());
  CHECK(difference(numbers_of(tenon::mean(none)), {std::nan("")}) == "");
  CHECK(numbers_of(tenon::all(none)) == numbers{1});
  const auto text = tenon_test::text_of<tenon::shape_error>([&] { tenon::max(none, axis<1>); });
  CHECK(text.find("max: axis 1: extent 0") == 0);
  CHECK(text.find("[3, 0]") != std::string::npos);
  CHECK_THROWS_AS(tenon::argmin(none), tenon::shape_error);
}

TEST_CASE("reduced axes stay with static extent 1", "[reduce]") {
  const tenon::tensor<float, shape<2, 3>> x;
  const tenon::tensor<float, rank<3>> y({2, 3, 4});
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sum(x, axis<1>))::shape_type, shape<2, 1>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sum(y, axis<0, -1>))::shape_type, shape<1, tenon::dyn, 1>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::sum(y))::shape_type, shape<>>);
}

TEMPLATE_LIST_TEST_CASE("dropped axes leave the result", "[reduce]", tenon_test::spaces) {
  const tenon::array<tenon::index, 3> sizes[] = {{{3, 5, 7}}, {{1, 1, 1}}, {{2, 67, 33}}, {{70, 3, 9}}, {{5, 1, 130}}};
  for (const auto& extents : sizes) {
    check_dropped<TestType, float>(extents, axis<0>);
    check_dropped<TestType, double>(extents, axis<1>);
    check_dropped<TestType, float>(extents, axis<-1>);
    check_dropped<TestType, float>(extents, axis<0, 1>);
    check_dropped<TestType, double>(extents, axis<0, -1>);
    check_dropped<TestType, float>(extents, axis<-2, -1>);
    check_dropped<TestType, float>(extents, axis<0, 1, 2>);
  }
}

TEMPLATE_LIST_TEST_CASE("dropped reductions join tensors of their own rank in one kernel", "[reduce]",
                        tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<2>(2, 3), {1, 2, 3, 4, 5, 6});
  const auto bias = tensor_of<TestType, float>(rank<1>(2), {10, 20});
  const auto statement = bias + tenon::sum(x, tenon::drop<1>);
  STATIC_REQUIRE(tenon::kernel_count<decltype(statement)> == 1);
  CHECK(numbers_of(statement) == numbers{16, 35});
  tenon::tensor<float, rank<1>, TestType> y = tenon::sum(x, tenon::drop<1>) * 2;
  CHECK(numbers_of(y) == numbers{12, 30});
  // two operands whose kept axes differ, and results that repeat over a new first axis
  const auto square = tensor_of<TestType, float>(rank<2>(2, 2), {1, 2, 3, 4});
  CHECK(numbers_of(tenon::sum(square, tenon::drop<0>) + tenon::sum(square, tenon::drop<1>)) == numbers{7, 13});
  CHECK(numbers_of(square + tenon::sum(square, tenon::drop<0>)) == numbers{5, 8, 7, 10});
  CHECK(numbers_of(tenon::max(tenon::sum(x, tenon::drop<0>), tenon::drop<0>)) == numbers{9});
  CHECK(numbers_of(tenon::sum(tensor_of<TestType, float>(rank<2>(2, 0), {}), tenon::drop<1>)) == numbers{0, 0});
  auto written = tenon::evaluated_tensor(square + 0);  // into what is read
  tenon::squeeze(tenon::slice(written, tenon::all_of, tenon::only(0)), axis<1>) = tenon::sum(written, tenon::drop<1>);
  CHECK(numbers_of(written) == numbers{3, 2, 7, 4});
  tenon::squeeze(tenon::slice(written, tenon::only(1)), axis<0>) =
      tenon::sum(written, tenon::drop<0>) - tenon::max(written, tenon::drop<1>);
  CHECK(numbers_of(written) == numbers{3, 2, 7, -1});
  auto large = tenon_test::made_tensor<float, TestType>(rank<2>(200, 200), scattered);
  const auto totals = tenon::evaluated_tensor(tenon::max(large, tenon::drop<1>));
  const auto first_row = tenon::squeeze(tenon::slice(large, tenon::only(0)), axis<0>);
  first_row = tenon::max(large, tenon::drop<1>);
  CHECK(numbers_of(first_row) == numbers_of(totals));
  const auto one_column = tensor_of<TestType, float>(rank<2>(1, 2), {1, 2});
  CHECK(numbers_of(tenon::sum(one_column, tenon::drop<1>) + bias) == numbers{13, 23});
  STATIC_REQUIRE(
      std::is_same_v<typename decltype(tenon::sum(tenon::tensor<float, shape<2, 3, 4>>(), tenon::drop<1>))::shape_type,
                     shape<2, 4>>);
}

TEMPLATE_LIST_TEST_CASE("a full reduction is a number", "[reduce]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 5));
  const float total = tenon::sum(x);
  CHECK(total == 190.0f);
  const std::int64_t place = tenon::argmax(x);
  CHECK(place == 19);
}

TEMPLATE_LIST_TEST_CASE("element types of every width are folded", "[reduce]", tenon_test::spaces) {
  const auto sums = [](auto element) {
    const auto x = counting<decltype(element), TestType>(rank<2>(3, 41));
    return numbers_of(tenon::sum(x, axis<1>));
  };
  const numbers expected{820, 2501, 4182};
  CHECK(sums(double{}) == expected);
  CHECK(sums(std::int8_t{}) == expected);
  CHECK(sums(std::uint8_t{}) == expected);
  CHECK(sums(std::int32_t{}) == expected);
  CHECK(sums(std::int64_t{}) == expected);
  CHECK(difference(sums(tenon::half{}), {820, 2500, 4184}, 1e-3) == "");
  CHECK(difference(sums(tenon::bfloat16{}), expected, 4e-3) == "");
  const auto greatest = numbers_of(tenon::max(counting<tenon::half, TestType>(rank<1>(50), -90), axis<0>));
  CHECK(greatest == numbers{-41});
}

TEMPLATE_LIST_TEST_CASE("means of 64-bit integers do not wrap around", "[reduce]", tenon_test::spaces) {
  const std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  const auto x = tenon::tensor<std::int64_t, rank<2>>({2, 2}, {greatest, greatest, -1, 3}).template to<TestType>();
  const std::vector<double> rows = tenon_test::numbers_of(tenon::mean(x, tenon::drop<1>));
  CHECK(rows == std::vector<double>{0x1p63, 1});
  const auto u = tenon::tensor<std::uint64_t, rank<1>>({2}, {~std::uint64_t{0}, 1}).template to<TestType>();
  CHECK(tenon_test::numbers_of(tenon::mean(u)) == std::vector<double>{0x1p63});
}

TEST_CASE("sums stand among the values of a tensor", "[reduce]") {
  const tenon::tensor<double, rank<1>> x = {1, 2, 4};
  const tenon::tensor<double, rank<1>> y = {tenon::sum(x), 1.5, tenon::max(x)};
  CHECK(numbers_of(y) == numbers{7, 1.5, 4});
  const tenon::tensor<float, rank<2>> z = {{tenon::min(x) - 1, 2}, {3, tenon::mean(x * 3)}};
  CHECK(numbers_of(z) == numbers{0, 2, 3, 7});
  const tenon::tensor<tenon::half, rank<1>> h = {1, 2};
  CHECK(numbers_of(tenon::tensor<tenon::half, rank<1>>{tenon::sum(h), tenon::max(h)}) == numbers{3, 2});
}
