// tenon/io/mdspan.hpp: mdspans as views, and views as mdspans, without a copy.
// Any class with the interface of std::mdspan will do: the standard's, Kokkos' or cuda::std::mdspan.
// Floor 2: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <tenon/core/view.hpp>
#include <utility>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif

namespace tenon::io {

/// Whether a class has the interface of std::mdspan.
template <class Span>
concept mdspan_type = requires(const Span& span) {
  typename Span::element_type;
  typename Span::extents_type;
  typename Span::layout_type;
  typename Span::mapping_type;
  typename Span::accessor_type;
  span.data_handle();
  span.mapping();
  Span::static_extent(0);
};

namespace detail {

/// Whether the elements of `Span` lie where a plain pointer points.
template <class Span>
inline constexpr bool has_plain_elements =
    std::is_same_v<typename Span::data_handle_type, typename Span::element_type*> &&
    std::is_same_v<typename Span::reference, typename Span::element_type&>;

template <class Span>
constexpr index static_extent_of(std::size_t axis) {
  constexpr auto run_time = static_cast<std::size_t>(-1);
  return Span::static_extent(axis) == run_time ? dyn : static_cast<index>(Span::static_extent(axis));
}

template <class Span>
constexpr auto shape_of_mdspan() {
  return []<std::size_t... Axis>(std::index_sequence<Axis...>) {
    return std::type_identity<shape<static_extent_of<Span>(Axis)...>>{};
  }(std::make_index_sequence<Span::rank()>{});
}

template <class Span, class Shape>
constexpr bool extents_agree() {
  if constexpr (static_cast<int>(Span::rank()) != Shape::rank) {
    return false;
  } else {
    return shapes_agree<typename decltype(shape_of_mdspan<Span>())::type, Shape>();
  }
}

/// The extents of a view as those of an mdspan. Checks that they fit, which an mdspan does not.
template <class Span, class View>
auto extents_for(const View& elements) {
  using extents_type = typename Span::extents_type;
  array<typename Span::index_type, View::rank> extents{};
  for (int axis = 0; axis < View::rank; ++axis) {
    const index expected = static_extent_of<Span>(static_cast<std::size_t>(axis)), extent = elements.extent(axis);
    if (expected != dyn && expected != extent) {
      throw shape_error(compose_text("to_mdspan: axis ", axis, ": extent ", extent, ", expected ", expected,
                                     " (extents ", elements.shape().to_array(), ")"));
    }
    if (!std::in_range<typename Span::index_type>(extent)) {
      throw shape_error(compose_text("to_mdspan: axis ", axis, ": extent ", extent,
                                     ", expected one that the index type of the mdspan holds"));
    }
    extents[axis] = static_cast<typename Span::index_type>(extent);
  }
  return [&]<int... Axis>(std::integer_sequence<int, Axis...>) {
    return extents_type(extents[Axis]...);
  }(std::make_integer_sequence<int, View::rank>{});
}

/// How many elements lie from the first of a view to its last, both included.
template <class View>
index span_of(const View& elements) {
  if (elements.size() == 0) return 0;
  index reach = 1;
  for (int axis = 0; axis < View::rank; ++axis) reach += (elements.extent(axis) - 1) * elements.strides()[axis];
  return reach;
}

/// Refuses a view whose addresses the index type of an mdspan cannot count; mappings multiply in that type, unchecked.
template <class Span, class View>
void check_span(const View& elements) {
  const index span = std::max(span_of(elements), elements.size());
  if (!std::in_range<typename Span::index_type>(span)) {
    throw shape_error(compose_text("to_mdspan: extents ", elements.shape().to_array(), ", strides ", elements.strides(),
                                   ": a span of ", span,
                                   " elements, expected one that the index type of the mdspan holds"));
  }
}

/// The least stride of an axis behind the elements of all axes of strides up to `stride`.
template <class View>
index least_stride(const View& elements, int axis, index stride) {
  index least = 1;
  for (int other = 0; other < View::rank && elements.size() != 0; ++other) {
    const index extent = elements.extent(other), step = elements.strides()[other];
    if (other != axis && extent > 1 && step <= stride) least = std::max(least, step * extent);
  }
  return least;
}

/// Refuses a view with axes that go back or overlap: an mdspan has positive strides, and an element at one place alone.
template <class View>
void check_apart(const View& elements) {
  for (int axis = 0; axis < View::rank; ++axis) {
    const index stride = elements.strides()[axis], least = least_stride(elements, axis, std::max(stride, index{1}));
    if (stride < least && elements.extent(axis) > 1 && elements.size() != 0) {
      throw shape_error(compose_text("to_mdspan: axis ", axis, ": stride ", stride, ", expected at least ", least,
                                     " in an mdspan; copy the view"));
    }
  }
}

/// Strides for a layout that takes any. Those of axes of one element, or of a view without elements, do not matter, but
/// have to be positive, and apart.
template <class Strides, class View>
Strides strides_for(const View& elements) {
  using stride_type = typename Strides::value_type;
  Strides strides{};
  for (int axis = 0; axis < View::rank; ++axis) {
    const index stride = elements.strides()[axis];
    const bool is_kept = stride > 0 && std::in_range<stride_type>(stride);
    const index least = least_stride(elements, axis, is_kept ? stride : std::numeric_limits<index>::max());
    const index apart = is_kept ? std::max(stride, least) : least;
    strides[static_cast<std::size_t>(axis)] = std::in_range<stride_type>(apart) ? static_cast<stride_type>(apart) : 1;
  }
  return strides;
}

/// Refuses a view whose elements do not lie as a mapping has them.
template <class Mapping, class View>
void check_strides(const Mapping& mapping, const View& elements) {
  for (int axis = 0; axis < View::rank; ++axis) {
    const auto expected = static_cast<index>(mapping.stride(static_cast<typename Mapping::rank_type>(axis)));
    if (elements.extent(axis) > 1 && elements.size() != 0 && elements.strides()[axis] != expected) {
      throw shape_error(compose_text("to_mdspan: axis ", axis, ": stride ", elements.strides()[axis], ", expected ",
                                     expected, " of the mdspan's layout; layout_stride takes any"));
    }
  }
}

template <class Span, class View>
auto mapping_for(const View& elements) {
  using mapping_type = typename Span::mapping_type;
  const auto extents = extents_for<Span>(elements);
  check_span<Span>(elements);
  check_apart(elements);
  if constexpr (View::rank == 0) {
    return mapping_type{};
  } else if constexpr (requires(const mapping_type& mapping) { mapping.strides(); }) {
    using strides_type = std::remove_cvref_t<decltype(std::declval<const mapping_type&>().strides())>;
    return mapping_type(extents, strides_for<strides_type>(elements));
  } else {
    const mapping_type mapping(extents);
    check_strides(mapping, elements);
    return mapping;
  }
}

}  // namespace detail

/// The elements of an mdspan as a view; static extents stay static. Spans of const elements are read only. `Space` says
/// where they lie, for spans of a device.
/// types     any layout with strides; an accessor that is a plain pointer, as std::default_accessor
/// example   y = sum(from_mdspan(span), axis<0>);
template <memory_space Space = host, mdspan_type Span>
auto from_mdspan(const Span& span) {
  static_assert(detail::has_plain_elements<Span> || must_hold<Span>,
                "tenon: the accessor of this mdspan hands out no plain elements; copy them, or use default_accessor");
  static_assert(Span::is_always_strided() || must_hold<Span>,
                "tenon: the layout of this mdspan has no strides; copy its elements");
  using shape_type = typename decltype(detail::shape_of_mdspan<Span>())::type;
  array<index, shape_type::rank> extents{}, strides{};
  for (int axis = 0; axis < shape_type::rank; ++axis) {
    const auto place = static_cast<typename Span::rank_type>(axis);
    extents[axis] = static_cast<index>(span.extents().extent(place));
    if constexpr (shape_type::rank > 0) strides[axis] = static_cast<index>(span.mapping().stride(place));
  }
  return view<typename Span::element_type, shape_type, Space>(span.data_handle(), shape_type(extents), strides);
}

/// A view as the mdspan `Span`, whose static extents and layout it must have.
/// throws    shape_error naming the axis, the extent or stride that it has and the expected one; or the span of the
///           elements where the index type of the mdspan is too narrow for it
/// example   auto span = to_mdspan<std::mdspan<float, std::extents<int, std::dynamic_extent, 3>>>(x.view());
template <mdspan_type Span, class T, class Shape, class Space>
Span to_mdspan(const view<T, Shape, Space>& elements) {
  static_assert(std::is_convertible_v<T(*)[], typename Span::element_type(*)[]> || must_hold<T, Span>,
                "tenon: the mdspan has other elements than the view, or would write what is read only");
  static_assert(detail::extents_agree<Span, Shape>() || must_hold<Shape, typename Span::extents_type>,
                "tenon: the mdspan has another rank or other static extents than the view");
  return Span(elements.data(), detail::mapping_for<Span>(elements));
}

#if defined(__cpp_lib_mdspan)
namespace detail {
template <index... Extents>
using extents_of_shape =
    std::extents<index, (Extents == dyn ? std::dynamic_extent : static_cast<std::size_t>(Extents))...>;
template <class T, class Space, index... Extents>
auto standard_mdspan(const view<T, shape<Extents...>, Space>&)
    -> std::mdspan<T, extents_of_shape<Extents...>, std::layout_stride>;
}  // namespace detail

/// A view as a std::mdspan of its strides; static extents stay static.
template <class T, class Shape, class Space>
auto to_mdspan(const view<T, Shape, Space>& elements) {
  return to_mdspan<decltype(detail::standard_mdspan(elements))>(elements);
}
#endif

}  // namespace tenon::io
