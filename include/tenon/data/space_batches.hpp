// tenon/data/space_batches.hpp: the batches of an epoch in another memory space.
// A device copies the next batch on a stream of its own, from page-locked memory, while it works on this one.
// Floor 6: may include base, core, device, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/data/batch.hpp>
#include <tenon/data/loader.hpp>
#include <tenon/device/stream.hpp>

namespace tenon::data {

namespace detail {

/// Copies that are done when they return.
struct plain_copies {
  void leave(int) {}
  template <class Copy>
  void run(int, Copy&& copy) {
    copy();
  }
};

#if defined(__CUDACC__)
/// Copies into one of two batches on a stream of their own, which waits for the work that read that batch before; the
/// thread's current stream waits for the copies.
class stream_copies {
 public:
  stream_copies() {
    for (event& each : used_) each.record();
  }
  void leave(int place) { used_[place].record(); }
  template <class Copy>
  void run(int place, Copy&& copy) {
    with_stream(copies_, [&] {
      used_[place].hold();
      copy();
      copied_.record();
    });
    copied_.hold();
  }

 private:
  stream copies_;
  event used_[2], copied_;
};
#endif

template <class Space>
struct copies_to {
  using type = plain_copies;
};
#if defined(__CUDACC__)
template <>
struct copies_to<cuda> {
  using type = stream_copies;
};
#endif

/// A tuple of tensors in another space.
template <class Space, class Batch>
struct batch_in;
template <class Space, class... Tensors>
struct batch_in<Space, std::tuple<Tensors...>> {
  using type = std::tuple<tensor<typename Tensors::element, typename Tensors::shape_type, Space>...>;
};

}  // namespace detail

/// The batches of one epoch of a loader, copied to `Space`. A batch stays valid while the next one is in use.
/// cost      a copy for each tensor; memory is allocated for two batches, and where extents change
template <memory_space Space, dataset Dataset>
class space_batches {
  using host_batch = typename Dataset::batch_type;

 public:
  using batch_type = typename detail::batch_in<Space, host_batch>::type;

  class iterator {
   public:
    using difference_type = std::ptrdiff_t;
    using value_type = batch_type;

    explicit iterator(space_batches* range) : range_(range) {}
    const batch_type& operator*() const { return range_->batches_[range_->place_]; }
    iterator& operator++() { return range_->advance(), *this; }
    void operator++(int) { range_->advance(); }
    bool operator==(std::default_sentinel_t end) const { return range_->at_ == end; }

   private:
    space_batches* range_;
  };

  space_batches(loader<Dataset>& owner, index epoch) : range_(owner.epoch(epoch)), at_(range_.begin()) {
    copy_current();
  }
  space_batches(const space_batches&) = delete;
  space_batches& operator=(const space_batches&) = delete;

  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() { return {}; }

 private:
  void advance() {
    copies_.leave(place_);
    place_ = 1 - place_;
    ++at_;
    copy_current();
  }
  void copy_current() {
    if (at_ == std::default_sentinel) return;
    const host_batch& source = range_.next();
    copies_.run(place_, [&] {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (copy_tensor(std::get<I>(source), std::get<I>(batches_[place_])), ...);
      }(std::make_index_sequence<std::tuple_size_v<batch_type>>{});
    });
    *at_;  // gives it out, now that it is ready
  }
  template <class Source, class Target>
  static void copy_tensor(const Source& source, Target& target) {
    if (!(target.shape() == source.shape())) target.reset();
    target.copy_from(source);
  }

  batch_type batches_[2];
  typename detail::copies_to<Space>::type copies_;
  epoch_range<Dataset> range_;
  typename epoch_range<Dataset>::iterator at_;
  int place_ = 0;
};

/// The batches of epoch `number` in a memory space, of datasets whose batches are tuples of tensors.
/// example   for (const auto& [images, labels] : data::batches_in<tenon::cuda>(loader, epoch)) ...
template <memory_space Space, dataset Dataset>
space_batches<Space, Dataset> batches_in(loader<Dataset>& batches, index number) {
  return {batches, number};
}

}  // namespace tenon::data
