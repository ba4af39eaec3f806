// tests/expr/own_pass.cpp: algorithms within expressions: what runs, and when.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/own_pass.hpp>

#include <tenon/device/launch_count.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

namespace {

/// Counts how often it ran.
struct counted_copy {
  static constexpr const char* name = "counted_copy";
  int* runs;

  bool operator==(const counted_copy&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    ++*runs;
    target = operand;
  }
};

/// An expression that is written by an algorithm.
template <class Operand>
auto passed(const Operand& operand, int& runs) {
  const auto node = tenon::as_node(operand);
  return tenon::make_own_pass<typename Operand::element>(counted_copy{&runs}, node.shape(), node);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("an algorithm runs when its statement does", "[own_pass]", tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<2>(3, 4));
  int runs = 0;
  const auto node = passed(x, runs);
  CHECK(runs == 0);
  CHECK(numbers_of<TestType>(node) == numbers_of<TestType>(x));
  x = x + 1;
  CHECK(numbers_of<TestType>(2 * node + tenon::sum(node, axis<1>)) ==
        numbers_of<TestType>(2 * x + tenon::sum(x, axis<1>)));
  CHECK(runs == 2);  // equal ones of a statement run once
  CHECK(numbers_of<TestType>(tenon::matmul(node, tenon::transpose(node) * 2)) ==
        numbers_of<TestType>(tenon::matmul(x, tenon::transpose(x) * 2)));
}

TEST_CASE("what an algorithm reads and writes is kept apart", "[own_pass]") {
  auto x = counting<double>(rank<2>(3, 3));
  const auto expected = numbers_of(tenon::transpose(x) + 1);
  int runs = 0;
  x = passed(tenon::transpose(x) + 1, runs);
  CHECK(numbers_of(x) == expected);
  tenon::tensor<double, rank<2>> columns({3, 6});
  columns = 0.0;
  tenon::slice(columns, tenon::all_of, tenon::range(0, tenon::open_end, 2)) = passed(x, runs);
  CHECK(numbers_of(tenon::sum(columns, axis<1>)) == numbers_of(tenon::sum(x, axis<1>)));
}

TEST_CASE("an algorithm is a line of an explanation", "[own_pass]") {
  const auto x = counting<float>(rank<1>(4));
  int runs = 0;
  const auto statement = passed(x, runs) * 2;
  CHECK(tenon::kernel_count<std::remove_const_t<decltype(statement)>> == 2);
  CHECK(tenon::explain(statement).find("1. own pass: float32 [4] = counted_copy(x0)") != std::string::npos);
  CHECK(tenon::explain(statement).find("an algorithm is done before anything reads it") != std::string::npos);
  CHECK(runs == 0);
}
