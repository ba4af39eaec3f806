// tenon/contraction/host_unrolled.hpp: statements that are one small product, without anything around the arithmetic.
// Types know the extents of two matrices, or of one and a vector: sums, and what is done to them, stay in registers.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <tenon/contraction/host_small.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

/// A statement around a product, and where its results go.
template <class T, class E>
struct host_statement {
  using element = T;
  using node_type = E;
  using product_type = std::remove_cvref_t<decltype(contraction_of(std::declval<const E&>()))>;
  strided_target<T, E::shape_type::rank> target;
  const E& node;
};

namespace detail {

/// The lanes in which rows of `columns` results are added: as many as there are, in packs of at least 16 bytes.
template <class T>
constexpr int lanes_for(index columns) {
  int lanes = static_cast<int>(16 / sizeof(T));
  while (lanes < columns && lanes < simd::native_width<T>) lanes *= 2;
  return lanes;
}

/// A pack of sums as the statement around the product sees it.
template <class Pack>
struct sum_in_register {
  Pack sum;

  template <int, int, class Access>
  TENON_INLINE Pack pack(index, Access) const {
    return sum;
  }
};

/// A product that may be done in registers: matrices in memory of one floating type, to results of that type.
template <class T, class Product>
constexpr bool is_unrolled_product() {
  if constexpr (!std::is_floating_point_v<T> || !std::is_same_v<T, typename Product::element> ||
                Product::shape_type::rank != 2 || !static_extents_of<Product>.are_small()) {
    return false;
  } else {
    using source = strided_source<T, 2>;
    using axes = typename Product::result_axes;
    constexpr bool plain = axes::rows.size() == 1 && axes::columns.size() == 1 && axes::batches.size() == 0;
    if constexpr (!plain) return false;
    else
      return std::is_same_v<decltype(std::declval<const Product&>().lower_left()), source> &&
             std::is_same_v<decltype(std::declval<const Product&>().lower_right()), source> && axes::rows[0] == 0;
  }
}

/// Checks that no source overlaps the elements that are written, unless it is these elements.
template <class T>
struct apart_from {
  strided_target<T, 2> target;
  array<index, 2> extents;
  bool holds = true;

  template <class U>
  TENON_INLINE void operator()(const array<index, 2>& stride, const U* data) {
    if (std::is_same_v<T, U> && static_cast<const void*>(data) == target.data && stride == target.stride) return;
    holds = holds && lies_beside(stride, data);
  }
  void operator()(const array<index, 2>&, index) {}
  template <class U>
  TENON_INLINE bool lies_beside(const array<index, 2>& stride, const U* data, const array<index, 2>& count) const {
    const auto block = [](const void* start, const array<index, 2>& sides, const array<index, 2>& steps, index size) {
      return addresses(strided_block<2>{reinterpret_cast<std::uintptr_t>(start), sides, steps, size});
    };
    return !overlap(block(target.data, extents, target.stride, sizeof(T)), block(data, count, stride, sizeof(U)));
  }
  template <class U>
  TENON_INLINE bool lies_beside(const array<index, 2>& stride, const U* data) const {
    return lies_beside(stride, data, extents);
  }
};

inline constexpr int rows_in_registers = 8;

/// `Count` rows of results from `row` on: the sums first, then what the statement makes of them.
template <static_extents Extents, int Count, class T, class Program>
TENON_INLINE void write_unrolled_rows(index row, const strided_source<T, 2>& left, const strided_source<T, 2>& right,
                                      const strided_target<T, 2>& target, const Program& program) {
  constexpr int columns = static_cast<int>(Extents.columns), lanes = lanes_for<T>(columns),
                vectors = (columns + lanes - 1) / lanes;
  using pack = simd::pack<T, lanes>;
  pack sums[Count][vectors] = {};
  const T* const left_row = left.data + row * left.stride[0];
  TENON_UNROLL(8)
  for (int k = 0; k < static_cast<int>(Extents.depth); ++k) {
    TENON_UNROLL(8)
    for (int j = 0; j < vectors; ++j) {
      const T* const from = right.data + k * right.stride[0] + j * lanes;
      const pack values = (j + 1) * lanes <= columns ? simd::load<T, lanes>(from)
                                                     : simd::load_part<T, lanes>(from, columns - j * lanes);
      TENON_UNROLL(8)
      for (int i = 0; i < Count; ++i) sums[i][j] += left_row[i * left.stride[0] + k * left.stride[1]] * values;
    }
  }
  TENON_UNROLL(8)
  for (int i = 0; i < Count; ++i) {
    const auto cursor = program.at(array<index, 2>{{row + i, 0}});
    T* const to = target.data + (row + i) * target.stride[0];
    TENON_UNROLL(8)
    for (int j = 0; j < vectors; ++j) {
      const sum_in_register<pack> slots{sums[i][j]};
      if ((j + 1) * lanes <= columns) {
        simd::store<lanes>(to + j * lanes,
                           cursor.template pack<lanes>(j * lanes, whole_access<reading::adjacent>{}, slots));
      } else {
        const partial_access<reading::adjacent> rest{columns - j * lanes};
        simd::store_part<lanes>(to + j * lanes, cursor.template pack<lanes>(j * lanes, rest, slots), rest.count);
      }
    }
  }
}

}  // namespace detail

/// Whether the host may run a statement into elements of type T as one unrolled product, as far as types know.
template <class T, class E>
inline constexpr bool runs_unrolled_product = [] {
  if constexpr (compiled_by_nvcc || TENON_CHECKED != 0 || E::shape_type::rank != 2) {
    return false;
  } else if constexpr (stage_of<E>() != stage::contract) {
    return false;
  } else {
    using product = std::remove_cvref_t<decltype(contraction_of(std::declval<const E&>()))>;
    if constexpr (!detail::is_unrolled_product<T, product>()) {
      return false;
    } else {
      using program = decltype(std::declval<const E&>().template lower<0>(identity_map<2>()));
      using cursor = decltype(std::declval<const program&>().at(array<index, 2>{}));
      constexpr bool is_whole =
          static_extents_of<product>.columns % detail::lanes_for<T>(static_extents_of<product>.columns) == 0;
      return visits_all_reads<program> && cursor::widest == static_cast<int>(sizeof(T)) &&
             (is_whole || (simd::has_partial_packs && takes_partial<cursor>));
    }
  }
}();

namespace on_host {

/// Such statements, where rows lie side by side, nothing is read that would have been written before, and nobody
/// observes the launch.
struct unrolled_product {
  static constexpr const char* name = "unrolled product";
  template <class Statement>
  static constexpr bool can_take = runs_unrolled_product<typename Statement::element, typename Statement::node_type>;
  template <class Statement>
  TENON_INLINE static bool takes(const Statement& statement) {
    constexpr static_extents extents = static_extents_of<typename Statement::product_type>;
    const auto& product = contraction_of(statement.node);
    const auto left = product.lower_left(), right = product.lower_right();
    const auto& target = statement.target;
    if (target.stride[1] != 1 || right.stride[1] != 1 || current_launch_observer() != nullptr) return false;
    auto program = statement.node.template lower<0>(identity_map<2>());
    detail::apart_from<typename Statement::element> apart{target, {{extents.rows, extents.columns}}};
    program.visit(apart);
    if (!apart.holds || !program.at(array<index, 2>{}).is_adjacent()) return false;
    return extents.rows <= detail::rows_in_registers ||
           (apart.lies_beside(left.stride, left.data, {{extents.rows, extents.depth}}) &&
            apart.lies_beside(right.stride, right.data, {{extents.depth, extents.columns}}));
  }
  template <class Statement>
  TENON_INLINE static void run(const Statement& statement) {
    constexpr static_extents extents = static_extents_of<typename Statement::product_type>;
    constexpr int rows = static_cast<int>(extents.rows), most = detail::rows_in_registers;
    constexpr int together = rows < most ? rows : most, rest = rows % together;
    const auto& product = contraction_of(statement.node);
    const auto left = product.lower_left(), right = product.lower_right();
    const auto program = statement.node.template lower<0>(identity_map<2>());
    count_launch("contract");
    int row = 0;
    for (; row + together <= rows; row += together) {
      detail::write_unrolled_rows<extents, together>(row, left, right, statement.target, program);
    }
    if constexpr (rest != 0) detail::write_unrolled_rows<extents, rest>(row, left, right, statement.target, program);
  }
};

}  // namespace on_host

namespace detail {

/// Sums side by side, as the statement around the product sees them.
template <class T, int Count>
struct sums_side_by_side {
  T sums[Count];

  template <int>
  TENON_INLINE T value(index i) const {
    return sums[i];
  }
};

/// A product with one vector that may be done in registers: floats of one type in memory, to results of that type.
template <class T, class Product>
constexpr bool is_unrolled_vector_product() {
  using axes = typename Product::result_axes;
  constexpr bool from_left = axes::rows.size() == 1 && axes::columns.size() == 0;   // a matrix times a vector
  constexpr bool from_right = axes::rows.size() == 0 && axes::columns.size() == 1;  // a vector times a matrix
  if constexpr (!std::is_floating_point_v<T> || !std::is_same_v<T, typename Product::element> ||
                axes::batches.size() != 0 || !(from_left || from_right) || !static_extents_of<Product>.are_small()) {
    return false;
  } else {
    return std::is_same_v<decltype(std::declval<const Product&>().lower_left()),
                          strided_source<T, from_left ? 2 : 1>> &&
           std::is_same_v<decltype(std::declval<const Product&>().lower_right()), strided_source<T, from_left ? 1 : 2>>;
  }
}

/// The sum of `Depth` products of numbers that lie apart by these steps.
template <int Depth, class T>
TENON_INLINE T dot_known(const T* left, index left_step, const T* right, index right_step) {
  constexpr int lanes = lanes_within<T>(Depth);
  T result = 0;
  int k = 0;
  if constexpr (Depth >= lanes) {
    if (left_step == 1 && right_step == 1) {
      auto products = simd::load<T, lanes>(left) * simd::load<T, lanes>(right);
      TENON_UNROLL(8)
      for (k = lanes; k + lanes <= Depth; k += lanes) {
        products += simd::load<T, lanes>(left + k) * simd::load<T, lanes>(right + k);
      }
      result = simd::reduce(products, std::plus<>{});
    }
  }
  TENON_UNROLL(8)
  for (; k < Depth; ++k) result += left[k * left_step] * right[k * right_step];
  return result;
}

/// `Count` sums of vector[k] * matrix[k][i], of which neighbours lie side by side.
template <int Depth, int Count, class T>
TENON_INLINE void add_known_rows(T* sums, const T* vector, index vector_step, const T* matrix, index row_step) {
  int i = 0;
  if constexpr (constexpr int lanes = lanes_within<T>(Count); Count >= lanes) {
    TENON_UNROLL(8)
    for (; i + lanes <= Count; i += lanes) {
      auto packs = vector[0] * simd::load<T, lanes>(matrix + i);
      TENON_UNROLL(8)
      for (int k = 1; k < Depth; ++k)
        packs += vector[k * vector_step] * simd::load<T, lanes>(matrix + k * row_step + i);
      simd::store<lanes>(sums + i, packs);
    }
  }
  TENON_UNROLL(8)
  for (; i < Count; ++i) sums[i] = dot_known<Depth>(vector, vector_step, matrix + i, row_step);
}

/// The sums of a matrix of results by depth, of these steps, times a vector.
template <int Depth, int Count, class T>
TENON_INLINE void multiply_known(T* sums, const T* matrix, index row_step, index depth_step, const T* vector,
                                 index vector_step) {
  if (depth_step != 1 && row_step == 1) {
    return add_known_rows<Depth, Count>(sums, vector, vector_step, matrix, depth_step);
  }
  TENON_UNROLL(8)
  for (int i = 0; i < Count; ++i) {
    sums[i] = dot_known<Depth>(matrix + i * row_step, depth_step, vector, vector_step);
  }
}

}  // namespace detail

/// Whether the host may run a statement into elements of type T as one unrolled product with a vector.
template <class T, class E>
inline constexpr bool runs_unrolled_vector_product = [] {
  if constexpr (compiled_by_nvcc || TENON_CHECKED != 0 || E::shape_type::rank != 1) {
    return false;
  } else if constexpr (stage_of<E>() != stage::contract) {
    return false;
  } else {
    return detail::is_unrolled_vector_product<
        T, std::remove_cvref_t<decltype(contraction_of(std::declval<const E&>()))>>();
  }
}();

namespace on_host {

/// Such statements, where nobody observes the launch. All sums are known before a result is written, so nothing else
/// has to be checked.
struct unrolled_vector_product {
  static constexpr const char* name = "unrolled vector product";
  template <class Statement>
  static constexpr bool can_take =
      runs_unrolled_vector_product<typename Statement::element, typename Statement::node_type>;
  template <class Statement>
  TENON_INLINE static bool takes(const Statement&) {
    return current_launch_observer() == nullptr;
  }
  template <class Statement>
  TENON_INLINE static void run(const Statement& statement) {
    using T = typename Statement::element;
    using product_type = typename Statement::product_type;
    constexpr static_extents extents = static_extents_of<product_type>;
    constexpr bool from_left = product_type::result_axes::rows.size() == 1;
    constexpr int depth = static_cast<int>(extents.depth);
    constexpr int count = static_cast<int>(from_left ? extents.rows : extents.columns);
    count_launch("contract");
    const auto& product = contraction_of(statement.node);
    const auto left = product.lower_left();
    const auto right = product.lower_right();
    detail::sums_side_by_side<T, count> slots;
    if constexpr (from_left) {
      detail::multiply_known<depth, count>(slots.sums, left.data, left.stride[0], left.stride[1], right.data,
                                           right.stride[0]);
    } else {
      detail::multiply_known<depth, count>(slots.sums, right.data, right.stride[1], right.stride[0], left.data,
                                           left.stride[0]);
    }
    const auto cursor = statement.node.template lower<0>(identity_map<1>()).at(array<index, 1>{});
    T results[count];
    TENON_UNROLL(8)
    for (int i = 0; i < count; ++i) results[i] = static_cast<T>(cursor.value(i, slots));
    TENON_UNROLL(8)
    for (int i = 0; i < count; ++i) statement.target.data[i * statement.target.stride[0]] = results[i];
  }
};

}  // namespace on_host

}  // namespace tenon
