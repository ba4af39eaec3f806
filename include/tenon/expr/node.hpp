// tenon/expr/node.hpp: what an expression is, and how it holds its operands.
// Lvalue tensors are held by view, rvalue tensors are owned, so that no expression dangles on a temporary.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/broadcast.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/expr/program.hpp>

namespace tenon {

/// The kinds of nodes: all that planner, loops and kernels know of an expression.
struct leaf_kind {};
struct generator_kind {};
struct pointwise_kind {};
struct index_map_kind {};
struct reduction_kind {};
struct contraction_kind {};
struct algorithm_kind {};
struct recorded_kind {};

/// A node: it knows its kind, element type, extents and space, holds `operands`, and lowers itself to a program.
template <class E>
concept expression = expression_node<E> && shape_type<typename E::shape_type> && requires(const E& node) {
  typename E::element;
  typename E::space;
  node.shape();
  node.operands;
};

/// The tuple of a node's operands; nodes without operands share one.
template <class E>
using operands_of = std::remove_const_t<decltype(E::operands)>;

/// The one space of an operation on several operands.
template <class... Spaces>
struct common_space : first_space<Spaces...> {
  static_assert(spaces_agree<Spaces...> || must_hold<Spaces...>,
                "tenon: the operands of one statement must lie in one memory space; copy one of "
                "them first, x.to<Space>()");
};

/// Nothing to keep alive: the operand is an lvalue.
struct no_owner {};

/// The elements are those of a tensor in place, or copies of a temporary one's: types know all but where they are.
struct lie_in_place {};
struct held_here {};

namespace detail {

/// Elements in index order, whose extents types know.
template <class T, class Shape>
struct ordered_elements {
  using element = T;
  static constexpr int rank = Shape::rank;
  const T* first;

  constexpr const T* data() const { return first; }
  constexpr Shape shape() const { return {}; }
  constexpr array<index, Shape::rank> strides() const { return row_major_strides(Shape{}.to_array()); }
  constexpr tenon::view<const T, Shape, host> view() const { return {first, Shape{}}; }
};

/// How a leaf keeps its elements.
template <class T, class Shape, class Space, class Owner>
struct kept_elements {
  using type = view<const T, Shape, Space>;
};
template <class T, class Shape, class Space>
struct kept_elements<T, Shape, Space, lie_in_place> {
  using type = ordered_elements<T, Shape>;
};
template <class T, class Shape, class Space>
struct kept_elements<T, Shape, Space, held_here> {
  using type = tensor<T, Shape, in_place>;
};

}  // namespace detail

/// An rvalue tensor, shared by the copies of an expression.
template <class Tensor>
class shared_tensor {
 public:
  explicit shared_tensor(Tensor&& tensor) : box_(new box{std::move(tensor), 1}) {}
  shared_tensor(const shared_tensor& other) : box_(other.box_) {
    __atomic_fetch_add(&box_->owners, 1, __ATOMIC_RELAXED);
  }
  shared_tensor& operator=(const shared_tensor&) = delete;
  ~shared_tensor() { release(box_); }
  const Tensor& get() const { return box_->tensor; }

 private:
  struct box {
    Tensor tensor;
    long owners;
  };
  // Out of line: inlined, g++ 12 takes the release of any copy for the last one and warns of uses after it.
  [[gnu::noinline]] static void release(box* shared) {
    if (__atomic_sub_fetch(&shared->owners, 1, __ATOMIC_ACQ_REL) == 0) delete shared;
  }
  box* box_;
};

/// Elements in memory, or held by the leaf itself.
template <class T, shape_type Shape, class Space, class Owner = no_owner>
struct leaf {
  using kind = leaf_kind;
  using element = T;
  using space = Space;
  using shape_type = Shape;

  typename detail::kept_elements<T, Shape, Space, Owner>::type elements;
  [[no_unique_address]] Owner owner;
  static constexpr tuple<> operands{};

  constexpr decltype(auto) shape() const { return elements.shape(); }
  /// The elements, as long as they are there.
  TENON_INLINE constexpr decltype(auto) view() const {
    if constexpr (requires { elements.view(); }) return elements.view();
    else return (elements);
  }
  /// A number, for a leaf without axes. cost: a wait for what writes it
  constexpr operator element() const
    requires(Shape::rank == 0)
  {
    return assigner<element, leaf>::value(*this);
  }
  constexpr operator detail::widened<element>() const
    requires(Shape::rank == 0 && is_short_float<element>)
  {
    return assigner<element, leaf>::value(*this);
  }

  template <int, int Outer>
  constexpr strided_source<T, Outer> lower(const axis_map<Shape::rank, Outer>& map) const {
    const index offset = elements.data() == nullptr ? 0 : map.offset(elements.strides());  // null where empty
    return {elements.data() + offset, map.strides(elements.strides())};
  }
};

/// A number among tensors. It does not widen the element type of its partners (`promote_scalar`).
template <class T>
struct scalar {
  using kind = generator_kind;
  using element = T;
  using space = any_space;
  using shape_type = tenon::shape<>;

  T value;
  static constexpr tuple<> operands{};

  static constexpr shape_type shape() { return {}; }

  template <int, int Outer>
  constexpr constant_source<T> lower(const axis_map<0, Outer>&) const {
    return {value};
  }
};

/// An operand as a node of an expression: tensors and views by reference, a temporary tensor kept alive, a number as it
/// is, an expression unchanged.
template <dtype T, shape_type Shape, memory_space Space>
TENON_INLINE constexpr leaf<T, Shape, statement_space<Space>> as_node(const tensor<T, Shape, Space>& operand) {
  return {operand.view(), {}};
}
template <dtype T, shape_type Shape, memory_space Space>
TENON_INLINE constexpr leaf<T, Shape, statement_space<Space>> as_node(tensor<T, Shape, Space>& operand) {
  return {operand.view(), {}};
}
template <dtype T, shape_type Shape, memory_space Space>
constexpr auto as_node(tensor<T, Shape, Space>&& operand) {
  shared_tensor<tensor<T, Shape, Space>> owner(std::move(operand));
  const view<const T, Shape, statement_space<Space>> elements = owner.get().view();
  return leaf<T, Shape, statement_space<Space>, shared_tensor<tensor<T, Shape, Space>>>{elements, owner};
}
template <dtype T, shape_type Shape>
TENON_INLINE constexpr leaf<T, Shape, host, lie_in_place> as_node(const tensor<T, Shape, in_place>& operand) {
  return {{operand.data()}, {}};
}
template <dtype T, shape_type Shape>
TENON_INLINE constexpr leaf<T, Shape, host, lie_in_place> as_node(tensor<T, Shape, in_place>& operand) {
  return {{operand.data()}, {}};
}
template <dtype T, shape_type Shape>
TENON_INLINE constexpr leaf<T, Shape, host, held_here> as_node(tensor<T, Shape, in_place>&& operand) {
  return {operand, {}};
}
template <class T, shape_type Shape, memory_space Space>
TENON_INLINE constexpr leaf<std::remove_const_t<T>, Shape, Space> as_node(const view<T, Shape, Space>& operand) {
  return {view<const T, Shape, Space>(operand.data(), operand.shape(), operand.strides()), {}};
}
template <expression E>
TENON_INLINE constexpr const E& as_node(const E& node) {
  return node;
}
template <class T>
  requires dtype<T>
constexpr scalar<T> as_node(T value) {
  return {value};
}

namespace detail {
/// What becomes of any other operand: the compiler reads this at the user's call.
template <class Call>
struct result_of_values {
  static_assert(must_hold<Call>, "tenon: a vector, span or array is an operand through a view of it, x + view(values)");
};
}  // namespace detail
detail::result_of_values<struct operator_call> as_node(...);

/// Elements of a leaf under other extents and strides, as a leaf that keeps them as long as that one does.
template <class T, shape_type Shape, class Space, class Owner, shape_type New>
constexpr auto leaf_under(const leaf<T, Shape, Space, Owner>& node, const view<const T, New, Space>& elements) {
  if constexpr (std::is_same_v<Owner, lie_in_place>) {
    return leaf<T, New, Space>{elements, {}};
  } else if constexpr (std::is_same_v<Owner, held_here>) {
    const auto owned = as_node(tensor<T, Shape, host>(node.elements));
    const T* const first = owned.view().data() + (elements.data() - node.view().data());
    return leaf_under(owned, view<const T, New, Space>{first, elements.shape(), elements.strides()});
  } else {
    return leaf<T, New, Space, Owner>{elements, node.owner};
  }
}

/// How many values of an expression come from its executor: its reductions and contractions, nested ones included.
/// They are numbered in post order, so that each depends on lower numbers only. An algorithm runs its operands itself.
template <class E, class Operands = operands_of<E>>
inline constexpr int slot_count = [] {
  if constexpr (std::is_same_v<typename E::kind, recorded_kind>) return E::replaced_slots;
  else return 1;
}();
template <class E, class... Operands>
  requires(!std::is_same_v<typename E::kind, algorithm_kind> && !std::is_same_v<typename E::kind, recorded_kind>)
inline constexpr int slot_count<E, tuple<Operands...>> =
    (int{std::is_same_v<typename E::kind, reduction_kind> || std::is_same_v<typename E::kind, contraction_kind>} + ... +
     slot_count<Operands>);

/// The node that an operand becomes.
template <class Operand>
using node_of = std::remove_cvref_t<decltype(as_node(std::declval<Operand>()))>;

namespace detail {
template <class T>
inline constexpr bool is_tensor = false;
template <class T, class Shape, class Space>
inline constexpr bool is_tensor<tensor<T, Shape, Space>> = true;
template <class T>
inline constexpr bool is_view = false;
template <class T, class Shape, class Space>
inline constexpr bool is_view<view<T, Shape, Space>> = true;
template <class T>
inline constexpr bool is_scalar_node = false;
template <class T>
inline constexpr bool is_scalar_node<scalar<T>> = true;

/// A number takes the type T of the elements beside it. Operations on bits take -2 and 254 in any type of 8 bits.
/// throws    dtype_error where integers of type T do not hold the number
template <class T, bool IsOfBits = false, class Node>
TENON_INLINE constexpr void check_number([[maybe_unused]] const char* operation, [[maybe_unused]] const Node& node) {
  using number = typename Node::element;
  if constexpr (is_scalar_node<Node> && is_integer<T> && is_integer<number> && !std::is_same_v<T, number>) {
    const T held = static_cast<T>(node.value);
    const auto is_value = [&](auto other) { return static_cast<number>(other) == node.value; };
    const bool fits = IsOfBits ? is_value(std::make_signed_t<T>(held)) || is_value(std::make_unsigned_t<T>(held))
                               : is_held_by<T>(node.value);
    if (!fits) refuse_number<T>(operation, node.value);
  }
}
/// A number as an element of type T.
/// throws    dtype_error where integers of type T do not hold the number
template <class T, class Number>
constexpr T number_as([[maybe_unused]] const char* operation, Number number) {
  check_number<T>(operation, scalar<Number>{number});
  return static_cast<T>(converted_to<compute_type<T>>(number));
}

}  // namespace detail

/// Something with extents that expressions are made of: a tensor, a view, an expression.
template <class T>
concept tensor_operand = detail::is_tensor<std::remove_cvref_t<T>> || detail::is_view<std::remove_cvref_t<T>> ||
                         expression<std::remove_cvref_t<T>>;

/// Operands of an operation: at least one with extents, the others may be numbers.
template <class... Operands>
concept operands_of_expression =
    (tensor_operand<Operands> || ...) && ((tensor_operand<Operands> || dtype<std::remove_cvref_t<Operands>>) && ...);
/// The operands of an operator. A vector, span or array is taken, too, and refused by a sentence.
template <class Right, class Left>
concept operand_beside =
    operands_of_expression<Left, Right> || (tensor_operand<Left> && detail::holds_values<std::remove_cvref_t<Right>>) ||
    (tensor_operand<Right> && detail::holds_values<std::remove_cvref_t<Left>>);

}  // namespace tenon
