// tests/base/error.cpp: the exceptions and the texts they carry.
// Each type is caught as itself, as tenon::error and as std::runtime_error.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/error.hpp>

#include <string>
#include <tenon/base/array.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/text_of.hpp"

TEMPLATE_TEST_CASE("every exception is a tenon::error that keeps its text", "[error]", tenon::shape_error,
                   tenon::index_error, tenon::dtype_error, tenon::space_error, tenon::file_error, tenon::cuda_error,
                   tenon::out_of_memory, tenon::device_error, tenon::capture_error) {
  const auto raise = [] { throw TestType(tenon::compose_text("sum: axis ", 3, ": absent")); };
  CHECK_THROWS_AS(raise(), TestType);
  CHECK_THROWS_AS(raise(), tenon::error);
  CHECK_THROWS_AS(raise(), std::runtime_error);
  CHECK(tenon_test::text_of<TestType>(raise) == "sum: axis 3: absent");
}

TEST_CASE("no exception is caught as another", "[error]") {
  STATIC_REQUIRE(!std::is_base_of_v<tenon::shape_error, tenon::index_error>);
  STATIC_REQUIRE(!std::is_base_of_v<tenon::index_error, tenon::shape_error>);
  STATIC_REQUIRE(!std::is_base_of_v<tenon::space_error, tenon::cuda_error>);
}

TEST_CASE("texts are composed of strings, numbers and extents", "[error]") {
  CHECK(tenon::compose_text() == "");
  CHECK(tenon::compose_text("a", std::string("b"), std::string_view("c")) == "abc");
  CHECK(tenon::compose_text(-7, " ", std::int64_t{9000000000}, " ", 5u) == "-7 9000000000 5");
  CHECK(tenon::compose_text(tenon::array<tenon::index, 2>{{2, 3}}) == "[2, 3]");
  CHECK(tenon::compose_text(tenon::array<tenon::index, 1>{{784}}) == "[784]");
  CHECK(tenon::compose_text(tenon::array<tenon::index, 0>{}) == "[]");
  CHECK(tenon::compose_text(std::vector<int>{1, 0, -1}) == "[1, 0, -1]");
}

TEST_CASE("must_hold is false whatever the facts", "[error]") {
  STATIC_REQUIRE(!tenon::must_hold<>);
  STATIC_REQUIRE(!tenon::must_hold<int, float>);
}
