// tests/device/scratch.cpp: memory that algorithms of the host use for as long as they run.
// What is taken does not overlap and is given back in turn; the same work allocates once.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/scratch.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/counted_allocation.hpp"
#include "support/late_destructor.hpp"

using tenon::detail::scratch;

namespace {

/// Runs a test on a thread of its own, which has taken nothing yet.
void on_new_thread(const std::function<void()>& test) { std::thread(test).join(); }

/// Takes as many numbers as each of `counts` says and writes all of them.
std::vector<float*> taken_and_written(const scratch& memory, const std::vector<tenon::index>& counts) {
  std::vector<float*> places;
  for (const tenon::index count : counts) {
    places.push_back(memory.take<float>(count));
    std::fill_n(places.back(), count, static_cast<float>(places.size()));
  }
  return places;
}

}  // namespace

TEST_CASE("what is taken does not overlap, and lines of the cache are whole", "[scratch]") {
  on_new_thread([] {
    std::mt19937 random(7);
    for (int pass = 0; pass < 20; ++pass) {
      const scratch memory;
      std::vector<tenon::index> counts(8);
      for (auto& count : counts) count = std::uniform_int_distribution<tenon::index>(0, 40000)(random);
      const auto places = taken_and_written(memory, counts);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        CHECK(reinterpret_cast<std::uintptr_t>(places[i]) % 64 == 0);
        const auto number = static_cast<float>(i + 1);
        CHECK(std::all_of(places[i], places[i] + counts[i], [&](float element) { return element == number; }));
      }
    }
  });
}

TEST_CASE("what a scope took is given back, and no more", "[scratch]") {
  on_new_thread([] {
    const scratch outer;
    auto* const kept = outer.take<std::int64_t>(3);
    kept[2] = 5;
    float* first = nullptr;
    {
      const scratch inner;
      first = inner.take<float>(100000);  // in a block of its own
      first[99999] = 1;
      const scratch innermost;
      CHECK(innermost.take<float>(1) >= first + 100000);
    }
    CHECK(scratch().take<float>(100000) == first);
    CHECK(kept[2] == 5);
  });
}

#if !defined(__CUDACC__)
TEST_CASE("work that was done before allocates nothing, nor does less of it", "[scratch]") {
  tenon_test::counted_size = 512;  // the counts of this test are smaller
  on_new_thread([] {
    std::mt19937 random(11);
    for (int work = 0; work < 20; ++work) {
      std::vector<tenon::index> counts(6);
      for (auto& count : counts) count = std::uniform_int_distribution<tenon::index>(0, 4000 << work / 2)(random);
      taken_and_written(scratch(), counts);
      const std::size_t allocated = tenon_test::blocks_allocated;
      taken_and_written(scratch(), counts);
      for (auto& count : counts) count /= 2;
      taken_and_written(scratch(), counts);
      CHECK(tenon_test::blocks_allocated == allocated);
    }
  });
}

#if !defined(TENON_TEST_COUNTS_NOTHING)
TEST_CASE("destructors that run when the memory of their thread is gone take memory of their own", "[scratch]") {
  tenon_test::counted_size = 512;
  tenon_test::run_and_outlive([] { taken_and_written(scratch(), {5000}); },
                              [] {
                                const std::size_t allocated = tenon_test::blocks_allocated;
                                const scratch outer;
                                {
                                  taken_and_written(scratch(), {3000, 200});
                                }
                                const std::size_t counted =
                                    tenon::detail::address_sanitized ? 0 : 1;  // it counts itself
                                CHECK(tenon_test::blocks_allocated == allocated + counted);
                                const auto places = taken_and_written(outer, {1000, 1000});
                                CHECK(places[0][999] == 1);
                                CHECK(places[1][999] == 2);
                              });
}
#endif
#endif

TEST_CASE("each thread has its own", "[scratch]") {
  const scratch here;
  float* const own = here.take<float>(16);
  *own = 1;
  on_new_thread([&] {
    const scratch there;
    float* const other = there.take<float>(16);
    *other = 2;
    CHECK(other != own);
  });
  CHECK(*own == 1);
}
