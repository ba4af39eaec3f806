// tenon/algorithms/quantile.hpp: the median, and other values below which a share of the elements lies.
// On the host a line is ordered only as far as the value asks for; a device sorts it.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/algorithms/sort.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/split.hpp>
#include <type_traits>

namespace tenon {

namespace detail {

/// The element type of quantiles: floating elements keep theirs, others have float.
template <class T>
using quantile_element = std::conditional_t<is_floating<T>, T, float>;

/// Where a quantile lies among the elements of a line in order: `share` of the way from one to the next.
struct quantile_place {
  index below, above;
  double share;
};

/// throws    index_error for a share that is not between 0 and 1; shape_error for lines without an element
template <int Count, int Rank>
array<quantile_place, Count> quantile_places(const char* name, int axis, const array<index, Rank>& extents,
                                             const double* shares) {
  const index length = extents[axis];
  if (length == 0) {
    throw shape_error(compose_text(name, ": axis ", axis, ": extent 0, expected at least 1 (operand ", extents, ")"));
  }
  array<quantile_place, Count> places{};
  for (int i = 0; i < Count; ++i) {
    if (!(shares[i] >= 0 && shares[i] <= 1)) {
      throw index_error(compose_text(name, ": share ", shares[i], ", expected at least 0 and at most 1"));
    }
    const double position = shares[i] * static_cast<double>(length - 1);
    const auto below = static_cast<index>(position);
    const double share = position - static_cast<double>(below);
    places[i] = {below, share > 0 ? below + 1 : below, share};
  }
  return places;
}

/// The quantile of a line of entries, which are brought in order as far as it asks for. NaN in the line gives NaN.
template <class Number, class Entry>
Number quantile_of_line(Entry* entries, index length, const quantile_place& place) {
  if constexpr (is_floating<Entry>) {
    bool has_nan = false;
    for (index i = 0; i < length; ++i) has_nan |= entries[i] != entries[i];
    if (has_nan) return std::numeric_limits<Number>::quiet_NaN();
  }
  Entry* const chosen = entries + place.below;
  std::nth_element(entries, chosen, entries + length);
  const auto below = static_cast<Number>(*chosen);
  if (place.above == place.below) return below;
  const auto above = static_cast<Number>(*std::min_element(chosen + 1, entries + length));
  return below == above ? below : below + (above - below) * static_cast<Number>(place.share);  // of infinities, too
}

/// On the host: copies lines of `source` into rows, and writes the quantiles of each.
template <class Source, class Target, int Count>
void write_quantiles(const Source& source, int axis, const array<quantile_place, Count>& places, const Target& target) {
  using entry = compute_type<typename Source::element>;
  using number = compute_type<typename Target::element>;
  const index length = source.extent(axis), width = rows_at_once(length);
  for_each_line_block(source.shape().to_array(), axis, width, [&] {
    return [&, rows = storage<entry, host>(width * length)](const auto& position, index count) mutable {
      visit_line_block(source, axis, position, count, [&](index line, index place, auto element) {
        rows.data()[line * length + place] = static_cast<entry>(element);
      });
      visit_line_block(target, axis, position, count, [&](index line, index place, auto& element) {
        element = static_cast<typename Target::element>(
            quantile_of_line<number>(rows.data() + line * length, length, places[static_cast<int>(place)]));
      });
    };
  });
}

/// The quantiles of lines in order, as an expression of their elements.
template <int Axis, class Space, class Sorted, int Count>
auto quantiles_of_sorted(const Sorted& sorted, const array<quantile_place, Count>& places) {
  using element = quantile_element<typename Sorted::element>;
  constexpr int behind = Sorted::shape_type::rank - 1 - Axis;
  using positions = tensor<index, shape<Count>>;
  positions below, above;
  tensor<element, shape<Count>> shares;
  for (int i = 0; i < Count; ++i) {
    below.data()[i] = places[i].below;
    above.data()[i] = places[i].above;
    shares.data()[i] = static_cast<element>(static_cast<compute_type<element>>(places[i].share));
  }
  const auto at = [&](const positions& chosen) {
    return cast<element>(take(sorted, trusted(chosen.template to<Space>()), axis<Axis>));
  };
  const auto low = at(below), high = at(above);
  const auto share = with_unit_axes<behind>(as_node(shares.template to<Space>()));
  const auto last = cast<element>(narrow(sorted, axis<Axis>, sorted.shape().extent(Axis) - 1, 1));
  return where(isnan(last), std::numeric_limits<float>::quiet_NaN(),
               where(low == high, low, low + (high - low) * share));
}

/// Which axis quantiles lie along: `axis<0>`, or `drop<0>`, which goes.
template <int Axis>
constexpr axis_list<Axis> axis_of_lines(axis_list<Axis>) {
  return {};
}
template <int Axis>
constexpr axis_list<Axis> axis_of_lines(dropped_axes<Axis>) {
  return {};
}

/// The quantiles of the lines along an axis, side by side in its place. Where that is dropped, there is only one.
template <int Count, class Operand, class Axes>
auto quantiles(const char* name, Operand&& operand, const double* shares, Axes axes) {
  using node = node_of<Operand>;
  using space = algorithm_space<Operand>;
  using element = quantile_element<typename node::element>;
  static_assert(!is_complex<typename node::element> || must_hold<node>, "tenon: complex numbers have no order");
  constexpr int rank = node::shape_type::rank, along = only_axis<rank>(axis_of_lines(axes));
  const auto places = quantile_places<Count>(name, along, operand.shape().to_array(), shares);
  const auto seen = [](auto&& lines) {
    if constexpr (drops_axes<Axes>) return squeeze(std::forward<decltype(lines)>(lines), axis<along>);
    else return std::forward<decltype(lines)>(lines);
  };
  if constexpr (depends_on<any_variable, node>) {
    return seen(quantiles_of_sorted<along, space>(sort(std::forward<Operand>(operand), axis<along>), places));
  } else {
    const auto extents = with_extent<along, Count>(operand.shape(), Count);
    using line_shape = std::remove_const_t<decltype(extents)>;
    using result_shape = typename std::conditional_t<drops_axes<Axes>, reduced_shape<Axes, line_shape>,
                                                     std::type_identity<line_shape>>::type;
    tensor<element, result_shape, space> result([&] {
      if constexpr (drops_axes<Axes>) return result_shape(reduced_extents<Axes>(extents.to_array()));
      else return extents;
    }());
    if constexpr (space::host_accessible) {
      write_quantiles(as_read(name, std::forward<Operand>(operand)).view(), along, places,
                      view<element, line_shape, space>(result.data(), extents));
    } else {
      const auto sorted = sort(std::forward<Operand>(operand), axis<along>);
      result = seen(quantiles_of_sorted<along, space>(as_node(sorted), places));
    }
    return result;
  }
}

/// One quantile of all elements, as a number.
template <class Operand>
auto quantile_of_all(const char* name, Operand&& operand, double share) {
  using node = node_of<Operand>;
  const rank<1> count(operand.shape().count());
  const auto of_line = [&](const auto& line) { return sum(quantiles<1>(name, line, &share, axis<0>), drop<0>); };
  if constexpr (depends_on<any_variable, node>) {
    return of_line(reshape(as_node(std::forward<Operand>(operand)), count));
  } else {  // a view may have no line of its own
    const tensor<typename node::element, typename node::shape_type, algorithm_space<Operand>> whole(operand);
    return of_line(reshape(whole, count));
  }
}

/// One quantile of each line, without the axis: of a vector, a number.
template <class Operand, int Axis>
auto quantile_without_axis(const char* name, Operand&& operand, double share, dropped_axes<Axis> axes) {
  if constexpr (node_of<Operand>::shape_type::rank == 1 && axes_exist<1>(axis_list<Axis>{})) {
    return quantile_of_all(name, std::forward<Operand>(operand), share);
  } else {
    return quantiles<1>(name, std::forward<Operand>(operand), &share, axes);
  }
}

}  // namespace detail

/// The value below which `share` of the elements along the axis lie: between two elements in order, on the line from
/// one to the other, as NumPy has it. NaN where one element is NaN.
/// extents   the operand's, 1 along the axis; `drop<0>` leaves the axis out, as for sums
/// types     floating elements keep theirs; integers give float
/// throws    index_error for a share that is not between 0 and 1; shape_error when the axis has no element
/// cost      O(n) for each line, shared among threads; on a device that of sort
/// gradient  for an operand with variables the result is an expression of its two elements
/// example   const auto quarter = quantile(x, 0.25, axis<0>);
template <tensor_operand Operand, int Axis>
auto quantile(Operand&& operand, double share, axis_list<Axis> axes) {
  return detail::quantiles<1>("quantile", std::forward<Operand>(operand), &share, axes);
}
template <tensor_operand Operand, int Axis>
auto quantile(Operand&& operand, double share, dropped_axes<Axis> axes) {
  return detail::quantile_without_axis("quantile", std::forward<Operand>(operand), share, axes);
}
/// Several quantiles, side by side along the axis.
/// example   const auto quartiles = quantile(x, {0.25, 0.5, 0.75}, axis<0>);
template <tensor_operand Operand, std::size_t Count, int Axis>
auto quantile(Operand&& operand, const double (&shares)[Count], axis_list<Axis> axes) {
  return detail::quantiles<static_cast<int>(Count)>("quantile", std::forward<Operand>(operand), shares, axes);
}
/// They stand along the axis, so it cannot be dropped.
template <tensor_operand Operand, std::size_t Count, int Axis>
void quantile(Operand&&, const double (&)[Count], dropped_axes<Axis>) {
  static_assert(must_hold<dropped_axes<Axis>>,
                "tenon: several quantiles stand side by side along their axis, which stays: quantile(x, {0.2, 0.8}, "
                "axis<0>)");
}
/// The same of all elements: a number.
/// example   const float most = quantile(x, 0.99);
template <tensor_operand Operand>
auto quantile(Operand&& operand, double share) {
  return detail::quantile_of_all("quantile", std::forward<Operand>(operand), share);
}

/// The value in the middle of the elements along the axis; of an even number the mean of the two, as in NumPy
/// (PyTorch gives the lower one). `quantile` at 0.5.
/// example   const auto middle = median(x, axis<-1>);
///           const tensor<float, rank<1>> middles = median(x, drop<0>);
template <tensor_operand Operand, int Axis>
auto median(Operand&& operand, axis_list<Axis> axes) {
  const double half_way = 0.5;
  return detail::quantiles<1>("median", std::forward<Operand>(operand), &half_way, axes);
}
template <tensor_operand Operand, int Axis>
auto median(Operand&& operand, dropped_axes<Axis> axes) {
  return detail::quantile_without_axis("median", std::forward<Operand>(operand), 0.5, axes);
}
/// The same of all elements: a number.
/// example   const float middle = median(x);
template <tensor_operand Operand>
auto median(Operand&& operand) {
  return detail::quantile_of_all("median", std::forward<Operand>(operand), 0.5);
}

}  // namespace tenon
