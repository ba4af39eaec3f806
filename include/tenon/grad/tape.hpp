// tenon/grad/tape.hpp: gradients of programs whose steps hang on data: loops of unknown length, branches, recursion.
// Each statement is evaluated when it is recorded, and has its gradients by the rules of expressions, last ones first.
// Floor 6: may include base, core, expr, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <tenon/evaluate.hpp>
#include <tenon/grad/gradient.hpp>
#include <tenon/grad/named_leaves.hpp>
#include <vector>

namespace tenon {

class tape;

/// The owner of a leaf whose elements are on a tape.
struct taped {
  const tape* on;
  int place;
};
/// The same, with a name within one statement.
template <int Name>
struct taped_name : taped {};

/// What a value on a tape is within expressions.
template <class T, class Shape, class Space>
using taped_leaf = leaf<T, Shape, Space, taped>;

/// A value on a tape: an operand of expressions. Assigned to, it names another value; none is overwritten.
template <class T, class Shape, class Space>
struct taped_value : taped_leaf<T, Shape, Space> {
  explicit taped_value(const taped_leaf<T, Shape, Space>& node) : taped_leaf<T, Shape, Space>(node) {}
  taped_value(const taped_value&) = default;
  taped_value& operator=(const taped_value& other) {
    return this == &other ? *this : *std::construct_at(this, other);  // a view's own assignment writes its elements
  }
};
template <class T, class Shape, class Space>
const taped_leaf<T, Shape, Space>& as_node(const taped_value<T, Shape, Space>& value) {
  return value;
}

namespace detail {

template <class T, class Shape, class Space>
inline constexpr int variable_of_node<taped_leaf<T, Shape, Space>> = (1 << 30) - 1;
template <class T, class Shape, class Space, int Name>
inline constexpr int variable_of_node<leaf<T, Shape, Space, taped_name<Name>>> = Name;

/// Names the leaves that are on a tape.
struct name_taped_leaves {
  template <int, class Leaf>
  static const Leaf& named(const Leaf& node) {
    return node;
  }
  template <int Name, class T, class Shape, class Space>
  static auto named(const taped_leaf<T, Shape, Space>& node) {
    return leaf<T, Shape, Space, taped_name<Name>>{node.elements, {node.owner}};
  }
};

/// A place on a tape, of a value of any type.
struct tape_place {
  bool is_variable = false;
  bool has_gradient = false;  // of a variable: of the passes so far
  bool has_share = false;     // of the pass that runs

  tape_place() = default;
  tape_place(const tape_place&) = delete;
  tape_place& operator=(const tape_place&) = delete;
  virtual ~tape_place() = default;
  /// Adds to the gradients of what the value was made of.
  virtual void pull_back(tape&) {}
  /// Adds what a pass left to the gradient; of variables.
  virtual void take_share() {}
};

/// A variable; what is recorded adds what it was made of. A pass adds up shares here, which variables take at its end,
/// so that a pass that fails leaves no gradient half done.
template <class T, class Shape, class Space>
struct tape_value : tape_place {
  tensor<T, Shape, Space> value, share, own_gradient;  // no value of a variable: it lies with the caller
  tensor<T, Shape, Space>* gradient = &own_gradient;

  template <class Part>
  void add(const Part& part) {
    tensor<T, Shape, Space> fresh(part);
    if (has_share) share = share + fresh;
    else share = std::move(fresh);
    has_share = true;
  }
  void take_share() override {
    if (has_gradient) *gradient = *gradient + share;
    else *gradient = std::move(share);
    has_gradient = true;
  }
};

}  // namespace detail

/// Values and how they came about, in the order of the program. Loops, branches and recursion of C++ record what they
/// do; statements fuse, each within itself. A tape and its values belong to one thread, and die together.
/// cost      a statement each, whose value is kept; backward, a statement for each use of a value in one
/// example   tape steps;
///           const auto w = steps.variable(weight);
///           auto h = steps.record(matmul(x, w));
///           while (float(max(abs(h))) > 1) h = steps.record(tanh(matmul(h, w)));   // one type, so h can be assigned
///           steps.backward(steps.record(mean(square(h - t))));
///           weight = weight - 0.1f * steps.gradient(w);
class tape {
 public:
  tape() = default;
  tape(const tape&) = delete;
  tape& operator=(const tape&) = delete;

  /// A tensor or view that gradients are wanted of; it must outlive the tape and keep its elements until `backward`.
  template <tensor_operand Tensor>
  auto variable(const Tensor& elements) {
    return add_variable(as_node(elements)).first;
  }
  /// The same; gradients are added to those in `gradient`, which they begin where it is empty. It outlives the tape.
  template <tensor_operand Tensor, class T, class Shape, class Space>
  auto variable(const Tensor& elements, tensor<T, Shape, Space>& gradient) {
    const auto [named, place] = add_variable(as_node(elements));
    place->gradient = &gradient;
    place->has_gradient = gradient.data() != nullptr;
    return named;
  }

  /// Evaluates an expression of values on the tape, and of tensors, which must live and keep their elements until
  /// `backward`; those that are moved into it live with it.
  template <tensor_operand Operand>
  auto record(Operand&& operand) {
    return add(std::make_unique<recorded_statement<node_of<Operand>>>(as_node(std::forward<Operand>(operand))));
  }

  /// Records `function(inner, inputs...)` as one step of which only the result is kept: `backward` calls the function
  /// again, on a tape of its own. The function records on that tape, takes the inputs as values of it, and does the
  /// same whenever it is called.
  template <class Function, class... Leaves>
  auto checkpoint(const Function& function, const Leaves&... inputs) {
    (must_be_here(inputs.owner), ...);
    return add(std::make_unique<recorded_function<Function, node_of<const Leaves&>...>>(function, as_node(inputs)...));
  }

  /// Adds to the gradient of every variable its share in a value without axes.
  template <class T, class Shape, class Space>
  void backward(const taped_leaf<T, Shape, Space>& result) {
    detail::must_be_without_axes<taped_leaf<T, Shape, Space>>();
    backward(result, constants(Shape{}, T(1.0f)));
  }
  /// The same from the gradient of a value.
  /// throws    shape_error when the gradient has other extents than the value
  template <class T, class Shape, class Space, tensor_operand Seed>
  void backward(const taped_leaf<T, Shape, Space>& result, const Seed& seed) {
    must_be_here(result.owner);
    for (auto& each : places_) each->has_share = false;
    value_at(result).add(broadcast_to(as_node(seed), result.shape()));
    for (int place = result.owner.place; place >= 0; --place) {
      auto& each = *places_[static_cast<std::size_t>(place)];
      if (each.has_share && !each.is_variable) each.pull_back(*this);
    }
    for (auto& each : places_) {
      if (each->has_share && each->is_variable) each->take_share();
    }
  }

  /// What all backward passes left for a variable; zeros where nothing did.
  template <class T, class Shape, class Space>
  const tensor<T, Shape, Space>& gradient(const taped_leaf<T, Shape, Space>& variable) {
    must_be_here(variable.owner);
    auto& place = value_at(variable);
    if (!place.is_variable) throw error("tape: gradients are kept of variables only; make one of this value?");
    if (!place.has_gradient) {
      *place.gradient = tensor<T, Shape, Space>(constants(variable.shape(), T(0.0f)));
      place.has_gradient = true;
    }
    return *place.gradient;
  }
  /// How many variables and statements there are.
  int size() const { return static_cast<int>(places_.size()); }

 private:
  template <class Leaf>
  struct value_of_leaf;
  template <class T, class Shape, class Space, class Owner>
  struct value_of_leaf<leaf<T, Shape, Space, Owner>> {
    using type = detail::tape_value<T, Shape, Space>;
  };
  template <class Leaf>
  using value_named = taped_value<typename Leaf::element, typename Leaf::shape_type, typename Leaf::space>;
  template <class Node>
  using value_of_node = detail::tape_value<typename Node::element, typename Node::shape_type,
                                           detail::concrete_space<typename Node::space>>;

  /// A statement.
  template <class Node>
  struct recorded_statement : value_of_node<Node> {
    Node node;

    explicit recorded_statement(const Node& expression) : node(expression) { this->value = node; }
    void pull_back(tape& steps) override {
      const auto named = with_named_leaves<detail::name_taped_leaves>(node);
      using named_type = std::remove_const_t<decltype(named)>;
      const auto seed = as_node(this->share);
      visit_named_leaves(named, [&]<int Name>(constant<Name>, const auto& each) {
        if constexpr (depends_on<Name, named_type>) {
          steps.value_at(each).add(detail::gradient_of_variable(named, each, seed));
        }
      });
    }
  };

  /// A function that runs again.
  template <class Function, class... Leaves>
  struct recorded_function
      : value_of_leaf<node_of<std::invoke_result_t<const Function&, tape&, const value_named<Leaves>&...>>>::type {
    Function function;
    tuple<Leaves...> inputs;

    recorded_function(const Function& again, const Leaves&... leaves)
        : function(again), inputs(make_tuple_of(leaves...)) {
      tape inner;
      this->value =
          apply_tuple([&](const auto&... each) { return function(inner, inner.variable(each.elements)...); }, inputs);
    }
    void pull_back(tape& steps) override {
      tape inner;
      const auto variables =
          apply_tuple([&](const auto&... each) { return make_tuple_of(inner.variable(each.elements)...); }, inputs);
      const auto run_again = [&](const auto&... each) { return function(inner, each...); };
      inner.backward(apply_tuple(run_again, variables), this->share);
      for_each_index<static_cast<int>(sizeof...(Leaves))>(
          [&](auto i) { steps.value_at(get<i.value>(inputs)).add(as_node(inner.gradient(get<i.value>(variables)))); });
    }
  };

  template <class Value>
  auto add(std::unique_ptr<Value> recorded) {
    const auto named = name_next(as_node(recorded->value));
    places_.push_back(std::move(recorded));
    return named;
  }
  template <class T, class Shape, class Space, class Owner>
  auto add_variable(const leaf<T, Shape, Space, Owner>& elements) {
    static_assert(is_floating<T> || must_hold<T>, "tenon: a variable has floating elements");
    using value = detail::tape_value<T, Shape, Space>;
    const auto named = name_next(elements);
    places_.push_back(std::make_unique<value>());
    places_.back()->is_variable = true;
    return std::pair{named, static_cast<value*>(places_.back().get())};
  }
  template <class T, class Shape, class Space, class Owner>
  taped_value<T, Shape, Space> name_next(const leaf<T, Shape, Space, Owner>& elements) const {
    return taped_value<T, Shape, Space>(taped_leaf<T, Shape, Space>{elements.elements, {this, size()}});
  }
  /// The place of a leaf's value, which is of the leaf's types.
  template <class Leaf>
  auto& value_at(const Leaf& named) const {
    must_be_here(named.owner);
    using value = typename value_of_leaf<Leaf>::type;
    return static_cast<value&>(*places_[static_cast<std::size_t>(named.owner.place)]);
  }
  /// throws    error
  void must_be_here(const taped& owner) const {
    if (owner.on != this) throw error("tape: this value is on another tape");
  }

  std::vector<std::unique_ptr<detail::tape_place>> places_;
};

}  // namespace tenon
