// tenon/nn/summary.hpp: a network as a table: its layers, their shapes, parameters, multiply-adds and memory.
// Nothing is computed: layers say the shape of their output, and their work where they know it.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/state.hpp>
#include <vector>

namespace tenon::nn {

/// What a layer makes of its input, and what that takes.
struct layer_summary {
  std::string name;
  std::vector<index> output;
  index parameters = 0;
  index multiply_adds = 0;  ///< of one forward pass; 0 where the layer does not say
  index output_bytes = 0;
};

/// What is known of a network for one shape of input.
struct network_summary {
  std::vector<layer_summary> layers;
  index input_bytes = 0;
  index parameter_bytes = 0;  ///< values alone; gradients take as many again

  index parameters() const { return total(&layer_summary::parameters); }
  index multiply_adds() const { return total(&layer_summary::multiply_adds); }
  /// Of all outputs, which a pass keeps; the gradients of a backward pass take as many again.
  index output_bytes() const { return total(&layer_summary::output_bytes); }

 private:
  index total(index layer_summary::* count) const {
    index result = 0;
    for (const auto& layer : layers) result += layer.*count;
    return result;
  }
};

namespace detail {

/// Multiply-adds for an input: what a layer says, else 0; of a list of layers those of its layers.
struct multiply_adds {
  template <class Layer, class Input>
  static index of(const Layer& layer, const Input& input) {
    if constexpr (requires { layer.multiply_adds(input); }) return layer.multiply_adds(input);
    else return 0;
  }
  template <template <class...> class List, class... Layers, class Input>
    requires std::is_base_of_v<layer_list<Layers...>, List<Layers...>>
  static index of(const List<Layers...>& list, const Input& input) {
    return apply_tuple([&](const auto&... layer) { return through(input, layer...); }, list.layers);
  }
  template <class... Branches, class Input>
  static index of(const branching_layer<Branches...>& list, const Input& input) {
    return apply_tuple([&](const auto&... branch) { return (index{0} + ... + of(branch, input)); }, list.layers);
  }

 private:
  template <class Input>
  static index through(const Input&) {
    return 0;
  }
  template <class Input, class First, class... Rest>
  static index through(const Input& input, const First& first, const Rest&... rest) {
    return of(first, input) + through(first.output_shape(input), rest...);
  }
};

template <dtype T, class Network, int I, class Input>
void summarise(Network& net, std::integral_constant<int, I>, const Input& input, network_summary& result) {
  if constexpr (I < Network::count) {
    auto& layer = get<I>(net.layers);
    const auto output = layer.output_shape(input);
    const auto extents = output.to_array();
    layer.visit_parameters([&](const std::string&, auto& parameter) {
      result.parameter_bytes +=
          parameter.value.size() *
          static_cast<index>(sizeof(typename std::remove_cvref_t<decltype(parameter.value)>::element));
    });
    result.layers.push_back({std::to_string(I) + " " + layer.name, std::vector<index>(extents.begin(), extents.end()),
                             parameter_count(layer), multiply_adds::of(layer, input),
                             output.count() * static_cast<index>(sizeof(T))});
    summarise<T>(net, std::integral_constant<int, I + 1>{}, output, result);
  }
}

/// 1234567 as 1,234,567.
inline std::string grouped(index number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// Bytes as MB with two decimals.
inline std::string megabytes(index bytes) {
  const index hundredths = (bytes + 5000) / 10000;
  const std::string decimals = std::to_string(hundredths % 100);
  return grouped(hundredths / 100) + "." + (decimals.size() == 1 ? "0" : "") + decimals + " MB";
}

using table_row = std::vector<std::string>;

/// Columns as wide as their widest cell; the first two begin at the left, numbers end at the right.
inline void write_table(std::ostream& out, const std::vector<table_row>& rows) {
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

/// The layers of a network for an input of this shape, whose elements are T; `std::cout << nn::summary(net, extents)`
/// prints a table.
/// throws    shape_error when a layer does not take its input
/// example   std::cout << nn::summary(net, shape<64, 1, 28, 28>{})
template <dtype T = float, class... Layers, shape_type Input>
network_summary summary(sequential_network<Layers...>& net, const Input& input) {
  static_assert((detail::tells_shape<Layers> && ...),
                "tenon: nn::summary takes a sequential of layers alone: what a module makes hangs on its forward");
  network_summary result{.layers = {}, .input_bytes = input.count() * static_cast<index>(sizeof(T))};
  detail::summarise<T>(net, std::integral_constant<int, 0>{}, input, result);
  return result;
}

template <dtype T = float, class Network, class... Input>
auto summary(const Network&, const Input&...) {
  static_assert(must_hold<Network, Input...>,
                "tenon: nn::summary takes a sequential and the shape of its input, nn::summary(net, shape<8, 784>{})");
}

/// Prints the table and its totals.
inline std::ostream& operator<<(std::ostream& out, const network_summary& net) {
  std::vector<detail::table_row> rows{{"layer", "output", "parameters", "multiply-adds"}};
  const auto add = [&](const std::string& name, const std::string& output, index parameters, index multiply_adds) {
    const auto shown = [](index number) { return number == 0 ? "-" : detail::grouped(number); };
    rows.push_back({name, output, shown(parameters), shown(multiply_adds)});
  };
  for (const auto& layer : net.layers) {
    add(layer.name, compose_text(layer.output), layer.parameters, layer.multiply_adds);
  }
  add("total", "", net.parameters(), net.multiply_adds());
  detail::write_table(out, rows);
  return out << "FLOP forward: " << detail::grouped(2 * net.multiply_adds())
             << "\ninput: " << detail::megabytes(net.input_bytes)
             << ", outputs: " << detail::megabytes(net.output_bytes())
             << ", parameters: " << detail::megabytes(net.parameter_bytes)
             << "; in training also gradients: " << detail::megabytes(net.output_bytes() + net.parameter_bytes) << "\n";
}

}  // namespace tenon::nn
