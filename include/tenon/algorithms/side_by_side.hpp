// tenon/algorithms/side_by_side.hpp: lines that are walked from one end to the other, some neighbours at once.
// A step that waits for the one before leaves a processor idle; neighbouring lines fill packs and the wait.
// Floor 5: may include base, core, device, plan, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/core/storage.hpp>

namespace tenon {

/// Neighbouring lines: their first element, the way along a line, and that from one line to the next, `Beside` where
/// types know it.
template <class T, index Beside>
struct neighbouring_lines {
  T* first;
  index along, beside;

  /// An element of the lines, as a number that is computed with.
  template <class Number>
  TENON_HOST_DEVICE TENON_INLINE Number get(index place, index line) const {
    return static_cast<Number>(static_cast<compute_type<std::remove_const_t<T>>>(at(place, line)));
  }
  template <class Number>
  TENON_HOST_DEVICE TENON_INLINE void put(index place, index line, Number number) const {
    at(place, line) = static_cast<T>(static_cast<compute_type<T>>(number));
  }

 private:
  TENON_HOST_DEVICE TENON_INLINE T& at(index place, index line) const {
    return first[place * along + line * (Beside == dyn ? beside : Beside)];
  }
};

namespace detail {

/// All lines of a view, as they repeat over more extents.
template <class T, int Rank, bool AreSame>
struct repeated_lines {
  using element = T;
  T* data;
  array<index, Rank> strides;

  /// Whether neighbours lie side by side along an axis, or are one.
  bool are_beside(int axis) const { return AreSame || strides[axis] == 1; }
  template <index Beside>
  auto at(int axis, const array<index, Rank>& position) const {
    index offset = 0;
    for (int i = 0; i < Rank; ++i) offset += position[i] * strides[i];
    return neighbouring_lines<T, AreSame ? 0 : Beside>{data + offset, strides[axis], strides[beside_axis(Rank, axis)]};
  }
  /// The first elements, by the number of the line.
  auto firsts(int axis, array<index, Rank> extents) const {
    extents[axis] = 1;
    return merged(numbered_elements<T, Rank>{data, extents, strides});
  }
};

/// Whether types know that a view is the same for all lines it repeats over.
template <class Shape>
inline constexpr bool is_one_number = [] {
  for (int axis = 0; axis < Shape::rank; ++axis) {
    if (Shape::static_extent(axis) != 1) return false;
  }
  return true;
}();

/// The lines of a view that repeats over `extents`, from their ends where `reverse`.
template <class T, class Shape, class Space, int Rank>
auto lines_over(const view<T, Shape, Space>& elements, const array<index, Rank>& extents, int axis, bool reverse) {
  repeated_lines<T, Rank, is_one_number<Shape>> lines{elements.data(), {}};
  for (int own = 0; own < Shape::rank; ++own) {
    lines.strides[own + Rank - Shape::rank] = elements.extent(own) == 1 ? 0 : elements.strides()[own];
  }
  index& along = lines.strides[axis];
  const bool has_elements = lines.data != nullptr && extents[axis] > 0;
  if (reverse && has_elements) lines.data += (extents[axis] - 1) * along, along = -along;
  return lines;
}

/// One line of a device, by its number.
template <class Step, int Rank, class... Lines>
struct line_kernel {
  Step step;
  index length;
  typename Step::state* work;
  tuple<numbered_elements<typename Lines::element, Rank>...> firsts;
  array<index, static_cast<int>(sizeof...(Lines))> along;

  TENON_HOST_DEVICE void operator()(index number) const {
    walk(number, std::make_integer_sequence<int, static_cast<int>(sizeof...(Lines))>{});
  }

 private:
  template <int... I>
  TENON_HOST_DEVICE void walk(index number, std::integer_sequence<int, I...>) const {
    step.template walk<1>(1, length, work + number * Step::work_along * length,
                          neighbouring_lines<typename Lines::element, 0>{&get<I>(firsts)[number], along[I], 0}...);
  }
};

template <class Step, int Rank, class... Lines>
auto kernel_of_lines(const Step& step, typename Step::state* work, const array<index, Rank>& extents, int axis,
                     const Lines&... lines) {
  return line_kernel<Step, Rank, Lines...>{
      step, extents[axis], work, make_tuple_of(lines.firsts(axis, extents)...), {{lines.strides[axis]...}}};
}

/// Walks `count` neighbouring lines. Of one, and of four, the compiler keeps all numbers in registers.
template <class Step, int Rank, class... Lines>
void walk_block(const Step& step, index length, int axis, array<index, Rank> position, index count,
                typename Step::state* work, const Lines&... lines) {
  const int beside = beside_axis(Rank, axis);
  if (count == 4) return step.template walk<4>(4, length, work, lines.template at<dyn>(axis, position)...);
  if (count > 4) {
    if (!(lines.are_beside(beside) && ...))
      return step.template walk<64>(count, length, work, lines.template at<dyn>(axis, position)...);
    if (count == 64) return step.template walk<64>(64, length, work, lines.template at<1>(axis, position)...);
    return step.template walk<64>(count, length, work, lines.template at<1>(axis, position)...);
  }
  for (index line = 0; line < count; ++line, ++position[beside]) {
    step.template walk<1>(1, length, work, lines.template at<0>(axis, position)...);
  }
}

}  // namespace detail

/// Calls `step.walk<Width>(count, length, work, lines...)`, of at most `Width` neighbours at a time, for all lines
/// along `axis` of views that repeat over `extents`, from their ends where `reverse`: on the host's threads, or one
/// line for each thread of a device. `work` holds `Step::work_along * Width` numbers of `Step::state` for each place.
template <class Space, class Step, int Rank, class... Views>
void walk_side_by_side(const Step& step, const array<index, Rank>& extents, int axis, bool reverse,
                       const Views&... views) {
  using state = typename Step::state;
  const index length = extents[axis];
  const auto walk = [&](const auto&... lines) {
    if constexpr (Space::host_accessible) {
      const index width = axis == Rank - 1 ? 4 : 64;  // rows far apart would throw each other out of the cache
      for_each_line_block(extents, axis, width, [&] {
        return [&, work = storage<state, host>(Step::work_along * length * width)](const auto& position,
                                                                                   index count) mutable {
          detail::walk_block(step, length, axis, position, count, work.data(), lines...);
        };
      });
    } else {
      const index count = length == 0 ? 0 : count_between(extents, 0, Rank) / length;
      if (count == 0) return;
      storage<state, Space> work(Step::work_along * length * count);
      for_each_number<Space>(count, 1, detail::kernel_of_lines(step, work.data(), extents, axis, lines...));
    }
  };
  walk(detail::lines_over(views, extents, axis, reverse)...);
}

}  // namespace tenon
