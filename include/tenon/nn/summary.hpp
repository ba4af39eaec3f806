// tenon/nn/summary.hpp: a network as a table: its layers, their shapes, parameters, multiply-adds and memory.
// Nothing is computed: it is called with shapes, of which layers say what they make, and their work where they know it.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <tenon/nn/arena_values.hpp>
#include <tenon/nn/inference_inputs.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/sequential.hpp>
#include <vector>

namespace tenon::nn {

/// What a layer makes of its input, and what that takes.
struct layer_summary {
  std::string name;           ///< with dots, as those of its parameters, and what it is
  std::vector<index> output;  ///< empty where it was not called
  index parameters = 0;
  index trainable = 0;      ///< of these, those that are not frozen
  index multiply_adds = 0;  ///< of one forward pass; 0 where the layer does not say
  index output_bytes = 0;
};

/// What is known of a network, and of its call with inputs of some shapes.
struct network_summary {
  std::vector<layer_summary> layers;
  bool is_called = false;
  index input_bytes = 0;
  index parameter_bytes = 0;  ///< values alone; gradients take as many again

  index parameters() const { return total(&layer_summary::parameters); }
  index trainable() const { return total(&layer_summary::trainable); }
  index multiply_adds() const { return total(&layer_summary::multiply_adds); }
  /// Of all outputs, which a pass keeps; the gradients of a backward pass take as many again.
  index output_bytes() const { return total(&layer_summary::output_bytes); }

 private:
  TENON_IF_CALLED index total(index layer_summary::* count) const {
    index result = 0;
    for (const auto& layer : layers) result += layer.*count;
    return result;
  }
};

/// What layers have been called and what they made, while a network is described.
struct layer_calls {
  struct call {
    const void* layer;
    const char* type;  // empty layers may share a place
    std::vector<index> output;
    index multiply_adds, output_bytes;
  };
  std::vector<call> all;
};

struct summary_keeper;
/// The owner of a value that is a shape alone, while a network is described.
struct in_summary {
  using keeper = summary_keeper;
  layer_calls* calls;
};

namespace detail {

template <>
inline constexpr bool has_no_elements<in_summary> = true;
template <class Layer>
inline constexpr char layer_tag = 0;

/// The value of this shape and type, which has no elements.
template <dtype T, memory_space Space, shape_type Shape>
leaf<T, Shape, Space, in_summary> described(const Shape& extents, layer_calls* calls) {
  return {view<const T, Shape, Space>(nullptr, extents), {calls}};
}
template <class... Nodes>
layer_calls* calls_of(const Nodes&... nodes) {
  layer_calls* found = nullptr;
  (visit_owners<in_summary>(nodes, [&](const in_summary& owner) { found = owner.calls; }), ...);
  return found;
}

}  // namespace detail

template <>
struct kept_by<summary_keeper> {
  using owner_type = in_summary;
  template <class Node>
  static auto written(const Node& node) {
    return detail::described<typename Node::element, typename Node::space>(node.shape(), detail::calls_of(node));
  }
};

/// Calls layers, and notes what their values would be.
struct summary_keeper {
  template <class Layer, class... Operands>
  static auto call(Layer& layer, Operands&&... operands) {
    return called(layer, stored(as_node(std::forward<Operands>(operands)))...);
  }
  template <class Layer, class... Operands>
  static auto call_states(Layer& layer, Operands&&... operands) {
    return called_for_states(layer, stored(as_node(std::forward<Operands>(operands)))...);
  }
  template <class Operand>
  static auto settled(Operand&& operand) {
    return traced(std::forward<Operand>(operand));
  }

 private:
  template <class Node>
  static auto stored(const Node& node) {
    if constexpr (detail::is_leaf_node<Node>) return node;
    else return kept_by<summary_keeper>::written(node);
  }
  template <class Layer, class First, class... Rest>
  static auto called(Layer& layer, const First& first, const Rest&... rest) {
    using made = node_of<decltype(layer.forward(first.view(), rest.view()...))>;
    const auto output = [&] {
      if constexpr (requires { layer.output_shape(first.shape(), rest.shape()...); }) {
        return layer.output_shape(first.shape(), rest.shape()...);
      } else {
        return layer.output_shape(first.shape());
      }
    }();
    const auto value =
        detail::described<typename made::element, typename made::space>(output, detail::calls_of(first, rest...));
    note(layer, first.shape(), value);
    return traced(value);
  }
  template <class Layer, class First, class... Rest>
  static auto called_for_states(Layer& layer, const First& first, const Rest&... rest) {
    const auto values = layer.values_for(first.shape()).each([&](const auto& each) {
      using view_type = std::remove_cvref_t<decltype(each)>;
      return traced(detail::described<std::remove_const_t<typename view_type::element>, typename view_type::space>(
          each.shape(), detail::calls_of(first, rest...)));
    });
    note(layer, first.shape(), get<0>(values.all()));
    return values;
  }
  template <class Layer, shape_type Input, class Value>
  static void note(Layer& layer, const Input& input, const Value& value) {
    index multiply_adds = 0;
    if constexpr (requires { layer.multiply_adds(input); }) multiply_adds = layer.multiply_adds(input);
    const auto extents = value.shape().to_array();
    value.owner.calls->all.push_back({&layer,
                                      &detail::layer_tag<Layer>,
                                      {extents.begin(), extents.end()},
                                      multiply_adds,
                                      value.shape().count() * static_cast<index>(sizeof(typename Value::element))});
  }
};

namespace detail {

template <class... Layers>
layer_list<Layers...>& list_of(layer_list<Layers...>& list) {
  return list;
}

/// Calls `visitor(name, layer)` for the layers and parameters of a network, in the order of members.
template <class Network, class Visitor>
void visit_layers(const std::string& name, Network& net, const Visitor& visitor) {
  const auto visit = [&](const std::string& inner, auto& part) {
    visit_layers(name.empty() ? inner : dotted(name, inner), part, visitor);
  };
  if constexpr (std::is_base_of_v<module<Network>, Network>) {
    net.visit_members(visit);
  } else if constexpr (requires { list_of(net); }) {
    for_each_index<Network::count>([&](auto i) { visit(name_of_part(i.value), get<i.value>(list_of(net).layers)); });
  } else if constexpr (is_parameter<Network> || has_parameters<Network>) {
    visitor(name, net);
  }
}

/// The row of a layer or parameter: what it holds, and what its calls made.
template <class Layer>
layer_summary row_of(const std::string& name, Layer& layer, const layer_calls& calls, index& parameter_bytes) {
  const std::string type = is_parameter<Layer> ? "parameter" : name_of<Layer>();
  layer_summary row{.name = name.empty() ? type : name + " " + type, .output = {}};
  const auto add = [&](const auto& own, auto& parameter) {
    const index count = parameter.value.size();
    if (std::remove_cvref_t<decltype(parameter)>::shape_type::dynamic_rank != 0 && count == 0) {
      throw error(compose_text("summary: ", row.name, ": ", own,
                               " has no extents yet; call initialise(seed), or load weights"));
    }
    row.parameters += count, row.trainable += parameter.is_frozen ? 0 : count;
    parameter_bytes += count * static_cast<index>(sizeof(typename std::remove_cvref_t<decltype(parameter)>::element));
  };
  if constexpr (is_parameter<Layer>) add(name, layer);
  else layer.visit_parameters(add);
  for (const auto& call : calls.all) {
    if (call.layer != &layer || call.type != &layer_tag<Layer>) continue;
    row.output = call.output;
    row.multiply_adds += call.multiply_adds, row.output_bytes += call.output_bytes;
  }
  return row;
}

/// 1234567 as 1,234,567.
TENON_IF_CALLED std::string grouped(index number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// Bytes as MB with two decimals.
TENON_IF_CALLED std::string megabytes(index bytes) {
  const index hundredths = (bytes + 5000) / 10000;
  const std::string decimals = std::to_string(hundredths % 100);
  return grouped(hundredths / 100) + "." + (decimals.size() == 1 ? "0" : "") + decimals + " MB";
}

using table_row = std::vector<std::string>;

/// Columns as wide as their widest cell; the first two begin at the left, numbers end at the right.
TENON_IF_CALLED void write_table(std::ostream& out, const std::vector<table_row>& rows) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < 2 ? row[i] + gap : gap + row[i]);
    }
    out << line << "\n";
  }
}

}  // namespace detail

/// The layers of a network in the order of its members: `std::cout << nn::summary(net, extents)` prints a table. Each
/// input is said by its extents, or by a tensor like those to come. The network is called with them and computes
/// nothing. A layer's output is that of its last call; its bytes and multiply-adds are those of all calls. Functions in
/// `forward`, and layers that are no members, are not counted. Without inputs, parameters alone are counted.
/// throws    shape_error when a layer does not take its input; error where `forward` reads a parameter that was never
///           written
/// example   std::cout << nn::summary(net, shape<64, 1, 28, 28>{})
template <class Network, class... Inputs>
network_summary summary(Network&& net, const Inputs&... inputs) {
  using network_type = std::remove_reference_t<Network>;
  static_assert(has_parameters<network_type> || must_hold<network_type>,
                "tenon: nn::summary takes a network that is not const");
  static_assert(((shape_type<Inputs> || tensor_operand<Inputs>) && ...) || must_hold<Inputs...>,
                "tenon: nn::summary takes a network and the shapes of its inputs, nn::summary(net, shape<8, 784>{})");
  network_summary result{.layers = {}, .is_called = sizeof...(Inputs) != 0};
  layer_calls calls;
  if constexpr (sizeof...(Inputs) != 0) {
    const no_grad reading;
    const auto described = [&]<class Given>(const Given& given) {
      using view_type = typename detail::input_view<network_type, Given>::type;
      using element = std::remove_const_t<typename view_type::element>;
      const auto extents = detail::given_extents<typename view_type::shape_type>(given).extents;
      result.input_bytes += extents.count() * static_cast<index>(sizeof(element));
      return detail::described<element, typename view_type::space>(extents, &calls);
    };
    detail::called_with(net, described(inputs)...);
  }
  detail::visit_layers("", net, [&](const std::string& name, auto& layer) {
    result.layers.push_back(detail::row_of(name, layer, calls, result.parameter_bytes));
  });
  return result;
}

/// Prints the table and its totals.
TENON_IF_CALLED std::ostream& operator<<(std::ostream& out, const network_summary& net) {
  std::vector<detail::table_row> rows{{"layer", "output", "parameters", "multiply-adds"}};
  const auto add = [&](const std::string& name, const std::string& output, index parameters, index multiply_adds) {
    const auto shown = [](index number) { return number == 0 ? "-" : detail::grouped(number); };
    rows.push_back({name, output, shown(parameters), shown(multiply_adds)});
  };
  for (const auto& layer : net.layers) {
    add(layer.name, layer.output.empty() ? "-" : compose_text(layer.output), layer.parameters, layer.multiply_adds);
  }
  add("total", "", net.parameters(), net.multiply_adds());
  detail::write_table(out, rows);
  out << "trainable parameters: " << detail::grouped(net.trainable()) << "\n";
  if (!net.is_called) return out << "parameters: " << detail::megabytes(net.parameter_bytes) << "\n";
  return out << "FLOP forward, of layers that tell: " << detail::grouped(2 * net.multiply_adds())
             << "\ninput: " << detail::megabytes(net.input_bytes)
             << ", outputs: " << detail::megabytes(net.output_bytes())
             << ", parameters: " << detail::megabytes(net.parameter_bytes)
             << "; in training also gradients: " << detail::megabytes(net.output_bytes() + net.parameter_bytes) << "\n";
}

}  // namespace tenon::nn
