// tenon/distributed/threads.hpp: ranks that are threads of one process.
// They show in a test, or under a debugger, what ranks on many machines would do.
// Floor 8: may include base, core, device, distributed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <tenon/device/joined_threads.hpp>
#include <tenon/distributed/communicator.hpp>
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
  /// throws    communication_error where it brings another number of bytes than the others
  template <class Combine>
  void arrive(int rank, number which, const void* bytes, std::size_t count, const Combine& combine) {
    const std::lock_guard lock(mutex_);
    meeting& own = meetings_[which];
    own.brought.resize(static_cast<std::size_t>(size_));
    if (own.arrived == 0) own.bytes = count;
    if (own.bytes != count) {
      throw communication_error(
          compose_text("rank ", rank, " of ", size_, " brings ", count, " bytes, others ", own.bytes));
    }
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
    changed_.wait_for(lock, options_.timeout, [&] { return own.is_done || lost_rank_ != nobody; });
    if (!own.is_done) {
      if (lost_rank_ != nobody) {
        throw communication_error(
            compose_text(operation, ": rank ", lost_rank_, " of ", size_, " is lost: ", text_of(why_lost_)));
      }
      throw communication_error(compose_text(operation, ": rank ", rank, " of ", size_, " waited ",
                                             options_.timeout.count(), " ms for ", size_ - own.arrived,
                                             " of the others; is one lost?"));
    }
    if (!own.brought[0].empty()) std::memcpy(bytes, own.brought[0].data(), own.brought[0].size());
    if (++own.left == size_) meetings_.erase(which);
  }
  /// Rank `rank` will not come any more: it has thrown, or has ended where there is no exception.
  void lose(int rank, const std::exception_ptr& why) noexcept {
    const std::lock_guard lock(mutex_);
    if (why && !first_failure_) first_failure_ = why;
    if (lost_rank_ == nobody) lost_rank_ = rank, why_lost_ = why;
    changed_.notify_all();
  }
  /// What the first rank to throw threw.
  const std::exception_ptr& first_failure() const { return first_failure_; }

 private:
  static constexpr int nobody = -1;
  struct meeting {
    std::vector<memory> brought;
    std::size_t bytes = 0;
    int arrived = 0, left = 0;
    bool is_done = false;
  };
  static std::string text_of(const std::exception_ptr& why) {
    if (!why) return "it has ended";
    try {
      std::rethrow_exception(why);
    } catch (const std::exception& failure) {
      return failure.what();
    } catch (...) {
      return "it threw what is no std::exception";
    }
  }

  int size_;
  communicator_options options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<number, meeting> meetings_;
  int lost_rank_ = nobody;
  std::exception_ptr why_lost_, first_failure_;
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

namespace detail {

/// throws    thread_error
template <class Run>
void start_ranks(tenon::detail::joined_threads& threads, int size, const Run& run) {
  for (int rank = 0; rank < size; ++rank) {
    try {
      threads.start([&run, rank] { run(rank); });
    } catch (const std::system_error& failure) {
      throw thread_error(
          compose_text("run_in_threads: rank ", rank, " of ", size, " cannot be started: ", failure.code().message()));
    }
  }
}

}  // namespace detail

/// Calls `body(communicator)` on `size` threads, one a rank, and waits for all of them. A rank that throws, or ends
/// while others wait for it, ends them too.
/// throws    what the first rank to fail threw; thread_error where a rank cannot be started
/// example   distributed::run_in_threads(2, [&](auto& all) { train(all); });
template <class Body>
void run_in_threads(int size, const Body& body, const communicator_options& options = {}) {
  if (size < 1) throw error(compose_text("run_in_threads: ", size, " ranks, expected at least 1"));
  detail::meeting_place place(size, options);
  const auto run_rank = [&](int rank) {
    std::exception_ptr failure;
    try {
      thread_communicator all(rank, place);
      body(all);
    } catch (...) {
      failure = std::current_exception();
    }
    place.lose(rank, failure);
  };
  {
    tenon::detail::joined_threads threads;
    try {
      detail::start_ranks(threads, size, run_rank);
    } catch (...) {
      place.lose(threads.size(), std::current_exception());
    }
  }
  if (place.first_failure()) std::rethrow_exception(place.first_failure());
}

}  // namespace tenon::distributed
