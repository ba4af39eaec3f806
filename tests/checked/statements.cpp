// tests/checked/statements.cpp: with TENON_CHECKED, misuse that other builds do not look for is told.
// Views that outlived their tensors, indices outside, and overlaps that noalias() denies.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/algorithms/histogram.hpp>
#include <tenon/algorithms/scan.hpp>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/algorithms/scatter_nd.hpp>
#include <tenon/algorithms/search.hpp>
#include <tenon/algorithms/select.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/algorithms/unique.hpp>
#include <tenon/device/graph.hpp>
#include <tenon/io/print.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

static_assert(TENON_CHECKED != 0);

namespace {

/// A view of elements whose tensor is gone.
template <class Space>
tenon::view<float, rank<2>, Space> dead_view(tenon::index rows = 2, tenon::index columns = 3) {
  auto x = counting<float, Space>(rank<2>(rows, columns));
  const auto window = x.write_view();  // which compilers do not follow, as they would if it were returned here
  return window;
}

/// What is told when `body` meets elements that were freed; `beginning` without what all such texts end with.
template <class Body>
void check_told(const std::string& beginning, const Body& body) {
  CHECK(text_of<tenon::storage_error>(body) ==
        beginning + ": a view of storage that was freed; keep its tensor as long as the view");
}

}  // namespace

TEST_CASE("what was freed is not printed, and a place outside is named as it was written", "[statements]") {
  check_told("to_text: operand [2, 3]", [] { (void)tenon::to_text(dead_view<tenon::host>()); });
  const auto x = counting<float, tenon::host>(rank<2>(2, 3));
  CHECK(x[0][-3] == x(0, 0));
  CHECK(text_of<tenon::index_error>([&] { (void)x[0][-4]; }) ==
        "select: axis 0: position -4, expected within the extent 3 (operand [3])");
}

TEMPLATE_LIST_TEST_CASE("statements do not read what was freed", "[statements]", tenon_test::spaces) {
  const auto dead = dead_view<TestType>();
  auto y = counting<float, TestType>(rank<2>(2, 3));
  const auto before = numbers_of(y);
  check_told("assign: operand [2, 3]", [&] { y = dead; });
  check_told("add: operand [2, 3]", [&] { y = y * 2 + dead; });
  check_told("sum: operand [2, 3]", [&] { y = tenon::sum(dead, axis<1>); });
  check_told("exp: operand [3, 2]", [&] { y = tenon::transpose(tenon::exp(tenon::transpose(dead))); });
  check_told("contract: operand [2, 3]", [&] { y = tenon::matmul(tenon::matmul(y, tenon::transpose(y)), dead); });
  check_told("assign: operand [2, 3]", [&] { y = tenon::roll(tenon::as_node(dead), 1, axis<0>); });
  check_told("assign: operand [2, 3]", [&] { (void)tenon::evaluated_tensor(dead); });
  check_told("multiply: operand [1, 3]", [&] { y = y * tenon::slice(dead, tenon::only(1)); });
  check_told("max: operand [2, 3]", [&] { (void)static_cast<float>(tenon::max(dead)); });
  check_told("add: operand [2, 3]", [&] { tenon::evaluate(tenon::assign(y, y), tenon::assign(y, dead + 1)); });
  CHECK(numbers_of(y) == before);
}

TEMPLATE_LIST_TEST_CASE("statements do not write to what was freed", "[statements]", tenon_test::spaces) {
  const auto dead = dead_view<TestType>();
  const auto x = counting<float, TestType>(rank<2>(2, 3));
  check_told("assign: destination [2, 3]", [&] { dead = x; });
  check_told("assign: destination [2, 3]", [&] { dead = tenon::sum(x, axis<0>); });
  check_told("assign: destination [2, 3]", [&] { dead.noalias() = 7; });
  check_told("evaluate: destination [2, 3]", [&] { tenon::evaluate(tenon::assign(dead, x)); });
}

TEMPLATE_LIST_TEST_CASE("elements of freed storage are not accessed", "[statements]", tenon_test::spaces) {
  const auto dead = dead_view<TestType>();
  check_told("view: elements [2, 3]", [&] { (void)dead(0, 0); });
  check_told("view: elements [2, 3]", [&] { dead.at(1, 2) = 4; });
}

TEST_CASE("algorithms do not read what was freed, and say their names", "[statements]") {
  const auto dead = dead_view<tenon::host>();
  const auto freed = [&](const std::string& name, const auto& algorithm) {
    check_told(name + ": operand [2, 3]", [&] { (void)algorithm(dead); });
  };
  freed("cumsum", [](const auto& x) { return tenon::cumsum(x, axis<0>); });
  freed("cummin", [](const auto& x) { return tenon::cummin(x, axis<1>); });
  freed("sort", [](const auto& x) { return tenon::sort(x, axis<1>); });
  freed("argsort", [](const auto& x) { return tenon::argsort(x, axis<1>); });
  freed("topk", [](const auto& x) { return tenon::topk(x, 2, axis<1>); });
  freed("unique", [](const auto& x) { return tenon::unique(x); });
  freed("unique", [](const auto& x) { return tenon::unique(x, axis<0>); });
  freed("nonzero", [](const auto& x) { return tenon::nonzero(x); });
  freed("masked_select", [](const auto& x) { return tenon::masked_select(x, tenon::constants(rank<1>(3), true)); });
  freed("compress", [](const auto& x) { return tenon::compress(x, tenon::constants(rank<1>(3), true)); });
  freed("histogram", [](const auto& x) { return tenon::histogram(x, 3, 0.0, 1.0); });
  freed("searchsorted", [](const auto& x) { return tenon::searchsorted(counting<float>(rank<1>(4)), x); });
  freed("multiply", [](const auto& x) { return tenon::sort(x * 2, axis<1>); });
}

TEST_CASE("scatters do not touch what was freed, and say their names", "[statements]") {
  const auto places = counting<std::int64_t>(rank<2>(1, 3), 0, 0);
  const auto dead = dead_view<tenon::host>();
  auto y = counting<float>(rank<2>(2, 3));
  check_told("scatter: destination [2, 3]", [&] { tenon::scatter(dead, axis<0>, places, 1.0f); });
  check_told("scatter: operand [2, 3]", [&] { tenon::scatter(y, axis<0>, places, dead); });
  check_told("scatter_add: destination [2, 3]", [&] { tenon::scatter_add(dead, axis<0>, places, 1.0f); });
  check_told("index_add: operand [2, 3]",
             [&] { tenon::index_add(y, axis<0>, counting<std::int64_t>(rank<1>(2)), dead); });
  check_told("scatter_nd: operand [2, 3]", [&] { tenon::scatter_nd(y, counting<std::int64_t>(rank<2>(2, 1)), dead); });
  CHECK(numbers_of(y) == numbers{0, 1, 2, 3, 4, 5});
}

TEMPLATE_LIST_TEST_CASE("an expression on a local tensor that has a name is found out", "[statements]",
                        tenon_test::spaces) {
  const auto expression = [] {
    const auto local = counting<float, TestType>(rank<1>(5));
    return local * 2;
  }();
  check_told("multiply: operand [5]", [&] { (void)tenon::evaluated_tensor(expression); });
}

TEMPLATE_LIST_TEST_CASE("what lives is never complained about", "[statements]", tenon_test::spaces) {
  using vector = tenon::tensor<float, rank<1>, TestType>;
  auto x = std::make_unique<vector>(counting<float, TestType>(rank<1>(100)));
  const auto elements = x->view();
  const vector kept = std::move(*x);
  x.reset();
  CHECK(numbers_of(elements + 1)[99] == 100);
  for (int i = 0; i < 50; ++i) {  // memory that was given back is used again
    const auto block = counting<float, TestType>(rank<1>(1 << 20));
    CHECK(numbers_of(tenon::slice(block, tenon::only(-1))) == numbers{(1 << 20) - 1});
  }
  const auto none = dead_view<TestType>(0, 3);
  CHECK(numbers_of(none + 1).empty());
  float own[3] = {1, 2, 3};
  CHECK(numbers_of(tenon::view<float, rank<1>>(own, rank<1>(3)) * 2) == numbers{2, 4, 6});
}

TEMPLATE_LIST_TEST_CASE("overlaps that noalias denies are told", "[statements]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(6));
  const auto before = numbers_of(x);
  const std::string told = ": is read at other positions than it is written; assign without noalias()";
  CHECK(text_of<tenon::storage_error>([&] { x.noalias() = tenon::slice(x, range(open_end, open_end, -1)); }) ==
        "noalias: destination [6]" + told);
  const auto front = tenon::slice(x, range(0, 4)), back = tenon::slice(x, range(2, 6));
  CHECK(text_of<tenon::storage_error>([&] { front.noalias() = back * 2; }) == "noalias: destination [4]" + told);
  CHECK(numbers_of(x) == before);
  x.noalias() = x + 1;
  tenon::slice(x, range(0, 6, 2)).noalias() = tenon::slice(x, range(1, 6, 2)) * 2;
  CHECK(numbers_of(x) == numbers{4, 2, 8, 4, 12, 6});
}

TEST_CASE("indices outside the extents are told", "[statements]") {
  auto x = counting<float>(rank<2>(2, 3));
  CHECK(x(1, 2) == 5);
  CHECK(text_of<tenon::index_error>([&] { x(0, 3) = 1; }) ==
        "view: axis 1: index 3, expected at least 0 and below 3 (extents [2, 3])");
  CHECK(text_of<tenon::index_error>([&] { (void)tenon::slice(x, tenon::only(1))(1, 0); }) ==
        "view: axis 0: index 1, expected at least 0 and below 1 (extents [1, 3])");
  CHECK(text_of<tenon::index_error>([&] { (void)x[1][3]; }) ==
        "select: axis 0: position 3, expected within the extent 3 (operand [3])");
  CHECK(text_of<tenon::index_error>([&] { (void)x(-1, 0); }) ==
        "view: axis 0: index -1, expected at least 0 and below 2 (extents [2, 3])");
}

TEMPLATE_LIST_TEST_CASE("statements do not read what was moved to another tensor", "[statements]", tenon_test::spaces) {
  auto from = tenon::full<float, TestType>(tenon::shape<10, 20>{}, 2.0f);
  const auto into = std::move(from);
  const auto x = counting<float, TestType>(rank<2>(3, 10));
  const std::string told = " [10, 20]: a tensor whose elements were moved to another; assign to it before it is read";
  CHECK(text_of<tenon::storage_error>([&] { (void)tenon::evaluated_tensor(tenon::matmul(x, from)); }) ==
        "contract: operand" + told);
  CHECK(text_of<tenon::storage_error>([&] { (void)tenon::evaluated_tensor(from + 1); }) == "add: operand" + told);
  from = 3;
  CHECK(numbers_of(tenon::evaluated_tensor(from + into)) == numbers(200, 5));
}

TEMPLATE_LIST_TEST_CASE("trusted indices are looked at", "[statements]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(2, 3));
  const auto places = counting<std::int64_t, TestType>(rank<1>(3), 1);
  CHECK(numbers_of(tenon::take(x, tenon::trusted(places - 1), axis<1>)) == numbers{0, 1, 2, 3, 4, 5});
  CHECK(text_of<tenon::index_error>([&] { (void)tenon::take(x, tenon::trusted(places), axis<1>); }) ==
        "take: axis 1: index 3, expected at least -3 and below 3");
  const auto rows = tenon::new_axis<0>(places - 6);
  CHECK(text_of<tenon::index_error>([&] { (void)tenon::take_along_axis(x, tenon::trusted(rows), axis<0>); }) ==
        "take_along_axis: axis 0: index -5, expected at least -2 and below 2");
}

TEST_CASE("what a captured function frees is kept by the graph, not among freed blocks", "[statements]") {
  using tenon::emulated;
  const auto flush = [] { tenon::tensor<float, rank<1>>({tenon::index{tenon::freed_blocks::most_bytes}}); };
  const auto x = counting<float, emulated>(rank<2>(4, 4));
  auto y = counting<float, emulated>(rank<2>(4, 4));
  flush();
  const auto in_use = tenon::blocks_of<emulated>().count();
  {
    const auto graph = tenon::capture<emulated>([&] { y = tenon::evaluated_tensor(x + 1) * 2; });
    flush();
    CHECK(tenon::blocks_of<emulated>().count() == in_use + 1);
    graph.launch();
  }
  CHECK(numbers_of(y) == numbers_of((x + 1) * 2));
}
