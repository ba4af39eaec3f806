// tenon/nn/arena_values.hpp: values of a network in use: expressions that wait for their reader, or blocks of an arena.
// A network goes through them twice: once to plan the blocks, then, as often as it is used, to write them.
// Floor 7: may include base, core, expr, plan, evaluate, grad, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/grad/traced.hpp>
#include <tenon/nn/arena.hpp>
#include <tenon/plan/split.hpp>
#include <utility>
#include <vector>

namespace tenon {

namespace nn {

/// What a keeper does for the values of a network in use: their leaves have an `owner_type`, and `written(node)` is the
/// leaf of an expression in memory.
template <class Keeper>
struct kept_by;

/// `Products` is what happens to convolutions and linear layers on the way.
template <class Products>
class arena_walk;
/// What keeps the values of a network in use; inference.hpp has the definition, which calls the layers.
template <class Products>
struct arena_keeper;

/// The owner of a leaf that lies in an arena.
template <class Products>
struct in_arena {
  using keeper = arena_keeper<Products>;
  arena_walk<Products>* walk;
  int block;  ///< less than 0: what the network was given
};

namespace detail {

/// Whether values of an owner have no elements when `forward` is called.
template <class Owner>
inline constexpr bool has_no_elements = false;
template <class Products>
inline constexpr bool has_no_elements<in_arena<Products>> = true;

}  // namespace detail

}  // namespace nn

/// A value in an arena, or one that is only described. Statements read it when a walk runs; nothing else may.
template <class T, shape_type Shape, class Space, class Owner>
  requires nn::detail::has_no_elements<Owner>
struct leaf<T, Shape, Space, Owner> {
  using kind = leaf_kind;
  using element = T;
  using space = Space;
  using shape_type = Shape;
  static constexpr bool comes_later = true;  // algorithms refuse it

  tenon::view<const T, Shape, Space> elements;
  Owner owner;
  static constexpr tuple<> operands{};

  const Shape& shape() const { return elements.shape(); }
  tenon::view<const T, Shape, Space> view() const { return elements; }

  template <int, int Outer>
  strided_source<T, Outer> lower(const axis_map<Shape::rank, Outer>&) const {
    static_assert(must_hold<leaf>,
                  "tenon: nn::inference runs a network whose forward reads no elements, and so does nn::summary: there "
                  "are no values yet; call this network itself, under tenon::no_grad");
    return {};
  }
};

namespace nn {

template <class T, class Shape, class Space, class Products>
using arena_leaf = leaf<T, Shape, Space, in_arena<Products>>;

namespace detail {

/// Leaves as they are in memory, whoever owns them: statements hang on that alone.
struct without_owner {
  template <int, class T, class Shape, class Space, class Owner>
  static leaf<T, Shape, Space> named(const leaf<T, Shape, Space, Owner>& node) {
    return {node.view(), {}};
  }
};
template <class Node>
auto without_owners(const Node& node) {
  return with_named_leaves<without_owner>(node);
}
template <class Node>
using plain_node = std::remove_cvref_t<decltype(without_owners(std::declval<const Node&>()))>;

template <class Node>
inline constexpr bool is_leaf_node = std::is_same_v<typename Node::kind, leaf_kind>;

/// Calls `visitor(owner)` for every leaf of an expression that has an owner of this type.
template <class Owner, class Node, class Visitor>
void visit_owners(const Node& node, const Visitor& visitor) {
  if constexpr (std::is_same_v<typename Node::kind, leaf_kind>) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node.owner)>, Owner>) visitor(node.owner);
  } else if constexpr (decltype(Node::operands)::count != 0) {
    apply_tuple([&](const auto&... operands) { (visit_owners<Owner>(operands, visitor), ...); }, node.operands);
  }
}

/// What is made once of a layer, by its place.
using kept_parts = std::vector<std::pair<const void*, std::shared_ptr<void>>>;

}  // namespace detail

/// One way through a network: with memory, its statements run; without, their blocks are planned.
template <class Products>
class arena_walk {
 public:
  /// Plans.
  arena_walk(arena_plan& plan, detail::kept_parts& parts, Products& products)
      : plan_(plan), parts_(parts), products_(products), memory_(nullptr), runs_(false) {}
  /// Runs as planned.
  arena_walk(arena_plan& plan, detail::kept_parts& parts, Products& products, std::byte* memory)
      : plan_(plan), parts_(parts), products_(products), memory_(memory), runs_(true) {}
  arena_walk(const arena_walk&) = delete;
  arena_walk& operator=(const arena_walk&) = delete;

  bool runs() const { return runs_; }
  Products& products() const { return products_; }
  /// Writes an expression to the next block, by a statement, or by several where one cannot say it.
  template <class Node>
  auto write(const Node& node) {
    using element = typename Node::element;
    const int first = next_;
    const auto target = write_plain(detail::without_owners(node));
    const int last = next_ - 1;
    detail::visit_owners<owner>(node, [&](const owner& from) { keep(from.block, last); });
    for (int part = first; part < last; ++part) keep(part, last);
    return arena_leaf<element, typename Node::shape_type, typename Node::space, Products>{target, {this, last}};
  }
  /// The next block for elements of these extents, which `fill(view)` writes when the walk runs.
  template <class T, class Space, class Shape, class Fill, class... Inputs>
  auto filled(const Shape& extents, const Fill& fill, const Inputs&... inputs) {
    const view<T, Shape, Space> target(next_place<T>(extents.count()), extents);
    const int block = next_ - 1;
    (detail::visit_owners<owner>(inputs, [&](const owner& from) { keep(from.block, block); }), ...);
    if (runs_) fill(target);
    return arena_leaf<T, Shape, Space, Products>{target, {this, block}};
  }
  /// A block is needed until the walk is done.
  void keep_to_end(int block) { keep(block, next_ - 1); }
  /// What `make()` made of the layer at `place` when the walk came by first.
  template <class Make>
  const auto& kept_of(const void* place, const Make& make) {
    using part = decltype(make());
    for (const auto& [layer, made] : parts_) {
      if (layer == place) return *static_cast<const part*>(made.get());
    }
    parts_.emplace_back(place, std::make_shared<part>(make()));
    return *static_cast<const part*>(parts_.back().second.get());
  }
  /// The weight [Out, In] of a product for an input of `count` elements. Products of several rows read a copy [In, Out]
  /// as it lies and would have to lay out one of [Out, In]; a single row is multiplied faster with that.
  template <class T, class Shape, class Space>
  view<const T, Shape, Space> weight_for(const tensor<T, Shape, Space>& own, index count) {
    if constexpr (std::is_same_v<Space, host> && std::is_floating_point_v<T>) {
      if (count > own.extent(1)) {
        using copy_type = tensor<T, shape<Shape::static_extent(1), Shape::static_extent(0)>, host>;
        const auto& copy = kept_of(&own, [&] { return copy_type(transpose(own)); });
        return {copy.data(), own.shape(), {1, own.extent(0)}};
      }
    }
    return own.view();
  }

 private:
  using owner = in_arena<Products>;

  void keep(int block, int reader) {
    if (!runs_ && block >= 0) plan_.keep(block, reader);
  }
  /// The place of the next statement's elements. Plans give each an address of its own, which nobody reads: statements
  /// are compared by those.
  template <class T>
  T* next_place(index count) {
    const int block = next_++;
    if (runs_) return reinterpret_cast<T*>(memory_ + plan_.offset(block));
    plan_.add(count * static_cast<index>(sizeof(T)));
    return reinterpret_cast<T*>(arena_plan::alignment * next_);
  }
  template <class Node>
  auto write_plain(const Node& node) {
    using element = typename Node::element;
    const auto at = [&](element* memory) {
      return view<element, typename Node::shape_type, typename Node::space>(memory, node.shape());
    };
    if constexpr (stage_of<Node>() == stage::split) {
      element* written = nullptr;
      split(
          node, [&](const auto& part) { return as_node(write_plain(part)); },
          [&](const auto& rest) { written = write_plain(rest).data(); });
      return at(written);
    } else {
      const auto target = at(next_place<element>(node.shape().count()));
      if (runs_) target.noalias() = node;
      return target;
    }
  }

  arena_plan& plan_;
  detail::kept_parts& parts_;
  Products& products_;
  std::byte* memory_;
  bool runs_;
  int next_ = 0;
};

namespace detail {

/// The walk that a value of a network in use belongs to.
template <class Products, class... Nodes>
arena_walk<Products>& walk_of(const Nodes&... nodes) {
  arena_walk<Products>* walk = nullptr;
  (visit_owners<in_arena<Products>>(nodes, [&](const in_arena<Products>& owner) { walk = owner.walk; }), ...);
  return *walk;
}

}  // namespace detail

template <class Products>
struct kept_by<arena_keeper<Products>> {
  using owner_type = in_arena<Products>;
  template <class Node>
  static auto written(const Node& node) {
    return detail::walk_of<Products>(node).write(node);
  }
};

/// What a layer or network in use makes: an expression that joins its reader, or that is written where it has a name.
template <class Products, class Node>
class arena_value {
 public:
  using kind = leaf_kind;
  using keeper = arena_keeper<Products>;
  using element = typename Node::element;
  using shape_type = typename Node::shape_type;
  using space = typename Node::space;
  using leaf_type = arena_leaf<element, shape_type, space, Products>;
  static constexpr tuple<> operands{};

  arena_value(arena_walk<Products>& walk, const Node& node) : walk_(&walk), node_(node) {}
  arena_value(const arena_value& other) : walk_(other.walk_), node_(other.node_), leaf_(other.written()) {}
  arena_value(arena_value&&) = default;
  arena_value& operator=(const arena_value&) = delete;

  const Node& node() const { return node_; }
  const leaf_type& written() const {
    if (!leaf_) {
      if constexpr (std::is_same_v<Node, leaf_type>) leaf_.emplace(node_);
      else leaf_.emplace(walk_->write(node_));
    }
    return *leaf_;
  }
  shape_type shape() const { return node_.shape(); }
  index extent(int axis) const { return shape().extent(axis); }
  index size() const { return shape().count(); }
  template <class New>
  auto reshape(const New& extents) const {
    return traced(written()).reshape(extents);
  }
  template <int Rank>
  auto reshape(const listed_extent (&extents)[Rank]) const {
    return traced(written()).reshape(extents);
  }
  template <class Position>
  auto operator[](const Position& position) const {
    return tenon::detail::subscript(written(), position);
  }
  template <class First, class... Rest>
  auto operator()(const First& first, const Rest&... rest) const {
    return tenon::detail::traced_part(written(), first, rest...);
  }
  auto detached() const { return *this; }

 private:
  arena_walk<Products>* walk_;
  Node node_;
  mutable std::optional<leaf_type> leaf_;
};

}  // namespace nn

template <class Products, class Node>
const auto& as_node(const nn::arena_value<Products, Node>& value) {
  return value.written();
}
template <class Products, class Node>
const auto& as_node(nn::arena_value<Products, Node>& value) {
  return value.written();
}
template <class Products, class Node>
Node as_node(nn::arena_value<Products, Node>&& value) {
  return value.node();
}

/// A value with a name in a network in use: it is written, and assigned to it names another one.
template <dtype T, shape_type Shape, memory_space Space, class Keeper>
  requires(!std::is_same_v<Keeper, kept_by_steps>)
class traced<T, Shape, Space, Keeper> : public leaf<T, Shape, Space, typename nn::kept_by<Keeper>::owner_type> {
 public:
  using owner_type = typename nn::kept_by<Keeper>::owner_type;
  using leaf_type = leaf<T, Shape, Space, owner_type>;

  traced(const leaf_type& node) : leaf_type(node) {}
  traced(const traced&) = default;
  traced& operator=(const traced& other) { return detail::renamed(*this, other); }
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced(Operand&& operand) : leaf_type(leaf_of(as_node(std::forward<Operand>(operand)))) {}
  template <tensor_operand Operand>
    requires(!std::is_base_of_v<leaf_type, std::remove_cvref_t<Operand>>)
  traced& operator=(Operand&& operand) {
    return detail::renamed(*this, traced(std::forward<Operand>(operand)));
  }

  index extent(int axis) const { return this->shape().extent(axis); }
  index size() const { return this->shape().count(); }
  /// The same elements under another shape, in the same place.
  /// throws    shape_error where it counts other elements
  template <shape_type New>
  traced<T, New, Space, Keeper> reshape(const New& extents) const {
    detail::check_reshape(extents, size(), this->shape().to_array());
    return leaf<T, New, Space, owner_type>{{this->elements.data(), extents}, this->owner};
  }
  template <int Rank>
  traced<T, rank<Rank>, Space, Keeper> reshape(const listed_extent (&extents)[Rank]) const {
    return reshape(detail::inferred_shape(extents, size()));
  }
  template <class Position>
  auto operator[](const Position& position) const {
    return detail::subscript(static_cast<const leaf_type&>(*this), position);
  }
  template <class First, class... Rest>
  auto operator()(const First& first, const Rest&... rest) const {
    return detail::traced_part(static_cast<const leaf_type&>(*this), first, rest...);
  }
  traced detached() const { return *this; }

 private:
  /// A shape may know more of its extents than the expression, or less.
  template <class Node>
  static leaf_type leaf_of(const Node& node) {
    if constexpr (std::is_same_v<Node, leaf_type>) {
      return node;
    } else if constexpr (nn::detail::is_leaf_node<Node>) {
      return {{node.view().data(), Shape(node.shape())}, node.owner};
    } else {
      return leaf_of(nn::kept_by<Keeper>::written(node));
    }
  }
};
template <class T, class Shape, class Space, class Keeper>
  requires(!std::is_same_v<Keeper, kept_by_steps>)
const auto& as_node(const traced<T, Shape, Space, Keeper>& value) {
  return static_cast<const typename traced<T, Shape, Space, Keeper>::leaf_type&>(value);
}

}  // namespace tenon
