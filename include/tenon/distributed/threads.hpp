// tenon/distributed/threads.hpp: ranks that are threads of one process.
// They show in a test, or under a debugger, what ranks on many machines would do.
// Floor 8: may include base, core, distributed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <tenon/distributed/communicator.hpp>
#include <thread>
#include <vector>

namespace tenon::distributed {

namespace detail {

/// What ranks of one process share: the operations that some of them have come to and others not. It keeps copies, so
/// that a rank that is lost leaves nothing behind that others would touch.
class meeting_place {
 public:
  using number = std::int64_t;  // of an operation, in the order of each rank
  using memory = std::vector<std::byte>;

  meeting_place(int size, const communicator_options& options) : size_(size), options_(options) {}

  int size() const { return size_; }
  /// Rank `rank` brings bytes to operation `which`. The last to come calls `combine` with what all ranks brought, which
  /// leaves the result in what rank 0 did.
  template <class Combine>
  void arrive(int rank, number which, const void* bytes, std::size_t count, const Combine& combine) {
    const std::lock_guard lock(mutex_);
    meeting& own = meetings_[which];
    own.brought.resize(static_cast<std::size_t>(size_));
    const auto* const first = static_cast<const std::byte*>(bytes);
    own.brought[static_cast<std::size_t>(rank)].assign(first, first + count);
    if (++own.arrived < size_) return;
    combine(own.brought);
    own.is_done = true;
    changed_.notify_all();
  }
  /// Waits until all have come, and takes what they made; the last to leave forgets it.
  /// throws    communication_error when one is lost, or does not come in time
  void leave(const char* operation, int rank, number which, void* bytes) {
    std::unique_lock lock(mutex_);
    meeting& own = meetings_[which];
    changed_.wait_for(lock, options_.timeout, [&] { return own.is_done || !lost_.empty(); });
    if (!own.is_done) {
      if (!lost_.empty()) throw communication_error(compose_text(operation, ": ", lost_));
      throw communication_error(compose_text(operation, ": rank ", rank, " of ", size_, " waited ",
                                             options_.timeout.count(), " ms for ", size_ - own.arrived,
                                             " of the others; is one lost?"));
    }
    if (!own.brought[0].empty()) std::memcpy(bytes, own.brought[0].data(), own.brought[0].size());
    if (++own.left == size_) meetings_.erase(which);
  }
  /// Rank `rank` will not come any more.
  void lose(int rank, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (lost_.empty()) lost_ = compose_text("rank ", rank, " of ", size_, " is lost: ", why);
    changed_.notify_all();
  }

 private:
  struct meeting {
    std::vector<memory> brought;
    int arrived = 0, left = 0;
    bool is_done = false;
  };
  int size_;
  communicator_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<number, meeting> meetings_;
  std::string lost_;
};

}  // namespace detail

/// A rank that is a thread. Sums are added up in the order of ranks.
class thread_communicator {
 public:
  using space = host;
  struct request {
    std::int64_t number;
    void* values;
  };

  thread_communicator(int rank, detail::meeting_place& place) : rank_(rank), place_(&place) {}

  int rank() const { return rank_; }
  int size() const { return place_->size(); }
  void broadcast(void* bytes, std::size_t count) {
    place_->arrive(rank_, ++last_, bytes, count, [](const auto&) {});
    place_->leave("broadcast", rank_, last_, bytes);
  }
  template <class T>
  request start_sum(T* values, std::size_t count) {
    place_->arrive(rank_, ++last_, values, count * sizeof(T), [count](std::vector<memory>& brought) {
      for (std::size_t i = 0; i < count; ++i) {
        T sum = 0, part = 0;
        for (const memory& each : brought) std::memcpy(&part, each.data() + i * sizeof(T), sizeof(T)), sum += part;
        std::memcpy(brought[0].data() + i * sizeof(T), &sum, sizeof(T));
      }
    });
    return {last_, values};
  }
  void advance(request&) const {}
  void wait(request& sum) { place_->leave("sum", rank_, sum.number, sum.values); }

 private:
  using memory = detail::meeting_place::memory;
  int rank_;
  detail::meeting_place* place_;
  std::int64_t last_ = 0;
};

/// Calls `body(communicator)` on `size` threads, one a rank, and waits for all of them. A rank that throws, or ends
/// while others wait for it, ends them too.
/// throws    what the first rank to fail threw
/// example   distributed::run_in_threads(2, [&](auto& all) { train(all); });
template <class Body>
void run_in_threads(int size, const Body& body, const communicator_options& options = {}) {
  if (size < 1) throw error(compose_text("run_in_threads: ", size, " ranks, expected at least 1"));
  detail::meeting_place place(size, options);
  std::exception_ptr first;
  std::mutex of_first;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        std::string why = "it has ended";
        try {
          thread_communicator all(rank, place);
          body(all);
        } catch (const std::exception& failure) {
          why = failure.what();
          const std::lock_guard lock(of_first);
          if (!first) first = std::current_exception();
        }
        place.lose(rank, why);
      });
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace tenon::distributed
