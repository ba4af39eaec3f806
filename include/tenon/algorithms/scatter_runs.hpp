// tenon/algorithms/scatter_runs.hpp: scatters on a device.
// Elements are sorted by their place. Those for the same place are neighbours: one thread combines them in order.
// Floor 5: may include base, core, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/algorithms/sort.hpp>
#include <tenon/base/dtype.hpp>

namespace tenon {

namespace detail {

/// What a place holds after an element has been written to it.
template <class Op, class T, class Source>
TENON_HOST_DEVICE T combined(T held, Source fresh) {
  using value_type = compute_type<T>;
  const auto element = converted_to<value_type>(fresh);
  return static_cast<T>(static_cast<value_type>(Op::value(static_cast<value_type>(held), element)));
}

/// Indices counted from the front.
template <class Indices>
struct front_index {
  Indices indices;
  index extent;
  index* rows;
  TENON_HOST_DEVICE void operator()(index number) const {
    const auto which = static_cast<index>(indices[number]);
    rows[number] = which < 0 ? which + extent : which;
  }
};

/// Writes all elements for one place: a run of equal rows in the order of a line. Only the thread at the beginning of a
/// run writes, so no two threads write to one place, and elements for it are combined in order.
template <class Op, class Target, class Source>
struct scatter_run {
  Target target;
  Source source;
  numbered_elements<const index, 2> rows, order;  // [lines, places]
  index length, extent;                           // of lines of indices and of the target

  TENON_HOST_DEVICE void operator()(index number) const {
    const index first = number / length * length, last = first + length, row = row_at(first, number);
    if (number != first && row_at(first, number - 1) == row) return;
    auto& held = target[number / length * extent + row];
    for (index place = number; place < last && row_at(first, place) == row; ++place) {
      held = combined<Op>(held, source[first + order[place]]);
    }
  }
  TENON_HOST_DEVICE index row_at(index first, index place) const { return rows[first + order[place]]; }
};

/// On a device: writes the elements of lines of `source` to the rows of lines of `target` that `rows` names, all of
/// them line after line; `sets` of rows are given, one for each line or one for all.
template <class Op, class Space, class Target, class Source>
void scatter_runs(const Target& target, index extent, const Source& source, index lines,
                  const view<const index, rank<2>, Space>& rows) {
  const index sets = rows.extent(0), length = rows.extent(1);
  const auto order = argsort(rows, axis<1>);
  const auto shared = [&](const index* data) {
    return numbered_elements<const index, 2>{data, {{lines, length}}, {{sets == lines ? length : 0, 1}}};
  };
  for_each_number<Space>(
      lines * length, 1,
      scatter_run<Op, Target, Source>{target, source, shared(rows.data()), shared(order.data()), length, extent});
}

/// Whether all lines along an axis are the same elements.
template <class View>
bool lines_are_one(const View& elements, int axis) {
  for (int each = 0; each < View::rank; ++each) {
    if (each != axis && elements.extent(each) != 1 && elements.strides()[each] != 0) return false;
  }
  return true;
}

/// The first elements of a view along every axis.
template <class T, class Shape, class Space>
auto first_elements(const view<T, Shape, Space>& elements, const array<index, Shape::rank>& extents) {
  return view<T, tenon::rank<Shape::rank>, Space>(elements.data(), tenon::rank<Shape::rank>(extents),
                                                  elements.strides());
}

template <class Op, class Target, class Indices, class Source>
void scatter_lines_on_device(const Target& target, int axis, const Indices& indices, const Source& source) {
  using space = typename Target::space;
  if (indices.size() == 0) return;
  const auto extents = indices.shape().to_array();
  auto reached = extents;
  reached[axis] = target.extent(axis);
  const index length = extents[axis], lines = indices.size() / length;
  const index sets = lines_are_one(indices, axis) ? 1 : lines;
  storage<index, space> rows(sets * length);
  const auto given = line_by_line(indices, axis);
  for_each_number<space>(rows.count(), 1,
                         front_index<std::remove_const_t<decltype(given)>>{given, target.extent(axis), rows.data()});
  scatter_runs<Op, space>(line_by_line(first_elements(target, reached), axis), target.extent(axis),
                          line_by_line(first_elements(source, extents), axis), lines,
                          view<const index, tenon::rank<2>, space>(rows.data(), tenon::rank<2>(sets, length)));
}

}  // namespace detail

}  // namespace tenon
