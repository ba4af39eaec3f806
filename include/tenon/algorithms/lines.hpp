// tenon/algorithms/lines.hpp: operands in memory, walked as lines along one axis.
// Elements are read where they lie, strides and all; neighbouring lines go together, so that no axis is a slow one.
// Floor 5: may include base, core, device, expr, plan, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/threads.hpp>
#include <tenon/expr/dependence.hpp>
#include <tenon/expr/views/index_map.hpp>
#include <tenon/plan/access.hpp>
#include <tenon/plan/devices.hpp>
#include <tenon/plan/split.hpp>
#if TENON_CHECKED != 0
#include <tenon/plan/alive.hpp>
#endif

namespace tenon {

/// The space in which an algorithm on an operand runs and its result lies; for plain numbers, the host.
template <class Operand>
using algorithm_space = detail::concrete_space<typename node_of<Operand>::space>;

/// What algorithms ask of memory that the host cannot reach; <tenon/algorithms/cuda.hpp> answers for `cuda`. Elements
/// are numbered, lines of equal length one after another:
///   inclusive_scan, exclusive_scan   a fold of each line, every state kept
///   sort_lines                       the numbers of elements within each line in ascending order of their keys, stable
///   sort_items                       positions in the order of a comparison, in place
///   indices_where                      the numbers for which a flag is true, ascending
///   count_bins                       how often each number occurs, those outside not counted
template <class Space>
struct device_passes {
  static constexpr bool available = false;
};

/// Within a captured function, refuses an algorithm of a device's memory that runs on the host.
/// throws    capture_error
template <class Space>
void algorithms_must_repeat() {
  if constexpr (Space::host_accessible && requires { Space::is_capturing(); }) {
    if (!Space::is_capturing()) return;
    throw capture_error(compose_text("capture: an algorithm within a captured function, of memory of ", Space::name,
                                     ", runs on the host; run it before the capture"));
  }
}

/// Refuses, by a sentence, a space whose algorithms this file cannot run; captures as `algorithms_must_repeat`.
template <class Space>
void algorithms_must_run() {
  static_assert(Space::host_accessible || device_passes<Space>::available || must_hold<Space>,
                "tenon: algorithms reach this space only in files that nvcc compiles and that include "
                "<tenon/algorithms/cuda.hpp>; or copy the operand first, x.to<tenon::host>()");
  algorithms_must_repeat<Space>();
}

/// Operands of one pass must all lie in one space, or all in memory that the host reaches.
template <class... Spaces>
consteval void spaces_must_agree() {
  static_assert((Spaces::host_accessible && ...) || spaces_agree<Spaces...> || must_hold<Spaces...>,
                "tenon: the operands of one statement must lie in one memory space");
}

/// Refuses a value that has no elements yet and, in builds with TENON_CHECKED, one whose memory has been freed.
template <class Node>
void check_operand([[maybe_unused]] const char* algorithm, [[maybe_unused]] const Node& node) {
  static_assert(
      !requires { Node::comes_later; } || must_hold<Node>,
      "tenon: nn::inference and nn::summary run a network before there are values, and this algorithm reads "
      "them; call the network itself, under tenon::no_grad");
#if TENON_CHECKED != 0
  check_operands_alive({&node, &statement_type_of<Node>}, algorithm);
#endif
}

/// An operand of `algorithm` as a leaf: a tensor or view where it lies, any other expression evaluated.
template <tensor_operand Operand>
auto in_memory(const char* algorithm, Operand&& operand) {
  using node = node_of<Operand>;
  using space = algorithm_space<Operand>;
  algorithms_must_run<space>();
  if constexpr (std::is_same_v<typename node::kind, leaf_kind>) {
    const auto elements = as_node(std::forward<Operand>(operand));
    check_operand(algorithm, elements);
    check_current_device(algorithm, elements.view());
    return elements;
  } else {
    check_operand(algorithm, as_node(operand));
    return as_node(tensor<typename node::element, typename node::shape_type, space>(as_node(operand)));
  }
}

namespace detail {

/// An operand in memory of the space of the result: generators are in none.
template <class Space, class Node>
auto operand_in(const char* name, const Node& node) {
  if constexpr (std::is_same_v<typename Node::space, any_space>) {
    algorithms_must_run<Space>();
    return as_node(tensor<typename Node::element, typename Node::shape_type, Space>(node));
  } else {
    return in_memory(name, node);
  }
}

}  // namespace detail

/// Offsets of the elements at the positions below `extents`, in row-major order.
template <class View>
storage<index, host> offsets_within(const View& elements, const array<index, View::rank>& extents) {
  storage<index, host> offsets(count_between(extents, 0, View::rank));
  array<index, View::rank> position{};
  for (index i = 0; i < offsets.count(); ++i) {
    set_position(position, extents, 0, View::rank, i);
    offsets.data()[i] = elements.offset(position);
  }
  return offsets;
}

/// A table that the host made, copied to where `Space` reaches it.
template <class Space>
storage<index, Space> table_in(const storage<index, host>& table) {
  storage<index, Space> result(table.count());
  Space::copy_from_host(result.data(), table.data(), table.bytes());
  return result;
}

/// Calls `body(number, row, step, run)` for the elements with row-major numbers from `first` to `last` - 1, run by run:
/// element `number + i` is `row[i * step]`.
template <class View, class Body>
void visit_runs(const View& elements, index first, index last, const Body& body) {
  constexpr int rank = View::rank;
  if constexpr (rank == 0) {
    if (first < last) body(first, elements.data(), index{0}, last - first);
  } else {
    const auto extents = elements.shape().to_array();
    array<index, rank> position{};
    for (index number = first; number < last;) {
      set_position(position, extents, 0, rank, number);
      const index rest = extents[rank - 1] - position[rank - 1], run = last - number < rest ? last - number : rest;
      body(number, elements.data() + elements.offset(position), elements.strides()[rank - 1], run);
      number += run;
    }
  }
}

/// Calls `body(number, element)` for the elements with row-major numbers from `first` to `last` - 1.
template <class View, class Body>
void visit_elements(const View& elements, index first, index last, const Body& body) {
  visit_runs(elements, first, last, [&](index number, const auto* row, index step, index run) {
    for (index i = 0; i < run; ++i) body(number + i, row[i * step]);
  });
}

/// The axis along which lines along `axis` are neighbours: the innermost other one, or itself where it is the only one.
constexpr int beside_axis(int rank, int axis) { return axis != rank - 1 ? rank - 1 : rank > 1 ? rank - 2 : 0; }

/// How many elements are worth a thread.
inline constexpr index line_grain = 1 << 14;

/// Walks the lines along `axis`, shared among threads: `make_body()` gives each thread a body of its own, which is
/// called as `body(position, count)` for `count` <= `width` lines that begin at `position` and its next neighbours
/// along `beside_axis`.
template <int Rank, class MakeBody>
void for_each_line_block(const array<index, Rank>& extents, int axis, index width, const MakeBody& make_body) {
  const int beside = beside_axis(Rank, axis);
  if (extents[axis] == 0) return;
  auto rows = extents;
  rows[axis] = 1;
  const index neighbours = rows[beside], blocks = (neighbours + width - 1) / width;
  rows[beside] = 1;
  const index grain = 1 + line_grain / (1 + extents[axis] * (width < neighbours ? width : neighbours));
  parallel_for(count_between(rows, 0, Rank) * blocks, grain, [&](index first, index last) {
    array<index, Rank> position{};
    auto body = make_body();
    for (index item = first; item < last; ++item) {
      set_position(position, rows, 0, Rank, item / blocks);
      const index begin = item % blocks * width;
      position[beside] = begin;
      body(position, neighbours - begin < width ? neighbours - begin : width);
    }
  });
}

/// Calls `body(line, place, element)` for a block of `count` lines at `position`, along the smaller stride inside.
template <class View, int Rank, class Body>
void visit_line_block(const View& elements, int axis, const array<index, Rank>& position, index count,
                      const Body& body) {
  const index length = elements.extent(axis), step = elements.strides()[axis];
  const index across = elements.strides()[beside_axis(Rank, axis)];
  auto* first = elements.data() + elements.offset(position);
  if ((step < 0 ? -step : step) <= (across < 0 ? -across : across)) {
    for (index line = 0; line < count; ++line) {
      for (index place = 0; place < length; ++place) body(line, place, first[line * across + place * step]);
    }
  } else {
    for (index place = 0; place < length; ++place) {
      for (index line = 0; line < count; ++line) body(line, place, first[line * across + place * step]);
    }
  }
}

}  // namespace tenon
