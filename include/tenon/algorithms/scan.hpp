// tenon/algorithms/scan.hpp: what runs cumulative sums, products, maxima and minima.
// A scan folds with the monoid of a reduction and keeps every state on its way; each line is folded in order.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/expr/scan.hpp>

namespace tenon {

namespace detail {

/// The type that a scan folds in: double for floating types, as PyTorch does on the CPU, else the reduction's state.
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
