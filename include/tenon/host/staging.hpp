// tenon/host/staging.hpp: copies of elements that do not lie along a loop.
// What has steps, or one value for a whole row, is copied where packs can read it.
// Floor 4: may include base, device, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Short rows of neighbouring results, copied so that neighbours lie side by side. Visits the sources of a program
/// whose last two axes are the values of a row and the results.
template <int Rank>
class staged_columns {
 public:
  static constexpr index most_rows = 32, most_columns = 256, most_elements = 2048, most_sources = 4;

  /// How many results are copied at a time, of `rows` values each, at most `most_rows`.
  static constexpr index columns_at_once(index rows) {
    const index columns = most_elements / (rows + (rows == 0)) / 16 * 16;
    return columns < most_columns ? columns : most_columns;
  }
  /// The results `part` of the position `here`.
  staged_columns(const array<index, Rank>& here, index rows, const array<index, 2>& part)
      : here_(here), rows_(rows), part_(part) {
    here_[Rank - 2] = 0, here_[Rank - 1] = part[0];
  }
  template <class T>
  void operator()(array<index, Rank>& stride, const T*& data) {
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
      const index to_stride = columns_at_once(rows_);
      if (stride[Rank - 2] != 1 || stride[Rank - 1] < rows_) return;
      index offset = 0;
      for (int axis = 0; axis < Rank - 2; ++axis) offset += here_[axis] * stride[axis];
      const T* const from = data + offset + part_[0] * stride[Rank - 1];
      int number = 0;
      while (number < sources_ && (from_[number] != from || steps_[number] != stride[Rank - 1])) ++number;
      if (number == most_sources) return;
      const auto copy = reinterpret_cast<T*>(bytes_ + number * most_elements * 8);
      if (number == sources_) {
        from_[number] = from, steps_[number] = stride[Rank - 1], ++sources_;
        simd::copy_matrix(copy, from, {rows_, part_[1] - part_[0], 1, stride[Rank - 1], to_stride});
      }
      data = numbered_from(copy, offset + part_[0]), stride[Rank - 2] = to_stride, stride[Rank - 1] = 1;
    }
  }
  void operator()(array<index, Rank>&, index&) {}  // positions

 private:
  array<index, Rank> here_;
  index rows_;
  array<index, 2> part_;
  int sources_ = 0;
  const void* from_[most_sources];
  index steps_[most_sources];
  alignas(line_bytes) std::byte bytes_[most_sources * most_elements * 8];
};

}  // namespace tenon::detail
