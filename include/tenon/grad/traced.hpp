// tenon/grad/traced.hpp: values that remember how they came about: gradients of loops, branches and recursion.
// Each statement has its gradients by the rules of expressions, the last one first.
// Floor 6: may include base, core, expr, plan, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <tenon/expr/views/select.hpp>
#include <tenon/grad/gradient.hpp>
#include <tenon/grad/named_leaves.hpp>
#include <tenon/grad/trace_step.hpp>

namespace tenon {

/// The owner of a leaf that gradients flow through: what made its value.
template <class T, class Shape, class Space>
struct made_by {
  detail::step_link<detail::value_step<T, Shape, Space>> step;
};
/// The same, with a name within one statement.
template <class T, class Shape, class Space, int Name>
struct made_by_named {
  detail::value_step<T, Shape, Space>* step;
};

/// What keeps the values of traced expressions: steps of this thread, unless an operand names another keeper.
struct kept_by_steps {};

/// What a traced value is within expressions.
template <class T, class Shape, class Space>
using traced_leaf = leaf<T, Shape, Space, made_by<T, Shape, Space>>;

namespace detail {

template <class T, class Shape, class Space>
inline constexpr int variable_of_node<traced_leaf<T, Shape, Space>> = is_floating<T> ? traced_variable : -1;
template <class T, class Shape, class Space, int Name>
inline constexpr int variable_of_node<leaf<T, Shape, Space, made_by_named<T, Shape, Space, Name>>> =
    is_floating<T> ? Name : -1;  // masks and indices have no gradients

template <class... Nodes>
consteval auto keeper_among();
/// The keeper that an operand names, or one of its own operands.
template <class Node>
consteval auto keeper_in() {
  if constexpr (requires { typename Node::keeper; }) {
    return std::type_identity<typename Node::keeper>{};
  } else if constexpr (requires { typename decltype(Node::owner)::keeper; }) {
    return std::type_identity<typename decltype(Node::owner)::keeper>{};
  } else {
    return []<class... Operands>(std::type_identity<tuple<Operands...>>) {
      return keeper_among<Operands...>();
    }(std::type_identity<operands_of<Node>>{});
  }
}
template <class... Nodes>
consteval auto keeper_among() {
  std::type_identity<kept_by_steps> none;
  if constexpr (sizeof...(Nodes) == 0) {
    return none;
  } else {
    return []<class First, class... Rest>(std::type_identity<tuple<First, Rest...>>) {
      using found = decltype(keeper_in<First>());
      if constexpr (std::is_same_v<found, std::type_identity<kept_by_steps>>) return keeper_among<Rest...>();
      else return found{};
    }(std::type_identity<tuple<Nodes...>>{});
  }
}
/// What keeps the values of an expression of some operands.
template <class... Operands>
using keeper_of = typename decltype(keeper_among<node_of<Operands>...>())::type;
template <class... Operands>
inline constexpr bool is_kept_by_steps = std::is_same_v<keeper_of<Operands...>, kept_by_steps>;

template <class Node>
inline constexpr bool is_traced_leaf = false;
template <class T, class Shape, class Space>
inline constexpr bool is_traced_leaf<traced_leaf<T, Shape, Space>> = true;

/// Whether an expression has traced leaves.
template <class Node>
inline constexpr bool holds_traced = []<class... Operands>(std::type_identity<tuple<Operands...>>) {
  return (is_traced_leaf<Node> || ... || holds_traced<Operands>);
}(std::type_identity<operands_of<Node>>{});

/// Names the traced leaves of a statement.
struct name_traced_leaves {
  template <int, class Leaf>
  static const Leaf& named(const Leaf& node) {
    return node;
  }
  template <int Name, class T, class Shape, class Space>
  static auto named(const traced_leaf<T, Shape, Space>& node) {
    return leaf<T, Shape, Space, made_by_named<T, Shape, Space, Name>>{node.view(), {node.owner.step.get()}};
  }
};

/// Makes the leaves of an expression inputs of a step, which keeps their memory.
template <class Node>
void add_leaves(trace_step& step, const Node& node) {
  if constexpr (is_traced_leaf<Node>) {
    step.add_input(node.owner.step.get());
  } else if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    step.keep_elements(node);
  } else if constexpr (decltype(Node::operands)::count != 0) {
    apply_tuple([&](const auto&... operands) { (add_leaves(step, operands), ...); }, node.operands);
  }
}

/// A statement: one expression, whose value is kept under a shape that may know less of its extents, or more.
template <class Node, class Shape>
struct statement_step : value_step<typename Node::element, Shape, concrete_space<typename Node::space>> {
  std::optional<Node> node;
  Shape extents{};

  void run(const Node& expression, const Shape& shape) {
    this->value(shape) = expression;
    extents = shape;
    if (!is_tracing) return;
    add_leaves(*this, expression);
    if (this->needs_gradient) node.emplace(expression);
    else this->keep_no_elements();
  }
  void pull_back() override {
    if constexpr (!holds_numbered<Node>) pull_back_to_leaves();
  }
  void forget() override { node.reset(); }

 private:
  void pull_back_to_leaves() {
    const auto named = with_named_leaves<name_traced_leaves>(*node);
    using named_type = std::remove_const_t<decltype(named)>;
    const auto gradient = this->gradient_under(extents);
    const auto seed = as_node(gradient);
    visit_named_leaves(named, [&]<int Name>(constant<Name>, const auto& each) {
      if constexpr (depends_on<Name, named_type>) {
        auto& input = *each.owner.step;
        if (input.needs_gradient) input.add_gradient(each.shape(), gradient_of_variable(named, each, seed));
      }
    });
  }
};

/// A value under another shape.
template <class T, class Shape, class Old, class Space>
struct reshaped_step : value_step<T, Shape, Space> {
  std::optional<traced_leaf<T, Old, Space>> before;

  void pull_back() override { before->owner.step->take_over(this->gradient_memory()); }
  void forget() override { before.reset(); }
};

/// A tensor that was moved here.
template <class T, class Shape, class Space>
struct moved_step : value_step<T, Shape, Space> {
  std::optional<tensor<T, Shape, Space>> owned;

  void forget() override { owned.reset(); }
};

/// A tensor of the caller's that gradients are wanted of.
template <class T, class Shape, class Space>
struct variable_step : value_step<T, Shape, Space> {
  Shape extents{};
  tensor<T, Shape, Space> own;
  tensor<T, Shape, Space>* kept = &own;  ///< where the gradient stays
  bool own_flag = false;
  bool* is_kept = &own_flag;               ///< whether further passes add to it
  const std::uint32_t* changes = nullptr;  ///< of a parameter: how often it was changed
  std::uint32_t changes_before = 0;
  std::weak_ptr<const char> life;                ///< of the parameter
  std::optional<tensor<T, Shape, Space>> fresh;  ///< a first gradient, for which there is no memory yet

  bool is_variable() const override { return true; }
  void must_be_current() const override {
    if (changes == nullptr) return;
    if (life.expired()) refuse_gone("parameter");
    if (*changes != changes_before) refuse_changed("parameter");
  }
  void prepare_gradient() override {
    if (!has_memory()) fresh.emplace(this->gradient_under(extents));
  }
  void take_gradient() override {
    const auto found = this->gradient_under(extents);
    if (!has_memory()) *kept = std::move(*fresh);
    else if (*is_kept) *kept = *kept + found;
    else *kept = found;
    *is_kept = true;
    fresh.reset();
  }
  bool has_memory() const { return kept->shape() == extents && kept->data() != nullptr; }
  void forget() override {
    kept = &own, is_kept = &own_flag, own_flag = false, changes = nullptr, life.reset(), fresh.reset();
  }
};

/// A name of one value becomes that of another.
template <class Traced>
Traced& renamed(Traced& name, const Traced& other) {
  const Traced copy = other;  // which may be all that keeps it
  std::destroy_at(&name);
  return *std::construct_at(&name, copy);
}

/// The way back from a value and its gradient; no step before number `first` takes part.
template <class Leaf, class Seed>
void pull_from(const Leaf& value, const Seed& seed, std::uint64_t first) {
  auto& last = *value.owner.step;
  last.has_gradient = false;
  last.add_gradient(value.shape(), as_node(seed));
  run_backward(last, first);
}

}  // namespace detail

/// A value that gradients flow through: what a traced statement or a layer made, or a variable. It is an operand of
/// expressions, like a tensor, and a number where it has no axes. Copies name the same value; assigned to, it names
/// another one, so that a loop can carry it. It remembers what it was made of until the last copy is gone.
/// Tensors that a traced expression reads must keep their elements until `backward`. Their memory is kept where
/// they are gone before, but for tensors in place and memory that is not Tenon's. A value belongs to one thread.
/// cost      a statement, whose value is kept in memory that later statements of the same type use again: a loop that
///           does the same again allocates nothing from its second turn on. `backward` is a statement for each use of a
///           value in one
/// example   auto w = variable(weight);
///           traced h = matmul(x, w);
///           while (float(max(abs(h))) > 1) h = tanh(matmul(h, w));  // one type, so h can be assigned
///           traced loss = mean(square(h - t));
///           loss.backward();
///           weight = weight - 0.1f * w.gradient();
template <dtype T, shape_type Shape, memory_space Space = host, class Keeper = kept_by_steps>
class traced : public traced_leaf<T, Shape, Space> {
 public:
  using leaf_type = traced_leaf<T, Shape, Space>;
  traced(const leaf_type& node) : leaf_type(node) {}
  traced(leaf_type&& node) : leaf_type{node.elements, {node.owner.step.handed_over()}} {}
  traced(const traced&) = default;
  traced& operator=(const traced& other) {
    return this == &other ? *this : detail::renamed(*this, other);  // a view's own assignment writes its elements
  }
  /// Evaluates an expression, and remembers it where one of its operands is traced.
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced(Operand&& operand) : leaf_type(traced_leaf_of(std::forward<Operand>(operand))) {
    static_assert(!detail::holds_numbered<Operand> || must_hold<Operand>,
                  "tenon: variable<0>(x) is for expressions that are not traced; trace those of v = variable(x), and "
                  "loss.backward() leaves v.gradient()");
  }
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced& operator=(Operand&& operand) {
    detail::must_keep_shape<Shape, typename node_of<Operand>::shape_type>();
    return detail::renamed(*this, traced(std::forward<Operand>(operand)));
  }

  /// A number, which gradients do not flow through: what a loop adds losses to.
  traced(T number)
    requires(Shape::rank == 0)
      : traced(tensor<T, Shape, Space>(constants(Shape{}, number))) {}

  index extent(int axis) const { return this->shape().extent(axis); }
  index size() const { return this->shape().count(); }
  const T* data() const { return this->elements.data(); }

  /// Adds to the gradient of every variable and parameter that this value, which has no axes, was made of.
  void backward() const {
    detail::must_be_without_axes<leaf_type>();
    backward(constants(Shape{}, T(1.0f)));
  }
  /// The same from the gradient of this value. A pass that fails leaves the gradients of variables as they were.
  /// throws    shape_error when the gradient has other extents than the value; error where the value was made of no
  ///           variable and of no parameter, or an optimizer has moved a parameter since
  template <tensor_operand Seed>
  void backward(const Seed& seed) const {
    detail::must_lead_back(*this->owner.step);
    detail::pull_from(*this, seed, 0);
  }
  /// What all backward passes left for a variable; zeros where none did.
  /// throws    error for a value that is no variable
  const tensor<T, Shape, Space>& gradient() const {
    auto& made = *this->owner.step;
    if (!made.is_variable()) throw error("traced: gradients are kept of variables only; make one of this value?");
    auto& step = static_cast<detail::variable_step<T, Shape, Space>&>(made);
    if (!step.has_memory()) *step.kept = tensor<T, Shape, Space>(constants(this->shape(), T(0.0f)));
    else if (!*step.is_kept) *step.kept = T(0.0f);
    *step.is_kept = true;
    return *step.kept;
  }
  /// The same elements under another shape. cost: none, forward or back
  /// throws    shape_error where it counts other elements
  template <shape_type New>
  traced<T, New, Space> reshape(const New& extents) const {
    detail::check_reshape(extents, size(), this->shape().to_array());
    auto& step = detail::taken_step<detail::reshaped_step<T, New, Shape, Space>>(0);
    detail::step_link<detail::value_step<T, New, Space>> link(&step);
    step.add_input(this->owner.step.get());
    step.before.emplace(*this);
    return traced_leaf<T, New, Space>{{this->data(), extents}, {link.handed_over()}};
  }
  template <int Rank>
  traced<T, rank<Rank>, Space> reshape(const listed_extent (&extents)[Rank]) const {
    return reshape(detail::inferred_shape(extents, size()));
  }
  /// The part at a position of the first axis, or at a range of them, or at positions and ranges of several axes.
  template <class Position>
  auto operator[](const Position& position) const {
    return detail::subscript(static_cast<const leaf_type&>(*this), position);
  }
  template <class First, class... Rest>
  auto operator()(const First& first, const Rest&... rest) const {
    return detail::traced_part(static_cast<const leaf_type&>(*this), first, rest...);
  }
  /// The same value, which gradients do not flow through: what a recurrence carries from one step to the next.
  traced detached() const {
    const no_grad apart;
    return leaf_of_node(leaf<T, Shape, Space>{this->elements, {}});
  }

 private:
  static leaf_type traced_leaf_of(tensor<T, Shape, Space>&& moved) {
    auto& step = detail::taken_step<detail::moved_step<T, Shape, Space>>(0);
    detail::step_link<detail::value_step<T, Shape, Space>> link(&step);
    step.owned.emplace(std::move(moved));
    return {std::as_const(*step.owned).view(), {link.handed_over()}};
  }
  template <class Operand>
  static leaf_type traced_leaf_of(Operand&& operand) {
    return leaf_of_node(as_node(std::forward<Operand>(operand)));
  }
  template <class Node>
  static leaf_type leaf_of_node(const Node& node) {
    if constexpr (std::is_same_v<Node, leaf_type>) {
      return node;
    } else {
      const Shape shape(node.shape());
      auto& step = detail::taken_step<detail::statement_step<Node, Shape>>(shape.count());
      detail::step_link<detail::value_step<T, Shape, Space>> link(&step);
      step.run(node, shape);
      return {step.value(shape), {link.handed_over()}};
    }
  }
};
template <tensor_operand Operand>
traced(Operand&&) -> traced<typename node_of<Operand>::element, typename node_of<Operand>::shape_type,
                            detail::concrete_space<typename node_of<Operand>::space>, detail::keeper_of<Operand>>;
template <dtype Number>
traced(Number) -> traced<Number, shape<>>;

template <class T, class Shape, class Space>
const traced_leaf<T, Shape, Space>& as_node(const traced<T, Shape, Space>& value) {
  return value;
}

namespace detail {
template <class T, class Shape, class Space, class Owner>
auto& new_variable(const leaf<T, Shape, Space, Owner>& elements) {
  static_assert(is_floating<T> || must_hold<T>, "tenon: a variable has floating elements");
  auto& step = taken_step<variable_step<T, Shape, Space>>(0);
  step.needs_gradient = true, step.extents = elements.shape();
  return step;
}
template <class T, class Shape, class Space, class Owner>
traced<T, Shape, Space> named_variable(const leaf<T, Shape, Space, Owner>& elements,
                                       variable_step<T, Shape, Space>& step) {
  return traced_leaf<T, Shape, Space>{elements.view(), {step_link<value_step<T, Shape, Space>>(&step)}};
}
}  // namespace detail

/// A tensor or view that gradients are wanted of, which `gradient()` gives. It keeps its elements until `backward`.
template <tensor_operand Tensor>
auto variable(const Tensor& elements) {
  constexpr bool is_leaf = std::is_same_v<typename node_of<Tensor>::kind, leaf_kind>;
  static_assert(is_leaf || must_hold<Tensor>,
                "tenon: an expression has no elements to keep, give variable a tensor of it");
  const auto node = as_node(elements);
  auto& step = detail::new_variable(node);
  const auto named = detail::named_variable(node, step);
  step.keep_elements(node);
  return named;
}
/// The same; backward passes add to `gradient` where `is_kept` says so, else begin anew. Both outlive the variable.
template <tensor_operand Tensor, class T, class Shape, class Space>
auto variable(const Tensor& elements, tensor<T, Shape, Space>& gradient, bool& is_kept) {
  const auto node = as_node(elements);
  auto& step = detail::new_variable(node);
  const auto named = detail::named_variable(node, step);
  step.kept = &gradient, step.is_kept = &is_kept;
  return named;
}

/// Traces an expression without axes, adds its share to the gradients of what it was made of, and returns its value.
/// example   const float loss = backward(mean(square(net(x) - y)));
template <tensor_operand Operand>
auto backward(Operand&& operand) {
  const traced value(std::forward<Operand>(operand));
  value.backward();
  return value;
}

}  // namespace tenon
