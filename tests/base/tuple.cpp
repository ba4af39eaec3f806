// tests/base/tuple.cpp: the tuple that kernels carry.
// What matters beside its values is that it stays trivially copyable and costs nothing when empty.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/tuple.hpp>

#include <memory>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

struct nothing {};
struct nothing_else {};

}  // namespace

TEST_CASE("a tuple is trivially copyable when its values are", "[tuple]") {
  STATIC_REQUIRE(std::is_trivially_copyable_v<tenon::tuple<int, float, nothing>>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<tenon::tuple<>>);
  STATIC_REQUIRE(!std::is_trivially_copyable_v<tenon::tuple<int, std::string>>);
  STATIC_REQUIRE(tenon::tuple<int, int, int>::count == 3);
}

TEST_CASE("empty values take no room", "[tuple]") {
  STATIC_REQUIRE(std::is_empty_v<tenon::tuple<>>);
  STATIC_REQUIRE(std::is_empty_v<tenon::tuple<nothing, nothing_else>>);
  STATIC_REQUIRE(sizeof(tenon::tuple<nothing, int, nothing_else>) == sizeof(int));
}

TEST_CASE("nothing lies in the padding of a tuple within a tuple", "[tuple]") {
  using inner = tenon::tuple<double, float>;
  STATIC_REQUIRE(sizeof(tenon::tuple<inner, float>) == sizeof(inner) + sizeof(double));
  STATIC_REQUIRE(sizeof(tenon::tuple<inner, nothing>) == sizeof(inner));
}

TEST_CASE("elements of a tuple are read and written by position", "[tuple]") {
  auto values = tenon::make_tuple_of(1, 2.5, std::string("three"));
  STATIC_REQUIRE(std::is_same_v<decltype(values), tenon::tuple<int, double, std::string>>);
  tenon::get<0>(values) = 10;
  tenon::get<2>(values) += "!";
  const auto& same = values;
  CHECK(tenon::get<0>(same) == 10);
  CHECK(tenon::get<1>(same) == 2.5);
  CHECK(tenon::get<2>(same) == "three!");
  STATIC_REQUIRE(tenon::get<1>(tenon::make_tuple_of(1, 2, 3)) == 2);
}

TEST_CASE("a tuple falls apart into names", "[tuple]") {
  auto [one, text] = tenon::make_tuple_of(1, std::string("two"));
  one = 3, text += "!";
  CHECK(text == "two!");
  const auto [still, pointer] = tenon::make_tuple_of(1, std::make_unique<int>(7));
  CHECK(*pointer == 7 * still);
  auto values = tenon::make_tuple_of(1, std::string("two"));
  auto& [first, second] = values;
  first = 5, second = "six";
  CHECK(tenon::get<0>(values) == 5);
  const auto& [read, word] = values;
  CHECK(word == "six");
  auto&& [kept, moved] = tenon::make_tuple_of(read, std::move(second));
  CHECK(kept == 5);
  CHECK(moved == "six");
}

TEST_CASE("values keep the category of their tuple", "[tuple]") {
  using pair = tenon::tuple<int, std::string>;
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::get<1>(std::declval<pair&>())), std::string&>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::get<1>(std::declval<const pair&>())), const std::string&>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::get<1>(std::declval<pair>())), std::string&&>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::get<1>(std::declval<const pair>())), const std::string&&>);
}

TEST_CASE("equal types keep their own places", "[tuple]") {
  STATIC_REQUIRE(tenon::get<0>(tenon::make_tuple_of(4, 5)) == 4);
  STATIC_REQUIRE(tenon::get<1>(tenon::make_tuple_of(4, 5)) == 5);
}

TEST_CASE("a tuple takes values that only move", "[tuple]") {
  auto values = tenon::make_tuple_of(std::make_unique<int>(7), 1);
  CHECK(*tenon::get<0>(values) == 7);
}

TEST_CASE("a body is applied to all values, and may change them", "[tuple]") {
  auto values = tenon::make_tuple_of(1, 2, 3);
  CHECK(tenon::apply_tuple([](auto... each) { return (each + ...); }, values) == 6);
  tenon::apply_tuple([](auto&... each) { ((each *= 2), ...); }, values);
  CHECK(tenon::get<2>(values) == 6);
  CHECK(tenon::apply_tuple([](auto... each) { return sizeof...(each); }, tenon::tuple<>{}) == 0);
}
