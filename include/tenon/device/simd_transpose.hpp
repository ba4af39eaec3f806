// tenon/device/simd_transpose.hpp: copies of elements that lie a stride apart, side by side.
// Squares of packs are transposed in registers, by exchanging halves, quarters, ... of pairs of rows.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_partial.hpp>

namespace tenon::simd {

namespace detail {

/// The integer that holds the bits of a T.
template <class T>
using bits_of = std::conditional_t<
    sizeof(T) == 8, std::uint64_t,
    std::conditional_t<sizeof(T) == 4, std::uint32_t, std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>>>;

#if !defined(__CUDACC__)
/// Exchanges the right blocks of `Block` lanes of `upper` for the left ones of `lower`.
template <int Block, class V, int... Lane>
TENON_INLINE void exchange_blocks(V& upper, V& lower, std::integer_sequence<int, Lane...>) {
  constexpr int width = static_cast<int>(sizeof...(Lane));
  const V left = __builtin_shufflevector(upper, lower, ((Lane & Block) == 0 ? Lane : Lane - Block + width)...);
  lower = __builtin_shufflevector(upper, lower, ((Lane & Block) == 0 ? Lane + Block : Lane + width)...);
  upper = left;
}

/// Transposes blocks of 2 `Block` rows and lanes, in which blocks of `Block` are transposed already.
template <int Block, class V, int Width>
TENON_INLINE void transpose_blocks(V (&rows)[Width]) {
  if constexpr (Block > 1) transpose_blocks<Block / 2>(rows);
#pragma GCC unroll 16
  for (int row = 0; row < Width; ++row) {
    if ((row & Block) == 0)
      exchange_blocks<Block>(rows[row], rows[row + Block], std::make_integer_sequence<int, Width>{});
  }
}

/// The square of `Width` rows and columns whose columns lie at `from`, as rows at `to`.
template <int Width, class T>
TENON_INLINE void copy_square(T* to, index to_stride, const T* from, index from_stride, bool streaming) {
  pack<bits_of<T>, Width> rows[Width];
#pragma GCC unroll 16
  for (int row = 0; row < Width; ++row) std::memcpy(&rows[row], from + row * from_stride, sizeof(rows[row]));
  transpose_blocks<Width / 2>(rows);
  if (streaming) {
#pragma GCC unroll 16
    for (int row = 0; row < Width; ++row) stream(reinterpret_cast<bits_of<T>*>(to + row * to_stride), rows[row]);
  } else {
#pragma GCC unroll 16
    for (int row = 0; row < Width; ++row)
      std::memcpy(static_cast<void*>(to + row * to_stride), &rows[row], sizeof(rows[row]));
  }
}

/// A matrix of at least `Width` rows and columns whose columns lie at `from`, square by square; the last squares
/// overlap others. Rows are written side by side. Streamed matrices are copied one strip of rows after another, so that
/// few cache lines are read at a time; those of the next strip are prefetched.
template <int Width, class T>
void copy_squares(T* to, index to_stride, const T* from, index from_stride, index rows, index columns, bool streaming) {
  const bool in_strips = streaming && sizeof(pack<bits_of<T>, Width>) == 64;  // parts of lines are not worth it
  const index strip = in_strips ? 4 * Width : Width;
  for (index first = 0; first < rows; first += strip) {
    for (index each = 0; each < columns; each += Width) {
      const index column = each + Width <= columns ? each : columns - Width;
      for (index next = first; next < first + strip && next < rows; next += Width) {
        const index row = next + Width <= rows ? next : rows - Width;
        const T* const square = from + row + column * from_stride;
        T* const place = to + row * to_stride + column;
        if (in_strips && row + strip + Width <= rows) {
#pragma GCC unroll 16
          for (int k = 0; k < Width; ++k) __builtin_prefetch(square + strip + k * from_stride);
        }
        const auto bits = reinterpret_cast<std::uintptr_t>(place) | static_cast<std::uintptr_t>(to_stride) * sizeof(T);
        copy_square<Width>(place, to_stride, square, from_stride, in_strips && bits % 64 == 0);
      }
    }
  }
}

/// As `copy_strided`, in packs. Returns how many elements it has copied.
template <int Stride, class T>
index copy_apart(T* to, const T* from, index count) {
  constexpr int width = native_width<T>;
  index i = 0;
  if constexpr (Stride <= width + 1) {
    for (; i + width <= count; i += width) {
      const auto lanes = load_apart<Stride, width>(reinterpret_cast<const bits_of<T>*>(from + i * Stride));
      std::memcpy(static_cast<void*>(to + i), &lanes, sizeof(lanes));
    }
  }
  return i;
}
#endif

}  // namespace detail

/// `to[i] = from[i * stride]`.
template <class T>
void copy_strided(T* to, const T* from, index stride, index count) {
  index i = 0;
#if !defined(__CUDACC__)
  constexpr int width = native_width<T>;
  if (stride == 0 && count >= width) {
    detail::bits_of<T> bits;
    std::memcpy(&bits, from, sizeof(bits));
    const auto lanes = broadcast<detail::bits_of<T>, width>(bits);
    for (; i + width <= count; i += width) std::memcpy(static_cast<void*>(to + i), &lanes, sizeof(lanes));
    std::memcpy(static_cast<void*>(to + count - width), &lanes, sizeof(lanes));  // overlaps what is there
    return;
  }
  if (stride == 2) i = detail::copy_apart<2>(to, from, count);
  if (stride == 3) i = detail::copy_apart<3>(to, from, count);
  if (stride == 4) i = detail::copy_apart<4>(to, from, count);
#endif
  for (; i < count; ++i) to[i] = from[i * stride];
}

/// The extents of a copy, the strides of what is copied, and from row to row of the copy.
struct copied_matrix {
  index rows, columns, row_stride, column_stride, to_stride;
  bool streaming = false;
};

#if !defined(__CUDACC__)
namespace detail {

/// At most `Width` rows, of which packs of whole squares are read: what lies beside a column is not written. Columns at
/// the end of the memory are copied one by one.
template <int Width, class T>
void copy_narrow(T* to, const T* from, const copied_matrix& matrix) {
  const index readable = (matrix.columns - 1) * matrix.column_stride + matrix.rows - Width;
  index column = 0;
  for (; column + Width <= matrix.columns && (column + Width - 1) * matrix.column_stride <= readable; column += Width) {
    pack<bits_of<T>, Width> rows[Width];
#pragma GCC unroll 16
    for (int k = 0; k < Width; ++k) std::memcpy(&rows[k], from + (column + k) * matrix.column_stride, sizeof(rows[k]));
    transpose_blocks<Width / 2>(rows);
#pragma GCC unroll 16
    for (int row = 0; row < Width; ++row) {
      if (row < matrix.rows)
        std::memcpy(static_cast<void*>(to + row * matrix.to_stride + column), &rows[row], sizeof(rows[row]));
    }
  }
  for (; column < matrix.columns; ++column) {
    for (index row = 0; row < matrix.rows; ++row) {
      to[row * matrix.to_stride + column] = from[row + column * matrix.column_stride];
    }
  }
}

/// Rows of one element again and again, shorter than a pack: each is written as a whole pack, whose end the next one
/// overwrites.
template <int Width, class T>
[[gnu::noinline]] void fill_narrow(T* to, const T* from, const copied_matrix& matrix) {
  const index columns = matrix.columns, count = matrix.rows * columns;
  index row = 0;
  const auto lanes = [&] {
    bits_of<T> bits;
    std::memcpy(&bits, from + row * matrix.row_stride, sizeof(bits));
    return broadcast<bits_of<T>, Width>(bits);
  };
  for (; row * columns + Width <= count; ++row) {
    const auto whole = lanes();
    std::memcpy(static_cast<void*>(to + row * columns), &whole, sizeof(whole));
  }
  for (; row < matrix.rows; ++row) {
    const auto part = lanes();
    const auto room = static_cast<std::size_t>(count - row * columns) * sizeof(T);
    std::memcpy(static_cast<void*>(to + row * columns), &part, room);
  }
}

}  // namespace detail
#endif

/// `to[row * to_stride + column] = from[row * row_stride + column * column_stride]`, for elements of up to eight bytes.
template <class T>
void copy_matrix(T* to, const T* from, const copied_matrix& matrix) {
#if !defined(__CUDACC__)
  constexpr int width = native_width<T>;
  if constexpr (sizeof(T) >= 4) {
    const bool is_narrow = matrix.row_stride == 1 && matrix.column_stride > 0 && matrix.rows > 1 && matrix.rows < width;
    if (is_narrow && (matrix.column_stride > 4 || matrix.columns < width)) {  // others are fast row by row
      constexpr int half = width < 8 ? width : 8, quarter = width < 4 ? width : 4;
      if (matrix.rows <= quarter) return detail::copy_narrow<quarter>(to, from, matrix);
      copied_matrix part = matrix;
      part.rows = matrix.rows < half ? matrix.rows : half;
      detail::copy_narrow<half>(to, from, part);
      if (part.rows == matrix.rows) return;
      part.rows = matrix.rows - half;
      return copy_matrix(to + half * matrix.to_stride, from + half, part);
    }
  }
  if (matrix.row_stride == 1 && matrix.column_stride != 0 && matrix.columns >= width && matrix.rows >= width) {
    return detail::copy_squares<width>(to, matrix.to_stride, from, matrix.column_stride, matrix.rows, matrix.columns,
                                       matrix.streaming);
  }
#endif
  if (matrix.row_stride == 0 && matrix.to_stride == matrix.columns && matrix.rows > 0) {  // one row again and again
    const index count = matrix.rows * matrix.columns;
    copy_strided(to, from, matrix.column_stride, matrix.columns);
    for (index done = matrix.columns; done < count; done *= 2) {
      const index more = done < count - done ? done : count - done;
      std::memcpy(static_cast<void*>(to + done), to, static_cast<std::size_t>(more) * sizeof(T));
    }
    return;
  }
#if !defined(__CUDACC__)
  if (matrix.column_stride == 0 && matrix.columns < width && matrix.to_stride == matrix.columns) {
    return detail::fill_narrow<width>(to, from, matrix);
  }
#endif
  if (matrix.columns < native_width<T>) {  // rows are too short for loops of their own
    for (index column = 0; column < matrix.columns; ++column) {
      for (index row = 0; row < matrix.rows; ++row) {
        to[row * matrix.to_stride + column] = from[row * matrix.row_stride + column * matrix.column_stride];
      }
    }
    return;
  }
  for (index row = 0; row < matrix.rows; ++row) {
    copy_strided(to + row * matrix.to_stride, from + row * matrix.row_stride, matrix.column_stride, matrix.columns);
  }
}

/// `to[i * stride] = from[i]`.
template <class T>
void scatter(T* to, index stride, const T* from, index count) {
  for (index i = 0; i < count; ++i) to[i * stride] = from[i];
}

/// The copies of elements of one type, for loops that do not know it.
struct element_copies {
  index size;  // bytes of an element
  void (*gather)(void* to, const void* from, const copied_matrix& matrix);
  void (*scatter)(void* to, index stride, const void* from, index count);
};

namespace detail {

template <class T, bool AreInMatrices>
void gather_elements(void* to, const void* from, const copied_matrix& matrix) {
  const auto target = static_cast<T*>(to);
  const auto source = static_cast<const T*>(from);
  if constexpr (sizeof(T) > 8) {
    for (index row = 0; row < matrix.rows; ++row) {
      for (index column = 0; column < matrix.columns; ++column) {
        target[row * matrix.to_stride + column] = source[row * matrix.row_stride + column * matrix.column_stride];
      }
    }
  } else if constexpr (AreInMatrices) {
    copy_matrix(target, source, matrix);
  } else {
    for (index row = 0; row < matrix.rows; ++row) {
      copy_strided(target + row * matrix.to_stride, source + row * matrix.row_stride, matrix.column_stride,
                   matrix.columns);
    }
  }
}
template <class T>
void scatter_elements(void* to, index stride, const void* from, index count) {
  scatter(static_cast<T*>(to), stride, static_cast<const T*>(from), count);
}

}  // namespace detail

/// The copies of elements of type T. Statements of a single axis hold no matrices, and no code that transposes them.
template <class T, bool AreInMatrices>
inline constexpr element_copies copies_of{sizeof(T), &detail::gather_elements<T, AreInMatrices>,
                                          &detail::scatter_elements<T>};

}  // namespace tenon::simd
