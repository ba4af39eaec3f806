// tenon/algorithms/sort.hpp: lines in order, the positions that bring them in order, their first elements in order.
// A block of lines is copied into rows, sorted there and copied out, so that every axis sorts at the same speed.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/algorithms/lazy_elements.hpp>
#include <tenon/algorithms/order.hpp>
#include <tenon/expr/own_pass.hpp>
#include <tenon/expr/views/take.hpp>
#include <utility>

namespace tenon {

/// Options of sort and argsort: `sort(x, axis<1>, {.descending = true})`
struct sort_options {
  bool descending = false;
};

/// Options of topk: `topk(x, 5, axis<1>, {.largest = false})`
struct topk_options {
  bool largest = true;
};

/// Elements, and their positions along the axis: `auto [values, indices] = topk(x, 5, axis<1>);`
template <class Values, class Indices>
struct values_and_indices {
  Values values;
  Indices indices;
};

namespace detail {

/// What an output takes from an entry: its value, or its position.
struct entry_value {
  template <class T>
  TENON_HOST_DEVICE static T of(T entry) {
    return entry;
  }
  template <class T>
  TENON_HOST_DEVICE static T of(const located<T>& entry) {
    return entry.value;
  }
};
struct entry_position {
  template <class T>
  TENON_HOST_DEVICE static index of(const located<T>& entry) {
    return entry.position;
  }
};
template <class Part, class Target>
struct part_output {
  using part = Part;
  Target target;
};
template <class Part, class Target>
part_output<Part, Target> write_part(const Target& target) {
  return {target};
}

/// How many lines are sorted at a time: neighbours share cache lines, but many long ones would need much memory.
constexpr index rows_at_once(index length) {
  constexpr index most = 16, elements = index{1} << 20;
  return length * most <= elements ? most : length < elements ? elements / length : 1;
}

/// Writes the first entries of rows, `pitch` apart, as many as each output has places.
template <class Entry, int Rank, class... Outputs>
void write_entries(const Entry* entries, index pitch, int axis, const array<index, Rank>& position, index count,
                   const Outputs&... outputs) {
  const auto write = [&]<class Part, class Target>(const part_output<Part, Target>& output) {
    visit_line_block(output.target, axis, position, count, [&](index line, index place, auto& element) {
      element = static_cast<typename Target::element>(Part::of(entries[line * pitch + place]));
    });
  };
  (write(outputs), ...);
}

/// Orders whole rows.
template <bool Descending>
struct order_all {
  static constexpr bool descending = Descending;
};

/// Orders the first `count` entries of rows.
template <bool Descending>
struct order_first {
  static constexpr bool descending = Descending;
  index count;
};

/// Orders entries by the bytes of their keys, the lowest byte first: how often each value of a byte occurs says where
/// the entries with it go. Equal entries stay as they lie; bytes that all keys share are skipped.
template <bool Descending, class Entry>
void order_by_bytes(Entry* entries, Entry* room, index length) {
  const auto byte_of = [](const Entry& entry, int place) {
    return static_cast<index>(order_key<Descending>(entry_value::of(entry)) >> (8 * place) & 255);
  };
  constexpr int bytes = static_cast<int>(sizeof(order_key<Descending>(entry_value::of(*entries))));
  array<array<index, 256>, bytes> counts{};
  for (index i = 0; i < length; ++i) {
    for (int place = 0; place < bytes; ++place) ++counts[place][byte_of(entries[i], place)];
  }
  Entry *from = entries, *to = room;
  for (int place = 0; place < bytes; ++place) {
    auto& places = counts[place];
    if (places[byte_of(*from, place)] == length) continue;
    index before = 0;
    for (index& each : places) before += std::exchange(each, before);
    for (index i = 0; i < length; ++i) to[places[byte_of(from[i], place)]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries) std::copy(from, from + length, entries);
}

/// On the host: copies lines of `source` into rows of entries, orders each, and writes them.
template <class Entry, bool Descending, class Source, class... Outputs>
void order_lines_on_host(const Source& source, int axis, order_all<Descending>, const Outputs&... outputs) {
  using value_type = compute_type<typename Source::element>;
  const index length = source.extent(axis), width = rows_at_once(length);
  const bool is_counted = length >= 32 * static_cast<index>(sizeof(value_type));  // fewer are compared sooner
  for_each_line_block(source.shape().to_array(), axis, width, [&] {
    return [&, rows = storage<Entry, host>(width * length), room = storage<Entry, host>(is_counted ? length : 0)](
               const auto& position, index count) mutable {
      Entry* entries = rows.data();
      visit_line_block(source, axis, position, count, [&](index line, index place, auto element) {
        const auto value = static_cast<value_type>(element);
        if constexpr (std::is_same_v<Entry, value_type>) entries[line * length + place] = value;
        else entries[line * length + place] = {value, place};
      });
      for (index line = 0; line < count; ++line) {
        Entry* const row = entries + line * length;
        if (is_counted) order_by_bytes<Descending>(row, room.data(), length);
        else std::sort(row, row + length, element_order<Descending>{});
      }
      write_entries(entries, length, axis, position, count, outputs...);
    };
  });
}

/// Brings the first `kept` of a line's elements in order to the front of `entries`, of which there are `room`. Once
/// they are full, all but the first `kept` are dropped; the last of these bounds what may come in from then on. In long
/// lines that is little, and vectors see of a whole block that nothing is.
template <bool Descending, class Entry, class T>
void find_first(const T* line, index length, index kept, index room, Entry* entries) {
  using value_type = decltype(Entry::value);
  constexpr element_order<Descending> order;
  constexpr index block = 32;
  for (index place = 0; place < room; ++place) entries[place] = {static_cast<value_type>(line[place]), place};
  index held = room;
  const auto drop_others = [&] {
    std::nth_element(entries, entries + kept - 1, entries + held, order);
    held = kept;
    return entries[kept - 1].value;
  };
  if (room < length) {
    value_type bound = drop_others();
    for (index begin = room; begin < length; begin += block) {
      const index end = begin + block < length ? begin + block : length;
      unsigned_of<static_cast<int>(sizeof(value_type))> may_come_in = end - begin < block;
      for (index i = 0; i < block && end - begin == block; ++i) {
        const auto value = static_cast<value_type>(line[begin + i]);
        may_come_in |= !(Descending ? value <= bound : value >= bound);  // NaN too
      }
      for (index place = begin; may_come_in != 0 && place < end; ++place) {
        const auto value = static_cast<value_type>(line[place]);
        if (!order(value, bound)) continue;  // of equal elements, earlier ones come first
        entries[held++] = {value, place};
        if (held == room) bound = drop_others();
      }
    }
  }
  if (kept < held) std::nth_element(entries, entries + kept, entries + held, order);
  std::sort(entries, entries + kept, order);
}

/// On the host: writes the first elements of each line in order. Lines whose elements lie apart are copied first.
template <class Entry, bool Descending, class Source, class... Outputs>
void order_lines_on_host(const Source& source, int axis, order_first<Descending> first, const Outputs&... outputs) {
  using element = typename Source::element;
  constexpr index least_others = 256;
  const index length = source.extent(axis), kept = first.count, width = rows_at_once(length);
  const index room = 2 * kept + least_others < length ? 2 * kept + least_others : length;
  const index across = source.strides()[beside_axis(Source::rank, axis)];
  const bool is_copied = source.strides()[axis] != 1;
  if (kept == 0) return;
  for_each_line_block(source.shape().to_array(), axis, width, [&] {
    return [&, rows = storage<Entry, host>(width * room),
            copies = storage<element, host>(is_copied ? width * length : 0)](const auto& position,
                                                                             index count) mutable {
      const element* from = is_copied ? copies.data() : source.data() + source.offset(position);
      if (is_copied) {
        visit_line_block(source, axis, position, count,
                         [&](index line, index place, element each) { copies.data()[line * length + place] = each; });
      }
      for (index line = 0; line < count; ++line, from += is_copied ? length : across) {
        find_first<Descending>(from, length, kept, room, rows.data() + line * room);
      }
      write_entries(rows.data(), room, axis, position, count, outputs...);
    };
  });
}

/// Keys of the elements of lines.
template <bool Descending, class Source, class Key>
struct key_of_number {
  Source source;
  Key* keys;
  TENON_HOST_DEVICE void operator()(index number) const { keys[number] = order_key<Descending>(source[number]); }
};

/// Writes the entry at each place of the lines of an output, as many from each line as the output has places.
template <class Part, class Source, class Target>
struct ordered_output {
  Source source;
  Target target;
  const index* numbers;
  index length, kept;
  TENON_HOST_DEVICE void operator()(index number) const {
    using value_type = compute_type<typename Source::element>;
    const index line = number / kept, element = numbers[line * length + number - line * kept];
    const located<value_type> entry{static_cast<value_type>(source[element]), element - line * length};
    target[number] = static_cast<typename Target::element>(Part::of(entry));
  }
};

/// On a device: all lines are ordered whole, by keys.
template <bool Descending, class Source, class... Outputs>
void order_lines_on_device(const Source& source, int axis, const Outputs&... outputs) {
  using space = typename Source::space;
  const index count = source.size(), length = source.extent(axis);
  if (count == 0) return;
  const auto elements = line_by_line(source, axis);
  using elements_type = std::remove_const_t<decltype(elements)>;
  using key = decltype(order_key<Descending>(typename Source::element{}));
  storage<key, space> keys(count);
  for_each_number<space>(count, 1, key_of_number<Descending, elements_type, key>{elements, keys.data()});
  const auto sorted = device_passes<space>::sort_lines(std::move(keys), count / length, length);
  const auto write = [&]<class Part, class Target>(const part_output<Part, Target>& output) {
    const auto target = line_by_line(output.target, axis);
    using target_type = std::remove_const_t<decltype(target)>;
    for_each_number<space>(output.target.size(), 1,
                           ordered_output<Part, elements_type, target_type>{elements, target, sorted.data(), length,
                                                                            output.target.extent(axis)});
  };
  (write(outputs), ...);
}

/// Orders each line and writes its first entries, as many as an output has places.
template <class Entry, class Source, class Order, class... Outputs>
void order_lines(const Source& source, int axis, const Order& order, const Outputs&... outputs) {
  if constexpr (Source::space::host_accessible) order_lines_on_host<Entry>(source, axis, order, outputs...);
  else order_lines_on_device<Order::descending>(source, axis, outputs...);
}

/// The values or the positions of the elements in order.
template <class Part, class Operand, int Axis>
auto ordered(const char* name, Operand&& operand, axis_list<Axis> axes, sort_options options) {
  const auto source = as_read(name, std::forward<Operand>(operand));
  using leaf = std::remove_cvref_t<decltype(source)>;
  using value_type = compute_type<typename leaf::element>;
  constexpr bool is_value = std::is_same_v<Part, entry_value>;
  constexpr int along = only_axis<leaf::shape_type::rank>(axes);
  using element = std::conditional_t<is_value, typename leaf::element, index>;
  using entry = std::conditional_t<is_value, value_type, located<value_type>>;
  tensor<element, typename leaf::shape_type, algorithm_space<Operand>> result(source.shape());
  const auto output = write_part<Part>(result.write_view());
  if (options.descending) order_lines<entry>(source.view(), along, order_all<true>{}, output);
  else order_lines<entry>(source.view(), along, order_all<false>{}, output);
  return result;
}

}  // namespace detail

/// The algorithm of a sort within an expression: positions of the first elements in order, as many as the target has.
template <int Axis>
struct order_algorithm {
  static constexpr const char* name = "argsort";
  bool is_descending;

  bool operator==(const order_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    using entry = located<compute_type<typename Operand::element>>;
    const auto source = as_read(name, operand);
    const auto positions = detail::write_part<detail::entry_position>(target);
    const index count = target.extent(Axis);
    if (is_descending) detail::order_lines<entry>(source.view(), Axis, detail::order_first<true>{count}, positions);
    else detail::order_lines<entry>(source.view(), Axis, detail::order_first<false>{count}, positions);
  }
};

namespace detail {

/// The first elements of lines in order, as an expression that chooses them by position, with the gradient of `take`.
template <int Axis, class Node, class Shape>
auto ordered_expression(const Node& operand, const Shape& extents, bool is_descending) {
  const auto positions = make_own_pass<index>(order_algorithm<Axis>{is_descending}, extents, operand);
  const auto values = make_remap(take_map<Axis, 1>{operand.shape().extent(Axis)}, extents, operand, positions);
  return values_and_indices<std::remove_const_t<decltype(values)>, std::remove_const_t<decltype(positions)>>{values,
                                                                                                             positions};
}

/// The first elements of lines in order and their positions, as many as the extents have places.
template <int Axis, class Operand, class Shape>
auto first_ordered(Operand&& operand, const Shape& extents, bool is_descending) {
  const auto source = as_read("topk", std::forward<Operand>(operand));
  using element = typename node_of<Operand>::element;
  using entry = located<compute_type<element>>;
  using space = algorithm_space<Operand>;
  using values_type = tensor<element, Shape, space>;
  using indices_type = tensor<index, Shape, space>;
  values_and_indices<values_type, indices_type> result{values_type(extents), indices_type(extents)};
  const index count = extents.extent(Axis);
  if (count == 0) return result;
  const auto values = write_part<entry_value>(result.values.write_view());
  const auto positions = write_part<entry_position>(result.indices.write_view());
  if (is_descending) order_lines<entry>(source.view(), Axis, order_first<true>{count}, values, positions);
  else order_lines<entry>(source.view(), Axis, order_first<false>{count}, values, positions);
  return result;
}

}  // namespace detail

/// The elements in ascending order along the axis. NaN is greater than every number: last, or first when descending.
/// extents   those of the operand
/// cost      O(n) for each byte in which elements of a line differ, in lines of 32 elements a byte or more, O(n log n)
///           in shorter ones; threads share the lines, each of which is sorted by one thread; on a device,
///           blocks sort lines of at most 2048 elements of at most 4 bytes, and CUB's radix sort all others, by
///           elements and then by lines, with 24 bytes and two keys of memory for each element
/// gradient  for an operand with variables the result is an expression, which chooses elements by their positions
/// example   y = sort(x, axis<-1>, {.descending = true});
template <tensor_operand Operand, int Axis>
auto sort(Operand&& operand, axis_list<Axis> axes, sort_options options = {}) {
  if constexpr (depends_on<any_variable, node_of<Operand>>) {
    constexpr int along = only_axis<node_of<Operand>::shape_type::rank>(axes);
    return detail::ordered_expression<along>(as_node(operand), operand.shape(), options.descending).values;
  } else {
    return detail::ordered<detail::entry_value>("sort", std::forward<Operand>(operand), axes, options);
  }
}

/// The positions along the axis, int64, of the elements in order; equal elements stay in the order of their positions.
/// extents   those of the operand
/// cost      as sort
/// example   const auto order = argsort(x, axis<-1>);
template <tensor_operand Operand, int Axis>
auto argsort(Operand&& operand, axis_list<Axis> axes, sort_options options = {}) {
  return detail::ordered<detail::entry_position>("argsort", std::forward<Operand>(operand), axes, options);
}

/// The `count` greatest (or least) elements along the axis, in order, and their positions, int64; of equal elements the
/// one at the lower position comes first. NaN is greater than every number.
/// extents   `count` along the axis, those of the operand elsewhere
/// throws    shape_error when the axis has fewer than `count` elements
/// cost      O(n + count log count) for each line; on a device that of sort
/// gradient  as of sort: `values` and `indices` are expressions then
/// example   const auto [values, places] = topk(scores, 5, axis<-1>);
template <tensor_operand Operand, int Axis>
auto topk(Operand&& operand, index count, axis_list<Axis> axes, topk_options options = {}) {
  using node = node_of<Operand>;
  constexpr int along = only_axis<node::shape_type::rank>(axes);
  const auto whole = operand.shape();
  if (count < 0 || count > whole.extent(along)) {
    throw shape_error(compose_text("topk: axis ", along, ": ", count, " elements, expected at least 0 and at most ",
                                   whole.extent(along), " (operand ", whole.to_array(), ")"));
  }
  const auto extents = with_extent<along>(whole, count);
  if constexpr (depends_on<any_variable, node>) {
    return detail::ordered_expression<along>(as_node(operand), extents, options.largest);
  } else {
    return detail::first_ordered<along>(std::forward<Operand>(operand), extents, options.largest);
  }
}

}  // namespace tenon
