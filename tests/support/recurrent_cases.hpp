// tests/support/recurrent_cases.hpp: recurrent layers by definition, in double, and what all of them are tested for.
// Sequence by sequence and step by step, from parameters by PyTorch's names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tenon/device/blocks.hpp>
#include <tenon/device/emulated.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/recurrent.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace tenon_test {

using numbers = std::vector<double>;

/// What a layer has, as plain numbers.
struct recurrent_reference {
  tenon::index input, hidden;
  tenon::nn::recurrent_options options;
  int gates;  // 1, 3 or 4: which layer it is
  std::map<std::string, numbers> weights;

  tenon::index state() const { return options.projection == 0 ? hidden : options.projection; }
  tenon::index width() const { return options.directions() * state(); }

  /// A row of `weight` times `x`, with its bias.
  double product(const std::string& weight, const std::string& bias, const std::string& suffix, tenon::index row,
                 const numbers& x) const {
    const numbers& all = weights.at(weight + suffix);
    double sum = options.bias && !bias.empty() ? weights.at(bias + suffix)[static_cast<std::size_t>(row)] : 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += all[static_cast<std::size_t>(row) * x.size() + k] * x[k];
    return sum;
  }

  /// One step; hidden state and cell become those after it.
  void step(const std::string& suffix, const numbers& x, numbers& h, numbers& c) const {
    const auto sigmoid = [](double value) { return 1 / (1 + std::exp(-value)); };
    const numbers before = h;
    numbers after(static_cast<std::size_t>(hidden));
    for (tenon::index unit = 0; unit < hidden; ++unit) {
      const auto in = [&](int gate) { return product("weight_ih", "bias_ih", suffix, gate * hidden + unit, x); };
      const auto of = [&](int gate) { return product("weight_hh", "bias_hh", suffix, gate * hidden + unit, before); };
      const auto at = static_cast<std::size_t>(unit);
      if (gates == 1) {
        const bool is_relu = options.function == tenon::nn::nonlinearity::with_relu;
        after[at] = is_relu ? std::fmax(in(0) + of(0), 0) : std::tanh(in(0) + of(0));
      } else if (gates == 3) {
        const double r = sigmoid(in(0) + of(0)), z = sigmoid(in(1) + of(1)), n = std::tanh(in(2) + r * of(2));
        after[at] = (1 - z) * n + z * before[at];
      } else {
        c[at] = sigmoid(in(1) + of(1)) * c[at] + sigmoid(in(0) + of(0)) * std::tanh(in(2) + of(2));
        after[at] = sigmoid(in(3) + of(3)) * std::tanh(c[at]);
      }
    }
    h = after;
    if (options.projection == 0) return;
    h.assign(static_cast<std::size_t>(options.projection), 0);
    for (tenon::index row = 0; row < options.projection; ++row) {
      h[static_cast<std::size_t>(row)] = product("weight_hr", "", suffix, row, after);
    }
  }

  /// All layers over one sequence; `hidden_states` and `cells` have one entry for each layer and direction.
  std::vector<numbers> run(std::vector<numbers> sequence, std::vector<numbers>& hidden_states,
                           std::vector<numbers>& cells) const {
    for (tenon::index layer = 0; layer < options.layers; ++layer) {
      std::vector<numbers> output(sequence.size(), numbers(static_cast<std::size_t>(width())));
      for (tenon::index direction = 0; direction < options.directions(); ++direction) {
        const auto number = static_cast<std::size_t>(layer * options.directions() + direction);
        const std::string suffix = "_l" + std::to_string(layer) + (direction == 0 ? "" : "_reverse");
        for (std::size_t i = 0; i < sequence.size(); ++i) {
          const std::size_t time = direction == 0 ? i : sequence.size() - 1 - i;
          step(suffix, sequence[time], hidden_states[number], cells[number]);
          std::copy(hidden_states[number].begin(), hidden_states[number].end(),
                    output[time].begin() + direction * state());
        }
      }
      sequence = output;
    }
    return sequence;
  }
};

/// The parameters of a layer, as numbers.
template <class Layer>
std::map<std::string, numbers> weights_of(Layer& layer) {
  std::map<std::string, numbers> result;
  layer.visit_parameters([&](const std::string& name, auto& parameter) { result[name] = numbers_of(parameter.value); });
  return result;
}

/// What comes out for sequences [time, batch, input] of these lengths: in the order of [time, batch, width], 0 behind a
/// sequence's end, and states [parts, batch, ...].
struct recurrent_results {
  numbers sequence, hidden, cell;
};
inline recurrent_results run_reference(const recurrent_reference& layer, const numbers& input, const numbers& hidden,
                                       const numbers& cell, const std::vector<tenon::index>& lengths,
                                       tenon::index time) {
  const auto parts = static_cast<std::size_t>(layer.options.layers * layer.options.directions());
  const std::size_t batch = lengths.size(), features = static_cast<std::size_t>(layer.input);
  const auto width = static_cast<std::size_t>(layer.width()), state = static_cast<std::size_t>(layer.state()),
             units = static_cast<std::size_t>(layer.hidden);
  const auto row_of = [](const numbers& from, std::size_t row, std::size_t count) {
    if (from.empty()) return numbers(count);
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(row * count);
    return numbers(first, first + static_cast<std::ptrdiff_t>(count));
  };
  recurrent_results result{numbers(static_cast<std::size_t>(time) * batch * width), numbers(parts * batch * state),
                           numbers(parts * batch * units)};
  const auto put = [](numbers& to, std::size_t row, const numbers& from) {
    std::copy(from.begin(), from.end(), to.begin() + static_cast<std::ptrdiff_t>(row * from.size()));
  };
  for (std::size_t n = 0; n < batch; ++n) {
    std::vector<numbers> sequence, h, c;
    for (std::size_t t = 0; t < static_cast<std::size_t>(lengths[n]); ++t) {
      sequence.push_back(row_of(input, t * batch + n, features));
    }
    for (std::size_t part = 0; part < parts; ++part) {
      h.push_back(row_of(hidden, part * batch + n, state)), c.push_back(row_of(cell, part * batch + n, units));
    }
    const auto output = layer.run(sequence, h, c);
    for (std::size_t t = 0; t < output.size(); ++t) put(result.sequence, t * batch + n, output[t]);
    for (std::size_t part = 0; part < parts; ++part) {
      put(result.hidden, part * batch + n, h[part]), put(result.cell, part * batch + n, c[part]);
    }
  }
  return result;
}

/// Elements of a view of a space, whatever its strides.
template <class View>
numbers numbers_in(const View& view) {
  return numbers_of<typename View::space>(view * 1);
}

/// Calls `function` with states before or after: a hidden state, and a cell where the layer has one.
template <class Layer, class Function>
auto with_states(Layer& layer, tenon::index hidden, tenon::index batch, std::uint64_t seed, const Function& function) {
  using space = typename Layer::space;
  using element = typename Layer::element;
  const auto& options = layer.options();
  const tenon::index parts = options.layers * options.directions();
  const tenon::index state = options.projection == 0 ? hidden : options.projection;
  const auto draw = [&](tenon::index features, std::uint64_t number) {
    using tensor = tenon::tensor<element, tenon::rank<3>, space>;
    return tensor(tenon::uniform<element>(tenon::rank<3>(parts, batch, features), number, -0.5f, 0.5f));
  };
  if constexpr (Layer::state_count == 2) return function(draw(state, seed), draw(hidden, seed + 1));
  else return function(draw(state, seed));
}

/// Compares a forward pass of [time, batch, input], with given states and without, with the definition.
template <class Layer>
void compare_with_definition(Layer layer, int gates, tenon::index input, tenon::index hidden, tenon::index time,
                             tenon::index batch) {
  using space = typename Layer::space;
  using element = typename Layer::element;
  layer.initialise(0);
  CAPTURE(input, hidden, time, batch, layer.options().layers, layer.options().bidirectional);
  const recurrent_reference reference{input, hidden, layer.options(), gates, weights_of(layer)};
  const tenon::tensor<element, tenon::rank<3>, space> x =
      tenon::uniform<element>(tenon::rank<3>(time, batch, input), 3, -1.0f, 1.0f);
  const bool batch_first = layer.options().batch_first;
  const auto pass = [&](const auto&... states) {
    if (!batch_first) return layer.forward(x, states...);
    return layer.forward(tenon::permute(x, tenon::axis<1, 0, 2>), states...);
  };
  const std::vector<tenon::index> lengths(static_cast<std::size_t>(batch), time);
  const auto compare = [&](const auto& values, const recurrent_results& expected) {
    const auto found = batch_first ? numbers_of<space>(tenon::permute(values.sequence, tenon::axis<1, 0, 2>))
                                   : numbers_in(values.sequence);
    const double bound = sizeof(element) == 8 ? 1e-12 : 2e-6;
    CHECK(difference(found, expected.sequence, bound) == "");
    CHECK(difference(numbers_in(values.hidden), expected.hidden, bound) == "");
    if constexpr (Layer::state_count == 2) CHECK(difference(numbers_in(values.cell), expected.cell, bound) == "");
  };
  compare(pass(), run_reference(reference, numbers_of(x), {}, {}, lengths, time));
  with_states(layer, hidden, batch, 5, [&](const auto&... states) {
    const std::vector<numbers> given{numbers_of(states)...};
    compare(pass(states...), run_reference(reference, numbers_of(x), given[0], given.back(), lengths, time));
  });
}

/// Compares the gradients of a layer of doubles with finite differences of sum(weights * results): those of input,
/// states and every parameter.
template <class Layer>
void check_gradients(Layer layer, tenon::index input, tenon::index hidden, tenon::index time, tenon::index batch) {
  using space = typename Layer::space;
  using cube = tenon::tensor<double, tenon::rank<3>, space>;
  layer.initialise(0);
  cube x = tenon::uniform<double>(tenon::rank<3>(time, batch, input), 3, -1.0f, 1.0f);
  with_states(layer, hidden, batch, 5, [&](auto... before) {
    with_states(layer, hidden, batch, 7, [&](const auto&... after) {
      const tenon::index width = layer.forward(x, before...).sequence.extent(2);
      const cube of_sequence = tenon::uniform<double>(tenon::rank<3>(time, batch, width), 9, -1.0f, 1.0f);
      const auto loss = [&] {
        const auto values = layer.forward(x, before...);
        double sum = tenon::sum(values.sequence * of_sequence);
        const auto all = tenon::make_tuple_of(&after...);
        sum += static_cast<double>(tenon::sum(values.hidden * *tenon::get<0>(all)));
        if constexpr (Layer::state_count == 2)
          sum += static_cast<double>(tenon::sum(values.cell * *tenon::get<1>(all)));
        return sum;
      };
      const auto compare = [&](const std::string& name, auto& value, const numbers& found) {
        CAPTURE(name);
        const auto kept = value;
        for (const tenon::index at : {tenon::index{0}, value.size() / 2, value.size() - 1}) {
          const auto loss_after = [&](double change) {
            value = kept + tenon::where(tenon::iota<tenon::index>(kept.shape()) == at, change, 0.0);
            return loss();
          };
          const double numeric = (loss_after(1e-5) - loss_after(-1e-5)) / 2e-5;
          CHECK(is_close(found[static_cast<std::size_t>(at)], numeric, 1e-7));
        }
        value = kept;
      };
      loss();
      const auto gradients = layer.backward(of_sequence, after...);
      std::vector<numbers> of_states{numbers_in(gradients.hidden)};
      if constexpr (Layer::state_count == 2) of_states.push_back(numbers_in(gradients.cell));
      const numbers of_input = numbers_in(gradients.sequence);
      compare("input", x, of_input);
      std::size_t state = 0;
      (compare("state", before, of_states[state++]), ...);
      layer.visit_parameters([&](const std::string& name, auto& parameter) {
        compare(name, parameter.value, numbers_of(parameter.gradient));
      });
    });
  });
}

/// All time steps are one kernel; where its blocks have no room together, each is a product and a kernel, forward and
/// backward, which the third pass launches as one graph. A call of the same extents as the one before takes no memory.
template <class Layer>
void check_cost(Layer layer, tenon::index input) {
  using space = typename Layer::space;
  layer.initialise(0);
  struct cost {
    int forward, backward;
    bool takes_memory;
  };
  const auto cost_of = [&](tenon::index time, int passes_before) {
    const auto x = tenon::ones<float, space>(tenon::rank<3>(time, 2, input));
    const tenon::tensor<float, tenon::rank<3>, space> gradient = layer.forward(x).sequence * 1;
    layer.backward(gradient);
    for (int i = 1; i < passes_before; ++i) layer.forward(x), layer.backward(gradient);
    const auto taken = tenon::blocks_of<space>().added();
    const tenon::launch_counter forward;
    layer.forward(x);
    const int forward_count = forward.count();
    const tenon::launch_counter backward;
    layer.backward(gradient);
    return cost{forward_count, backward.count(), tenon::blocks_of<space>().added() != taken};
  };
  const auto check = [&](int launches_of_two_steps, int passes_before) {
    const cost shorter = cost_of(3, passes_before), longer = cost_of(5, passes_before);
    CHECK(longer.forward - shorter.forward == launches_of_two_steps);
    CHECK(longer.backward - shorter.backward == launches_of_two_steps);
    CHECK(!shorter.takes_memory);
    CHECK(!longer.takes_memory);
  };
  check(0, 1);
  if constexpr (std::is_same_v<space, tenon::emulated>) {
    const tenon::emulation_scope without_room({.resident_blocks = 0});
    check(4, 1);
    check(0, 2);
  }
}

/// What layers of every kind are compared for: odd sizes, one of everything, no bias, several layers, both directions.
template <class Layer>
void compare_options(int gates) {
  compare_with_definition(Layer(5, 7), gates, 5, 7, 6, 3);
  compare_with_definition(Layer(3, 33), gates, 3, 33, 2, 1);
  compare_with_definition(Layer(1, 1), gates, 1, 1, 1, 1);
  compare_with_definition(Layer(4, 16, {.bias = false}), gates, 4, 16, 3, 2);
  compare_with_definition(Layer(4, 17, {.layers = 2, .batch_first = true}), gates, 4, 17, 3, 11);
  compare_with_definition(Layer(4, 5, {.layers = 2, .bidirectional = true}), gates, 4, 5, 3, 9);
}

}  // namespace tenon_test
