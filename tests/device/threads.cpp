// tests/device/threads.cpp: loops shared among threads.
// Every tenon::index once, in parts of whole grains; exceptions reach the caller.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/threads.hpp>

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "support/catch.hpp"

TEST_CASE("every tenon::index is visited once, in parts of whole grains", "[threads]") {
  for (const tenon::index count : {0, 1, 7, 64, 1000}) {
    for (const tenon::index grain : {1, 10, 64, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      std::mutex mutex;
      bool whole_grains = true;
      tenon::parallel_for(count, grain, [&](tenon::index first, tenon::index last) {
        for (tenon::index i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
        const std::lock_guard lock(mutex);
        whole_grains = whole_grains && first % grain == 0 && (last % grain == 0 || last == count) && first < last;
      });
      CAPTURE(count, grain);
      CHECK(whole_grains);
      bool once = true;
      for (const auto& each : visits) once = once && each == 1;
      CHECK(once);
    }
  }
}

TEST_CASE("each part of a loop has a number of its own", "[threads]") {
  tenon::set_num_threads(3);
  for (const tenon::index count : {0, 1, 2, 7, 1000}) {
    const tenon::index parts = tenon::part_count(count, 1);
    CHECK(parts <= 3);
    CHECK(parts <= count);
    std::vector<std::atomic<int>> visits(static_cast<std::size_t>(parts));
    std::atomic<tenon::index> visited = 0;
    tenon::parallel_parts(count, 1, parts, [&](tenon::index first, tenon::index last, tenon::index part) {
      ++visits[static_cast<std::size_t>(part)];
      visited += last - first;
    });
    CAPTURE(count);
    for (const auto& each : visits) CHECK(each == 1);
    CHECK(visited == count);
  }
  CHECK(tenon::part_count(1000, 400) == tenon::part_count(3, 1));
  CHECK(tenon::part_count(1000, 1000) == 1);
  tenon::set_num_threads(0);
}

TEST_CASE("small loops stay on the caller's thread", "[threads]") {
  int calls = 0;
  tenon::parallel_for(100, 100, [&](tenon::index first, tenon::index last) {
    ++calls;
    CHECK(first == 0);
    CHECK(last == 100);
  });
  CHECK(calls == 1);
}

TEST_CASE("an exception of any part reaches the caller", "[threads]") {
  CHECK_THROWS_AS(tenon::parallel_for(100, 1,
                                      [](tenon::index, tenon::index last) {
                                        if (last == 100) throw std::runtime_error("the last part");
                                      }),
                  std::runtime_error);
}

TEST_CASE("a loop within a loop runs on one thread", "[threads]") {
  std::atomic<tenon::index> total = 0;
  tenon::parallel_for(8, 1, [&](tenon::index first, tenon::index last) {
    for (tenon::index i = first; i < last; ++i) {
      tenon::parallel_for(10, 1, [&](tenon::index begin, tenon::index end) { total += end - begin; });
    }
  });
  CHECK(total == 80);
  CHECK(tenon::thread_count() >= 1);
}

TEST_CASE("the number of threads can be set and left to OpenMP again", "[threads]") {
  const int usual = tenon::thread_count();
  tenon::set_num_threads(3);
#if defined(_OPENMP)
  CHECK(tenon::thread_count() == 3);
  std::atomic<int> parts{0};
  tenon::parallel_for(30, 1, [&](tenon::index, tenon::index) { ++parts; });
  CHECK(parts == 3);
#else
  CHECK(tenon::thread_count() == 1);
#endif
  tenon::set_num_threads(1);
  CHECK(tenon::thread_count() == 1);
  tenon::set_num_threads(0);
  CHECK(tenon::thread_count() == usual);
  CHECK_THROWS_AS(tenon::set_num_threads(-1), tenon::error);
}

TEST_CASE("a team goes through its steps together", "[threads]") {
  for (const int most : {1, 2, 5}) {
    std::vector<int> sums(20, 0);
    std::atomic<int> members = 0;
    std::vector<std::atomic<int>> arrived(20);
    std::atomic<bool> together = true;
    tenon::run_team(most, [&](const tenon::thread_team& team) {
      members = team.count;
      for (std::size_t step = 0; step < 20; ++step) {
        ++arrived[step];
        team.wait();
        if (arrived[step] != team.count) together = false;
        const auto share = team.share(20);
        for (tenon::index i = share[0]; i < share[1]; ++i) ++sums[static_cast<std::size_t>(i)];
      }
    });
    CAPTURE(most);
    CHECK(together);
    CHECK(members <= most);
    CHECK(sums == std::vector<int>(20, 20));
  }
}

TEST_CASE("threads take turns, whatever one of them throws", "[threads]") {
  tenon::set_num_threads(3);
  int calls = 0;
  bool is_running = false, overlaps = false;
  CHECK_THROWS_AS(tenon::run_in_turns(3,
                                      [&] {
                                        overlaps = overlaps || is_running;
                                        is_running = true;
                                        const int number = calls++;
                                        is_running = false;
                                        if (number == 0) throw std::runtime_error("the first");
                                      }),
                  std::runtime_error);
  CHECK_FALSE(overlaps);
  CHECK(calls >= 1);
  CHECK(calls <= 3);
#if defined(_OPENMP)
  CHECK(calls == tenon::thread_count());
#endif
  tenon::set_num_threads(0);
}

TEST_CASE("loops of a thread that asks for it stay on it", "[threads]") {
  const tenon::single_thread_scope alone;
  CHECK(tenon::thread_count() == 1);
  int calls = 0;
  tenon::parallel_for(1000, 1, [&](tenon::index, tenon::index) { ++calls; });
  {
    const tenon::single_thread_scope within;
  }
  tenon::parallel_for(1000, 1, [&](tenon::index, tenon::index) { ++calls; });
  CHECK(calls == 2);
}
