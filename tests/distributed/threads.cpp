// tests/distributed/threads.cpp: ranks of one process, and what happens when one of them is lost.
// Nothing may hang, whatever a rank does.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <numeric>
#include <tenon/distributed/threads.hpp>

#include "support/text_of.hpp"

namespace {

using tenon::distributed::communication_error;
using tenon::distributed::run_in_threads;
using tenon::distributed::thread_communicator;
using tenon_test::text_of;

static_assert(tenon::distributed::communicator<thread_communicator>);

struct at_scope_end {
  std::atomic<bool>& flag;
  ~at_scope_end() { flag = true; }
};

}  // namespace

TEST_CASE("the bytes of rank 0 are those of all", "[threads]") {
  for (const int size : {1, 2, 5}) {
    std::atomic<int> right = 0;
    run_in_threads(size, [&](thread_communicator& all) {
      double values[2] = {all.rank() + 0.5, all.rank() + 7.0};
      all.broadcast(values, sizeof(values));
      right += all.size() == size && values[0] == 0.5 && values[1] == 7.0 ? 1 : 0;
    });
    CHECK(right == size);
  }
}

TEST_CASE("sums under way at once come out in any order, and are the same on all ranks", "[threads]") {
  std::atomic<int> right = 0;
  run_in_threads(3, [&](thread_communicator& all) {
    float first[3] = {1.0f * static_cast<float>(all.rank()), 1e8f, 3};
    double second[1] = {all.rank() == 0 ? 1e17 : 1.0};
    for (int repeat = 0; repeat < 100; ++repeat) {
      float one[1] = {1};
      auto request = all.start_sum(one, 1);
      all.wait(request);
      right += one[0] == 3 ? 0 : 1000;
    }
    auto sum = all.start_sum(first, 3), other = all.start_sum(second, 1), none = all.start_sum(first, 0);
    all.wait(none), all.wait(other);
    all.advance(sum), all.wait(sum);
    right += first[0] == 3 && first[1] == 3e8f && first[2] == 9 && second[0] == 1e17 + 1 + 1 ? 1 : 0;
  });
  CHECK(right == 3);
}

TEST_CASE("a rank that throws ends the others, and its text is the first", "[threads]") {
  std::atomic<int> ended = 0;
  const auto text = text_of<tenon::shape_error>([&] {
    run_in_threads(3, [&](thread_communicator& all) {
      if (all.rank() == 1) throw tenon::shape_error("rank one is odd");
      float one[1] = {1};
      auto sum = all.start_sum(one, 1);
      try {
        all.wait(sum);
      } catch (const communication_error& why) {
        ended += std::string(why.what()) == "sum: rank 1 of 3 is lost: rank one is odd" ? 1 : 0;
      }
    });
  });
  CHECK(text == "rank one is odd");
  CHECK(ended == 2);
}

TEST_CASE("a rank that ends early, or does not come in time, is called lost", "[threads]") {
  const auto early = text_of<communication_error>([&] {
    run_in_threads(2, [&](thread_communicator& all) {
      if (all.rank() == 1) return;
      all.broadcast(nullptr, 0);
    });
  });
  CHECK(early == "broadcast: rank 1 of 2 is lost: it has ended");
  std::atomic<bool> is_over = false;
  const auto late = text_of<communication_error>([&] {
    run_in_threads(2,
                   [&](thread_communicator& all) {
                     while (all.rank() == 1 && !is_over) std::this_thread::yield();
                     if (all.rank() == 1) return;
                     const at_scope_end ending{is_over};
                     float one[1] = {1};
                     auto sum = all.start_sum(one, 1);
                     all.wait(sum);
                   },
                   {.timeout = std::chrono::milliseconds(30)});
  });
  CHECK(late == "sum: rank 0 of 2 waited 30 ms for 1 of the others; is one lost?");
  CHECK(text_of<tenon::error>([] { run_in_threads(0, [](thread_communicator&) {}); }) ==
        "run_in_threads: 0 ranks, expected at least 1");
}

TEST_CASE("ranks that bring other numbers of bytes are told so", "[threads]") {
  const auto text = text_of<tenon::distributed::communication_error>([] {
    tenon::distributed::run_in_threads(2, [](auto& all) {
      std::vector<char> bytes(all.rank() == 0 ? 3 : 5);
      all.broadcast(bytes.data(), bytes.size());
    });
  });
  CHECK((text == "rank 0 of 2 brings 3 bytes, others 5" || text == "rank 1 of 2 brings 5 bytes, others 3"));
}
