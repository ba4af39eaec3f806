// tenon/nn/inference.hpp: a fused network in use: as few statements as its layers allow, in memory planned before.
// Layers join the statement before them while that stays one; what lies between statements shares one arena.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/views/concatenate.hpp>
#include <tenon/nn/arena.hpp>
#include <tenon/nn/fuse.hpp>
#include <tenon/plan/split.hpp>

namespace tenon::nn {

namespace detail {

/// A value on its way through a network: an expression, and the blocks of the arena that it reads.
template <class Node, int Blocks>
struct pending_value {
  Node node;
  array<int, Blocks> blocks;
};
template <class Node, int Blocks>
pending_value<Node, Blocks> make_pending_value(const Node& node, const array<int, Blocks>& blocks) {
  return {node, blocks};
}
template <int Left, int Right>
array<int, Left + Right> joined_blocks(const array<int, Left>& left, const array<int, Right>& right) {
  array<int, Left + Right> all{};
  for (int i = 0; i < Left + Right; ++i) all[i] = i < Left ? left[i] : right[i - Left];
  return all;
}

/// One way through a network: with memory, its statements run; without, their blocks are planned.
template <memory_space Space>
class network_walk {
 public:
  /// Plans.
  explicit network_walk(arena_plan& plan) : plan_(plan), memory_(nullptr), runs_(false) {}
  /// Runs as planned.
  network_walk(arena_plan& plan, std::byte* memory) : plan_(plan), memory_(memory), runs_(true) {}

  template <class... Layers, class Node, int Blocks>
  auto through(const fused_network<Layers...>& network, const pending_value<Node, Blocks>& value) {
    return through_from<0>(network.layers, value);
  }
  /// The value in memory, by a statement where it is not there yet, or by several where one cannot say it.
  template <class Node, int Blocks>
  auto stored(const pending_value<Node, Blocks>& value) {
    if constexpr (is_in_memory<Node>) {
      return value;
    } else {
      const int first = next_;
      const auto target = write(value.node);
      const int last = next_ - 1;
      keep(value.blocks, last);
      for (int part = first; part < last; ++part) keep(array<int, 1>{{part}}, last);
      return make_pending_value(as_node(target), array<int, 1>{{last}});
    }
  }

 private:
  /// The blocks are needed until statement `reader`.
  template <int Blocks>
  void keep(const array<int, Blocks>& blocks, int reader) {
    for (int i = 0; i < Blocks && !runs_; ++i) plan_.keep(blocks[i], reader);
  }
  template <class Node>
  static constexpr bool is_in_memory = std::is_same_v<typename Node::kind, leaf_kind>;
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
  auto write(const Node& node) {
    using element = typename Node::element;
    const auto at = [&](element* memory) {
      return view<element, typename Node::shape_type, Space>(memory, node.shape());
    };
    if constexpr (stage_of<Node>() == stage::split) {
      element* written = nullptr;
      split(
          node, [&](const auto& part) { return as_node(write(part)); },
          [&](const auto& rest) { written = write(rest).data(); });
      return at(written);
    } else {
      const auto target = at(next_place<element>(node.shape().count()));
      if (runs_) target.noalias() = node;
      return target;
    }
  }

  template <int I, class... Layers, class Node, int Blocks>
  auto through_from(const tuple<Layers...>& layers, const pending_value<Node, Blocks>& value) {
    if constexpr (I == static_cast<int>(sizeof...(Layers))) return value;
    else return through_from<I + 1>(layers, after(get<I>(layers), value));
  }

  /// `make(value)` of the value as it is where that takes no more statements than the value, else of it in memory.
  template <class Make, class Node, int Blocks>
  auto extended(const pending_value<Node, Blocks>& value, const Make& make) {
    if constexpr (is_in_memory<Node> || kernel_count<decltype(make(value.node))> <= kernel_count<Node>) {
      return make_pending_value(make(value.node), value.blocks);
    } else {
      return extended(stored(value), make);
    }
  }
  template <class Layer, class Node, int Blocks>
  auto after(const Layer& layer, const pending_value<Node, Blocks>& value) {
    const auto forward = [&](const auto& x) { return layer.forward(x); };
    if constexpr (std::is_base_of_v<reshaping<Layer>, Layer>) {
      const auto here = stored(value);
      return make_pending_value(as_node(reshape(here.node.elements, layer.output_shape(here.node.shape()))),
                                here.blocks);
    } else if constexpr (is_fused_product<Layer>) {
      return extended(stored(value), forward);  // products read their operands more than once
    } else if constexpr (pools_squares<Layer> && can_pool_in_epilogue<Node>) {
      return make_pending_value(make_pooled_convolution(value.node, forward(value.node).shape()), value.blocks);
    } else {
      return extended(value, forward);
    }
  }
  /// Overload for layers that only observe their input.
  template <class Layer, class Node, int Blocks>
    requires(Layer::observes)
  auto after(const Layer& layer, const pending_value<Node, Blocks>& value) {
    const auto here = stored(value);
    if (runs_) layer.see(here.node);
    return here;
  }
  template <class Network, class Node, int Blocks>
  auto after(const fused_residual<Network>& block, const pending_value<Node, Blocks>& value) {
    const auto x = stored(value);
    const auto changed = through(block.inner, x);
    check_kept(x.node.shape().to_array(), changed.node.shape().to_array());
    const auto sum = extended(changed, [&](const auto& own) { return x.node + own; });
    return make_pending_value(sum.node, joined_blocks(sum.blocks, x.blocks));
  }
  static void check_kept(const auto& before, const auto& after) {
    if (after == before) return;
    throw shape_error(compose_text("residual: the layers make ", after, " of ", before, ", expected the same extents"));
  }
  template <class... Networks, class Node, int Blocks>
  auto after(const fused_branches<Networks...>& layer, const pending_value<Node, Blocks>& value) {
    return run_branches(layer, stored(value), std::make_integer_sequence<int, static_cast<int>(sizeof...(Networks))>{});
  }
  /// Branches run one after another, which elements of a list in braces do.
  template <class Layer, class Pending, int... I>
  auto run_branches(const Layer& layer, const Pending& x, std::integer_sequence<int, I...>) {
    const tuple<decltype(stored(through(get<I>(layer.branches), x)))...> parts{
        {{stored(through(get<I>(layer.branches), x))}...}};
    array<int, (0 + ... + decltype(get<I>(parts).blocks)::size())> blocks{};
    int next = 0;
    const auto list = [&](const auto& own) {
      for (const int block : own) blocks[next++] = block;
    };
    (list(get<I>(parts).blocks), ...);
    return make_pending_value(concatenate(axis<1>, get<I>(parts).node...), blocks);
  }

  arena_plan& plan_;
  std::byte* memory_;
  bool runs_;
  int next_ = 0;
};

}  // namespace detail

/// A fused network for inputs up to `largest` in every extent. All that lies between its statements has its place in
/// one piece of memory that is allocated here, so `run` allocates nothing, and a graph can capture it.
/// A convolution or linear layer is one statement with what is pointwise behind it, a residual's sum too, and behind
/// images of floats a max pool of 2 x 2 side by side. Layers that only change the shape are none.
/// throws    shape_error when a layer does not take its input
/// example   nn::inference use(nn::fuse(net), shape<dyn, 1, 28, 28>(64, 1, 28, 28)); const auto y = use.run(images);
template <class Network, shape_type Input, memory_space Space = typename Network::row::space,
          dtype T = typename Network::row::element>
class inference {
 public:
  inference(Network network, const Input& largest) : network_(std::move(network)), largest_(largest) {
    pass(view<const T, Input, Space>(nullptr, largest), detail::network_walk<Space>(plan_));
    plan_.place();
    memory_ = storage<std::byte, Space>(plan_.bytes());
  }

  /// Of all that lies between statements, the output among it; parameters are beside it.
  index arena_bytes() const { return plan_.bytes(); }
  /// The network's output for an input; valid until the next run.
  /// throws    shape_error when the input is larger than was planned
  /// cost      no allocation, but for what threads and streams keep from their first products on
  auto run(const view<const T, Input, Space>& input) {
    for (int axis = 0; axis < Input::rank; ++axis) {
      if (input.extent(axis) <= largest_.extent(axis)) continue;
      throw shape_error(compose_text("inference: axis ", axis, ": extent ", input.extent(axis), ", expected at most ",
                                     largest_.extent(axis), " as planned (input ", input.shape().to_array(),
                                     ", planned ", largest_.to_array(), ")"));
    }
    return pass(input, detail::network_walk<Space>(plan_, memory_.data()));
  }

 private:
  auto pass(const view<const T, Input, Space>& input, detail::network_walk<Space> walk) {
    return walk.stored(walk.through(network_, detail::make_pending_value(as_node(input), array<int, 0>{})))
        .node.elements;
  }

  Network network_;
  Input largest_;
  arena_plan plan_;
  storage<std::byte, Space> memory_;
};

}  // namespace tenon::nn
