// tenon/core/tensor.hpp: the owning tensor.
// Row-major elements of one type in one memory space; extents static, dynamic or mixed.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <tenon/core/assign.hpp>
#include <tenon/core/elements.hpp>
#include <tenon/core/nested_values.hpp>
#include <tenon/core/view.hpp>

namespace tenon {

/// An owning, row-major tensor. Elements start uninitialised; `zeros`, `full` and the like fill them. Parentheses hold
/// extents and braces values: `tensor<float, rank<2>> x({2, 3}), w = {{1, 2}, {3, 4}};`.
/// A tensor assigned to one of its type replaces it, extents and all, as containers do. Expressions, views and tensors
/// of other types are written to the elements that are there: their extents are checked, so that no statement
/// reallocates behind the reader's back; only an empty tensor, one made without extents, takes theirs.
/// A moved-from tensor is empty, or without elements where its extents are static; it may be assigned to.
/// Up to 64 elements of static extents lie in the tensor itself, unless it names another space (`in_place`): it is
/// trivially copyable then, and moving it is copying it.
/// throws    shape_error, std::bad_alloc
template <dtype T, shape_type Shape,
          memory_space Space = std::conditional_t<detail::element_of_tensor<T>::is_told, default_space<Shape>, host>>
class tensor {
  static_assert(Space::host_accessible || !is_host_only<T> || must_hold<T, Space>,
                "tenon: no device computes with std::complex; in files that nvcc compiles, elements may be "
                "thrust::complex");

 public:
  using element = T;
  using value_type = T;  ///< what containers call it
  using shape_type = Shape;
  using space = statement_space<Space>;  ///< that of its views
  static constexpr int rank = Shape::rank;

  tensor() = default;
  constexpr explicit tensor(const Shape& shape) : elements_(shape) {}
  /// `tensor<float, rank<1>> a({5})`, or the dynamic extents alone. Any other number of extents does not compile.
  /// Without this constructor, the first would also read as a copy of a tensor that is made from 5.
  template <std::convertible_to<index> Extent, int Count>
  constexpr explicit tensor(const Extent (&extents)[Count]) : tensor(shape_from(extents)) {
    static_assert(Count == rank || Count == Shape::dynamic_rank || must_hold<Shape>,
                  "tenon: a tensor takes one extent for each axis; its values stand in braces alone, x = {{1, 2}}");
  }
  /// `tensor<float, rank<1>> v = {1, 2, 3}`. A single number would be an extent, so `v = {5}` does not compile.
  /// throws    shape_error where there are more or fewer than a static extent
  template <dtype... Numbers>
    requires(rank == 1 && sizeof...(Numbers) > 1 && (std::convertible_to<Numbers, T> && ...))
  constexpr tensor(Numbers... values)
      : tensor(Shape(static_cast<index>(sizeof...(Numbers))), {detail::listed_value<T>(values).value...}) {}
  /// A number with a fraction is no extent, and would read as one.
  template <dtype Number>
    requires(rank == 1 && is_floating<Number>)
  tensor(Number) = delete;  // tenon: an extent is a whole number; one value stands behind its extent, x({1}, {0.5f})
  /// Some of them may be expressions without axes: `tensor<float, rank<1>> v = {sum(x), 1, max(x)}`.
  template <class... Numbers>
    requires(rank == 1 && sizeof...(Numbers) > 1 && !(dtype<Numbers> && ...) &&
             (std::convertible_to<const Numbers&, detail::listed_value<T>> && ...))
  constexpr tensor(const Numbers&... values)
      : tensor(Shape(static_cast<index>(sizeof...(Numbers))), {detail::listed_value<T>(values).value...}) {}
  /// `tensor<float, shape<>> scale = 0.7`: what has no axes is a number. It is set as by `scale = 0.7`.
  template <dtype Number>
    requires(rank == 0)
  TENON_INLINE constexpr tensor(Number number) : tensor(Shape{}) {
    using read = std::conditional_t<is_short_float<T> && std::is_same_v<Number, double>, float, Number>;
    *this = static_cast<read>(number);
  }
  /// `tensor<float, rank<2>> w = {{1, 2}, {3, 4}}`: a list for each axis.
  /// throws    shape_error where lists of one axis differ in length, or from a static extent
  constexpr tensor(const detail::nested_values<T, rank>& values)
    requires(rank > 1)
      : tensor(Shape(detail::extents_of_lists<rank>(values))) {
    if constexpr (is_in_place) {
      detail::copy_values(values, data());
    } else {
      storage<T, host> elements(size());
      detail::copy_values(values, elements.data());
      Space::copy_from_host(data(), elements.data(), bytes());
    }
  }
  /// throws    shape_error when the number of values is not the number of elements
  constexpr tensor(const Shape& shape, std::initializer_list<T> values) : tensor(shape) {
    take_values(values.begin(), static_cast<index>(values.size()));
  }
  /// Extents without braces do not compile, nor do as many values without a list for each axis.
  template <std::integral Extent, std::same_as<Extent>... Others>
    requires(rank > 1 && (sizeof...(Others) + 1 == rank || sizeof...(Others) + 1 == Shape::dynamic_rank) &&
             sizeof...(Others) > 0)
  tensor(Extent, Others...) = delete;  // tenon: extents stand in braces, x({n, d}); values in lists, x = {{1, 2}}
  /// Lists of any other depth do not compile.
  template <dtype... Numbers>
    requires(rank > 1 && sizeof...(Numbers) > 1 && sizeof...(Numbers) != rank &&
             sizeof...(Numbers) != Shape::dynamic_rank)
  tensor(Numbers...) : tensor() {
    static_assert(must_hold<Shape>, "tenon: values stand in a list for each axis: of two, x = {{1, 2}, {3, 4}}");
  }
  template <int = 0>
  tensor(const detail::nested_values<T, rank + 1>&)
    requires(rank > 0 && !compiled_by_nvcc)  // which hands `x{{1, 2}, {3, 4}}` to g++ with one more pair of braces
      : tensor() {
    static_assert(must_hold<Shape>, "tenon: values stand in a list for each axis: of one, x = {1, 2, 3, 4}");
  }
  /// A vector's values, or those of a span or an array: `tensor<float, rank<2>> x({2, 3}, values)`, `tensor x(values)`.
  /// Those of other types are converted.
  template <contiguous_values Values>
  constexpr tensor(const Shape& shape, const Values& values) : tensor(shape) {
    take_values(values.data(), static_cast<index>(values.size()));
  }
  template <contiguous_values Values>
    requires(rank == 1)
  constexpr explicit tensor(const Values& values) : tensor(Shape(static_cast<index>(values.size())), values) {}
  /// The elements of blocks: `std::vector<std::array<float, 3>>`, or tensors in place. The first axis counts them.
  template <contiguous_blocks Values>
  tensor(const Shape& shape, const Values& values) : tensor(shape) {
    take_blocks(values);
  }
  template <contiguous_blocks Values>
    requires(shapes_agree<Shape, detail::blocks_shape<const Values>>())
  explicit tensor(const Values& values)
      : tensor(Shape(detail::blocks_shape<const Values>(static_cast<index>(values.size()))), values) {}
  /// A new tensor of the expression's values; reduced axes may go: `tensor<float, rank<1>> totals = sum(x, axis<1>);`
  template <expression_node Expression>
  TENON_INLINE constexpr tensor(const Expression& expression)
      : tensor(extents_without_units<Shape>(expression.shape())) {
    using source = typename Expression::shape_type;
    static_assert(shape_carries_over<Shape, source>() || must_hold<Shape, source>,
                  "tenon: a new tensor has the rank and the static extents of its expression");
    assigner<tensor, Expression>::assign(*this, expression);
  }
  /// Axes that have extent 1 by type may go here, too: `tensor<float, rank<1>> middle = median(x, axis<1>);`
  template <class U, class OtherShape>
    requires(shape_carries_over<Shape, OtherShape>())
  constexpr tensor(const tenon::view<U, OtherShape, space>& other)
      : tensor(extents_without_units<Shape>(other.shape())) {
    *this = other;
  }
  template <class U, class OtherShape, memory_space Other>
    requires(!std::is_same_v<tenon::tensor<U, OtherShape, Other>, tensor> &&
             std::is_same_v<statement_space<Other>, space> && shape_carries_over<Shape, OtherShape>())
  constexpr tensor(const tenon::tensor<U, OtherShape, Other>& other) : tensor(other.view()) {}
  /// Compilers show the line of a deleted function, so the sentence stands in it; traits say that it cannot be called.
  template <class U, class Misfit>
    requires(!shape_carries_over<Shape, Misfit>())
  tensor(const tenon::view<U, Misfit, space>&) = delete;  // tenon: a tensor takes no other rank or static extents
  template <class U, class Misfit, memory_space Other>
    requires(std::is_same_v<statement_space<Other>, space> && !shape_carries_over<Shape, Misfit>())
  tensor(const tenon::tensor<U, Misfit, Other>&) = delete;  // tenon: a tensor takes no other rank or static extents
  /// A tensor of another space does not compile.
  template <class U, class OtherShape, memory_space Other>
    requires(!std::is_same_v<statement_space<Other>, space>)
  tensor(const tenon::tensor<U, OtherShape, Other>&) : tensor() {
    static_assert(must_hold<Other, space>,
                  "tenon: the other tensor lies in another memory space; copy it, y = x.to<Space>()");
  }
  tensor(const tensor&) = default;
  tensor(tensor&&) = default;
  /// Becomes a copy of `other`, with its extents. If it has as many elements already, it keeps its memory, and views
  /// of it stay valid. When there is too little memory, it stays as it was.
  tensor& operator=(const tensor&) = default;
  /// Takes the memory of `other`, which is empty afterwards. Assigned to itself, it does nothing.
  tensor& operator=(tensor&&) = default;
  template <class Expression>
    requires(!std::is_same_v<std::remove_cvref_t<Expression>, tensor>)
  TENON_INLINE constexpr tensor& operator=(const Expression& expression) {
    using source = typename assigned<Expression>::shape_type;
    constexpr bool has_rank = ranks_fit<Shape, source>(), has_extents = extents_fit<Shape, source>();
    constexpr bool has_space = spaces_agree<space, typename assigned<Expression>::space>;
    constexpr bool is_operand = !detail::holds_values<Expression>;
    static_assert(is_operand || must_hold<Expression>,
                  "tenon: a vector, span or array is assigned through a view of it, x = view(values)");
    static_assert(has_rank || must_hold<Shape, source>, "tenon: the destination has fewer axes than the expression");
    static_assert(has_extents || must_hold<Shape, source>,
                  "tenon: the extents of destination and expression must be equal");
    static_assert(has_space || must_hold<space, typename assigned<Expression>::space>,
                  "tenon: the operands of one statement must lie in one memory space; copy one of them first, "
                  "x.to<Space>()");
    if constexpr (is_operand && has_rank && has_extents && has_space)
      assigner<tensor, Expression>::assign(*this, expression);
    return *this;
  }
  template <dtype Number>
    requires(rank == 1)
  tensor& operator=(Number (&&)[1]) = delete;  // tenon: one value stands behind its extent, as in x({1}, {0.5f})
  /// Like that of a view.
  constexpr unaliased<tensor&> noalias() { return unaliased<tensor&>(*this); }

  constexpr const Shape& shape() const { return elements_.shape(); }
  constexpr index extent(int axis) const { return shape().extent(axis); }
  constexpr index size() const { return shape().count(); }
  /// The strides are row-major: the last one is 1.
  constexpr array<index, rank> strides() const { return row_major_strides(shape().to_array()); }
  TENON_INLINE constexpr T* data() TENON_LIFETIMEBOUND { return elements_.data(); }
  TENON_INLINE constexpr const T* data() const TENON_LIFETIMEBOUND { return elements_.data(); }
  /// Elements that the host can read are a contiguous range in row-major order: `for (float& value : x)`,
  /// `std::ranges::sort(x)`, `std::span<float>(x)`.
  constexpr T* begin() TENON_LIFETIMEBOUND
    requires Space::host_accessible
  {
    return data();
  }
  constexpr const T* begin() const TENON_LIFETIMEBOUND
    requires Space::host_accessible
  {
    return data();
  }
  constexpr T* end() TENON_LIFETIMEBOUND
    requires Space::host_accessible
  {
    return data() + size();
  }
  constexpr const T* end() const TENON_LIFETIMEBOUND
    requires Space::host_accessible
  {
    return data() + size();
  }
  const T* begin() const  // tenon: the host reads elements of this space after a copy, x.to<tenon::host>()
    requires(!Space::host_accessible)
  = delete;
  const T* end() const
    requires(!Space::host_accessible)
  = delete;
  /// True for a tensor of dynamic extents that takes those of the first expression.
  constexpr bool is_empty() const { return elements_.is_empty(); }

  TENON_INLINE constexpr tenon::view<const T, Shape, space> view() const TENON_LIFETIMEBOUND {
    return {data(), shape()};
  }
  TENON_INLINE constexpr tenon::view<T, Shape, space> view() TENON_LIFETIMEBOUND { return {data(), shape()}; }
  TENON_INLINE constexpr tenon::view<T, Shape, space> write_view() TENON_LIFETIMEBOUND { return {data(), shape()}; }

  template <std::convertible_to<index>... Indices>
  constexpr T& operator()(Indices... indices) TENON_LIFETIMEBOUND {
    static_assert(sizeof...(Indices) == rank, "tenon: one index for each axis");
    return write_view()(indices...);
  }
  template <std::convertible_to<index>... Indices>
  constexpr const T& operator()(Indices... indices) const TENON_LIFETIMEBOUND {
    static_assert(sizeof...(Indices) == rank, "tenon: one index for each axis");
    return view()(indices...);
  }
  /// The part at ranges and positions, `x(all_of, 3)` a column, as that of a view.
  template <class... Parts>
    requires(!std::convertible_to<Parts, index> || ...)
  constexpr auto operator()(const Parts&... parts) & TENON_LIFETIMEBOUND {
    return write_view()(parts...);
  }
  template <class... Parts>
    requires(!std::convertible_to<Parts, index> || ...)
  constexpr auto operator()(const Parts&... parts) const& TENON_LIFETIMEBOUND {
    return view()(parts...);
  }
  template <class... Parts>
    requires(!std::convertible_to<Parts, index> || ...)
  auto operator()(const Parts&... parts) && {
    return detail::subscripts(std::move(*this), parts...);
  }
  /// A number, for a tensor without axes, as a view's.
  constexpr operator T() const
    requires(rank == 0)
  {
    return view();
  }
  constexpr operator detail::widened<T>() const
    requires(rank == 0 && is_short_float<T>)
  {
    return view();
  }
  /// Like that of a view; a temporary gives an expression that keeps it.
  template <class Position>
      TENON_INLINE constexpr decltype(auto) operator[](const Position& position) & TENON_LIFETIMEBOUND {
    return write_view()[position];
  }
  template <class Position>
  TENON_INLINE constexpr decltype(auto) operator[](const Position& position) const& TENON_LIFETIMEBOUND {
    return view()[position];
  }
  template <class Position>
  auto operator[](const Position& position) && {
    return detail::subscript(std::move(*this), position);
  }
#if defined(__cpp_multidimensional_subscript)
  template <class First, class Second, class... Rest>
      constexpr decltype(auto) operator[](const First& first, const Second& second, const Rest&... rest) &
      TENON_LIFETIMEBOUND {
    return (*this)(first, second, rest...);
  }
  template <class First, class Second, class... Rest>
  constexpr decltype(auto) operator[](const First& first, const Second& second,
                                      const Rest&... rest) const& TENON_LIFETIMEBOUND {
    return (*this)(first, second, rest...);
  }
#endif
  /// throws    index_error naming axis, index and extent
  template <std::convertible_to<index>... Indices>
  constexpr const T& at(Indices... indices) const TENON_LIFETIMEBOUND {
    return view().at(indices...);
  }

  /// A copy in another memory space, or on the current device of the same one.
  template <memory_space Other>
  tensor<T, Shape, Other> to() const {
    tensor<T, Shape, Other> result(shape());
    detail::copy_between_spaces<Other, Space>(result.data(), data(), bytes());
    return result;
  }
  /// Takes the elements of a tensor of equal extents in any space or on any device; an empty one takes its extents too.
  /// throws    shape_error
  /// cost      no allocation; between a device and page-locked memory the host does not wait
  template <class OtherShape, memory_space Other>
  tensor& copy_from(const tensor<T, OtherShape, Other>& source) {
    static_assert(OtherShape::rank == rank || must_hold<Shape, OtherShape>,
                  "tenon: copy_from takes a tensor of the same rank");
    take_extents(Shape(source.shape()), "copy_from");
    detail::copy_between_spaces<Space, Other>(data(), source.data(), bytes());
    return *this;
  }

  /// Takes `shape` when this tensor is still empty, or has been moved from; otherwise the extents must be equal.
  constexpr void take_extents(const Shape& shape, const char* operation = "assign") {
    check_extents(shape, operation);
    elements_.take_extents(shape);
  }

  /// Becomes a tensor without elements, as before its first assignment; in place, it keeps them.
  void reset() {
    if constexpr (!is_in_place) elements_.reset();
  }

 private:
  static constexpr bool is_in_place = std::is_same_v<Space, in_place>;

  template <class Extent, int Count>
  static constexpr Shape shape_from(const Extent (&extents)[Count]) {
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      if constexpr (std::is_constructible_v<Shape, decltype(extents[I])...>) return Shape(extents[I]...);
      else return Shape{};
    }(std::make_integer_sequence<int, Count>{});
  }
  template <class U>
  constexpr void take_values(const U* values, index count) {
    if (count != size()) {
      throw shape_error(
          compose_text("tensor: values: ", count, " given, expected ", size(), " (extents ", shape().to_array(), ")"));
    }
    if constexpr (is_in_place) {
      for (index i = 0; i < count; ++i) data()[i] = converted_to<T>(values[i]);
    } else if constexpr (std::is_same_v<U, T>) {
      if (count != 0) Space::copy_from_host(data(), values, bytes());
    } else {
      storage<T, host> converted(count);
      for (index i = 0; i < count; ++i) converted.data()[i] = converted_to<T>(values[i]);
      take_values(converted.data(), count);
    }
  }
  template <class Values>
  void take_blocks(const Values& values) {
    using block = detail::block_elements<detail::block_of_values<const Values>>;
    constexpr index each = typename block::shape_type{}.count();
    take_values(detail::elements_of_blocks(values), static_cast<index>(values.size()) * each);
  }
  constexpr void check_extents(const Shape& shape, const char* operation) const {
    if (!(shape == this->shape()) && !is_empty()) {
      throw shape_error(compose_text(operation, ": extents ", shape.to_array(), " given, expected ",
                                     this->shape().to_array(), " of the destination"));
    }
  }
  constexpr std::size_t bytes() const { return elements_.bytes(); }

  detail::tensor_elements<T, Shape, Space> elements_;
};

namespace detail {
template <class T, class Shape>
struct block_elements<tensor<T, Shape, in_place>> {
  static_assert(sizeof(tensor<T, Shape, in_place>) == sizeof(T) * static_cast<std::size_t>(Shape{}.count()));
  using element = T;
  using shape_type = Shape;
};
}  // namespace detail

template <contiguous_values Values>
tensor(const Values& values) -> tensor<std::remove_cvref_t<decltype(*values.data())>, rank<1>>;
template <contiguous_blocks Values>
tensor(const Values& values)
    -> tensor<std::remove_const_t<detail::element_of_blocks<const Values>>, detail::blocks_shape<const Values>>;

}  // namespace tenon
