// tenon/algorithms/scan.hpp: cumulative sums, products, maxima and minima.
// A scan folds with the monoid of a reduction and keeps every state on its way; each line is folded in order.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/monoids.hpp>
#include <tenon/expr/own_pass.hpp>

namespace tenon {

/// How a scan runs along its axis: `cumsum(x, axis<0>, {.exclusive = true})`.
struct scan_options {
  bool exclusive = false;  ///< each result leaves its own element out; the first is the monoid's identity
  bool reverse = false;    ///< from the last element to the first

  bool operator==(const scan_options&) const = default;
};

namespace detail {

/// What a scan folds in: double for floating types, as PyTorch does on the CPU, else the reduction's state.
template <class Monoid, class T>
using scan_state = std::conditional_t<is_floating<T>, double, typename Monoid::template state<T>>;

/// Scans `count` neighbouring lines side by side.
template <class Monoid, class Source, class Target, int Rank>
void scan_lines(const Source& source, const Target& target, int axis, const array<index, Rank>& position, index count,
                scan_options options) {
  using state = scan_state<Monoid, typename Source::element>;
  using result = typename Target::element;
  constexpr index width = 32;
  const int beside = beside_axis(Rank, axis);
  const index length = target.extent(axis), first = options.reverse ? length - 1 : 0, step = options.reverse ? -1 : 1;
  const auto* from = source.data() + source.offset(position) + first * source.strides()[axis];
  auto* to = target.data() + target.offset(position) + first * target.strides()[axis];
  auto states = filled_array<width>(Monoid::template identity<state>());
  for (index place = 0; place < length; ++place) {
    for (index line = 0; line < count; ++line) {
      const auto value = static_cast<compute_type<typename Source::element>>(from[line * source.strides()[beside]]);
      const state before = states[line];
      states[line] = Monoid::combine(before, Monoid::template lift<state>(static_cast<state>(value), place));
      to[line * target.strides()[beside]] =
          static_cast<result>(static_cast<compute_type<result>>(options.exclusive ? before : states[line]));
    }
    from += step * source.strides()[axis], to += step * target.strides()[axis];
  }
}

/// On the host, blocks of neighbouring lines are shared among threads.
template <class Monoid, int Axis, class Source, class Target>
void scan_on_host(const Source& source, const Target& target, scan_options options) {
  constexpr int rank = Target::rank;
  constexpr index width = Axis == rank - 1 ? 4 : 32;  // rows far apart would throw each other out of the cache
  for_each_line_block(target.shape().to_array(), Axis, width, [&] {
    return [&](const array<index, rank>& position, index count) {
      scan_lines<Monoid>(source, target, Axis, position, count, options);
    };
  });
}

/// The states that a scan folds, by number.
template <class Monoid, class State, class Source>
struct scan_input {
  Source source;
  index length;
  TENON_HOST_DEVICE State operator()(index number) const {
    const auto value = static_cast<compute_type<typename Source::element>>(source[number]);
    return Monoid::template lift<State>(static_cast<State>(value), number % length);
  }
};
template <class Monoid>
struct scan_combine {
  template <class State>
  TENON_HOST_DEVICE State operator()(State left, State right) const {
    return Monoid::combine(left, right);
  }
};
template <class Target>
struct scan_output {
  Target target;
  template <class State>
  TENON_HOST_DEVICE void operator()(index number, State state) const {
    using result = typename Target::element;
    target[number] = static_cast<result>(static_cast<compute_type<result>>(state));
  }
};

/// On a device, all lines are one scan that begins anew with each.
template <class Monoid, int Axis, class Source, class Target>
void scan_on_device(const Source& source, const Target& target, scan_options options) {
  using state = scan_state<Monoid, typename Source::element>;
  using passes = device_passes<typename Target::space>;
  const index count = target.size(), length = target.extent(Axis);
  if (count == 0) return;
  const auto from = line_by_line(source, Axis, options.reverse);
  const auto to = line_by_line(target, Axis, options.reverse);
  const scan_input<Monoid, state, std::remove_const_t<decltype(from)>> input{from, length};
  const scan_output<std::remove_const_t<decltype(to)>> output{to};
  constexpr scan_combine<Monoid> combine;
  if (options.exclusive) {
    passes::exclusive_scan(count, length, input, output, combine, Monoid::template identity<state>());
  } else {
    passes::inclusive_scan(count, length, input, output, combine);
  }
}

/// The scan of a source into elements of the same extents.
template <class Monoid, int Axis, class Source, class Target>
void run_scan(const Source& source, const Target& target, scan_options options) {
  if constexpr (Target::space::host_accessible) scan_on_host<Monoid, Axis>(source, target, options);
  else scan_on_device<Monoid, Axis>(source, target, options);
}

/// What a scan of elements of `T` gives.
template <class Monoid, class T>
using scan_element = typename Monoid::template element<T>;

}  // namespace detail

/// A scan within an expression.
template <class Monoid, int Axis>
struct scan_algorithm {
  static constexpr const char* name = "scan";
  scan_options options;

  bool operator==(const scan_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    detail::run_scan<Monoid, Axis>(as_read(name, operand).elements, target, options);
  }
};

/// A scan that runs when the statement does: its value follows the operand's, and it has a gradient.
template <class Monoid, int Axis, class Node>
auto make_scan(const Node& operand, const scan_options& options) {
  return make_own_pass<detail::scan_element<Monoid, typename Node::element>>(scan_algorithm<Monoid, Axis>{options},
                                                                             operand.shape(), operand);
}

/// The callable that users see: `cumsum(x, axis<1>)`.
/// extents   those of the operand
/// types     as the reduction's: sums and products of integers and bool in 64 bits, maxima and minima in the operand's
/// accuracy  floating types are folded in double, each result rounded once; the same for any number of threads
///           (on a CUDA device, double sums may differ in their last bits from run to run)
/// cost      one pass; lines are shared among threads, a single line is one thread's work; on a device, CUB's scan,
///           which evaluates pointwise operands as it reads them
/// gradient  of an operand with variables the result is an expression; of maxima, the last element that reached them
///           has theirs, as in PyTorch
template <class Monoid>
struct scan_function {
  const char* name = Monoid::name;

  template <tensor_operand Operand, int Axis>
  auto operator()(Operand&& operand, axis_list<Axis> axes, scan_options options = {}) const {
    using node = node_of<Operand>;
    constexpr int along = axis_of<node::shape_type::rank>(axes);
    if constexpr (depends_on<any_variable, node>) {
      return make_scan<Monoid, along>(as_node(std::forward<Operand>(operand)), options);
    } else {
      const auto source = as_read(name, std::forward<Operand>(operand));
      using element = detail::scan_element<Monoid, typename node::element>;
      tensor<element, typename node::shape_type, algorithm_space<Operand>> result(source.shape());
      detail::run_scan<Monoid, along>(source.elements, result.write_view(), options);
      return result;
    }
  }
};

/// Sums of all elements up to each.
inline constexpr scan_function<sum_monoid> cumsum{"cumsum"};
/// Products of all elements up to each.
inline constexpr scan_function<prod_monoid> cumprod{"cumprod"};
/// The greatest element up to each; NaN from the first NaN on. Exclusive scans begin with the type's lowest value.
inline constexpr scan_function<max_monoid> cummax{"cummax"};
/// The least element up to each; NaN from the first NaN on. Exclusive scans begin with the type's highest value.
inline constexpr scan_function<min_monoid> cummin{"cummin"};

}  // namespace tenon
