// tenon/linalg/tridiagonal.hpp: systems of three diagonals, as splines and implicit steps of diffusion give them.
// Thomas's elimination along an axis; neighbouring systems are eliminated side by side.
// Floor 7: may include base, core, expr, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/recurrence.hpp>
#include <tenon/linalg/passes.hpp>
#include <tenon/linalg/shapes.hpp>

namespace tenon {

namespace detail {

/// Elimination downwards into work memory, substitution upwards into the result. Where a pivot is too small to divide
/// by, the host keeps its place and writes nothing, a device writes NaN.
template <class T>
struct tridiagonal_step {
  using state = T;
  static constexpr index work_along = 2;  // above the diagonal, and the right side, both divided by the pivot
  index* failed;

  template <int Width, class Lower, class Diagonal, class Upper, class Right, class Target>
  TENON_HOST_DEVICE TENON_INLINE void walk(index count, index length, T* work, Lower lower, Diagonal diagonal,
                                           Upper upper, Right right, Target target) const {
    index found = length;
    T ratios[Width] = {}, values[Width] = {};
    for (index place = 0; place < length; ++place) {
      T* const above = work + 2 * place * Width;
      bool are_pivots = true;
      for (index line = 0; line < count; ++line) {
        const T below = place == 0 ? T(0) : lower.template get<T>(place, line);
        const T pivot = diagonal.template get<T>(place, line) - below * ratios[line];
        const T next = place + 1 == length ? T(0) : upper.template get<T>(place, line);
        are_pivots = are_pivots & (std::fabs(pivot) >= float_limits<T>::least);
        const T scale = 1 / pivot;
        values[line] = (right.template get<T>(place, line) - below * values[line]) * scale;
        above[line] = ratios[line] = next * scale;
        above[Width + line] = values[line];
      }
      if (!are_pivots && place < found) found = place;
    }
    if (found < length) return refuse(found, count, length, target);
    for (index line = 0; line < count; ++line) values[line] = 0;
    for (index place = length; place-- > 0;) {
      const T* const above = work + 2 * place * Width;
      for (index line = 0; line < count; ++line) values[line] = above[Width + line] - above[line] * values[line];
      for (index line = 0; line < count; ++line) target.put(place, line, values[line]);
    }
  }

 private:
  template <class Target>
  TENON_HOST_DEVICE void refuse([[maybe_unused]] index found, index count, index length, const Target& target) const {
#if !defined(__CUDA_ARCH__)
    if (failed != nullptr) {
      index before = __atomic_load_n(failed, __ATOMIC_RELAXED);
      while (found < before &&
             !__atomic_compare_exchange_n(failed, &before, found, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
      return;
    }
#endif
    for (index place = 0; place < length; ++place) {
      for (index line = 0; line < count; ++line) target.put(place, line, float_limits<T>::nan);
    }
  }
};

}  // namespace detail

/// Tridiagonal systems within an expression.
template <int Axis>
struct tridiagonal_algorithm {
  static constexpr const char* name = "solve_tridiagonal";

  bool operator==(const tridiagonal_algorithm&) const = default;
  template <class Target, class... Operands>
  void operator()(const Target& target, const Operands&... operands) const {
    run(target, detail::operand_in<typename Target::space>(name, operands)...);
  }

 private:
  template <class Target, class... Operands>
  static void run(const Target& target, const Operands&... operands) {
    using space = typename Target::space;
    const index length = target.extent(Axis);
    index failed = length;
    const detail::tridiagonal_step<typename Target::element> step{space::host_accessible ? &failed : nullptr};
    walk_side_by_side<space>(step, target.shape().to_array(), Axis, false, operands.view()..., target);
    if (failed == length) return;
    throw linear_algebra_error(
        compose_text(name, ": axis ", Axis, ": pivot ", failed,
                     " is 0 or NaN, expected another number; `solve` takes such matrices, as it exchanges rows"));
  }
};

namespace detail {

template <int Axis, class... Operands>
auto make_tridiagonal(const Operands&... operands) {
  using element = promoted_element<Operands...>;
  static_assert(has_linear_algebra<element> || must_hold<element>,
                "tenon: linear algebra takes float and double; cast<float>(x) converts");
  const auto extents = broadcast_all<tridiagonal_algorithm<Axis>>(operands.shape()...);
  return make_own_pass<element>(tridiagonal_algorithm<Axis>{}, extents, repeated_for_gradient(operands, extents)...);
}

}  // namespace detail

/// The solutions x of lower[i] x[i - 1] + diagonal[i] x[i] + upper[i] x[i + 1] = b[i] along an axis, by default the
/// last. All four have one length, so that lower[0] and the last of `upper` are not read; each may be a number, or
/// repeat over the others. Rows are not exchanged: right for diagonals that outweigh their neighbours.
/// extents   those of the operands, broadcast together
/// types     float or double
/// throws    shape_error where extents do not broadcast; linear_algebra_error, when the statement runs on the host,
///           where a pivot is 0 or NaN, which leaves some other systems written; a device writes NaN there
/// cost      about 8 operations an element, one of them a division; systems are shared among threads
/// gradient  of all operands, by the transposed systems
/// example   u = solve_tridiagonal(-k, 1 + 2 * k, -k, u, axis<0>);  // a step of diffusion down each column
template <class Lower, class Diagonal, class Upper, tensor_operand Right, int Axis = -1>
  requires operands_of_expression<Lower, Diagonal, Upper, Right>
auto solve_tridiagonal(Lower&& lower, Diagonal&& diagonal, Upper&& upper, Right&& b, axis_list<Axis> axes = {}) {
  constexpr int rank = broadcast_shape<typename node_of<Lower>::shape_type, typename node_of<Diagonal>::shape_type,
                                       typename node_of<Upper>::shape_type, typename node_of<Right>::shape_type>::rank;
  return detail::make_tridiagonal<only_axis<rank>(axes)>(
      as_node(std::forward<Lower>(lower)), as_node(std::forward<Diagonal>(diagonal)),
      as_node(std::forward<Upper>(upper)), as_node(std::forward<Right>(b)));
}

/// The gradients of the operands, from the solution's: what the transposed systems make of it, and products with that.
template <int I, int Axis, class T, class Shape, class Lower, class Diagonal, class Upper, class Right, class Gradient>
auto operand_gradient(const own_pass<tridiagonal_algorithm<Axis>, T, Shape, Lower, Diagonal, Upper, Right>& node,
                      const Gradient& gradient) {
  const auto of_right = detail::make_tridiagonal<Axis>(
      as_node(detail::moved_along<Axis>(get<2>(node.operands), node.shape(), -1)), get<1>(node.operands),
      as_node(detail::moved_along<Axis>(get<0>(node.operands), node.shape(), 1)), as_node(gradient));
  if constexpr (I == 3) {
    return of_right;
  } else if constexpr (I == 1) {
    return -of_right * node;
  } else {
    const auto place = index_grid<index>(node.shape(), axis<Axis>);
    const index unread = I == 0 ? 0 : node.shape().extent(Axis) - 1;
    return where(place == unread, 0, -of_right * roll(node, I == 0 ? 1 : -1, axis<Axis>));
  }
}

}  // namespace tenon
