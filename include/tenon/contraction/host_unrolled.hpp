// tenon/contraction/host_unrolled.hpp: statements that are one small product, as bare arithmetic.
// Types know the extents of two matrices: sums, and what is done to them, stay in registers.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_small.hpp>
#include <tenon/device/launch_count.hpp>
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

/// The lanes of the packs that add rows of `columns` results: no more than there are results, but at least 16 bytes.
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

/// A product that may be done in registers: matrices of one floating type in memory, results of the same type.
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

/// Computes `Count` rows of results from `row` on: first the sums, then the statement around them.
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

/// Such statements, where the elements of rows lie side by side, no element is written before it is read, and no
/// observer counts launches.
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

}  // namespace tenon
