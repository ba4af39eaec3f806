// tenon/device/emulated_warpgroup.hpp: the products of an emulated block's warpgroups.
// They read shared memory until every warp has waited for them, and threads have their sums only from then on.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstring>
#include <limits>
#include <tenon/device/hopper.hpp>
#include <tenon/device/schedule.hpp>

namespace tenon::detail {

/// The elements of shared memory that a product reads for one operand: `outer` x `inner` of them.
struct product_reads {
  operand_descriptor at;
  bool lines_are_adjacent;
  int lines, element_bytes;

  int depth() const { return product_depth_bytes / element_bytes; }

  /// The offset of a line's element at a depth, in the swizzled order of parts of 16 bytes.
  int offset(int line, int depth) const {
    const int along = lines_are_adjacent ? line : depth, across = lines_are_adjacent ? depth : line;
    const int row_elements = swizzle_row_bytes / element_bytes;
    return swizzled(at.address() + along / row_elements * at.leading_bytes() + along % row_elements * element_bytes +
                    across / 8 * at.stride_bytes() + across % 8 * swizzle_row_bytes);
  }
};

/// What a thread asks for.
struct product_request {
  product_reads left, right;
  std::uint32_t* sums;
  bool adds, has_integer_sums;
  float (*number_of)(std::uint32_t);
};

/// 64 x columns sums that live in the registers of a warpgroup, while products are added to them.
struct sums_under_way {
  int group;
  array<std::uint32_t*, warpgroup_size> registers;
  std::vector<std::uint32_t> values;
  std::bitset<warpgroup_size> landed{};  // in which threads
};

/// What a group of products reads, to detect that it is overwritten meanwhile.
struct reads_under_way {
  int group;
  product_reads reads;
  std::vector<std::uint32_t> seen;
  std::bitset<warpgroup_size / warp_size> waited{};  // which warps have
  source_position caller;
};

/// The products of one warpgroup, and the meetings of its threads.
class emulated_warpgroup {
 public:
  explicit emulated_warpgroup(block_schedule& schedule) : schedule_(&schedule) {}

  /// Calls `complete` when all threads have come to the same place.
  template <class Complete>
  void meet(emulated_thread& self, const char* operation, source_position caller, Complete complete) {
    if (!waiting_.empty() && !together(*waiting_[0], operation, caller)) {
      schedule_->refuse(self, compose_text(operation, " at ", at_text(caller), ", but thread ",
                                           waiting_[0]->user.thread, " is in ", waiting_[0]->waits_in, " at ",
                                           at_text(waiting_[0]->waits_at), ", expected all of a warpgroup together"));
    }
    if (static_cast<int>(waiting_.size()) + 1 < warpgroup_size) {
      waiting_.push_back(&self);
      return schedule_->wait_for_wake(self, operation, caller);
    }
    complete();
    for (const emulated_thread* each : waiting_) schedule_->wake(*each);
    waiting_.clear();
  }
  void begin_products(const emulated_thread& self) { state_of(self).may_multiply = true; }
  void commit_products(const emulated_thread& self) { ++state_of(self).groups; }
  void multiply(emulated_thread& self, const product_request& request, source_position caller) {
    thread_products& own = state_of(self);
    if (!own.may_multiply) {
      schedule_->refuse(self, compose_text("multiply at ", at_text(caller), ": sums were touched since the last ",
                                           "begin_products(), expected one before"));
    }
    own.request = request;
    meet(self, "multiply", caller, [&] { multiply_together(self, caller); });
  }
  /// Waits until at most the `groups_left` youngest groups are under way; lanes of a warp wait together.
  void wait_products(emulated_thread& self, int groups_left, source_position caller) {
    schedule_->meet_warp(self, {"wait_products", false, nullptr}, caller);
    const int end = state_of(self).groups - groups_left;
    const auto thread = static_cast<std::size_t>(self.user.thread % warpgroup_size);
    for (reads_under_way& each : reads_) {
      if (each.group < end) each.waited.set(thread / warp_size);
      if (each.waited.all() && read(each.reads) != each.seen) report_change(self, each);
    }
    for (sums_under_way& each : sums_) {
      if (each.group >= end || each.landed.test(thread)) continue;
      each.landed.set(thread);
      land(self, each);
    }
    std::erase_if(reads_, [](const reads_under_way& each) { return each.waited.all(); });
    std::erase_if(sums_, [](const sums_under_way& each) { return each.landed.all(); });
  }
  bool is_idle() const { return sums_.empty() && reads_.empty(); }
  /// Where its threads wait for each other, if they do.
  std::string wait_text() const {
    if (waiting_.empty()) return {};
    return compose_text("; ", waiting_.size(), " of ", warpgroup_size, " threads of a warpgroup are in ",
                        waiting_[0]->waits_in, " at ", at_text(waiting_[0]->waits_at), ", expected all of them");
  }

 private:
  struct thread_products {
    product_request request;
    int groups;  // committed so far
    bool may_multiply;
  };

  static bool together(const emulated_thread& other, const char* operation, source_position caller) {
    return std::strcmp(other.waits_in, operation) == 0 && other.waits_at.line == caller.line;
  }
  thread_products& state_of(const emulated_thread& self) { return threads_[self.user.thread % warpgroup_size]; }

  void multiply_together(const emulated_thread& self, source_position caller) {
    const thread_products& first = threads_[0];
    for (const thread_products& each : threads_) {
      const product_request& asked = each.request;
      if (each.groups == first.groups && asked.adds == first.request.adds &&
          asked.left.at.bits == first.request.left.at.bits && asked.right.at.bits == first.request.right.at.bits)
        continue;
      schedule_->refuse(self, compose_text("multiply at ", at_text(caller), ": threads of a warpgroup differ in ",
                                           "their operands, expected the same"));
    }
    const auto left = note_read(self, first.request.left, caller), right = note_read(self, first.request.right, caller);
    auto& sums = sums_for(first.request).values;
    if (first.request.has_integer_sums) add_product<std::uint32_t>(sums, first.request, left, right);
    else add_product<float>(sums, first.request, left, right);
  }
  std::vector<std::uint32_t> note_read(const emulated_thread& self, const product_reads& reads,
                                       source_position caller) {
    if (reads.at.swizzle() != 1) schedule_->refuse(self, "multiply: a descriptor without the swizzle of 128 bytes");
    const int last = reads.offset(reads.lines - 1, reads.depth() - 1);
    if (last + reads.element_bytes > schedule_->arena.size)
      schedule_->refuse(self, "multiply: an operand beyond shared memory");
    reads_.push_back({threads_[0].groups, reads, read(reads), {}, caller});
    return reads_.back().seen;
  }
  std::vector<std::uint32_t> read(const product_reads& reads) const {
    std::vector<std::uint32_t> result(static_cast<std::size_t>(reads.lines * reads.depth()));
    for (int line = 0, i = 0; line < reads.lines; ++line) {
      for (int depth = 0; depth < reads.depth(); ++depth, ++i) {
        std::memcpy(&result[static_cast<std::size_t>(i)], schedule_->arena.bytes + reads.offset(line, depth),
                    static_cast<std::size_t>(reads.element_bytes));
      }
    }
    return result;
  }
  /// The sums that a product goes to: those under way in the same registers, else what the registers hold.
  sums_under_way& sums_for(const product_request& request) {
    const int group = threads_[0].groups;
    for (sums_under_way& each : sums_) {
      if (each.registers[0] != threads_[0].request.sums) continue;
      each.group = group;
      return each;
    }
    const int columns = request.right.lines;
    sums_under_way& fresh = sums_.emplace_back(
        sums_under_way{group, {}, std::vector<std::uint32_t>(static_cast<std::size_t>(product_rows * columns)), {}});
    for (int thread = 0; thread < warpgroup_size; ++thread) {
      std::uint32_t* const held = fresh.registers[thread] = threads_[thread].request.sums;
      for (int i = 0; i < sums_of_thread(columns); ++i) {
        if (request.adds) value(fresh, thread, i) = held[i];
        held[i] = std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
      }
    }
    return fresh;
  }
  void land(const emulated_thread& self, sums_under_way& sums) {
    const int thread = self.user.thread % warpgroup_size;
    const int count = static_cast<int>(sums.values.size()) / warpgroup_size;
    for (int i = 0; i < count; ++i) sums.registers[thread][i] = value(sums, thread, i);
    state_of(self).may_multiply = false;
  }
  static int sums_of_thread(int columns) { return product_rows * columns / warpgroup_size; }
  static std::uint32_t& value(sums_under_way& sums, int thread, int i) {
    const int columns = static_cast<int>(sums.values.size()) / product_rows;
    return sums
        .values[static_cast<std::size_t>(row_of_sum(thread, i / 2) * columns + column_of_sum(thread, i / 2) + i % 2)];
  }
  static float added(float sum, float product) { return sum + product; }
  /// Integers wrap.
  static std::uint32_t added(std::uint32_t sum, float product) {
    return sum + static_cast<std::uint32_t>(static_cast<std::int32_t>(product));
  }
  template <class Sum>
  static void add_product(std::vector<std::uint32_t>& bits, const product_request& request,
                          const std::vector<std::uint32_t>& left, const std::vector<std::uint32_t>& right) {
    const auto columns = static_cast<std::size_t>(request.right.lines);
    const auto depth = static_cast<std::size_t>(request.right.depth());
    std::vector<float> a(left.size()), b(right.size());  // b by depth, so that columns lie side by side
    for (std::size_t i = 0; i < left.size(); ++i) a[i] = request.number_of(left[i]);
    for (std::size_t i = 0; i < right.size(); ++i) {
      b[i % depth * columns + i / depth] = request.number_of(right[i]);
    }
    std::vector<Sum> sums(bits.size());
    if (request.adds) std::memcpy(sums.data(), bits.data(), bits.size() * sizeof(Sum));
    for (std::size_t i = 0; i < a.size(); ++i) {
      Sum* const row = sums.data() + i / depth * columns;
      const float* const factors = b.data() + i % depth * columns;
      for (std::size_t column = 0; column < columns; ++column) row[column] = added(row[column], a[i] * factors[column]);
    }
    std::memcpy(bits.data(), sums.data(), bits.size() * sizeof(Sum));
  }
  [[noreturn]] void report_change(const emulated_thread& self, const reads_under_way& changed) const {
    throw race_error(compose_text("emulated ", schedule_->body.name, ": shared memory: what the product of thread ",
                                  self.user.thread, "'s warpgroup at ", at_text(changed.caller),
                                  " reads was written before all its warps waited for it"));
  }

  block_schedule* schedule_;
  array<thread_products, warpgroup_size> threads_{};
  std::vector<emulated_thread*> waiting_;
  std::vector<sums_under_way> sums_;
  std::vector<reads_under_way> reads_;
};

}  // namespace tenon::detail
