// tenon/device/emulated_copies.hpp: barriers of phases, and the machine of an emulated block that copies tiles.
// Copies land late, in any order. Reading a tile too early is an error, and so is waiting for more than will arrive.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <map>
#include <tenon/device/emulated_matrix.hpp>
#include <tenon/device/hopper.hpp>
#include <tenon/device/schedule.hpp>

namespace tenon::detail {

/// What an emulated barrier of phases knows.
struct emulated_phase_barrier {
  int arrivals, missing;  // of every phase; what the present one lacks of them
  index bytes_under_way = 0;
  int parity = 0;  // of the phase that has not ended
  int maker = 0;
  access_time made = 0;
  bool is_shown = false;  // to the unit that copies tiles
  char gates[2] = {};     // addresses for ThreadSanitizer
  std::vector<emulated_thread*> waiting{};
};

/// A tile under way.
struct emulated_tile_copy {
  const tiled_images* from;
  int element_bytes;
  bool rounds_to_tf32;
  array<int, 5> position;
  int to, barrier;  // offsets in shared memory

  int row_bytes() const { return from->tile[0] * element_bytes; }
  int rows() const { return from->tile[1] * from->tile[2] * from->tile[3] * from->tile[4]; }
  int bytes() const { return row_bytes() * rows(); }
};

/// The barriers of phases of a block by their offsets, and its copies under way.
class tile_copies {
 public:
  explicit tile_copies(block_schedule& schedule) : schedule_(schedule) {}

  void make_barrier(const emulated_thread& self, int offset, int arrivals, source_position caller) {
    if (arrivals < 1) refuse(self, "make_barrier", "expected at least one arrival", caller);
    emulated_phase_barrier& made = barriers_[offset];
    if (!made.waiting.empty()) refuse(self, "make_barrier", "threads wait for this barrier", caller);
    made = {.arrivals = arrivals, .missing = arrivals, .maker = self.user.thread, .made = *self.user.now};
  }
  void show_barriers(const emulated_thread& self) {
    for (auto& [offset, barrier] : barriers_) {
      if (barrier.maker == self.user.thread) barrier.is_shown = true;
    }
  }
  void arrive(const emulated_thread& self, int offset, int bytes, source_position caller) {
    emulated_phase_barrier& at = barrier_of(self, offset, "arrive", caller);
    if (bytes < 0) refuse(self, "arrive", "a negative number of bytes", caller);
    if (at.missing == 0) refuse(self, "arrive", compose_text("more than ", at.arrivals, " arrivals"), caller);
    release_to(&at.gates[at.parity]);
    --at.missing;
    at.bytes_under_way += bytes;
    end_phase_if_complete(at);
  }
  void wait(emulated_thread& self, int offset, int parity, source_position caller) {
    if (parity != 0 && parity != 1) refuse(self, "wait", "a parity that is neither 0 nor 1", caller);
    emulated_phase_barrier& at = barrier_of(self, offset, "wait", caller);
    if (at.parity == parity) {
      at.waiting.push_back(&self);
      schedule_.wait_for_wake(self, "wait", caller);
    }
    acquire_from(&at.gates[parity]);
  }
  /// Starts a copy. Until it lands, its target holds bytes of 0xFF, which are NaN.
  void copy_tile(const emulated_thread& self, const emulated_tile_copy& copy, source_position caller) {
    const emulated_phase_barrier& at = barrier_of(self, copy.barrier, "copy_tile", caller);
    if (!at.is_shown) refuse(self, "copy_tile", "its barrier was never shown; missing show_barriers()", caller);
    if (copy.to % swizzle_alignment != 0) refuse(self, "copy_tile", "a tile not aligned to 1024 bytes", caller);
    std::memset(schedule_.arena.bytes + copy.to, 0xFF, static_cast<std::size_t>(copy.bytes()));
    copies_.push_back(copy);
  }

  bool land_one(shuffler& random) {
    if (copies_.empty()) return false;
    const auto chosen = copies_.begin() + static_cast<std::ptrdiff_t>(random.below(copies_.size()));
    const emulated_tile_copy copy = *chosen;
    copies_.erase(chosen);
    for (int row = 0; row < copy.rows(); ++row) land_row(copy, row);
    emulated_phase_barrier& at = barriers_[copy.barrier];
    at.bytes_under_way -= copy.bytes();
    end_phase_if_complete(at);
    return true;
  }
  bool is_idle() const { return copies_.empty(); }
  /// What each barrier still lacks on which threads wait.
  std::string wait_text() const {
    std::string text;
    for (const auto& [offset, at] : barriers_) {
      if (at.waiting.empty()) continue;
      const emulated_thread& first = *at.waiting[0];
      text += compose_text("; thread ", first.user.thread, " waits at ", at_text(first.waits_at),
                           " for the barrier at byte ", offset, ", which lacks ", at.missing, " of ", at.arrivals,
                           " arrivals and ", at.bytes_under_way, " bytes");
    }
    return text;
  }

 private:
  emulated_phase_barrier& barrier_of(const emulated_thread& self, int offset, const char* operation,
                                     source_position caller) {
    const auto found = barriers_.find(offset);
    if (found == barriers_.end()) refuse(self, operation, "no barrier was made there", caller);
    const emulated_phase_barrier& at = found->second;
    if (at.maker != self.user.thread && !is_ordered(self.user, at.maker, at.made)) {
      refuse(self, operation, "its barrier was made since the last sync()", caller);
    }
    return found->second;
  }
  [[noreturn]] void refuse(const emulated_thread& self, const char* operation, const std::string& problem,
                           source_position caller) const {
    schedule_.refuse(self, compose_text(operation, " at ", at_text(caller), ": ", problem));
  }
  void end_phase_if_complete(emulated_phase_barrier& at) {
    if (at.missing != 0 || at.bytes_under_way != 0) return;
    at.missing = at.arrivals;
    at.parity ^= 1;
    for (const emulated_thread* each : at.waiting) schedule_.wake(*each);
    at.waiting.clear();
  }
  static void round_to_tf32(unsigned char* at) {
    std::uint32_t word = 0;
    std::memcpy(&word, at, sizeof(word));
    word = rounded_word<tf32>(word);
    std::memcpy(at, &word, sizeof(word));
  }
  void land_row(const emulated_tile_copy& copy, int row) {
    const tiled_images& from = *copy.from;
    bool is_inside = true;
    index offset = 0;
    int rest = row;
    for (int axis = 1; axis < 5; ++axis) {
      const index at = copy.position[axis] + rest % from.tile[axis] * from.step[axis];
      rest /= from.tile[axis];
      is_inside = is_inside && at >= 0 && at < from.extents[axis];
      offset += at * from.stride_bytes[axis - 1];
    }
    for (int column = 0; column < from.tile[0]; ++column) {
      const index x = copy.position[0] + column;
      unsigned char* const to =
          schedule_.arena.bytes + swizzled(copy.to + row * copy.row_bytes() + column * copy.element_bytes);
      const auto bytes = static_cast<std::size_t>(copy.element_bytes);
      if (is_inside && x >= 0 && x < from.extents[0]) {
        std::memcpy(to, static_cast<const unsigned char*>(from.data) + offset + x * copy.element_bytes, bytes);
        if (copy.rounds_to_tf32) round_to_tf32(to);
      } else {
        std::memset(to, 0, bytes);
      }
    }
  }

  block_schedule& schedule_;
  std::map<int, emulated_phase_barrier> barriers_;
  std::vector<emulated_tile_copy> copies_;
};

}  // namespace tenon::detail
