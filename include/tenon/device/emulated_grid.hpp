// tenon/device/emulated_grid.hpp: runs the blocks of an emulated grid, in an order shuffled by a seed.
// Blocks run one after another, so none can rely on another; blocks of a cooperative kernel are alive together.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <tenon/device/schedule.hpp>

namespace tenon {

/// The options of the calling thread's launches on `emulated`.
inline emulation_options current_emulation() { return detail::thread_emulation(); }

/// Sets the options of the calling thread's launches on `emulated` while it lives.
class emulation_scope {
 public:
  explicit emulation_scope(emulation_options options) : outer_(current_emulation()) {
    detail::thread_emulation() = options;
  }
  emulation_scope(const emulation_scope&) = delete;
  emulation_scope& operator=(const emulation_scope&) = delete;
  ~emulation_scope() { detail::thread_emulation() = outer_; }

 private:
  emulation_options outer_;
};

namespace detail {

/// An order of `count` blocks: multiples of a step without a common divisor.
class block_order {
 public:
  block_order(index count, shuffler random) : count_(count) {
    at_ = static_cast<index>(random.below(static_cast<std::uint64_t>(count)));
    do {
      step_ = 1 + static_cast<index>(random.below(static_cast<std::uint64_t>(count)));
    } while (common_divisor(step_, count) != 1);
  }
  index next() { return at_ = (at_ + step_) % count_; }

 private:
  static index common_divisor(index left, index right) {
    return right == 0 ? left : common_divisor(right, left % right);
  }

  index count_, at_, step_;
};

/// The position of a block by its number.
inline grid_position position_of_block(const grid_extent& grid, index number) {
  const auto x = static_cast<index>(grid.x), y = static_cast<index>(grid.y);
  return {static_cast<int>(number % x), static_cast<int>(number / x % y), static_cast<int>(number / (x * y))};
}

inline void run_blocks_apart(const launch_shape& shape, const emulated_body& body) {
  const emulation_options options = current_emulation();
  block_schedule schedule(shape, body, options);
  block_order order(shape.grid.blocks(), shuffler(options.seed));
  for (index i = 0; i < shape.grid.blocks(); ++i) schedule.run_block(position_of_block(shape.grid, order.next()));
}

/// All blocks of a cooperative kernel. For each step, the seed decides which block makes it.
class cooperative_grid {
 public:
  cooperative_grid(const launch_shape& shape, const emulated_body& body, const emulation_options& options)
      : body_(body), random_(options.seed) {
    for (index i = 0; i < shape.grid.blocks(); ++i) {
      emulation_options own = options;
      own.seed = random_.bits();
      blocks_.push_back(std::make_unique<block_schedule>(shape, body, own));
      blocks_.back()->start_block(position_of_block(shape.grid, i), &meeting_);
      able_.push_back(static_cast<int>(i));
    }
  }
  /// throws    what a thread threw, or barrier_error
  void run() {
    while (!able_.empty()) {
      const auto pick = random_.below(able_.size());
      block_schedule& block = *blocks_[static_cast<std::size_t>(able_[pick])];
      if (block.step()) continue;
      if (block.has_failed()) abandon_all_but(block);
      able_.erase(able_.begin() + static_cast<std::ptrdiff_t>(pick));
      if (able_.empty()) release_all();
    }
    for (const auto& block : blocks_) block->end_block();
  }

 private:
  /// Nobody can go on: all are done, or all wait for each other.
  void release_all() {
    const auto waiting =
        std::count_if(blocks_.begin(), blocks_.end(), [](const auto& b) { return b->waits_for_grid(); });
    if (waiting == 0) return;
    if (static_cast<std::size_t>(waiting) != blocks_.size()) report_deadlock(waiting);
    meeting_.phase ^= 1;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      blocks_[i]->release_from_grid();
      able_.push_back(static_cast<int>(i));
    }
  }
  [[noreturn]] void report_deadlock(std::ptrdiff_t waiting) {
    const block_schedule* waits = nullptr;
    std::size_t returned = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i]->waits_for_grid()) waits = blocks_[i].get();
      else returned = i;
    }
    const std::string text =
        compose_text("emulated ", body_.name, ": sync_grid: ", waiting, " of ", blocks_.size(), " blocks wait at ",
                     at_text(waits->waits_at()), ", but block ", returned, " has returned, expected all of them");
    for (const auto& block : blocks_) block->abandon_block();
    throw barrier_error(text);
  }
  [[noreturn]] void abandon_all_but(block_schedule& failed) {
    for (const auto& block : blocks_) {
      if (block.get() != &failed) block->abandon_block();
    }
    failed.end_block();
    throw barrier_error("unreachable: a failed block throws");
  }

  emulated_body body_;
  shuffler random_;
  grid_meeting meeting_;
  std::vector<std::unique_ptr<block_schedule>> blocks_;
  std::vector<int> able_;  // numbers of the blocks that can go on
};

inline void run_blocks_together(const launch_shape& shape, const emulated_body& body) {
  const emulation_options options = current_emulation();
  if (shape.grid.blocks() > options.resident_blocks) {
    throw shape_error(compose_text("launch: ", body.name, ": ", shape.grid.blocks(),
                                   " blocks that wait for each other, expected at most ", options.resident_blocks));
  }
  cooperative_grid(shape, body, options).run();
}

}  // namespace detail
}  // namespace tenon
