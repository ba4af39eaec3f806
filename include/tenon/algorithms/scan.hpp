// tenon/algorithms/scan.hpp: what runs cumulative sums, products, maxima and minima.
// A scan folds with the monoid of a reduction and keeps every state on its way; each line is folded in order.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/scan.hpp>

namespace tenon {

namespace detail {

/// The type that a scan folds in: double for floating types, as PyTorch does on the CPU, complex numbers of double for
/// complex ones, else the reduction's state.
template <class Monoid, class T>
using scan_state = std::conditional_t<is_complex<T>, promote<T, double>,
                                      std::conditional_t<is_floating<T>, double, typename Monoid::template state<T>>>;

/// What one of `Width` scans holds after a value. A greatest or least value that is NaN stays.
template <class Monoid, int Width, class State>
TENON_INLINE State next_state(State before, State value) {
#if defined(__clang__)  // a branch, as g++ makes one: a choice would let every step wait longer for the one before
  if constexpr (is_floating<State> && !Monoid::has_identity && Width == 1) {
    if (before != before) [[unlikely]]
      return before;
  }
#endif
  return Monoid::combine(before, value);
}

/// Scans `count` neighbouring lines, at most `Width`, side by side.
template <class Monoid, int Width, class Source, class Target, int Rank>
TENON_INLINE void scan_lines(const Source& source, const Target& target, int axis, const array<index, Rank>& position,
                             index count, scan_options options) {
  using state = scan_state<Monoid, typename Source::element>;
  using result = typename Target::element;
  const int beside = beside_axis(Rank, axis);
  const index length = target.extent(axis), first = options.reverse ? length - 1 : 0, step = options.reverse ? -1 : 1;
  const index from_step = step * source.strides()[axis], from_line = source.strides()[beside];
  const index to_step = step * target.strides()[axis], to_line = target.strides()[beside];
  const auto* from = source.data() + source.offset(position) + first * source.strides()[axis];
  auto* to = target.data() + target.offset(position) + first * target.strides()[axis];
  auto states = filled_array<Width>(Monoid::template identity<state>());
  for (index place = 0; place < length; ++place) {
    for (index line = 0; line < count; ++line) {
      const auto value = static_cast<compute_type<typename Source::element>>(from[line * from_line]);
      const state before = states[line];
      states[line] = next_state<Monoid, Width>(before, Monoid::template lift<state>(static_cast<state>(value), place));
      to[line * to_line] =
          static_cast<result>(static_cast<compute_type<result>>(options.exclusive ? before : states[line]));
    }
    from += from_step, to += to_step;
  }
}

/// On the host, blocks of neighbouring lines are shared among threads. One line, and four, keep their states in
/// registers, as memory would make each state wait for the one before.
template <class Monoid, int Axis, class Source, class Target>
void scan_on_host(const Source& source, const Target& target, scan_options options) {
  constexpr int rank = Target::rank, beside = beside_axis(rank, Axis);
  constexpr int few = 4, width = Axis == rank - 1 ? few : 32;  // rows far apart would throw each other out of the cache
  for_each_line_block(target.shape().to_array(), Axis, width, [&] {
    return [&](array<index, rank> position, index count) {
      if (count == few) return scan_lines<Monoid, few>(source, target, Axis, position, few, options);
      if constexpr (width > few) {
        if (count > few) return scan_lines<Monoid, width>(source, target, Axis, position, count, options);
      }
      for (index line = 0; line < count; ++line, ++position[beside]) {
        scan_lines<Monoid, 1>(source, target, Axis, position, 1, options);
      }
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

/// On a device, all lines are one scan, which starts anew with each line.
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

}  // namespace detail

/// Runs scans, in the memory space of their result.
template <class Monoid, int Axis>
struct executor_of<scan_algorithm<Monoid, Axis>> {
  using algorithm = scan_algorithm<Monoid, Axis>;

  template <class Target, class Operand>
  static void run(const algorithm& scan, const Target& target, const Operand& operand) {
    detail::run_scan<Monoid, Axis>(as_read(algorithm::name, operand).view(), target, scan.options);
  }
  /// The result for a user of the function `name`.
  template <class Operand>
  static auto evaluate(const algorithm& scan, const char* name, Operand&& operand) {
    using node = node_of<Operand>;
    algorithms_must_run<algorithm_space<Operand>>();
    const auto source = as_read(name, std::forward<Operand>(operand));
    using element = detail::scan_element<Monoid, typename node::element>;
    tensor<element, typename node::shape_type, algorithm_space<Operand>> result(source.shape());
    detail::run_scan<Monoid, Axis>(source.view(), result.write_view(), scan.options);
    return result;
  }
};

}  // namespace tenon
