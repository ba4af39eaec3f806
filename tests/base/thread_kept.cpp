// tests/base/thread_kept.cpp: objects that a thread keeps between uses, and that its last destructors may use, too.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/thread_kept.hpp>

#include <atomic>

#include "support/catch.hpp"
#include "support/late_destructor.hpp"

namespace {

/// Counts how many of it there are.
struct counted_object {
  inline static std::atomic<int> alive{0};
  int value = 0;
  counted_object() { ++alive; }
  counted_object(const counted_object&) = delete;
  counted_object& operator=(const counted_object&) = delete;
  ~counted_object() { --alive; }
};
using kept_object = tenon::detail::thread_kept<counted_object>;

}  // namespace

TEST_CASE("a thread keeps one object, and destroys it at its end", "[thread_kept]") {
  std::thread([] {
    kept_object::get().value = 3;
    kept_object::put_back();
    CHECK(kept_object::get().value == 3);
    CHECK(counted_object::alive == 1);
  }).join();
  CHECK(counted_object::alive == 0);
}

TEST_CASE("a destructor that runs later has an object of its own, until it puts it back", "[thread_kept]") {
  tenon_test::run_and_outlive([] { kept_object::get().value = 3; },
                              [] {
                                CHECK(counted_object::alive == 0);
                                for (int use = 0; use < 2; ++use) {
                                  CHECK(kept_object::get().value == 0);
                                  kept_object::get().value = 4;
                                  CHECK(kept_object::get().value == 4);
                                  kept_object::put_back();
                                  CHECK(counted_object::alive == 0);
                                }
                              });
  CHECK(counted_object::alive == 0);
}
