// tenon/core/view.hpp: a non-owning, strided window onto elements.
// Assigning to a view writes its elements; copying a view copies the window.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <tenon/base/dtype.hpp>
#include <tenon/core/assign.hpp>
#include <tenon/core/extents.hpp>
#include <tenon/core/layout.hpp>
#include <tenon/core/noalias.hpp>
#include <tenon/core/space.hpp>
#include <tenon/core/strided_iterator.hpp>
#include <type_traits>
#include <utility>
#if TENON_CHECKED != 0
#include <tenon/core/dead_storage.hpp>
#endif

namespace tenon {

namespace detail {
/// An index; what has a fraction is none.
template <class Index>
TENON_INLINE constexpr index whole_index(const Index& given) {
  static_assert(!is_floating<Index> || must_hold<Index>, "tenon: an index is a whole number; cast it, index(x)");
  return static_cast<index>(given);
}

/// What `whole[position]` is, by expr/views/select.hpp and slice.hpp.
template <class Whole, class Position>
constexpr auto subscript(Whole&& whole, const Position& position) {
  constexpr bool is_position = std::convertible_to<Position, index>, is_part = !requires { position.shape(); };
  static_assert(is_position || is_part || must_hold<Position>,
                "tenon: x[x > 0] = 0 is written x = where(x > 0, 0, x), and x[indices] take(x, indices, axis<0>)");
  if constexpr (!is_position) return slice(std::forward<Whole>(whole), position);
  else return select(std::forward<Whole>(whole), axis<0>, static_cast<index>(position));
}

/// What `whole(parts...)` is where the parts are not all positions, by expr/views/select.hpp.
template <class Whole, class... Parts>
constexpr auto subscripts(Whole&& whole, const Parts&... parts) {
  constexpr bool are_parts = !(requires { parts.shape(); } || ...);
  static_assert(are_parts || must_hold<Parts...>,
                "tenon: x(i, j) takes positions and ranges; elements of indices are take(x, indices, axis<0>)");
  return select(std::forward<Whole>(whole), parts...);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_position(int axis, index position, extents_view extents) {
  throw index_error(compose_text("select: axis ", axis, ": position ", position, ", expected within the extent ",
                                 extents[axis], " (operand ", extents, ")"));
}
template <int Rank>
TENON_INLINE constexpr index checked_position(int axis, index position, const array<index, Rank>& extents) {
  const index place = position < 0 ? position + extents[axis] : position;
  using count = std::make_unsigned_t<index>;
  if (static_cast<count>(place) >= static_cast<count>(extents[axis])) {  // a negative one is greater, too
    const array<index, Rank> all = extents;  // a copy that is made here only: those of loops stay in registers
    refuse_position(axis, position, {all.begin(), Rank});
  }
  return place;
}

template <index First, index... Rest>
TENON_INLINE constexpr shape<Rest...> behind_first_axis(const shape<First, Rest...>& extents) {
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return shape<Rest...>::of_known(array<index, shape<Rest...>::rank>{{extents.extent(I + 1)...}});
  }(std::make_integer_sequence<int, shape<Rest...>::rank>{});
}

template <class T>
inline constexpr bool is_unknown_complex = requires(const T& each) { each.real() + each.imag(); } && !dtype<T>;
/// Says which elements need a header. Compilers read default arguments before they check constraints.
template <class T>
struct element_of_tensor {
  static_assert(!is_unknown_complex<T> || must_hold<T>,
                "tenon: complex elements need <tenon/expr/operations/complex.hpp>");
  static constexpr bool is_told = true;
};
}  // namespace detail

/// Values side by side that are no tensor: those of a vector, a span or an array.
template <class Values>
concept contiguous_values = requires(Values& values) {
  requires dtype<std::remove_cvref_t<decltype(*values.data())>> && std::is_integral_v<decltype(values.size())>;
} && !requires(Values& values) { values.extent(0); };

namespace detail {
/// A class of a few elements of type T and nothing else: std::array, or a tensor in place (core/tensor.hpp).
template <class Block>
struct block_elements;
template <template <class, std::size_t> class Array, dtype T, std::size_t Count>
  requires(sizeof(Array<T, Count>) == Count * sizeof(T))
struct block_elements<Array<T, Count>> {
  using element = T;
  using shape_type = shape<static_cast<index>(Count)>;
};

/// The shape of several blocks, one behind the other.
template <class Block>
struct shape_of_blocks;
template <index... Extents>
struct shape_of_blocks<shape<Extents...>> {
  using type = shape<dyn, Extents...>;
};

template <class Values>
using block_of_values = std::remove_cvref_t<decltype(*std::declval<Values&>().data())>;
template <class Values>
using blocks_shape = typename shape_of_blocks<typename block_elements<block_of_values<Values>>::shape_type>::type;

/// The type of the elements of blocks; const where these are.
template <class Values, class Block = std::remove_reference_t<decltype(*std::declval<Values&>().data())>>
using element_of_blocks =
    std::conditional_t<std::is_const_v<Block>, const typename block_elements<std::remove_cv_t<Block>>::element,
                       typename block_elements<std::remove_cv_t<Block>>::element>;
template <class Values>
auto elements_of_blocks(Values& values) {
  return reinterpret_cast<element_of_blocks<Values>*>(values.data());
}
}  // namespace detail

/// Blocks of a few elements side by side: a vector, span or array of `std::array<float, 3>` or of tensors in place.
template <class Values>
concept contiguous_blocks = requires(Values& values) {
  typename detail::blocks_shape<Values>;
  requires std::is_integral_v<decltype(values.size())>;
} && !requires(Values& values) { values.extent(0); };

namespace detail {
/// What is no operand itself, but a view of it is.
template <class Values>
concept holds_values = contiguous_values<const Values> || contiguous_blocks<const Values>;
}  // namespace detail

/// `Shape` elements at `data`, `strides` elements apart along each axis. `const T` elements are read only.
/// Element access is checked when TENON_CHECKED is 1, and always by `at`; then views of freed storage are found too.
template <class T, shape_type Shape, memory_space Space = host>
class view {
 public:
  using element = std::remove_const_t<T>;
  using value_type = element;  ///< what containers call it
  using shape_type = Shape;
  using space = Space;
  static constexpr int rank = Shape::rank;

  TENON_INLINE constexpr view(T* data, const Shape& shape)
      : data_(data), shape_(shape), strides_(row_major_strides(shape.to_array())) {}
  /// Strides are copied one by one: where compilers copy them together, they wait for those that were just written.
  TENON_INLINE constexpr view(T* data, const Shape& shape, const array<index, rank>& strides)
      : data_(data), shape_(shape), strides_{} {
    for (int axis = 0; axis < rank; ++axis) strides_[axis] = strides[axis];
  }
  view(const view&) = default;
  /// A view that only reads, or whose shape has the same rank and knows more extents, or fewer.
  /// throws    shape_error where they differ
  template <class U, class Other>
    requires(std::is_convertible_v<U (*)[], T (*)[]> && shapes_agree<Shape, Other>() &&
             !std::is_same_v<view<U, Other, Space>, view>)
  constexpr view(const view<U, Other, Space>& other) : view(other.data(), Shape(other.shape()), other.strides()) {}
  /// A view of a tensor.
  template <class Tensor>
    requires requires(Tensor& whole) { requires std::is_convertible_v<decltype(whole.view()), view>; }
  constexpr view(Tensor&& whole TENON_LIFETIMEBOUND) : view(whole.view()) {}
  /// A view of the values of a vector, a span or an array: `view<float, rank<1>> x(values)`, `view x(values)`.
  template <contiguous_values Values>
    requires(rank == 1)
  constexpr explicit view(Values&& values) : view(values.data(), Shape(static_cast<index>(values.size()))) {}
  /// A view of the elements of blocks, `std::vector<std::array<float, 3>>`: `view<float, shape<dyn, 3>> x(points)`.
  template <contiguous_blocks Values>
    requires(shapes_agree<Shape, detail::blocks_shape<Values>>())
  explicit view(Values&& values)
      : view(detail::elements_of_blocks(values),
             Shape(detail::blocks_shape<Values>(static_cast<index>(values.size())))) {}
  template <class U, std::size_t Count>
    requires(rank == 1 && std::is_convertible_v<U (*)[], T (*)[]>)
  constexpr explicit view(U (&values)[Count]) : view(values, Shape(static_cast<index>(Count))) {}

  constexpr const view& operator=(const view& other) const { return assign(other); }
  template <class Expression>
    requires(!std::is_same_v<std::remove_cvref_t<Expression>, view>)
  constexpr const view& operator=(const Expression& expression) const {
    static_assert(!detail::holds_values<Expression> || must_hold<Expression>,
                  "tenon: a vector, span or array is assigned through a view of it, x = view(values)");
    return assign(expression);
  }
  /// `x.noalias() = e` writes without a temporary: e must read no element of x but the one that is written.
  /// throws    storage_error where TENON_CHECKED is 1 and it does
  constexpr unaliased<view> noalias() const { return unaliased<view>(*this); }

  constexpr const Shape& shape() const { return shape_; }
  constexpr index extent(int axis) const { return shape_.extent(axis); }
  constexpr index size() const { return shape_.count(); }
  constexpr const array<index, rank>& strides() const { return strides_; }
  constexpr T* data() const { return data_; }

  template <std::convertible_to<index>... Indices>
  constexpr T& operator()(Indices... indices) const {
    static_assert(Space::host_accessible || must_hold<Space>,
                  "tenon: the host reads elements of this space after a copy, x.to<tenon::host>(), and writes them by "
                  "statements, or by x.copy_from(values) of a tensor");
    static_assert(sizeof...(Indices) == rank, "tenon: one index for each axis");
    const auto position = position_of(indices...);
#if TENON_CHECKED != 0
    check_position(position);
    check_alive("view", "elements", block_of(*this));
#endif
    return data_[offset(position)];
  }
  /// The part at ranges and positions, `x(all_of, 3)` a column: `select(x, all_of, 3)`.
  /// throws    index_error where one lies outside its axis
  template <class... Parts>
    requires(!std::convertible_to<Parts, index> || ...)
  constexpr auto operator()(const Parts&... parts) const {
    return detail::subscripts(*this, parts...);
  }
  /// Elements along the axis, for the host: `for (float& value : x[0])`, `std::ranges::sort(x(all_of, 2))`.
  constexpr detail::strided_iterator<T> begin() const
    requires(rank == 1 && Space::host_accessible)
  {
    return {data_, strides_[0]};
  }
  constexpr detail::strided_iterator<T> end() const
    requires(rank == 1 && Space::host_accessible)
  {
    return begin() + size();
  }
  /// A number, for a view without axes. cost: where the host cannot read it, a copy, and a wait for what writes it
  constexpr operator element() const
    requires(rank == 0)
  {
    if constexpr (Space::host_accessible) {
      return (*this)();
    } else {
      element number;
      detail::copy_between_spaces<host, Space>(&number, data_, sizeof(element));
      return number;
    }
  }
  constexpr operator detail::widened<element>() const
    requires(rank == 0 && is_short_float<element>)
  {
    return static_cast<element>(*this);
  }
  /// The part at a position of the first axis, a view; of one axis, the element. `x[range(1, 3)]` are several of them.
  /// Negative positions count from the back.
  /// throws    index_error where a view begins outside the axis
  template <class Position>
  TENON_INLINE constexpr decltype(auto) operator[](const Position& position) const {
    static_assert(rank > 0 || must_hold<Shape>, "tenon: what has no axes has no parts, x[i]; its element is x()");
    if constexpr (!std::convertible_to<Position, index>) {
      return detail::subscript(*this, position);
    } else if constexpr (rank == 1 && TENON_CHECKED == 0) {
      const index place = detail::whole_index(position);
      return (*this)(place < 0 ? place + extent(0) : place);
    } else if constexpr (rank == 1) {
      return (*this)(detail::checked_position(0, detail::whole_index(position), shape_.to_array()));
    } else {
      const index place = detail::checked_position(0, detail::whole_index(position), shape_.to_array());
      const auto rest = detail::behind_first_axis(shape_);
      array<index, rank - 1> strides{};
      for (int axis = 1; axis < rank; ++axis) strides[axis - 1] = strides_[axis];
      T* const first = data_ == nullptr ? data_ : data_ + place * strides_[0];  // null where there are no elements
      return view<T, std::remove_const_t<decltype(rest)>, Space>(first, rest, strides);
    }
  }
#if defined(__cpp_multidimensional_subscript)
  /// From C++23 on: `x[1, 2]` is `x(1, 2)`, and `x[all_of, 3]` is `x(all_of, 3)`.
  template <class First, class Second, class... Rest>
  constexpr decltype(auto) operator[](const First& first, const Second& second, const Rest&... rest) const {
    return (*this)(first, second, rest...);
  }
#endif
  /// throws    index_error naming axis, index and extent
  template <std::convertible_to<index>... Indices>
  constexpr T& at(Indices... indices) const {
    check_position(position_of(indices...));
    return (*this)(indices...);
  }

  constexpr index offset(const array<index, rank>& position) const {
    index result = 0;
    for (int axis = 0; axis < rank; ++axis) result += position[axis] * strides_[axis];
    return result;
  }

 private:
  template <class... Indices>
  static constexpr array<index, rank> position_of(Indices... indices) {
    if constexpr (rank == 0) return {};
    else return {{detail::whole_index(indices)...}};
  }
  template <class Expression>
  constexpr const view& assign(const Expression& expression) const {
    static_assert(!std::is_const_v<T>, "tenon: a view of const elements cannot be assigned to");
    assigner<view, Expression>::assign(*this, expression);
    return *this;
  }
  constexpr void check_position(const array<index, rank>& position) const {
    for (int axis = 0; axis < rank; ++axis) {
      if (position[axis] < 0 || position[axis] >= extent(axis)) {
        throw index_error(compose_text("view: axis ", axis, ": index ", position[axis],
                                       ", expected at least 0 and below ", extent(axis), " (extents ",
                                       shape_.to_array(), ")"));
      }
    }
  }

  T* data_;
  Shape shape_;
  array<index, rank> strides_;
};

template <contiguous_values Values>
view(Values&& values) -> view<std::remove_pointer_t<decltype(values.data())>, rank<1>>;
template <contiguous_blocks Values>
view(Values&& values) -> view<detail::element_of_blocks<Values>, detail::blocks_shape<Values>>;
template <class T, std::size_t Count>
view(T (&values)[Count]) -> view<T, rank<1>>;

}  // namespace tenon

/// Iterators outlive the view, as the elements do: `std::ranges::max_element(x[0])` returns one.
template <class T, class Shape, class Space>
inline constexpr bool std::ranges::enable_borrowed_range<tenon::view<T, Shape, Space>> = true;
