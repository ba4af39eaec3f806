// tests/core/space.cpp: what a memory space offers.
// The concept is checked on the host's space and on one that lacks a step.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/space.hpp>

#include <cstdint>
#include <string>
#include <tenon/device/pinned.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

struct no_space {
  static constexpr const char* name = "none";
};

}  // namespace

TEST_CASE("the concept tells spaces from other types", "[space]") {
  STATIC_REQUIRE(tenon::memory_space<tenon::host>);
  STATIC_REQUIRE(tenon::host::host_accessible);
  STATIC_REQUIRE(!tenon::memory_space<no_space>);
  STATIC_REQUIRE(!tenon::memory_space<int>);
  CHECK(std::string(tenon::host::name) == "host");
}

TEST_CASE("statements take elements of a space as its own, or as those of the one it names", "[space]") {
  STATIC_REQUIRE(std::is_same_v<tenon::statement_space<tenon::host>, tenon::host>);
  STATIC_REQUIRE(std::is_same_v<tenon::statement_space<tenon::emulated>, tenon::emulated>);
  STATIC_REQUIRE(std::is_same_v<tenon::statement_space<tenon::pinned>, tenon::host>);
  STATIC_REQUIRE(tenon::memory_space<tenon::pinned>);
}

TEST_CASE("spaces agree when all particular ones are one", "[space]") {
  using tenon::any_space;
  using tenon::host;
  STATIC_REQUIRE(tenon::spaces_agree<host>);
  STATIC_REQUIRE(tenon::spaces_agree<any_space, host, any_space, host>);
  STATIC_REQUIRE(tenon::spaces_agree<any_space, any_space>);
  STATIC_REQUIRE(!tenon::spaces_agree<any_space, host, tenon::emulated>);
  STATIC_REQUIRE(std::is_same_v<tenon::first_space<any_space, any_space, host>::type, host>);
  STATIC_REQUIRE(std::is_same_v<tenon::first_space<any_space, any_space>::type, any_space>);
}

TEMPLATE_LIST_TEST_CASE("spaces give aligned memory and copy in every direction", "[space]", tenon_test::spaces) {
  STATIC_REQUIRE(tenon::memory_space<TestType>);
  const int source[3] = {1, 2, 3};
  int target[3] = {0, 0, 0};
  void* const first = TestType::allocate(sizeof(source));
  void* const second = TestType::allocate(sizeof(source));
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  TestType::copy_from_host(first, source, sizeof(source));
  TestType::copy(second, first, sizeof(source));
  TestType::copy_to_host(target, second, sizeof(target));
  TestType::copy_to_host(nullptr, second, 0);
  TestType::copy(nullptr, nullptr, 0);
  TestType::deallocate(first, sizeof(source));
  TestType::deallocate(second, sizeof(source));
  CHECK(target[0] == 1);
  CHECK(target[2] == 3);
}
