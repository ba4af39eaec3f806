// tenon/host/staging.hpp: copies of elements that do not lie along a loop.
// What has steps, or one value for a whole row, is copied where packs can read it.
// Floor 4: may include base, device, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <tenon/base/owned_array.hpp>
#include <tenon/device/simd_transpose.hpp>
#include <tenon/plan/write.hpp>

namespace tenon::detail {

inline constexpr index line_bytes = 64;  // of a cache line, and of the longest pack

/// Blocks of whole cache lines, one for each of several threads.
class line_blocks {
 public:
  line_blocks() = default;
  line_blocks(index blocks, index bytes)
      : lines_(static_cast<std::size_t>(bytes / line_bytes + 1)), memory_(static_cast<std::size_t>(blocks) * lines_) {}
  /// Null where there are none.
  std::byte* block(index number) const {
    return memory_.data() == nullptr ? nullptr : memory_[static_cast<std::size_t>(number) * lines_].bytes;
  }

 private:
  struct alignas(line_bytes) line {
    std::byte bytes[line_bytes];
  };
  std::size_t lines_ = 0;
  owned_array<line> memory_;
};

/// Memory in whole cache lines, taken piece by piece; little of it lies in the object itself.
class staged_memory {
 public:
  explicit staged_memory(index bytes) : next_(near_) {
    if (bytes > near_bytes) far_ = line_blocks(1, bytes), next_ = far_.block(0);
  }
  /// Uses a block of `blocks_for`, which must outlive this; where the block is null, it allocates its own.
  staged_memory(index bytes, std::byte* block) : staged_memory(block == nullptr ? bytes : 0) {
    if (block != nullptr) next_ = block;
  }
  /// Blocks for objects of several threads; none where the objects have room themselves.
  static line_blocks blocks_for(index threads, index bytes) {
    return bytes > near_bytes ? line_blocks(threads, bytes) : line_blocks();
  }
  staged_memory(const staged_memory&) = delete;
  staged_memory& operator=(const staged_memory&) = delete;

  /// How many bytes `count` elements take, in whole cache lines.
  static constexpr index bytes_for(index count, index size) {
    return (count * size + line_bytes - 1) / line_bytes * line_bytes;
  }
  std::byte* take(index count, index size) {
    std::byte* const taken = next_;
    next_ += bytes_for(count, size);
    return taken;
  }

 private:
  static constexpr index near_bytes = 8192;  // enough for the largest steps of networks
  alignas(line_bytes) std::byte near_[near_bytes];
  line_blocks far_;
  std::byte* next_;
};

/// The elements `begin` to `begin` + `count` - 1 of a row that its cursor reads with steps, copied side by side.
class staged_row {
 public:
  static constexpr index most_elements = 1024, most_sources = 4;

  staged_row(index begin, index count) : begin_(begin), count_(count) {}
  template <class T>
  void operator()(const T*& data, index& stride) {
    if constexpr (sizeof(T) <= 8) {
      if (stride == 1 || sources_ == most_sources) return;
      const auto copy = reinterpret_cast<T*>(bytes_ + sources_++ * most_elements * 8);
      simd::copy_strided(copy, data + begin_ * stride, stride, count_);
      data = numbered_from(copy, begin_), stride = 1;
    }
  }
  void operator()(index&, index&) {}  // positions

 private:
  index begin_, count_, sources_ = 0;
  alignas(line_bytes) std::byte bytes_[most_sources * most_elements * 8];
};

/// Short rows that lie side by side from `from` on, `stride` elements of `size` bytes apart.
struct copied_rows {
  const void* from;
  std::size_t size;
  index values, rows, stride;
  bool operator==(const copied_rows&) const = default;
};

/// Copies of short rows, and room for them. Rows that repeat over the positions of a statement are copied once.
class column_copies {
 public:
  static constexpr index most_elements = 2048;
  static constexpr int most_sources = 4;

  /// The place that holds `rows`, or else a first one to copy them to; null where all are in use. `in_use` has a bit
  /// for each place that may not be written.
  std::byte* find(const copied_rows& rows, unsigned& in_use, bool& is_new) {
    int place = 0;
    while (place < count_ && !(made_[place] == rows)) ++place;
    is_new = place == count_;
    if (is_new) {
      place = std::countr_one(in_use);
      if (place == most_sources) return nullptr;
      made_[place] = rows, count_ = place < count_ ? count_ : place + 1;
    }
    in_use |= 1u << place;
    return bytes_ + place * most_elements * 8;
  }

 private:
  int count_ = 0;
  copied_rows made_[most_sources];
  alignas(line_bytes) std::byte bytes_[most_sources * most_elements * 8];
};

/// Short rows of neighbouring results, copied so that neighbours lie side by side. Visits the sources of a program
/// whose last two axes are the values of a row and the results.
template <int Rank>
class staged_columns {
 public:
  static constexpr index most_rows = 32, most_columns = 256;

  /// How many results are copied at a time, of `rows` values each, at most `most_rows`.
  static constexpr index columns_at_once(index rows) {
    const index columns = column_copies::most_elements / (rows + (rows == 0)) / 16 * 16;
    return columns < most_columns ? columns : most_columns;
  }
  /// The results `part` of the position `here`.
  staged_columns(column_copies& copies, const array<index, Rank>& here, index rows, const array<index, 2>& part)
      : copies_(copies), here_(here), rows_(rows), part_(part) {}
  template <class T>
  void operator()(array<index, Rank>& stride, const T*& data) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
      const index to_stride = columns_at_once(rows_);
      if (stride[Rank - 2] != 1 || stride[Rank - 1] < rows_) return;
      index offset = 0;
      for (int axis = 0; axis < Rank - 2; ++axis) offset += here_[axis] * stride[axis];
      const T* const from = data + offset + part_[0] * stride[Rank - 1];
      const index count = part_[1] - part_[0];
      bool is_new;
      const auto copy =
          reinterpret_cast<T*>(copies_.find({from, sizeof(T), rows_, count, stride[Rank - 1]}, in_use_, is_new));
      if (copy == nullptr) return;
      if (is_new) simd::copy_matrix(copy, from, {rows_, count, 1, stride[Rank - 1], to_stride});
      data = numbered_from(copy, offset + part_[0]), stride[Rank - 2] = to_stride, stride[Rank - 1] = 1;
    }
  }
  void operator()(array<index, Rank>&, index&) {}  // positions

 private:
  column_copies& copies_;
  array<index, Rank> here_;
  index rows_;
  array<index, 2> part_;
  unsigned in_use_ = 0;
};

}  // namespace tenon::detail
