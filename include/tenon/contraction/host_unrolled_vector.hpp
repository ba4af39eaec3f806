// tenon/contraction/host_unrolled_vector.hpp: statements that are one small matrix times a vector.
// Types know the extents. All sums are known before a result is written, so nothing else has to be checked.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <tenon/contraction/host_small.hpp>
#include <tenon/contraction/host_unrolled.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/simd_reduce.hpp>
#include <tenon/plan/write.hpp>

namespace tenon {

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

/// Evaluates such a statement into elements at `target`. Returns false, and has done nothing, where the launch is
/// observed.
template <class T, class E>
TENON_INLINE bool run_unrolled_vector_product(const strided_target<T, 1>& target, const E& node) {
  if (current_launch_observer() != nullptr) return false;
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  constexpr static_extents extents = static_extents_of<product_type>;
  constexpr bool from_left = product_type::result_axes::rows.size() == 1;
  constexpr int depth = static_cast<int>(extents.depth);
  constexpr int count = static_cast<int>(from_left ? extents.rows : extents.columns);
  count_launch("contract");
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
  const auto cursor = node.template lower<0>(identity_map<1>()).at(array<index, 1>{});
  T results[count];
  TENON_UNROLL(8)
  for (int i = 0; i < count; ++i) results[i] = static_cast<T>(cursor.value(i, slots));
  TENON_UNROLL(8)
  for (int i = 0; i < count; ++i) target.data[i * target.stride[0]] = results[i];
  return true;
}

}  // namespace tenon
