// tests/base/owned_array.cpp: objects of the heap that have one owner.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/owned_array.hpp>
#include <utility>

#include "support/catch.hpp"

namespace {

/// Counts how many of it live.
struct owned_object {
  owned_object() { ++living; }
  owned_object(const owned_object&) = delete;
  owned_object& operator=(const owned_object&) = delete;
  ~owned_object() { --living; }
  int value = 5;
  inline static int living = 0;
};

using owned_objects = tenon::detail::owned_array<owned_object>;

}  // namespace

TEST_CASE("an owned array makes its objects and destroys them once, wherever they were moved") {
  CHECK(owned_objects().data() == nullptr);
  {
    owned_objects first(3);
    CHECK(owned_object::living == 3);
    first[2].value = 7;
    owned_objects second = std::move(first);
    CHECK(first.data() == nullptr);
    CHECK((second[0].value == 5 && second[2].value == 7));
    owned_objects third(2);
    CHECK(owned_object::living == 5);
    third = std::move(second);
    CHECK(third[2].value == 7);
    third = owned_objects(1);
    CHECK(third[0].value == 5);
  }
  CHECK(owned_object::living == 0);
}
