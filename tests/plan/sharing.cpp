// tests/plan/sharing.cpp: which parts of a statement are equal, and that equal reductions are folded once.
// An operation that counts how many values it is asked for shows what was computed.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <tenon/plan/sharing.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

std::atomic<long> evaluations{0};  // by all threads

/// x itself; counts the values that it sees. Costly, so that rows put it on record.
struct counted_op : tenon::promoting {
  using costly = void;
  using of_elements_alone = void;
  [[maybe_unused]] static constexpr const char* name = "counted";
  template <class V>
  static V value(V x) {
    evaluations += tenon::simd::width_of<V>;
    return x;
  }
};
constexpr tenon::pointwise_function<counted_op> counted;

template <class E>
bool equal(const E& left, const E& right) {
  return tenon::equal_nodes(left, right);
}

}  // namespace

TEST_CASE("nodes are equal when they read the same elements the same way", "[sharing]") {
  const auto x = tenon_test::counting<float>(rank<2>(3, 4)), y = tenon_test::counting<float>(rank<2>(3, 4));
  CHECK(equal(x * 2 + 1, x * 2 + 1));
  CHECK_FALSE(equal(x * 2 + 1, x * 3 + 1));
  CHECK_FALSE(equal(x * 2 + 1, y * 2 + 1));
  CHECK(equal(tenon::sum(tenon::exp(x), axis<1>), tenon::sum(tenon::exp(x), axis<1>)));
  CHECK(equal(tenon::transpose(x * 2), tenon::transpose(x * 2)));
  CHECK_FALSE(equal(tenon::slice(x, tenon::range(0, 2)) + 0, tenon::slice(x, tenon::range(1, 3)) + 0));
  CHECK_FALSE(equal(x * 0.0f, x * -0.0f));
  CHECK_FALSE(equal(tenon::as_node(std::nanf("")), tenon::as_node(std::nanf(""))));
}

TEST_CASE("each reduction finds the first that equals it", "[sharing]") {
  const auto x = tenon_test::counting<float>(rank<1>(5)), y = tenon_test::counting<float>(rank<1>(5));
  const auto e = tenon::sum(x) * tenon::sum(y) + tenon::max(x) + tenon::sum(x) + tenon::sum(y);
  CHECK(tenon::first_equal_reductions(e) == tenon::array<int, 5>{{0, 1, 2, 0, 1}});
}

TEST_CASE("reductions of one type are told from those between them", "[sharing]") {
  const auto x = tenon_test::counting<float>(rank<2>(3, 4)), y = tenon_test::counting<float>(rank<2>(3, 4));
  const auto e = tenon::sum(x, axis<1>) + tenon::max(y, axis<1>) + tenon::sum(y, axis<1>);
  CHECK(tenon::first_equal_reductions(e) == tenon::array<int, 3>{{0, 1, 2}});
}

TEST_CASE("a reduction that is written twice is computed once", "[sharing]") {
  const auto x = tenon_test::counting<float>(rank<1>(1000), 1);
  const auto f = counted(x);
  evaluations = 0;
  const float whole = tenon::sum(f) * 2 + tenon::sum(f);
  CHECK(whole == 3 * 500500.0f);
  CHECK(evaluations.load() == 1000);

  const auto rows = tenon_test::counting<float>(rank<2>(10, 100), 1);
  evaluations = 0;
  tenon::tensor<float, rank<1>> totals({10});
  totals = tenon::sum(counted(rows), axis<1>) + tenon::sum(counted(rows), axis<1>);
  CHECK(totals(0) == 2 * 5050.0f);
  CHECK(evaluations.load() == 1000);
}

TEST_CASE("costly values of a row are computed once, where they are equal and fit", "[sharing]") {
  for (const tenon::index length : {17, 100, 4096}) {
    const auto x = tenon_test::counting<float>(rank<2>(4, length), 1), y = x;
    evaluations = 0;
    const auto shares = tenon::evaluated_tensor(counted(x) / tenon::sum(counted(x), axis<1>));
    CHECK(evaluations.load() == 4 * length);
    const auto others = tenon::evaluated_tensor(counted(y) / tenon::sum(counted(x), axis<1>));
    CHECK(evaluations.load() == 3 * 4 * length);
    CHECK(numbers_of(shares) == numbers_of(others));
  }
}

TEST_CASE("a costly operand that compositions read through equal reductions is on record for the result", "[sharing]") {
  for (const tenon::index length : {17, 100, 4096}) {
    const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, length), 3, -2.0f, 2.0f));
    const auto check = [&](const auto& composition, long times) {
      evaluations = 0;
      const auto found = numbers_of(tenon::evaluated_tensor(composition(counted(x))));
      CHECK(evaluations.load() == times * 4 * length);
      CHECK(tenon_test::difference(found, numbers_of(composition(x)), 1e-5) == "");
    };
    CAPTURE(length);
    check([](const auto& operand) { return tenon::log_softmax(operand, axis<1>); }, 1);
    check([](const auto& operand) { return tenon::standardise(operand, axis<1>); }, 1);
    check([](const auto& operand) { return tenon::softmax(operand, axis<1>); }, 2);
  }
}

TEST_CASE("later reductions of a row read what an earlier one recorded, where all of it is equal", "[sharing]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 130), 3, -2.0f, 2.0f));
  const auto y = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 130), 4, -2.0f, 2.0f));
  const auto powers = [](const auto& operand) { return tenon::exp(operand - tenon::max(operand, axis<1>)); };
  const auto check = [&](const auto& statement, long times) {
    evaluations = 0;
    const auto found = numbers_of(tenon::evaluated_tensor(statement(counted(powers(x)), counted(powers(y)))));
    CHECK(evaluations.load() == times * 5 * 130);
    const auto left = tenon::evaluated_tensor(powers(x)), right = tenon::evaluated_tensor(powers(y));
    CHECK(tenon_test::difference(found, numbers_of(statement(left, right)), 1e-4) == "");
  };
  const auto sum = [](const auto& e) { return tenon::sum(e, axis<1>); };
  check([&](const auto& p, const auto&) { return p / (sum(p) + sum(p * 2)); }, 1);
  check([&](const auto& p, const auto&) { return p / (sum(p) + tenon::max(p, axis<1>) * sum(p)); }, 1);
  check([&](const auto& p, const auto& q) { return p / (sum(p) + sum(q * 2)); }, 3);
  check([&](const auto& p, const auto& q) { return q / (sum(p) + sum(p * 2)); }, 3);
  check([&](const auto& p, const auto&) { return p / (sum(p * 2) + sum(p)); }, 2);  // one came before the record
}

TEST_CASE("equal costly operands of one composition and another's are told apart", "[sharing]") {
  const auto x = tenon_test::counting<float>(rank<2>(4, 100), 1), y = tenon_test::counting<float>(rank<2>(4, 100), 7);
  const auto found =
      numbers_of(counted(x) - tenon::max(counted(y), axis<1>) + counted(y) * tenon::max(counted(x), axis<1>));
  CHECK(found == numbers_of(x - tenon::max(y, axis<1>) + y * tenon::max(x, axis<1>)));
}
