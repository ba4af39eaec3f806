// tenon/algorithms/scan.hpp: cumulative sums, products, maxima and minima.
// A scan folds with the monoid of a reduction and keeps every state on its way; each line is folded in order.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/monoids.hpp>

namespace tenon {

/// How a scan runs along its axis: `cumsum(x, axis<0>, {.exclusive = true})`.
struct scan_options {
  bool exclusive = false;  ///< each result leaves its own element out; the first is the monoid's identity
  bool reverse = false;    ///< from the last element to the first
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

}  // namespace detail

/// The callable that users see: `cumsum(x, axis<1>)`.
/// extents   those of the operand
/// types     as the reduction's: sums and products of integers and bool in 64 bits, maxima and minima in the operand's
/// accuracy  floating types are folded in double, each result rounded once; the same for any number of threads
///           (on a CUDA device, double sums may differ in their last bits from run to run)
/// cost      one pass; lines are shared among threads, a single line is one thread's work; on a device, CUB's scan,
///           which evaluates pointwise operands as it reads them
template <class Monoid>
struct scan_function {
  const char* name = Monoid::name;

  template <tensor_operand Operand, int Axis>
  auto operator()(Operand&& operand, axis_list<Axis> axes, scan_options options = {}) const {
    const auto source = as_read(name, std::forward<Operand>(operand));
    using leaf = std::remove_cvref_t<decltype(source)>;
    using element = typename Monoid::template element<typename leaf::element>;
    constexpr int along = axis_of<leaf::shape_type::rank>(axes);
    using space = algorithm_space<Operand>;
    tensor<element, typename leaf::shape_type, space> result(source.shape());
    const auto target = result.write_view();
    if constexpr (space::host_accessible) detail::scan_on_host<Monoid, along>(source.elements, target, options);
    else detail::scan_on_device<Monoid, along>(source.elements, target, options);
    return result;
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
