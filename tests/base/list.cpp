// tests/base/list.cpp: lists grow, keep their values, hand on their memory, and are cut.
// SPDX-License-Identifier: Apache-2.0
#include <support/catch.hpp>

#include <cstdint>
#include <tenon/base/list.hpp>
#include <utility>
#include <vector>

using tenon::detail::list;

namespace {

struct listed_point {
  std::int16_t x;
  double y;
};

template <class T>
std::vector<T> copied(const list<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE("a list is empty at first, and holds what is pushed, in order") {
  list<int> values;
  CHECK(values.empty());
  CHECK(values.size() == 0);
  CHECK(values.begin() == values.end());
  std::vector<int> expected;
  for (int i = 0; i < 1000; ++i) {
    values.push_back(7 * i);
    expected.push_back(7 * i);
    CHECK(values.back() == 7 * i);
    CHECK(values.size() <= values.capacity());
  }
  CHECK(copied(values) == expected);
  CHECK_FALSE(values.empty());
}

TEST_CASE("a list grows by doubling, and keeps its memory where it is cleared") {
  list<listed_point> points;
  int moves = 0;
  for (std::int16_t i = 0; i < 4096; ++i) {
    const auto* const before = points.data();
    points.push_back({i, i / 3.0});
    moves += before != points.data() ? 1 : 0;
  }
  CHECK(moves <= 13);
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK(points[i].x == static_cast<std::int16_t>(i));
    CHECK(points[i].y == static_cast<double>(i) / 3.0);
  }
  const std::size_t room = points.capacity();
  points.clear();
  CHECK(points.empty());
  CHECK(points.capacity() == room);
}

TEST_CASE("a list takes a copy of its own value while it grows") {
  list<long> values;
  values.push_back(41);
  for (int i = 0; i < 100; ++i) values.push_back(values[0]);
  CHECK(copied(values) == std::vector<long>(101, 41));
}

TEST_CASE("values are popped, and cut off") {
  list<char> letters;
  for (char each : {'a', 'b', 'c', 'd', 'e'}) letters.push_back(each);
  letters.pop_back();
  CHECK(copied(letters) == std::vector<char>{'a', 'b', 'c', 'd'});
  letters.truncate(1);
  CHECK(copied(letters) == std::vector<char>{'a'});
  letters.truncate(1);
  CHECK(letters.size() == 1);
  letters.pop_back();
  CHECK(letters.empty());
}

TEST_CASE("room that was asked for is there, and asking for less changes nothing") {
  list<std::uint64_t> values;
  values.reserve(10);
  CHECK(values.capacity() >= 10);
  const auto* const place = values.data();
  for (std::uint64_t i = 0; i < 10; ++i) values.push_back(i);
  values.reserve(3);
  CHECK(values.data() == place);
  CHECK(values.size() == 10);
}

TEST_CASE("moved lists hand on their memory") {
  list<int> first, second;
  first.push_back(1);
  first.push_back(2);
  const int* const place = first.data();
  list<int> third = std::move(first);
  CHECK(third.data() == place);
  CHECK(first.empty());
  second.push_back(9);
  second = std::move(third);
  CHECK(copied(second) == std::vector<int>{1, 2});
  const list<int>& same = second;
  CHECK(same[1] == 2);
}
