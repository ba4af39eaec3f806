// tenon/kernels/kept_rows.hpp: rows that a team reads once and keeps in shared memory for the programs that follow.
// A thread takes from there only what it left there itself, so no barrier is needed and rows may be written in place.
// Floor 4: may include base, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/primitives.hpp>
#include <tenon/kernels/packets.hpp>

namespace tenon {

inline constexpr int kept_bytes_limit =
    48 * 1024;  // of a block: no device has less without asking; large ones run four such blocks

/// Where the sources of the programs of a statement, numbered through all of them, are kept in shared memory.
struct kept_sources {
  static constexpr int capacity = 32;
  array<int, capacity> place = filled_array<capacity>(-1);  // byte of a team's memory; -1: read where it is
  std::uint32_t first = 0;                                  // those that read memory and keep it, as a mask
  int bytes = 0;                                            // of a team

  TENON_HOST_DEVICE bool is_kept(int source) const { return source < capacity && place[source] >= 0; }
  TENON_HOST_DEVICE bool is_first(int source) const { return (first >> source & 1u) != 0; }
};

/// The same for `Count` reductions and the program that follows them, whose sources are numbered in this order.
template <int Count>
struct kept_choice : kept_sources {
  array<int, Count + 1> first_source{};  // of each
};

/// Reads packet number `unit` of a row, from memory or from what the team keeps.
template <class Device>
struct kept_row_reader {
  const kept_sources& kept;
  typename Device::template shared_array<unsigned char> memory;  // of the team
  index unit;
  int source;

  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE packet<T, Size> read(const T* data, index stride) {
    const int own = source++;
    if (!kept.is_kept(own)) return direct_reader{}.template read<Size>(data, stride);
    const int place = kept.place[own], at = static_cast<int>(unit) * Size;
    const auto row = memory.part(place, kept.bytes - place).template as<T>();
    packet<T, Size> result;
    array<T, Size> elements;
    if (kept.is_first(own)) {
      result = load_packet<Size>(data);
      for (int k = 0; k < Size; ++k) elements[k] = result.elements[k];
      row.template store_vector<Size>(at, elements);
    } else {
      elements = row.template load_vector<Size>(at);
      for (int k = 0; k < Size; ++k) result.elements[k] = elements[k];
    }
    return result;
  }
};

/// Finds which sources of a statement's programs are the same elements, row for row. `RowRank` is the number of the
/// axes that number rows.
template <int RowRank>
class row_source_list {
 public:
  /// Adds the sources of a program. Its axis j is the row axis `row_axis[j]`, or moves within a row where that is none;
  /// its last axis moves along the row. `extents` are the extents of the row axes. Returns the number of the first
  /// source.
  template <int Rank, class Program>
  int add(Program& program, const array<int, Rank>& row_axis, const array<index, RowRank>& extents) {
    const int first_number = count_;
    entry_visitor<Rank> visitor{*this, row_axis, extents};
    program.visit(visitor);
    return first_number;
  }
  /// Which of them `teams` teams of a block keep: all that occur again, as long as they fit.
  kept_sources kept(index row_elements, int teams) const {
    kept_sources result;
    if (count_ > kept_sources::capacity) return result;
    for (int later = 1; later < count_; ++later) {
      const int earlier = first_equal(entries_, later);
      if (earlier == later || !entries_[later].moves) continue;
      const index bytes =
          (row_elements * entries_[later].size + shared_alignment - 1) / shared_alignment * shared_alignment;
      if (result.place[earlier] < 0) {
        if ((result.bytes + bytes) * teams > kept_bytes_limit) continue;
        result.place[earlier] = result.bytes;
        result.first |= 1u << earlier;
        result.bytes += static_cast<int>(bytes);
      }
      result.place[later] = result.place[earlier];
    }
    return result;
  }

 private:
  struct entry {
    const void* data;
    int size;
    bool moves;  // along the row
    array<index, RowRank> step;
    bool operator==(const entry&) const = default;
  };
  template <int Rank>
  struct entry_visitor {
    row_source_list& list;
    const array<int, Rank>& row_axis;
    const array<index, RowRank>& extents;

    template <class T>
    void operator()(const array<index, Rank>& stride, const T* data) {
      entry found{data, static_cast<int>(sizeof(T)), stride[Rank - 1] != 0, {}};
      for (int axis = 0; axis < Rank; ++axis) {
        const int row = row_axis[axis];
        if (row >= 0 && extents[row] != 1) found.step[row] = stride[axis];
      }
      if (list.count_ < kept_sources::capacity) list.entries_[list.count_] = found;
      ++list.count_;
    }
    void operator()(const array<index, Rank>&, index) {}
  };

  entry entries_[kept_sources::capacity];
  int count_ = 0;
};

}  // namespace tenon
