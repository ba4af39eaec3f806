// tests/base/version_counter.cpp: how changes of an owner are counted, and when its life is over.
// Copies and assignments belong to their places.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/version_counter.hpp>

#include <utility>
#include <vector>

#include "support/catch.hpp"

TEST_CASE("a copy counts anew, and an assignment is a change", "[version_counter]") {
  tenon::version_counter first;
  first.add_change(), first.add_change();
  CHECK(first.changes() == 2);
  tenon::version_counter copy = first;
  CHECK(copy.changes() == 0);
  copy = first;
  CHECK(copy.changes() == 1);
  copy = std::move(first);
  CHECK(copy.changes() == 2);
}

TEST_CASE("a life is over with its owner, not with what was copied or moved from it", "[version_counter]") {
  std::weak_ptr<const char> outer, inner;
  {
    tenon::version_counter first;
    outer = first.life();
    {
      tenon::version_counter copy = first;
      inner = copy.life();
      first = copy;
      CHECK(!inner.expired());
    }
    CHECK(inner.expired());
    const tenon::version_counter moved = std::move(first);
    CHECK(!outer.expired());
  }
  CHECK(outer.expired());

  std::vector<tenon::version_counter> list(1);
  const auto before = list[0].life();
  list.reserve(list.capacity() + 1);
  CHECK(before.expired());
}
