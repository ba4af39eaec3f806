// tenon/grad/shared_passes.hpp: gradients of the same attention, which expressions hold apart, in one run.
// Those of queries, keys and values are nodes of the same operands: where several are wanted, they share the weights.
// Floor 6: may include base, core, expr, plan, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/attention_gradient.hpp>
#include <tenon/plan/split.hpp>
#include <vector>

namespace tenon {

namespace detail {

template <class E>
inline constexpr bool is_attention_gradient = false;
template <int I, class T, class Shape, class... Operands>
inline constexpr bool is_attention_gradient<own_pass<attention_gradient_algorithm<I>, T, Shape, Operands...>> = true;

template <class... Es>
constexpr auto first_attention_gradient();

/// The first innermost gradient of attention in E; void where there is none.
template <class E>
constexpr auto attention_gradient_in() {
  const auto inner = []<class... Operands>(std::type_identity<tuple<Operands...>>) {
    return first_attention_gradient<Operands...>();
  }(std::type_identity<operands_of<E>>{});
  using type = typename decltype(inner)::type;
  if constexpr (std::is_void_v<type> && is_attention_gradient<E>) return std::type_identity<E>{};
  else return std::type_identity<type>{};
}
template <class... Es>
constexpr auto first_attention_gradient() {
  if constexpr (sizeof...(Es) == 0) {
    return std::type_identity<void>{};
  } else {
    return []<class First, class... Rest>(std::type_identity<First>, std::type_identity<Rest>...) {
      using type = typename decltype(attention_gradient_in<First>())::type;
      if constexpr (std::is_void_v<type>) return first_attention_gradient<Rest...>();
      else return std::type_identity<type>{};
    }(std::type_identity<Es>{}...);
  }
}

/// Gradients of attention whose operands are those of `Pass`.
template <class Pass>
struct attention_passes;
template <int Any, class T, class Shape, class Query, class Key, class Value, class Bias, class Factor, class Gradient>
struct attention_passes<
    own_pass<attention_gradient_algorithm<Any>, T, Shape, Query, Key, Value, Bias, Factor, Gradient>> {
  using space = concrete_space<typename common_space<typename Query::space, typename Gradient::space>::type>;
  using node = attention<Query, Key, Value, Bias, Factor>;
  template <int I>
  using pass = decltype(make_attention_gradient<I>(std::declval<const node&>(), std::declval<const Gradient&>()));
  template <int I>
  using value = tensor<T, typename pass<I>::shape_type, space>;

  /// Passes with equal operands, and what comes of them.
  struct group {
    attention_options options;
    const tuple<Query, Key, Value, Bias, Factor, Gradient>* operands;
    tuple<const pass<0>*, const pass<1>*, const pass<2>*> wanted{};
    tuple<std::vector<value<0>>, std::vector<value<1>>, std::vector<value<2>>> values{};

    bool has(const attention_options& others, const tuple<Query, Key, Value, Bias, Factor, Gradient>& of) const {
      bool equal = options == others;
      for_each_index<6>([&](auto i) { equal = equal && equal_nodes(get<i.value>(*operands), get<i.value>(of)); });
      return equal;
    }
    void run() {
      const auto make = [&]<int I>(constant<I>) {
        using view_type = decltype(std::declval<value<I>&>().write_view());
        if (get<I>(wanted) == nullptr) return view_type(nullptr, typename pass<I>::shape_type{});
        get<I>(values).emplace_back(get<I>(wanted)->shape());
        return get<I>(values).back().write_view();
      };
      const auto to = make_tuple_of(make(constant<0>{}), make(constant<1>{}), make(constant<2>{}));
      const auto whole = make_attention(get<0>(*operands), get<1>(*operands), get<2>(*operands), get<3>(*operands),
                                        options, get<4>(*operands));
      executor_of<attention_gradients<space>>::run({}, to, whole, get<5>(*operands));
    }
  };
};

/// `nodes` with the parts of type `Part` replaced by `values`, in order.
template <class Part, class Value, class... Nodes>
auto replace_passes(const std::vector<Value>& values, const tuple<Nodes...>& nodes) {
  const Value* next = values.data();
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    using replaced =
        tuple<std::remove_cvref_t<decltype(replace_parts<Part, occurrences<Part, Nodes>>(get<I>(nodes), next))>...>;
    return replaced{{{replace_parts<Part, occurrences<Part, Nodes>>(get<I>(nodes), next)}...}};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Nodes))>{});
}

}  // namespace detail

/// Calls `use(nodes...)` with the gradients of attention in the nodes replaced by their values: those that share their
/// operands are evaluated together.
template <class Use, class... Nodes>
auto with_shared_passes(const Use& use, const tuple<Nodes...>& nodes) {
  using found = typename decltype(detail::first_attention_gradient<Nodes...>())::type;
  if constexpr (std::is_void_v<found>) {
    return apply_tuple(use, nodes);
  } else {
    using passes = detail::attention_passes<found>;
    using group = typename passes::group;
    std::vector<group> groups;
    std::vector<std::size_t> group_of[3];
    for_each_index<3>([&](auto i) {
      using pass = typename passes::template pass<i.value>;
      constexpr int count = (0 + ... + detail::occurrences<pass, Nodes>);
      const pass* parts[count + 1];
      const pass** last = parts;
      apply_tuple([&](const auto&... node) { (detail::list_parts(node, last), ...); }, nodes);
      for (int k = 0; k < count; ++k) {
        std::size_t own = 0;
        while (own < groups.size() && !groups[own].has(parts[k]->options.options, parts[k]->operands)) ++own;
        if (own == groups.size()) groups.push_back({parts[k]->options.options, &parts[k]->operands});
        get<i.value>(groups[own].wanted) = parts[k];
        group_of[i.value].push_back(own);
      }
    });
    for (group& each : groups) each.run();
    const auto values_of = [&](auto i) {
      std::vector<node_of<typename passes::template value<i.value>>> values;
      for (const std::size_t own : group_of[i.value]) {
        values.push_back(as_node(std::move(get<i.value>(groups[own].values).front())));
      }
      return values;
    };
    return with_shared_passes(
        use, detail::replace_passes<typename passes::template pass<2>>(
                 values_of(constant<2>{}),
                 detail::replace_passes<typename passes::template pass<1>>(
                     values_of(constant<1>{}),
                     detail::replace_passes<typename passes::template pass<0>>(values_of(constant<0>{}), nodes))));
  }
}

}  // namespace tenon
