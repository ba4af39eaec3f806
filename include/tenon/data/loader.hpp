// tenon/data/loader.hpp: batches of a dataset, made ahead of their use by worker threads.
// Batches arrive in the order of the sampler whatever the workers' timing; their buffers are used again and again.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <iterator>
#include <mutex>
#include <tenon/data/dataset.hpp>
#include <tenon/data/sampler.hpp>
#include <thread>

namespace tenon::data {

/// Options of a loader, with PyTorch's meaning.
struct loader_options {
  index batch = 32;
  bool shuffle = false;
  std::uint64_t seed = 0;
  int workers = 1;   ///< 0: batches are made by the thread that asks for them
  int prefetch = 2;  ///< batches that each worker makes ahead
  bool drop_last = false;
};

template <dataset Dataset>
class loader;

/// One pass over a dataset: a range of batches. Leaving it early stops the workers.
template <dataset Dataset>
class epoch_range {
 public:
  using batch_type = typename Dataset::batch_type;

  class iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = batch_type;

    explicit iterator(epoch_range* range) : range_(range) {}
    const batch_type& operator*() const { return range_->current(); }
    iterator& operator++() { return range_->advance(), *this; }
    void operator++(int) { range_->advance(); }
    bool operator==(std::default_sentinel_t) const { return range_->consumed_ == range_->owner_.batches(); }

   private:
    epoch_range* range_;
  };

  epoch_range(loader<Dataset>& owner, std::vector<index> order) : owner_(owner), order_(std::move(order)) {
    owner_.slots_.resize(static_cast<std::size_t>(owner_.options_.workers * owner_.options_.prefetch + 1));
    for (auto& slot : owner_.slots_) slot.ready = false, slot.failure = nullptr;
    for (int worker = 0; worker < owner_.options_.workers; ++worker) {
      workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    }
  }
  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  ~epoch_range() {
    for (auto& worker : workers_) worker.request_stop();
    changed_.notify_all();
  }

  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() { return {}; }

 private:
  using slot_type = typename loader<Dataset>::slot;
  slot_type& slot_of(index number) { return owner_.slots_[static_cast<std::size_t>(number) % owner_.slots_.size()]; }

  /// The batch whose turn it is; waits for its worker.
  /// throws    what its worker threw
  const batch_type& current() {
    slot_type& slot = slot_of(consumed_);
    if (workers_.empty()) {
      if (!slot.ready) build(consumed_);
    } else {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return slot.ready; });
    }
    if (slot.failure) std::rethrow_exception(slot.failure);
    return slot.batch();
  }
  void advance() {
    {
      const std::lock_guard lock(mutex_);
      slot_of(consumed_).ready = false;
      ++consumed_;
    }
    changed_.notify_all();
  }
  /// Takes the next batch that nobody makes yet, as long as there is a free place for it.
  void work(const std::stop_token& stop) {
    const auto limit = static_cast<index>(owner_.slots_.size());
    while (true) {
      index number = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
          return stop.stop_requested() || claimed_ == owner_.batches() || claimed_ < consumed_ + limit;
        });
        if (stop.stop_requested() || claimed_ == owner_.batches()) return;
        number = claimed_++;
      }
      build(number);
      changed_.notify_all();
    }
  }
  void build(index number) {
    slot_type& slot = slot_of(number);
    try {
      owner_.fill(slot, number, order_);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    slot.ready = true;
  }

  loader<Dataset>& owner_;
  std::vector<index> order_;
  std::mutex mutex_;
  std::condition_variable changed_;
  index claimed_ = 0, consumed_ = 0;
  std::vector<std::jthread> workers_;  // last: they stop before anything else goes
};

/// Reads, shuffles and batches a dataset. One epoch is read at a time; the dataset must outlive the loader.
/// throws    shape_error for options that make no sense; while reading, an error that names the example
template <dataset Dataset>
class loader {
 public:
  using batch_type = typename Dataset::batch_type;

  explicit loader(const Dataset& examples, const loader_options& options = {})
      : examples_(&examples), options_(options) {
    if (options.batch < 1 || options.workers < 0 || options.prefetch < 1) {
      throw shape_error(compose_text("loader: batch ", options.batch, ", workers ", options.workers, ", prefetch ",
                                     options.prefetch, ", expected at least 1, 0 and 1"));
    }
  }

  /// Batches in an epoch; the last may be short unless it is dropped.
  index batches() const {
    const index extra = options_.drop_last ? 0 : options_.batch - 1;
    return (examples_->size() + extra) / options_.batch;
  }
  /// The batches of epoch `number`, in an order that depends on seed and number alone.
  epoch_range<Dataset> epoch(index number) {
    return {*this, options_.shuffle
                       ? shuffled_order(examples_->size(), options_.seed, static_cast<std::uint64_t>(number))
                       : sequential_order(examples_->size())};
  }

 private:
  friend class epoch_range<Dataset>;

  /// A place for a batch: its full size is kept, a short one is made when the last batch needs it.
  struct slot {
    std::vector<batch_type> full, rest;
    bool is_short = false;
    bool ready = false;
    std::exception_ptr failure;

    const batch_type& batch() const { return is_short ? rest.front() : full.front(); }
  };

  void fill(slot& place, index number, const std::vector<index>& order) const {
    const index first = number * options_.batch, left = examples_->size() - first;
    const index count = left < options_.batch ? left : options_.batch;
    place.is_short = count != options_.batch;
    auto& kept = place.is_short ? place.rest : place.full;
    if (kept.empty()) kept.push_back(examples_->make_batch(count));
    for (index i = 0; i < count; ++i) {
      const index example = order[static_cast<std::size_t>(first + i)];
      try {
        examples_->copy_example(example, kept.front(), i);
      } catch (const std::exception& failure) {
        throw error(compose_text("loader: example ", example, ": ", failure.what()));
      }
    }
  }

  const Dataset* examples_;
  loader_options options_;
  std::vector<slot> slots_;
};

}  // namespace tenon::data
