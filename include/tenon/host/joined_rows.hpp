// tenon/host/joined_rows.hpp: short rows of neighbouring results that count as one.
// Rows that lie behind each other are one longer row; others are copied so that they do.
// Floor 4: may include base, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/host/staging.hpp>

namespace tenon::detail {

/// Whether rows of `width` values lie behind each other in a source whose last two axes are rows and values.
template <int Rank>
constexpr bool has_flat_rows(const array<index, Rank>& stride, index width) {
  return stride[Rank - 2] == width * stride[Rank - 1];
}

/// The same fold of every `joined`-th row, from number `first` on.
template <class Fold>
Fold every_row(Fold fold, index joined, index first) {
  fold.program.visit([&](auto& stride, auto& start) {
    start += first * stride[Fold::rank - 2];
    stride[Fold::rank - 2] *= joined;
  });
  fold.extents[Fold::rank - 2] = (fold.extents[Fold::rank - 2] - first + joined - 1) / joined;
  return fold;
}

/// Whether all rows of a result do so.
template <class Fold>
bool has_flat_rows(Fold fold) {
  bool are_flat = true;
  fold.program.visit([&](const array<index, Fold::rank>& stride, const auto&) {
    are_flat = are_flat && has_flat_rows(stride, fold.extents[Fold::rank - 1]);
  });
  return are_flat;
}

/// Rows of neighbouring results that do not lie behind each other, copied so that they do. Visits the sources of a
/// program whose last two axes are the rows and the results.
template <int Rank>
class staged_rows {
 public:
  static constexpr index room = 65536;  // bytes

  /// The rows `rows` at the position `here`, of `width` values each.
  staged_rows(const array<index, Rank>& here, const array<index, 2>& rows, index width)
      : here_(here), rows_(rows), width_(width) {}
  template <class T>
  void operator()(array<index, Rank>& stride, const T*& data) {
    if (has_flat_rows(stride, width_)) return;
    const index count = (rows_[1] - rows_[0]) * width_, bytes = staged_memory::bytes_for(count + chunk, sizeof(T));
    fits_ = fits_ && used_ + bytes <= room;
    if (!fits_) return;
    index offset = 0;
    for (int axis = 0; axis < Rank - 2; ++axis) offset += here_[axis] * stride[axis];
    const auto copy = reinterpret_cast<T*>(bytes_ + used_);
    used_ += bytes;
    copy_rows(copy, data + offset + rows_[0] * stride[Rank - 2], stride[Rank - 2], stride[Rank - 1]);
    data = numbered_from(copy, offset + rows_[0] * width_), stride[Rank - 2] = width_, stride[Rank - 1] = 1;
  }
  void operator()(array<index, Rank>& stride, index&) { fits_ = fits_ && has_flat_rows(stride, width_); }  // positions

  /// Whether all sources lie so now.
  bool fits() const { return fits_; }

 private:
  static constexpr index chunk = 4;  // values that are written at once, the last ones beyond a row

  template <class T>
  void copy_rows(T* to, const T* from, index row_step, index step) const {
    for (index row = rows_[0]; row < rows_[1]; ++row, to += width_, from += row_step) {
      if (step == 0) fill_row(to, *from);
      for (index i = 0; step != 0 && i < width_; ++i) to[i] = from[i * step];
    }
  }
  template <class T>
  void fill_row(T* to, T value) const {
    for (index i = 0; i < width_; i += chunk) {
      for (index each = 0; each < chunk; ++each) to[i + each] = value;
    }
  }

  array<index, Rank> here_;
  array<index, 2> rows_;
  index width_, used_ = 0;
  bool fits_ = true;
  alignas(line_bytes) std::byte bytes_[room];
};

}  // namespace tenon::detail
