// tenon/kernels/positions.hpp: the positions of an iteration space by number, as threads find theirs.
// Numbers that fit 32 bits, which nearly all do, are taken apart without a division.
// Floor 4: may include base, device, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/divisor.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

inline constexpr int kernel_block = 256;             // threads of a block, where nothing else decides
inline constexpr int resident_blocks = 4;            // of a multiprocessor: nothing spills at 64 registers a thread
inline constexpr index kernel_grid_limit = 1 << 16;  // beyond this, threads take several positions

/// Blocks for `count` positions, one thread each.
constexpr int blocks_for(index count) {
  const index blocks = (count + kernel_block - 1) / kernel_block;
  return static_cast<int>(blocks < kernel_grid_limit ? blocks : kernel_grid_limit);
}

/// Positions in row-major order, the last axis fastest.
template <int Rank>
class numbered_positions {
 public:
  explicit numbered_positions(const array<index, Rank>& extents) : extents_(extents) {
    count_ = count_between(extents, 0, Rank);
    for (int axis = 0; axis < Rank && is_narrow(); ++axis) divisors_[axis] = divisor(extents[axis]);
  }
  TENON_HOST_DEVICE index count() const { return count_; }
  index last_extent() const { return Rank == 0 ? 1 : extents_[Rank - 1]; }
  bool is_one_run() const { return count_ == last_extent(); }
  TENON_HOST_DEVICE bool is_narrow() const { return count_ != 0 && count_ < dividend_limit; }
  TENON_HOST_DEVICE array<index, Rank> operator[](index number) const {
    if (Rank <= 1 || is_narrow()) return narrow(static_cast<std::uint64_t>(number));
    array<index, Rank> position{};
    set_position(position, extents_, 0, Rank, number);
    return position;
  }
  /// The same of a space whose axes before `first` have extent 1.
  TENON_HOST_DEVICE array<index, Rank> after(int first, index number) const {
    if (!is_narrow()) return (*this)[number];
    array<index, Rank> position{};
    auto rest = static_cast<std::uint32_t>(number);
    for (int axis = Rank - 1; axis >= 0; --axis) {
      if (axis < first) continue;
      const std::uint32_t quotient = divisors_[axis].quotient(rest);
      position[axis] = rest - quotient * divisors_[axis].number();
      rest = quotient;
    }
    return position;
  }
  /// The same, of a narrow space.
  TENON_HOST_DEVICE array<index, Rank> narrow(std::uint64_t number) const {
    array<index, Rank> position{};
    for (int axis = Rank - 1; axis > 0; --axis) {
      const auto dividend = static_cast<std::uint32_t>(number);
      const std::uint32_t quotient = divisors_[axis].quotient(dividend);
      position[axis] = dividend - quotient * divisors_[axis].number();
      number = quotient;
    }
    if constexpr (Rank > 0) position[0] = static_cast<index>(number);
    return position;
  }

 private:
  array<index, Rank> extents_;
  array<divisor, Rank> divisors_{};
  index count_ = 0;
};

/// Where the values of a result start, by the number of the result: a reduction's kept axes are axes of the result, in
/// an order of their own, and its reduced ones stand at 0.
template <int Rank>
class result_positions {
 public:
  /// `in_result` says which axis of the result each axis is, -1 where none.
  template <int ResultRank>
  result_positions(const array<int, Rank>& in_result, const array<index, ResultRank>& result_extents)
      : narrow_(count_between(result_extents, 0, ResultRank) < dividend_limit) {
    for (int axis = 0; axis < Rank; ++axis) {
      const int place = in_result[axis];
      step_[axis] = place < 0 ? 1 : count_between(result_extents, place + 1, ResultRank);
      extent_[axis] = place < 0 || result_extents[place] == 0 ? 1 : result_extents[place];
      if (!narrow_ || step_[axis] == 0) continue;
      narrow_step_[axis] = divisor(step_[axis]);
      narrow_extent_[axis] = divisor(extent_[axis]);
    }
  }
  TENON_HOST_DEVICE array<index, Rank> operator[](index number) const {
    array<index, Rank> position{};
    for (int axis = 0; axis < Rank; ++axis) {
      if (extent_[axis] == 1) continue;
      if (narrow_) {
        const std::uint32_t quotient = narrow_step_[axis].quotient(static_cast<std::uint32_t>(number));
        position[axis] = quotient - narrow_extent_[axis].quotient(quotient) * narrow_extent_[axis].number();
      } else {
        position[axis] = number / step_[axis] % extent_[axis];
      }
    }
    return position;
  }

 private:
  bool narrow_;
  array<index, Rank> step_{}, extent_{};
  array<divisor, Rank> narrow_step_{}, narrow_extent_{};
};

}  // namespace tenon
