// tenon/nn/arena.hpp: where the activations of a network lie within one piece of memory.
// Each is needed from the statement that writes it to the last that reads it; others may lie there before and after.
// Floor 7: may include base, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <tenon/base/array.hpp>
#include <vector>

namespace tenon::nn {

/// Blocks of memory, the one of number n written by statement n, and the places that are chosen for them.
/// source    Pisarchyk, Lee 2020: Efficient memory management for deep neural net inference (greedy by size)
class arena_plan {
 public:
  static constexpr index alignment = 256;

  /// Forgets all blocks.
  void clear() { blocks_.clear(), bytes_ = 0; }
  int count() const { return static_cast<int>(blocks_.size()); }
  /// The next statement writes so many bytes. Returns its number.
  TENON_IF_CALLED int add(index bytes) {
    const int number = static_cast<int>(blocks_.size());
    blocks_.push_back({(bytes + alignment - 1) / alignment * alignment, number, 0});
    return number;
  }
  /// Statement `reader` reads the block.
  void keep(int block, int reader) {
    int& last = blocks_[static_cast<std::size_t>(block)].last;
    last = std::max(last, reader);
  }
  /// Chooses all places: the largest block first, each at the lowest place that no block needs meanwhile.
  TENON_IF_CALLED void place() {
    order_.resize(blocks_.size()), placed_.clear();
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](int left, int right) {
      return at(left).bytes > at(right).bytes || (at(left).bytes == at(right).bytes && left < right);
    });
    for (const int number : order_) {
      planned_block& own = blocks_[static_cast<std::size_t>(number)];
      own.offset = 0;
      for (const int other : placed_) {
        const bool meet = number <= at(other).last && other <= own.last;
        if (!meet || at(other).offset + at(other).bytes <= own.offset) continue;
        if (own.offset + own.bytes <= at(other).offset) break;
        own.offset = at(other).offset + at(other).bytes;
      }
      const auto lies_behind = [&](int other) { return at(other).offset > own.offset; };
      placed_.insert(std::find_if(placed_.begin(), placed_.end(), lies_behind), number);
      bytes_ = std::max(bytes_, own.offset + own.bytes);
    }
  }

  index offset(int block) const { return at(block).offset; }
  /// Of all blocks at their places.
  index bytes() const { return bytes_; }

 private:
  struct planned_block {
    index bytes;
    int last;  // statement that needs it
    index offset;
  };
  const planned_block& at(int number) const { return blocks_[static_cast<std::size_t>(number)]; }

  std::vector<planned_block> blocks_;
  std::vector<int> order_, placed_;  // by size; by offset
  index bytes_ = 0;
};

}  // namespace tenon::nn
