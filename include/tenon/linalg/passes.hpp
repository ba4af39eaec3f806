// tenon/linalg/passes.hpp: the matrices of the last two axes, by their number, and what is done for each of them.
// A pass copies a matrix into work memory, small ones into an array of their extents, and works there without strides.
// Floor 7: may include base, core, device, expr, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <limits>
#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/core/storage.hpp>
#include <tenon/device/simd.hpp>
#include <tenon/linalg/library.hpp>

#if defined(__clang__)
#pragma clang diagnostic push  // vectors pass between functions that are one by then, so no binary interface changes
#pragma clang diagnostic ignored "-Wpsabi"
#endif

namespace tenon {

/// What operations on matrices throw where a matrix has no result: singular, not positive definite, not finite.
struct linear_algebra_error : error {
  using error::error;
};

/// An extent of a matrix that the type knows.
template <index N>
struct known_extent {
  TENON_HOST_DEVICE constexpr operator index() const { return N; }
};

/// The greatest extent of matrices whose loops the compiler unrolls.
inline constexpr index max_unrolled_extent = 8;

/// A matrix in memory.
template <class T>
struct matrix_elements {
  T* data;
  index rows, columns, row_stride, column_stride;

  TENON_HOST_DEVICE T& operator()(index row, index column) const {
    return data[row * row_stride + column * column_stride];
  }
  TENON_HOST_DEVICE matrix_elements transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

/// Matrices by their number in row-major order of the leading axes; a kernel may carry it.
template <class T, int Batch>
struct matrix_batch {
  T* data;
  array<index, Batch> extents, strides;
  index rows, columns, row_stride, column_stride;

  TENON_HOST_DEVICE matrix_elements<T> operator[](index number) const {
    index offset = 0;
    for (int axis = Batch - 1; axis > 0; --axis) {
      const index outer = number / extents[axis];
      offset += (number - outer * extents[axis]) * strides[axis];
      number = outer;
    }
    if constexpr (Batch > 0) offset += number * strides[0];
    return {data + offset, rows, columns, row_stride, column_stride};
  }
};

namespace detail {

/// Limits of a floating type, where devices read them: they do not call functions of the standard library.
template <class T>
struct float_limits {
  using standard = std::numeric_limits<T>;
  static constexpr T nan = standard::quiet_NaN(), infinity = standard::infinity(), greatest = standard::max(),
                     least = standard::min(), epsilon = standard::epsilon();
};

/// The matrices of a view whose last `Own` axes are theirs, repeated over `batch`. Of one own axis, they have one
/// column; of none, one element.
template <int Own, class T, class Shape, class Space, int Batch>
matrix_batch<T, Batch> matrices_of(const view<T, Shape, Space>& elements, const array<index, Batch>& batch) {
  constexpr int rank = Shape::rank, leading = rank - Own;
  matrix_batch<T, Batch> result{elements.data(), batch, {}, 1, 1, 0, 0};
  for (int axis = 0; axis < leading; ++axis) {
    result.strides[axis + Batch - leading] = elements.extent(axis) == 1 ? 0 : elements.strides()[axis];
  }
  if constexpr (Own > 0) result.rows = elements.extent(leading), result.row_stride = elements.strides()[leading];
  if constexpr (Own > 1) {
    result.columns = elements.extent(rank - 1), result.column_stride = elements.strides()[rank - 1];
  }
  return result;
}

/// The extents before the last `Own` axes.
template <int Own, class Shape>
array<index, Shape::rank - Own> batch_of(const Shape& extents) {
  array<index, Shape::rank - Own> result{};
  for (int axis = 0; axis < Shape::rank - Own; ++axis) result[axis] = extents.extent(axis);
  return result;
}

/// Copies a row of adjacent elements.
template <class From, class To, class Columns>
TENON_HOST_DEVICE TENON_INLINE void copy_row(const From* from, To* to, Columns columns) {
  for (index j = 0; j < columns; ++j) to[j] = static_cast<To>(from[j]);
}
#if !defined(__CUDACC__)
/// The host keeps such a row as a vector: g++ gathers several rows in one, which is then read again in pieces.
template <std::floating_point T>
TENON_INLINE void copy_row(const T* from, T* to, known_extent<4>) {
  simd::store<4>(to, simd::load<T, 4>(from));
}
#endif
/// Copies a matrix row after row.
template <class From, class T, class Rows, class Columns>
TENON_HOST_DEVICE TENON_INLINE void load_matrix(const matrix_elements<From>& from, T* to, Rows rows, Columns columns) {
  if (from.column_stride == 1) {
    for (index i = 0; i < rows; ++i) copy_row(from.data + i * from.row_stride, to + i * columns, columns);
  } else {
    for (index i = 0; i < rows; ++i) {
      for (index j = 0; j < columns; ++j) to[i * columns + j] = from(i, j);
    }
  }
}
template <class T, class To, class Rows, class Columns>
TENON_HOST_DEVICE TENON_INLINE void store_matrix(const T* from, const matrix_elements<To>& to, Rows rows,
                                                 Columns columns) {
  if (to.column_stride == 1) {
    for (index i = 0; i < rows; ++i) copy_row(from + i * columns, to.data + i * to.row_stride, columns);
  } else {
    for (index i = 0; i < rows; ++i) {
      for (index j = 0; j < columns; ++j) to(i, j) = static_cast<To>(from[i * columns + j]);
    }
  }
}

/// What a device writes in place of a result that is not there.
template <class To>
TENON_HOST_DEVICE void fill_with_nan(const matrix_elements<To>& to) {
  constexpr To nan = float_limits<To>::nan;
  for (index i = 0; i < to.rows; ++i) {
    for (index j = 0; j < to.columns; ++j) to(i, j) = nan;
  }
}

/// Runs a pass on a matrix, by divisions where it failed and has such a way.
template <class T, class Pass>
TENON_HOST_DEVICE TENON_INLINE index attempt_pass(const Pass& pass, index number, T* work) {
  const index failed = pass(number, work);
  if constexpr (requires { pass.divide(number, nullptr); }) {
    if (failed >= 0) [[unlikely]]
      return pass.divide(number, Pass::known_work == 0 ? work : nullptr);
  }
  return failed;
}

/// A pass as a kernel runs it: each matrix has work memory of its own.
template <class T, class Pass>
struct pass_of_number {
  Pass pass;
  T* work;
  index work_size, first;

  TENON_HOST_DEVICE void operator()(index number) const {
    index failed;
    if constexpr (Pass::known_work != 0) {
      T own[Pass::known_work];
      failed = attempt_pass(pass, first + number, own);
    } else {
      failed = attempt_pass(pass, first + number, work + number * work_size);
    }
    if (failed >= 0) pass.refuse(first + number);
  }
};

/// Runs a pass on the matrices from `first` to before `last`; the first one that failed, or `last`. Where there is a
/// library, large matrices go to it first.
template <class T, class Pass>
index run_pass_on_host(index first, index last, const Pass& pass) {
  if constexpr (Pass::known_work != 0) {
    for (index number = first; number < last; ++number) {
      T work[Pass::known_work];
      if (attempt_pass(pass, number, work) >= 0) return number;
    }
  } else {
    constexpr index most = 4 * 32 * 32;
    T few[most];
    const index size = pass.work_size();
    const storage<T, host> large(size <= most ? 0 : size);
    T* const work = size <= most ? few : const_cast<T*>(large.data());
    const auto* const library = pass.is_large() ? current_library<T, host>() : nullptr;
    for (index number = first; number < last; ++number) {
      if (library != nullptr && pass.template run_in<host>(*library, number, work)) continue;
      if (attempt_pass(pass, number, work) >= 0) return number;
    }
  }
  return last;
}

/// Runs matrices of a device one after another by a library; the pass runs those for which that has no result.
template <class T, class Space, class Pass>
void run_in_library(const matrix_library<T>& library, index count, const Pass& pass) {
  const index size = pass.work_size();
  storage<T, Space> work(size);
  for (index number = 0; number < count; ++number) {
    if (pass.template run_in<Space>(library, number, work.data())) continue;
    for_each_number<Space>(1, 1, pass_of_number<T, Pass>{pass, work.data(), size, number});
  }
}

/// What stands in the text of an error.
struct matrix_operation {
  const char *name, *reason;
  bool names_pivot = true;
};

template <int Batch>
[[noreturn, gnu::cold, gnu::noinline]] void refuse_matrix(const matrix_operation& what,
                                                          const array<index, Batch>& batch, index number, index pivot) {
  const std::string fact = what.reason + (what.names_pivot ? compose_text(" (pivot ", pivot, ")") : std::string());
  if constexpr (Batch == 0) {
    throw linear_algebra_error(compose_text(what.name, ": the matrix ", fact));
  } else {
    array<index, Batch> position{};
    set_position(position, batch, 0, Batch, number);
    throw linear_algebra_error(compose_text(what.name, ": matrix ", position, " of ", batch, ": ", fact));
  }
}

/// Runs `pass(number, work)` for every matrix of a batch; it returns the number of the pivot that fails, or -1. With a
/// library `pass.run_in<Space>(library, number, work)` goes before it where `pass.is_large()`, and returns whether that
/// was enough.
/// `operations` are about those of one matrix. On the host, the first matrix that fails is named by an exception; on a
/// device, `pass.refuse(number)` writes NaN.
template <class T, class Space, class Pass, int Batch>
void run_pass(const matrix_operation& what, const array<index, Batch>& batch, index operations, const Pass& pass) {
  const index count = count_between(batch, 0, Batch);
  if constexpr (Space::host_accessible) {
    index failed = count;
    parallel_for(count, 1 + line_grain / (1 + operations), [&](index first, index last) {
      const index found = run_pass_on_host<T>(first, last, pass);
      if (found == last) return;
      index before = __atomic_load_n(&failed, __ATOMIC_RELAXED);
      while (found < before &&
             !__atomic_compare_exchange_n(&failed, &before, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
    });
    if (failed == count) return;
    storage<T, host> work(pass.work_size());
    refuse_matrix(what, batch, failed, attempt_pass(pass, failed, work.data()));
  } else {
    if constexpr (Pass::known_work == 0) {
      const auto* const library = pass.is_large() ? current_library<T, Space>() : nullptr;
      if (library != nullptr) return run_in_library<T, Space>(*library, count, pass);
    }
    constexpr index most = index{1} << 24;
    const index size = Pass::known_work != 0 ? 1 : 1 + pass.work_size(), at_once = size < most ? most / size : 1;
    const index together = count < at_once ? count : at_once;
    storage<T, Space> work(Pass::known_work != 0 ? 0 : together * size);
    for (index first = 0; first < count; first += together) {
      const index rest = count - first;
      for_each_number<Space>(rest < together ? rest : together, 1,
                             pass_of_number<T, Pass>{pass, work.data(), size, first});
    }
  }
}

/// Whether a statement of the host is one matrix of extents that types know, of operands that lie in memory: all are
/// read before anything is written.
template <class Target, class... Operands>
inline constexpr bool is_one_small_matrix =
    TENON_CHECKED == 0 && std::is_same_v<typename Target::space, host> && Target::shape_type::dynamic_rank == 0 &&
    ((std::is_same_v<typename Operands::kind, leaf_kind> && std::is_same_v<typename Operands::space, host> &&
      Operands::shape_type::dynamic_rank == 0) &&
     ...);

/// Runs a pass on its only matrix. Returns false, and has done nothing, where the thread observes what runs, and where
/// the pass fails: `run_pass` then does what is left. Nothing here asks for the address of the pass, whose members may
/// stay in registers.
template <class T, class Pass>
TENON_INLINE bool run_small_pass(const Pass& pass) {
  if (current_launch_observer() != nullptr) return false;
  T work[Pass::known_work];
  return pass(0, work) < 0;
}

/// Whether types know extents whose loops the compiler unrolls.
template <index... Extents>
inline constexpr bool are_unrolled = ((Extents > 0 && Extents <= max_unrolled_extent) && ...);

}  // namespace detail

}  // namespace tenon

#if defined(__clang__)
#pragma clang diagnostic pop
#endif
