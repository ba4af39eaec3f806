// tests/expr/operations/map.cpp: functions of the test's own, on elements of all kinds.
// What a statement leaves is what the same function gives in a plain loop.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/operations/map.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::map;
using tenon_test::elements_of;
using tenon_test::numbers_of;

struct product_and_one {
  TENON_HOST_DEVICE float operator()(float a, float b) const { return a * b + 1; }
};

/// Has a state, no default constructor, and no operator ==.
class step_at {
 public:
  explicit step_at(float edge) : edge_(edge) {}
  TENON_HOST_DEVICE bool operator()(float x) const { return x >= edge_; }

 private:
  float edge_;
};

/// Counts the steps of Collatz to 1: a loop whose length differs from lane to lane.
struct collatz_steps {
  TENON_HOST_DEVICE int operator()(std::int64_t x) const {
    int steps = 0;
    for (; x > 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    return steps;
  }
};

struct chosen {
  TENON_HOST_DEVICE double operator()(bool first, int a, double b) const { return first ? a : b; }
};

struct twice {
  template <class Number>
  TENON_HOST_DEVICE Number operator()(Number x) const {
    return static_cast<Number>(x + x);
  }
};

template <class Space>
auto random_tensor(tenon::index count, std::uint64_t seed) {
  return tenon_test::tensor_of<Space, float>(tenon::rank<1>(count),
                                             tenon_test::random_values<float>(static_cast<std::size_t>(count), seed));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a function of two operands, contiguous, strided and empty", "[map]", tenon_test::spaces) {
  for (const tenon::index count : {0, 1, 7, 37, 203}) {
    const auto x = random_tensor<TestType>(count, 51), y = random_tensor<TestType>(2 * count, 52);
    const auto half_of_y = tenon::slice(y, tenon::range(tenon::open_end, tenon::open_end, -2));
    const auto left = elements_of(x), right = elements_of(half_of_y);
    std::vector<float> expected;
    for (std::size_t i = 0; i < left.size(); ++i) expected.push_back(product_and_one{}(left[i], right[i]));
    const auto found = elements_of(map(product_and_one{}, x, half_of_y));
    CHECK(tenon_test::difference({found.begin(), found.end()}, {expected.begin(), expected.end()}, 1e-6) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("a function with a state, and results of bool", "[map]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(tenon::rank<1>(37));
  const auto is_late = map(step_at(30), x);
  STATIC_REQUIRE(std::is_same_v<typename decltype(is_late)::element, bool>);
  const auto found = numbers_of(is_late);
  for (std::size_t i = 0; i < 37; ++i) CHECK(found[i] == (i >= 30 ? 1 : 0));
  CHECK(numbers_of(tenon::sum(tenon::where(map(step_at(35), x), x, 0.0f) + tenon::where(map(step_at(36), x), x, 0.0f),
                              tenon::axis<0>))[0] == 35 + 36 + 36);
}

TEMPLATE_LIST_TEST_CASE("operands are broadcast and keep their own types", "[map]", tenon_test::spaces) {
  const auto first = tenon_test::tensor_of<TestType, bool>(tenon::rank<2>(2, 1), {true, false});
  const auto row = tenon_test::counting<int, TestType>(tenon::rank<1>(5), -2);
  const auto y = map(chosen{}, first, row, 0.5);
  STATIC_REQUIRE(std::is_same_v<typename decltype(y)::element, double>);
  CHECK(numbers_of(y) == std::vector<double>{-2, -1, 0, 1, 2, 0.5, 0.5, 0.5, 0.5, 0.5});
}

TEMPLATE_LIST_TEST_CASE("a function with branches and loops", "[map]", tenon_test::spaces) {
  const auto x = tenon_test::counting<std::int64_t, TestType>(tenon::rank<1>(203));
  std::vector<int> expected;
  for (std::int64_t i = 0; i < 203; ++i) expected.push_back(collatz_steps{}(i));
  CHECK(elements_of(map(collatz_steps{}, x)) == expected);
}

TEMPLATE_LIST_TEST_CASE("a generic function takes elements; half as float", "[map]", tenon_test::spaces) {
  const auto x = tenon_test::counting<tenon::half, TestType>(tenon::rank<1>(19));
  const auto bytes = tenon_test::counting<std::uint8_t, TestType>(tenon::rank<1>(200));
  STATIC_REQUIRE(std::is_same_v<typename decltype(map(twice{}, x))::element, float>);
  STATIC_REQUIRE(std::is_same_v<typename decltype(map(twice{}, bytes))::element, std::uint8_t>);
  CHECK(numbers_of(map(twice{}, x)) == numbers_of(tenon_test::counting<float>(tenon::rank<1>(19), 0, 2)));
  CHECK(numbers_of(map(twice{}, bytes)) == numbers_of(bytes + bytes));
}

TEST_CASE("lambdas, captures, nesting and reductions", "[map]") {
  const auto x = tenon_test::counting<float>(tenon::rank<2>(3, 37));
  const float shift = 2;
  const auto moved = map([shift](float each) { return each + shift; }, x);
  CHECK(numbers_of(tenon::sum(moved))[0] == 111 * 110 / 2 + 111 * 2);
  const auto scaled = map([](float a, float b) { return a / b; }, moved * 2, tenon::max(moved, tenon::axis<1>));
  CHECK(numbers_of(scaled)[36] == 2);
}

TEST_CASE("a state in the owner's memory may be captured by reference", "[map]") {
  const std::vector<int> table = {5, 7, 11};
  const auto x = tenon_test::counting<int>(tenon::rank<1>(3));
  CHECK(numbers_of(map([&table](int i) { return table[static_cast<std::size_t>(i)]; }, 2 - x)) ==
        std::vector<double>{11, 7, 5});
}

TEST_CASE("a function is called with elements only", "[map]") {
  for (tenon::index count = 1; count < 40; ++count) {
    const auto x = tenon_test::counting<int>(tenon::rank<2>(3, count));
    int calls = 0;
    bool in_range = true;
    const auto counted = [&](int number) {
      ++calls;
      in_range = in_range && number >= 1 && number <= 3 * count;
      return 60 / number;
    };
    tenon::set_num_threads(1);
    CHECK(numbers_of(map(counted, x + 1)).size() == static_cast<std::size_t>(3 * count));
    CHECK(numbers_of(tenon::sum(map(counted, x + 1), tenon::axis<0>)).size() == static_cast<std::size_t>(count));
    CHECK(numbers_of(tenon::sum(map(counted, x + 1), tenon::axis<1>)).size() == 3);
    tenon::set_num_threads(0);
    CAPTURE(count);
    CHECK(calls == 9 * count);
    CHECK(in_range);
  }
}

TEST_CASE("operands that do not broadcast", "[map]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(3)), y = tenon_test::counting<float>(tenon::rank<1>(4));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { map(product_and_one{}, x, y); }) ==
        "map: axis 0: extents 3 and 4 differ, expected equal or one of them 1 (operands [3] and [4])");
}
