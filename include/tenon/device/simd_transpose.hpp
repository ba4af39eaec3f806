// tenon/device/simd_transpose.hpp: copies of elements that lie a stride apart, side by side.
// Squares of packs are transposed in registers, by exchanging halves, quarters, ... of pairs of rows.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>

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

/// Transposes the blocks of 2 `Block` rows and lanes, those of `Block` being done.
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
void copy_square(T* to, index to_stride, const T* from, index from_stride) {
  pack<bits_of<T>, Width> rows[Width];
#pragma GCC unroll 16
  for (int row = 0; row < Width; ++row) std::memcpy(&rows[row], from + row * from_stride, sizeof(rows[row]));
  transpose_blocks<Width / 2>(rows);
#pragma GCC unroll 16
  for (int row = 0; row < Width; ++row)
    std::memcpy(static_cast<void*>(to + row * to_stride), &rows[row], sizeof(rows[row]));
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
  }
  if (stride == 2) {
    for (; i + width <= count; i += width) {
      pack<detail::bits_of<T>, width> first, second;
      std::memcpy(&first, from + 2 * i, sizeof(first));
      std::memcpy(&second, from + 2 * i + width - 1, sizeof(second));  // reads nothing past the last element
      first = detail::every_other(first, second, std::make_integer_sequence<int, width>{});
      std::memcpy(static_cast<void*>(to + i), &first, sizeof(first));
    }
  }
#endif
  for (; i < count; ++i) to[i] = from[i * stride];
}

/// The extents of a copy, and the strides of what is copied.
struct copied_matrix {
  index rows, columns, row_stride, column_stride;
};

/// `to[row * columns + column] = from[row * row_stride + column * column_stride]`, for elements of up to eight bytes.
template <class T>
void copy_matrix(T* to, const T* from, const copied_matrix& matrix) {
  const auto [rows, columns, row_stride, column_stride] = matrix;
  index done = 0;  // rows that are copied
#if !defined(__CUDACC__)
  constexpr int width = native_width<T>;
  if (row_stride == 1 && columns >= width) {
    const index squares = rows / width * width;
    index column = 0;
    for (; column + width <= columns; column += width) {
      for (index row = 0; row < squares; row += width) {
        detail::copy_square<width>(to + row * columns + column, columns, from + row + column * column_stride,
                                   column_stride);
      }
    }
    for (; done < squares; ++done) {
      copy_strided(to + done * columns + column, from + done + column * column_stride, column_stride, columns - column);
    }
  }
#endif
  for (; done < rows; ++done) copy_strided(to + done * columns, from + done * row_stride, column_stride, columns);
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

template <class T>
inline constexpr element_copies copies_of{sizeof(T),
                                          [](void* to, const void* from, const copied_matrix& matrix) {
                                            if constexpr (sizeof(T) <= 8)
                                              copy_matrix(static_cast<T*>(to), static_cast<const T*>(from), matrix);
                                          },
                                          [](void* to, index stride, const void* from, index count) {
                                            scatter(static_cast<T*>(to), stride, static_cast<const T*>(from), count);
                                          }};

}  // namespace tenon::simd
