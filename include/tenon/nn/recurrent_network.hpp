// tenon/nn/recurrent_network.hpp: recurrent layers one upon another, each in one direction or both.
// Every layer's output is one matrix of packed rows; directions are its left and right columns.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    check();
    parts_.resize(static_cast<std::size_t>(options.layers * options.directions()));
    layers_.resize(static_cast<std::size_t>(options.layers));
    initialise(0);
  }
  template <space_or_element To>
  auto to() const {
    using moved = recurrent_network<Gates, element_after<To, T>, space_after<To, Space>>;
    moved result(extents_.input, extents_.hidden, options_);
    for (std::size_t i = 0; i < parts_.size(); ++i) result.weights(i) = parts_[i].weights.template to<To>();
    return result;
  }

  const recurrent_options& options() const { return options_; }
  const recurrent_extents& extents() const { return extents_; }
  parameters& weights(std::size_t number) { return parts_[number].weights; }
  index output_features() const { return options_.directions() * extents_.state(); }
  /// How many states a sequence has: one for each layer and direction.
  index parts() const { return static_cast<index>(parts_.size()); }

  void initialise(std::uint64_t seed) {
    for (index layer = 0; layer < options_.layers; ++layer) {
      recurrent_extents extents = extents_;
      if (layer != 0) extents.input = output_features();
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const std::size_t number = number_of(layer, direction);
        parts_[number].weights = parameters::drawn(extents, seed * parts_.size() + number);
      }
    }
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    for (index layer = 0; layer < options_.layers; ++layer) {
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const std::string suffix = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
        parts_[number_of(layer, direction)].weights.visit(suffix, visitor);
      }
    }
  }

  /// Makes room for sequences of which each time step has so many rows, none more than the one before.
  void resize(const std::vector<index>& batch_sizes) {
    rows_ = 0, batch_ = batch_sizes.empty() ? 0 : batch_sizes[0];
    for (const index count : batch_sizes) rows_ += count;
    steps_.set(batch_sizes, false), reversed_steps_.set(batch_sizes, true);
    resize_border(values_), resize_border(gradients_);
    for (layer_memory& each : layers_) {
      each.output.resize(rank<2>(rows_, output_features()));
      each.gradient.resize(rank<2>(rows_, output_features()));
    }
  }
  index batch() const { return batch_; }

  /// What goes in and comes out: input and the state before are set before `forward`, the gradients of output and state
  /// after before `backward`. The rows of states are those of the first layer and direction first.
  flow values() { return flow_at_border(values_, values_.input.current(), layers_.back().output.current()); }
  flow gradients() { return flow_at_border(gradients_, gradients_.input.current(), layers_.back().gradient.current()); }

  /// `dropout_seed` draws the zeros between layers, which are the same whenever it is.
  void forward(bool is_training, std::uint64_t dropout_seed) {
    has_values_ = false;
    is_dropping_ = is_training && options_.dropout > 0;
    dropout_seed_ = dropout_seed;
    const Gates gates = make_gates();
    for (index layer = 0; layer < options_.layers; ++layer) {
      for (index direction = 0; direction < options_.directions(); ++direction) {
        part& each = parts_[number_of(layer, direction)];
        each.pass.forward(gates, each.weights, steps_of(direction), values_of(layer, direction));
      }
      if (is_dropping_ && layer + 1 < options_.layers) {
        const matrix output = memory_of(layer).output.current();
        memory_of(layer).dropped.resize(output.shape()) = masked(output, layer);
      }
    }
    has_values_ = true;
  }
  /// Leaves the gradients of all parameters, given those at the border. Follows a forward pass, once: gradients are
  /// computed over its values.
  /// throws    error where it does not, as after another one that failed
  void backward(bool wants_input = true) {
    if (!std::exchange(has_values_, false)) {
      throw error(compose_text(Gates::name, ": backward: no values of a forward pass, expected one before each"));
    }
    const Gates gates = make_gates();
    const auto of_layers_input = [&](index layer) -> matrix {
      if (layer != 0) return memory_of(layer - 1).gradient.current();
      return wants_input ? gradients_.input.current() : no_matrix<T, Space>();
    };
    for (index layer = options_.layers; layer-- > 0;) {
      const matrix of_input = of_layers_input(layer);
      of_input = 0;
      for (index direction = 0; direction < options_.directions(); ++direction) {
        const flow border = flow_at_border(gradients_, of_input, memory_of(layer).gradient.current());
        part& each = parts_[number_of(layer, direction)];
        each.pass.backward(gates, each.weights, steps_of(direction), values_of(layer, direction),
                           part_of(border, layer, direction));
      }
      if (layer != 0 && is_dropping_) of_input = masked(of_input, layer - 1);
    }
  }

 private:
  struct part {
    parameters weights;
    recurrence<Gates, T, Space> pass;
  };
  struct layer_memory {
    buffer<T, rank<2>, Space> output, gradient, dropped;
  };
  struct border_memory {
    buffer<T, rank<2>, Space> input, hidden_before, cell_before, hidden_after, cell_after;
  };

  void check() const {
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
  Gates make_gates() const {
    if constexpr (requires { Gates{options_.function}; }) return Gates{options_.function};
    else return {};
  }

  std::size_t number_of(index layer, index direction) const {
    return static_cast<std::size_t>(layer * options_.directions() + direction);
  }
  const recurrent_steps& steps_of(index direction) const { return direction == 0 ? steps_ : reversed_steps_; }
  layer_memory& memory_of(index layer) { return layers_[static_cast<std::size_t>(layer)]; }

  /// The output of a layer with zeros in it, and scaled so that its mean stays.
  auto masked(const matrix& output, index layer) const {
    const double kept = 1 - options_.dropout;
    const auto scale = static_cast<compute_type<T>>(kept > 0 ? 1 / kept : 0);
    const auto seed = dropout_seed_ * static_cast<std::uint64_t>(options_.layers) + static_cast<std::uint64_t>(layer);
    return output * (bernoulli<T>(output.shape(), seed, kept) * scale);
  }

  void resize_border(border_memory& memory) {
    const index states = parts() * batch_;
    memory.input.resize(rank<2>(rows_, extents_.input));
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
  /// What flows through one layer in one direction.
  flow part_of(const flow& whole, index layer, index direction) const {
    const index place = static_cast<index>(number_of(layer, direction)) * batch_;
    const auto states = [&](const matrix& all) { return rows_of(all, place, batch_); };
    return {whole.input,
            columns_of(whole.output, direction * extents_.state(), extents_.state()),
            states(whole.hidden_before),
            states(whole.cell_before),
            states(whole.hidden_after),
            states(whole.cell_after)};
  }
  flow values_of(index layer, index direction) {
    const auto below = [&]() -> matrix {
      if (layer == 0) return values_.input.current();
      layer_memory& memory = memory_of(layer - 1);
      return is_dropping_ ? memory.dropped.current() : memory.output.current();
    };
    return part_of(flow_at_border(values_, below(), memory_of(layer).output.current()), layer, direction);
  }

  recurrent_options options_;
  recurrent_extents extents_;
  std::vector<part> parts_;
  std::vector<layer_memory> layers_;
  border_memory values_, gradients_;
  recurrent_steps steps_, reversed_steps_;
  index rows_ = 0, batch_ = 0;
  bool is_dropping_ = false;
  bool has_values_ = false;  // of a forward pass, which the next backward pass uses up
  std::uint64_t dropout_seed_ = 0;
};

}  // namespace tenon::nn
