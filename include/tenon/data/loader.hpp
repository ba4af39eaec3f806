// tenon/data/loader.hpp: batches of a dataset, made ahead of their use by worker threads.
// Batches arrive in the order of the sampler whatever the workers' timing; their buffers are used again and again.
// Floor 6: may include base, core, device, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <mutex>
#include <system_error>
#include <tenon/base/checked_arithmetic.hpp>
#include <tenon/core/kept_text.hpp>
#include <tenon/data/dataset.hpp>
#include <tenon/data/sampler.hpp>
#include <tenon/device/joined_threads.hpp>
#include <tenon/device/threads.hpp>
#include <utility>

namespace tenon::data {

/// Options of a loader, as those of torch.utils.data.DataLoader.
struct loader_options {
  index batch = 32;
  bool shuffle = false;  ///< draws a new order for each epoch; only for a loader without a sampler
  std::uint64_t seed = 0;
  int workers = 1;   ///< 0: batches are made by the thread that asks for them
  int prefetch = 2;  ///< batches that each worker makes ahead
  bool drop_last = false;
  data::shard shard{};  ///< which examples this process sees
};

/// How far a loader has read: all that another loader needs to go on with the next batch, bit for bit.
struct loader_state {
  index epoch = 0;
  index position = 0;  ///< batches of the epoch that were given out, the one in use included; after the last of them
                       ///< the next epoch begins, at position 0
  std::uint64_t seed = 0;

  bool operator==(const loader_state&) const = default;
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

  epoch_range(loader<Dataset>& owner, index epoch, index first)
      : owner_(owner),
        epoch_(epoch),
        order_(owner.draw_order(epoch)),
        slots_(std::exchange(owner.slots_, {})),
        claimed_(first),
        consumed_(first) {
    const int workers = owner_.options_.workers;
    slots_.resize(static_cast<std::size_t>(workers * owner_.options_.prefetch + 1));
    for (auto& slot : slots_) slot.ready = false;
    for (int worker = 0; worker < workers; ++worker) start_worker(worker, workers);
  }
  epoch_range(const epoch_range&) = delete;
  epoch_range& operator=(const epoch_range&) = delete;
  ~epoch_range() {
    end_workers();
    owner_.slots_ = std::move(slots_);  // for the next epoch
  }

  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() { return {}; }
  /// The batch whose turn it is, before it is given out; waits for its worker.
  /// throws    what its worker threw
  const batch_type& next() {
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

 private:
  using slot_type = typename loader<Dataset>::slot;
  slot_type& slot_of(index number) { return slots_[static_cast<std::size_t>(number) % slots_.size()]; }

  const batch_type& current() {
    const batch_type& batch = next();
    const bool is_last = consumed_ + 1 == owner_.batches();
    owner_.state_ = {is_last ? epoch_ + 1 : epoch_, is_last ? 0 : consumed_ + 1, owner_.options_.seed};
    owner_.is_restored_ = false;
    return batch;
  }
  void advance() {
    {
      const std::lock_guard lock(mutex_);
      slot_of(consumed_).ready = false;
      ++consumed_;
    }
    changed_.notify_all();
  }
  /// throws    thread_error
  void start_worker(int worker, int workers) {
    try {
      workers_.start([this] { work(); });
    } catch (const std::system_error& failure) {
      end_workers();
      throw thread_error(compose_text("loader: worker ", worker, " of ", workers,
                                      " cannot be started: ", failure.code().message(), "; take fewer workers?"));
    } catch (...) {  // no memory for another thread: those that run would wait for ever
      end_workers();
      throw;
    }
  }
  void end_workers() {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    changed_.notify_all();
    workers_.join();
  }
  /// Makes batches, each time the next one that no worker has taken, as long as there is a free slot.
  void work() {
    const single_thread_scope alone;  // loops within a worker stay on it
    const auto limit = static_cast<index>(slots_.size());
    while (true) {
      index number = 0;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_ending_ || claimed_ == owner_.batches() || claimed_ < consumed_ + limit; });
        if (is_ending_ || claimed_ == owner_.batches()) return;
        number = claimed_++;
      }
      build(number);
      changed_.notify_all();
    }
  }
  void build(index number) {
    slot_type& slot = slot_of(number);
    slot.failure = nullptr;
    try {
      owner_.fill(slot, number, epoch_, order_);
    } catch (...) {
      slot.failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    slot.ready = true;
  }

  loader<Dataset>& owner_;
  index epoch_;
  std::vector<index> order_;
  std::vector<slot_type> slots_;  // the loader's, unless another epoch has them
  std::mutex mutex_;
  std::condition_variable changed_;
  index claimed_, consumed_;
  bool is_ending_ = false;
  tenon::detail::joined_threads workers_;
};

/// Reads, shuffles and batches a dataset, which must outlive the loader. An epoch that begins within another one has
/// workers and batches of its own; `state` is that of the batch that was given out last.
/// throws    shape_error for options that make no sense; by `epoch`, index_error where the sampler gives a number that
///           no example has, and thread_error where a worker cannot be started, and the loader stays as it is; while
///           reading, an error that names the example
/// example   data::loader batches(examples, {.batch = 64, .shuffle = true, .workers = 4});
///           for (index epoch = batches.state().epoch; epoch < 10; ++epoch) {
///             for (const auto& [images, labels] : batches.epoch(epoch)) ...
///           }
template <dataset Dataset>
class loader {
 public:
  using batch_type = typename Dataset::batch_type;
  static constexpr const char* state_prefix = "data.";

  explicit loader(const Dataset& examples, const loader_options& options = {})
      : loader(examples, sequential_sampler{examples.size()}, options) {
    if (options.shuffle) set_sampler(random_sampler{examples.size()});
  }
  /// A temporary, which would be gone before its examples are read, does not compile, with a sampler or without.
  template <std::same_as<Dataset> Temporary, class Next = loader_options>
  explicit loader(Temporary&&, const Next& = {}, const loader_options& = {}) {
    static_assert(must_hold<Temporary>,
                  "tenon: a loader reads its data set later; give the data set a name that outlives it");
  }
  /// Examples in the order of a sampler.
  template <sampler Sampler>
  loader(const Dataset& examples, Sampler order, const loader_options& options = {})
      : examples_(&examples), options_(options), state_{0, 0, options.seed} {
    if (options.batch < 1 || options.workers < 0 || options.prefetch < 1) {
      throw shape_error(compose_text("loader: batch ", options.batch, ", workers ", options.workers, ", prefetch ",
                                     options.prefetch, ", expected at least 1, 0 and 1"));
    }
    set_sampler(std::move(order));
  }

  /// Batches in an epoch; the last may be short unless it is dropped.
  index batches() const {
    const bool has_rest = !options_.drop_last && count_ % options_.batch != 0;
    return count_ / options_.batch + (has_rest ? 1 : 0);
  }
  /// The batches of epoch `number`, in an order that depends on seed and number alone; after `restore`, those that are
  /// left of it.
  epoch_range<Dataset> epoch(index number) & {
    return {*this, number, number == state_.epoch && is_restored_ ? state_.position : 0};
  }
  /// Those of a temporary loader, which would be gone before they are read, do not compile.
  template <int = 0>
  epoch_range<Dataset> epoch(index number) && {
    static_assert(must_hold<Dataset>,
                  "tenon: batches are read later than this loader lives; give the loader a name that outlives them");
    return epoch(number);
  }
  /// A loop over a loader itself does not compile.
  template <int = 0>
  auto begin() {
    static_assert(must_hold<Dataset>,
                  "tenon: a loop reads an epoch of a loader: for (const auto& [x, y] : batches.epoch(0))");
    return epoch(0).begin();
  }
  std::default_sentinel_t end() const { return {}; }

  const loader_state& state() const { return state_; }
  /// Goes on where another loader of the same options stood: `epoch(state.epoch)` begins behind its last batch.
  /// throws    index_error when an epoch has no such position
  void restore(const loader_state& state) {
    if (state.epoch < 0 || state.position < 0 || state.position > batches()) {
      throw index_error(compose_text("loader: restore: epoch ", state.epoch, ", position ", state.position,
                                     ", expected at least 0, and a position of at most ", batches(), " batches"));
    }
    const bool is_over = state.position == batches() && state.position != 0;
    state_ = is_over ? loader_state{state.epoch + 1, 0, state.seed} : state;
    options_.seed = state.seed, is_restored_ = true;
  }
  /// As an optimizer's: through it, `train::training` saves and loads how far the loader has read. A position is one of
  /// batches, so a file is refused where they are of another size, of another number of examples, or in the order of a
  /// sampler of another name; those of all ranks count as one.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    constexpr index most_epochs = std::numeric_limits<index>::max() - 1;
    const auto set = [this](auto loader_state::* part) {
      return [this, part](auto given) {
        loader_state state = state_;
        state.*part = given;
        restore(state);
      };
    };
    kept_number epoch(state_.epoch, {0, most_epochs}, set(&loader_state::epoch));
    kept_number position(state_.position, {0, batches()}, set(&loader_state::position));
    kept_number seed(state_.seed, {}, set(&loader_state::seed));
    visitor(std::string("epoch"), epoch), visitor(std::string("position"), position);
    visitor(std::string("seed"), seed);
    const auto whole = checked_extent(options_.batch) * options_.shard.ranks;
    auto batch = kept_fixed(whole.fits() ? whole.value() : std::numeric_limits<index>::max());
    auto examples = kept_fixed(whole_count_);
    kept_text order(sampler_name_);
    visitor(std::string("batch"), batch), visitor(std::string("examples"), examples);
    visitor(std::string("sampler"), order);
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

  template <sampler Sampler>
  void set_sampler(Sampler order) {
    whole_count_ = order.size();
    if constexpr (requires { std::string(order.name); }) sampler_name_ = order.name;
    const sharded_sampler<Sampler> own(std::move(order), options_.shard);
    count_ = own.size();
    order_ = [own](std::uint64_t seed, index epoch) { return own.order(seed, epoch); };
  }
  /// throws    index_error where a number of the order is not that of an example
  std::vector<index> draw_order(index epoch) const {
    auto order = order_(options_.seed, epoch);
    const index count = examples_->size();
    for (const index example : order) {
      if (example >= 0 && example < count) continue;
      throw index_error(
          compose_text("loader: the sampler gave example ", example, ", expected numbers from 0 on and below ", count));
    }
    return order;
  }
  void fill(slot& place, index number, index epoch, const std::vector<index>& order) const {
    const index first = number * options_.batch, left = count_ - first;
    const index count = left < options_.batch ? left : options_.batch;
    place.is_short = count != options_.batch;
    auto& kept = place.is_short ? place.rest : place.full;
    if (kept.empty()) kept.push_back(examples_->make_batch(count));
    for (index i = 0; i < count; ++i) {
      const index example = order[static_cast<std::size_t>(first + i)];
      try {
        examples_->copy_example(example_id(example, epoch), kept.front(), i);
      } catch (const std::exception& failure) {
        throw error(compose_text("loader: example ", example, ": ", failure.what()));
      }
    }
  }

  const Dataset* examples_;
  loader_options options_;
  index count_ = 0, whole_count_ = 0;  // of this rank, of all
  std::string sampler_name_ = "nameless";
  std::function<std::vector<index>(std::uint64_t seed, index epoch)> order_;
  loader_state state_;
  bool is_restored_ = false;
  std::vector<slot> slots_;
};

}  // namespace tenon::data
