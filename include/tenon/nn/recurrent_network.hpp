// tenon/nn/recurrent_network.hpp: recurrent layers one upon another, each in one direction or both.
// Every layer's output is one matrix of packed rows; directions are its left and right columns.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/nn/call_memory.hpp>
#include <tenon/nn/recurrence.hpp>

namespace tenon::nn {

/// What a plain recurrence takes of its sums.
enum class nonlinearity { with_tanh, with_relu };

/// Options of recurrent layers, with PyTorch's defaults.
struct recurrent_options {
  index layers = 1;
  bool bias = true;
  bool batch_first = false;  ///< inputs and outputs are [batch, time, features]; states are not
  double dropout = 0;        ///< probability of a zero between layers, in training
  bool bidirectional = false;
  index projection = 0;  ///< features of an LSTM's projected state; 0: as many as hidden ones
  nonlinearity function = nonlinearity::with_tanh;  ///< of a plain recurrence

  constexpr index directions() const { return bidirectional ? 2 : 1; }
};

/// Layers of all directions, with their activations and gradients, over rows of any sequences.
template <class Gates, dtype T, memory_space Space>
class recurrent_network {
 public:
  using matrix = matrix_view<T, Space>;
  using parameters = recurrent_parameters<T, Space>;
  using flow = recurrent_flow<T, Space>;

  recurrent_network(index input, index hidden, const recurrent_options& options)
      : options_(options), extents_{input, hidden, Gates::count, options.projection, options.bias} {
    check_options();
    weights_.resize(static_cast<std::size_t>(options.layers * options.directions()));
    memory_.layers.resize(static_cast<std::size_t>(options.layers));
    make_weights([](const recurrent_extents& given, std::size_t) { return parameters::unwritten(given); });
  }
  template <space_or_element To>
  auto to() const {
    using moved = recurrent_network<Gates, element_after<To, T>, space_after<To, Space>>;
    moved result(extents_.input, extents_.hidden, options_);
    for (std::size_t i = 0; i < weights_.size(); ++i) result.weights(i) = weights_[i].template to<To>();
    return result;
  }

  const recurrent_options& options() const { return options_; }
  const recurrent_extents& extents() const { return extents_; }
  Gates make_gates() const {
    if constexpr (requires { Gates{options_.function}; }) return Gates{options_.function};
    else return {};
  }
  parameters& weights(std::size_t number) {
    must_have_weights();
    return weights_[number];
  }
  index output_features() const { return options_.directions() * extents_.state(); }
  /// How many states a sequence has: one for each layer and direction.
  index parts() const { return static_cast<index>(weights_.size()); }

  void initialise(std::uint64_t seed) {
    make_weights([&](const recurrent_extents& given, std::size_t number) {
      return parameters::drawn(given, seed * weights_.size() + number);
    });
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    must_have_weights();
    for (index layer = 0; layer < options_.layers; ++layer) {
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const std::string suffix = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
        weights_[number_of(layer, direction)].visit(suffix, visitor);
      }
    }
  }

  /// What a call leaves for its way back: values, and room for their gradients.
  struct call_memory {
    struct layer_memory {
      buffer<T, rank<2>, Space> output, gradient, dropped;
    };
    struct border_memory {
      buffer<T, rank<2>, Space> input, hidden_before, cell_before, hidden_after, cell_after;
    };
    std::vector<recurrence<Gates, T, Space>> passes;  // of each layer and direction
    std::vector<layer_memory> layers;
    border_memory values, gradients;
    recurrent_steps steps, reversed_steps;
    std::vector<index> batch_sizes;  // where all sequences are equally long
    index rows = 0, batch = 0;
    bool is_dropping = false;
    bool has_values = false;  // of a forward pass, which the next backward pass uses up
    random_seed dropout_seed;
  };
  /// The memory of a call in place of the network's own, while the result lives.
  detail::lent_memory lend(call_memory& memory) const { return {memory_, memory}; }

  /// Makes room for sequences. Each time step has a number of rows, no more than the step before.
  void resize(const std::vector<index>& batch_sizes) {
    must_have_weights();
    call_memory& memory = in_use();
    memory.passes.resize(weights_.size());
    memory.layers.resize(static_cast<std::size_t>(options_.layers));
    memory.rows = 0, memory.batch = batch_sizes.empty() ? 0 : batch_sizes[0];
    for (const index count : batch_sizes) memory.rows += count;
    memory.steps.set(batch_sizes, false), memory.reversed_steps.set(batch_sizes, true);
    resize_border(memory.values), resize_border(memory.gradients);
    for (auto& each : memory.layers) {
      each.output.resize(rank<2>(memory.rows, output_features()));
      each.gradient.resize(rank<2>(memory.rows, output_features()));
    }
  }
  /// The same for sequences that are equally long.
  void resize(index steps, index sequences) {
    auto& batch_sizes = in_use().batch_sizes;
    batch_sizes.assign(static_cast<std::size_t>(steps), sequences);
    resize(batch_sizes);
  }
  index batch() const { return in_use().batch; }

  /// What goes in and comes out. The input and the state before are set before `forward`; the gradients of the output
  /// and of the state after are set before `backward`. Rows of states are ordered by layer, then by direction.
  flow values() {
    call_memory& memory = in_use();
    return whole_flow(memory.values, memory.layers.back().output.current());
  }
  flow gradients() {
    call_memory& memory = in_use();
    return whole_flow(memory.gradients, memory.layers.back().gradient.current());
  }

  /// `dropout_seed` draws the zeros between layers, which are the same whenever it is.
  void forward(bool is_training, const random_seed& dropout_seed) {
    in_use().has_values = false;
    in_use().is_dropping = is_training && options_.dropout > 0;
    in_use().dropout_seed = dropout_seed;
    const Gates gates = make_gates();
    for (index layer = 0; layer < options_.layers; ++layer) {
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const std::size_t number = number_of(layer, direction);
        in_use().passes[number].forward(gates, weights_[number], steps_of(direction), values_of(layer, direction));
      }
      if (in_use().is_dropping && layer + 1 < options_.layers) {
        const matrix output = memory_of(layer).output.current();
        memory_of(layer).dropped.resize(output.shape()) = masked(output, layer);
      }
    }
    in_use().has_values = true;
  }
  /// Leaves the gradients of all parameters, given those at the border. Follows a forward pass, once: gradients are
  /// computed over its values.
  /// throws    error where it does not, as after another one that failed
  void backward(bool wants_input = true) {
    if (!std::exchange(in_use().has_values, false)) {
      throw error(compose_text(Gates::name, ": backward: no values of a forward pass, expected one before each"));
    }
    const Gates gates = make_gates();
    const auto of_layers_input = [&](index layer) -> matrix {
      if (layer != 0) return memory_of(layer - 1).gradient.current();
      return wants_input ? in_use().gradients.input.current() : no_matrix<T, Space>();
    };
    for (index layer = options_.layers; layer-- > 0;) {
      const matrix of_input = of_layers_input(layer);
      of_input = 0;
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const flow border = flow_at_border(in_use().gradients, of_input, memory_of(layer).gradient.current());
        const std::size_t number = number_of(layer, direction);
        in_use().passes[number].backward(gates, weights_[number], steps_of(direction), values_of(layer, direction),
                                         part_of(border, layer, direction));
      }
      if (layer != 0 && in_use().is_dropping) of_input = masked(of_input, layer - 1);
    }
  }

 private:
  using layer_memory = typename call_memory::layer_memory;
  using border_memory = typename call_memory::border_memory;

  call_memory& in_use() { return detail::memory_in_use(memory_); }
  const call_memory& in_use() const { return detail::memory_in_use(memory_); }

  void must_have_weights() const {
    if (weights_.empty()) throw error(compose_text(Gates::name, ": it was moved away; call what it was moved to"));
  }
  void check_options() const {
    const auto refuse = [](const char* what, auto given, const char* expected) {
      throw shape_error(compose_text(Gates::name, ": ", what, ": ", given, ", expected ", expected));
    };
    if (extents_.input < 1) refuse("input features", extents_.input, "at least 1");
    if (extents_.hidden < 1) refuse("hidden features", extents_.hidden, "at least 1");
    if (options_.layers < 1) refuse("layers", options_.layers, "at least 1");
    if (!(options_.dropout >= 0 && options_.dropout <= 1)) refuse("dropout", options_.dropout, "within [0, 1]");
    if (Gates::states == 1 && options_.projection != 0)
      refuse("projection", options_.projection, "0; only lstm has one");
    if (options_.projection < 0 || options_.projection >= extents_.hidden) {
      refuse("projection", options_.projection, "at least 0 and below the hidden features");
    }
  }

  /// The weights of each layer and direction are `make(extents, number)`.
  template <class Make>
  void make_weights(const Make& make) {
    for (index layer = 0; layer < options_.layers; ++layer) {
      recurrent_extents extents = extents_;
      if (layer != 0) extents.input = output_features();
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const std::size_t number = number_of(layer, direction);
        weights_[number] = make(extents, number);
      }
    }
  }
  std::size_t number_of(index layer, index direction) const {
    return static_cast<std::size_t>(layer * options_.directions() + direction);
  }
  const recurrent_steps& steps_of(index direction) const {
    return direction == 0 ? in_use().steps : in_use().reversed_steps;
  }
  layer_memory& memory_of(index layer) { return in_use().layers[static_cast<std::size_t>(layer)]; }

  /// The output of a layer with zeros in it, and scaled so that its mean stays.
  auto masked(const matrix& output, index layer) const {
    const double kept = 1 - options_.dropout;
    const auto scale = static_cast<compute_type<T>>(kept > 0 ? 1 / kept : 0);
    random_seed seed = in_use().dropout_seed;
    seed.number = seed.number * static_cast<std::uint64_t>(options_.layers) + static_cast<std::uint64_t>(layer);
    return output * (bernoulli<T>(output.shape(), seed, kept) * scale);
  }

  void resize_border(border_memory& memory) {
    const index states = parts() * in_use().batch;
    memory.input.resize(rank<2>(in_use().rows, extents_.input));
    memory.hidden_before.resize(rank<2>(states, extents_.state()));
    memory.hidden_after.resize(rank<2>(states, extents_.state()));
    memory.cell_before.resize(rank<2>(states, Gates::states == 2 ? extents_.hidden : 0));
    memory.cell_after.resize(rank<2>(states, Gates::states == 2 ? extents_.hidden : 0));
  }
  static flow flow_at_border(border_memory& states, const matrix& input, const matrix& output) {
    return {input,
            output,
            states.hidden_before.current(),
            states.cell_before.current(),
            states.hidden_after.current(),
            states.cell_after.current()};
  }
  static flow whole_flow(border_memory& border, const matrix& output) {
    return flow_at_border(border, border.input.current(), output);
  }
  /// What flows through one layer in one direction.
  flow part_of(const flow& whole, index layer, index direction) const {
    const index place = static_cast<index>(number_of(layer, direction)) * in_use().batch;
    const auto states = [&](const matrix& all) { return rows_of(all, place, in_use().batch); };
    return {whole.input,
            columns_of(whole.output, direction * extents_.state(), extents_.state()),
            states(whole.hidden_before),
            states(whole.cell_before),
            states(whole.hidden_after),
            states(whole.cell_after)};
  }
  flow values_of(index layer, index direction) {
    const auto below = [&]() -> matrix {
      if (layer == 0) return in_use().values.input.current();
      layer_memory& memory = memory_of(layer - 1);
      return in_use().is_dropping ? memory.dropped.current() : memory.output.current();
    };
    return part_of(flow_at_border(in_use().values, below(), memory_of(layer).output.current()), layer, direction);
  }

  recurrent_options options_;
  recurrent_extents extents_;
  std::vector<parameters> weights_;
  call_memory memory_;
};

}  // namespace tenon::nn
