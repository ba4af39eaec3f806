// tenon/nn/host_recurrence.hpp: the steps of a recurrence on the host's vectors, forward and back.
// The sums of a product go through the gates while they are in cache; threads share the hidden units of every step.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_panels.hpp>
#include <tenon/core/buffer.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/layer.hpp>
#include <tenon/nn/recurrent_rows.hpp>
#include <tenon/nn/recurrent_steps.hpp>

namespace tenon::nn {

/// Whether layers keep packed weights; the same for every compiler of a program.
template <class T, class Space>
inline constexpr bool keeps_packed_weights = std::is_same_v<Space, host> && std::is_floating_point_v<T>;

/// Whether steps run here. nvcc has no vectors.
template <class T, class Space>
inline constexpr bool has_host_steps = keeps_packed_weights<T, Space> && !compiled_by_nvcc;

namespace detail {

/// Reads and writes packs in memory: whole ones, or the lanes of `units` hidden units.
template <class T>
struct whole_packs {
  static constexpr int lanes = simd::native_width<T>;
  using pack = simd::pack<T, lanes>;
  static pack load(const T* from) { return simd::load<T, lanes>(from); }
  static void store(T* to, const pack& values) { simd::store<lanes>(to, values); }
};
template <class T>
struct parts_of_packs {
  static constexpr int lanes = simd::native_width<T>;
  using pack = simd::pack<T, lanes>;
  index units;
  pack load(const T* from) const { return simd::load_part<T, lanes>(from, units); }
  void store(T* to, const pack& values) const { simd::store_part<lanes>(to, values, units); }
};

template <class T>
T* place_of(const matrix_view<T, host>& matrix, index row, index column) {
  return matrix.data() + row * matrix.strides()[0] + column;
}

/// The gates of one row of a step, `lanes` hidden units at a time.
template <class Gates, dtype T>
struct finished_sums {
  using layout = panel_layout<T, static_cast<int>(Gates::count)>;
  static constexpr int lanes = layout::lanes, count = static_cast<int>(Gates::count);
  static constexpr bool has_cell = Gates::states == 2, needs_previous = Gates::keeps_products;
  using pack = simd::pack<T, lanes>;

  const Gates& gates;
  const recurrent_rows<T, host>& at;
  /// Added to the sums where they hold the products of inputs, too; null where these, and their bias, are in the gates.
  const T* bias;

  /// Asks for what will be read.
  void prefetch(index row, index unit) const {
    for (int gate = 0; gate < count; ++gate) {
      __builtin_prefetch(place_of(at.gates, row, gate * at.hidden.extent(1) + unit), 1);
    }
    if constexpr (has_cell) __builtin_prefetch(place_of(at.previous_cell, row, unit));
  }
  void operator()(index row, index first_unit, const T* sums) const {
    for (int place = 0; place < layout::packs; ++place) {
      const index unit = first_unit + place * lanes, units = at.hidden.extent(1) - unit;
      if (units >= lanes) finish(row, unit, sums + place * lanes, whole_packs<T>{});
      else if (units > 0) finish(row, unit, sums + place * lanes, parts_of_packs<T>{units});
    }
  }

 private:
  template <class Memory>
  TENON_INLINE void finish(index row, index unit, const T* sums, const Memory& memory) const {
    const index hidden = at.hidden.extent(1);
    pack inputs[count], products[count];
    TENON_UNROLL(4)
    for (int gate = 0; gate < count; ++gate) {
      T* const place = place_of(at.products, row, gate * hidden + unit);
      const T* const added = bias != nullptr ? bias + gate * hidden + unit : place;
      products[gate] = memory.load(added) + simd::load<T, lanes>(sums + gate * layout::packs * lanes);
      memory.store(place, products[gate]);
      inputs[gate] =
          Gates::keeps_products ? memory.load(place_of(at.gates, row, gate * hidden + unit)) : products[gate];
    }
    const pack previous = needs_previous ? memory.load(place_of(at.previous, row, unit)) : pack{};
    pack cell = has_cell ? memory.load(place_of(at.previous_cell, row, unit)) : pack{};
    memory.store(place_of(at.hidden, row, unit), gates.forward(inputs, products, previous, cell));
    if constexpr (has_cell) memory.store(place_of(at.cell, row, unit), cell);
  }
};

}  // namespace detail

/// What the steps of a layer in one direction take, and the gates of all rows.
template <dtype T>
struct host_step_operands {
  using matrix = matrix_view<T, host>;

  matrix weight_ih, weight_hh, input, gates;
  const T* bias;
};

/// Packed weights, kept between calls.
template <dtype T>
struct host_step_memory {
  buffer<T, rank<1>, host> input, state;
};

namespace detail {

/// How many threads are worth their meeting after every step; each takes panels of weights.
inline int threads_of_steps(const std::vector<recurrent_step>& steps, index weights, index panels) {
  index rows = 0;
  for (const recurrent_step& step : steps) rows += step.count;
  const index share = 1 + rows * weights / (32768 * static_cast<index>(steps.size()) + 1);
  return static_cast<int>(std::min({share, panels, index{1024}}));
}
template <dtype T>
panel_operand<T> rows_with(const T* packed, const matrix_view<T, host>& rows) {
  return {packed, rows.extent(1), rows.data(), rows.strides()[0]};
}

/// Products of inputs, and what is added to them.
template <class Layout, dtype T>
struct input_sums {
  const matrix_view<T, host>& gates;
  const T* bias;

  void prefetch(index, index) const {}
  void operator()(index row, index first_unit, const T* sums) const {
    const index units = gates.extent(1) / Layout::gates, count = std::min(Layout::panel_units, units - first_unit);
    for (index gate = 0; gate < Layout::gates; ++gate) {
      const T* const from = sums + gate * Layout::panel_units;
      const index column = gate * units + first_unit;
      T* const to = gates.data() + row * gates.strides()[0] + column;
      for (index i = 0; i < count; ++i) to[i] = from[i] + bias[column + i];
    }
  }
};

}  // namespace detail

/// From how many rows a step on, on average, the inputs are multiplied within the steps: their products stay in
/// registers, and the weights of both are read once for many rows.
inline constexpr index rows_with_inputs = 8;

/// Up to how many rows a step that is the only one runs as two products and a loop: such products read the weights
/// where they lie, in less time than it takes to pack them.
inline constexpr index rows_without_packing = 4;

/// Runs `steps`; `rows_of_step(step)` gives the rows of each. Packs the weights, then writes pre-activations, which are
/// kept, and states. The results do not depend on the number of threads. Counts as one loop.
template <class Gates, dtype T, class RowsOfStep>
void run_host_steps(const Gates& gates, const host_step_operands<T>& operands, const std::vector<recurrent_step>& steps,
                    host_step_memory<T>& memory, const RowsOfStep& rows_of_step) {
  const counted_launch counted("recurrent_steps");
  using sums = detail::finished_sums<Gates, T>;
  using layout = typename sums::layout;
  using matrix = matrix_view<T, host>;
  const auto pack = [](const matrix& weight, auto& to) -> const T* {
    const layout panels{weight.extent(0) / Gates::count, weight.extent(1)};
    T* const packed = to.resize(rank<1>(panels.size())).data();
    return panels.pack({weight.data(), weight.strides()[0], 1}, packed), packed;
  };
  const T *const of_input = pack(operands.weight_ih, memory.input), *const of_state =
                                                                        pack(operands.weight_hh, memory.state);
  const index rows_of_inputs = rows_with_inputs * static_cast<index>(steps.size());
  const bool with_inputs = !Gates::keeps_products && operands.input.extent(0) >= rows_of_inputs;
  const index panels = layout{operands.weight_hh.extent(0) / Gates::count, 0}.panels();
  run_team(detail::threads_of_steps(steps, operands.weight_hh.size(), panels), [&](const thread_team& team) {
    const auto part = team.share(panels);
    if (!with_inputs) {
      const panel_operands<T> products{{detail::rows_with(of_input, operands.input)}, 1};
      multiply_panels<layout>(products, operands.input.extent(0), part, false,
                              detail::input_sums<layout, T>{operands.gates, operands.bias});
    }
    bool is_reversed = false;
    for (const recurrent_step& step : steps) {
      const auto at = rows_of_step(step);
      const auto input = detail::rows_with(of_input, rows_of(operands.input, step.row, step.count));
      const panel_operands<T> products{{detail::rows_with(of_state, at.previous), input}, with_inputs ? 2 : 1};
      multiply_panels<layout>(products, step.count, part, is_reversed,
                              sums{gates, at, with_inputs ? operands.bias : nullptr});
      is_reversed = !is_reversed;
      team.wait();
    }
  });
}

/// The gradients of a step, and the tanh of its cells.
template <dtype T>
struct host_gradient_step {
  recurrent_rows<T, host> at;
  recurrent_row_gradients<T, host> gradient;
  matrix_view<T, host> squashed;
};

namespace detail {

/// Turns the activations of a row's units `first` to `end - 1` into gradients of their pre-activations.
template <class Gates, dtype T>
struct pulled_gates {
  static constexpr int count = static_cast<int>(Gates::count), lanes = simd::native_width<T>;
  static constexpr bool has_cell = Gates::states == 2;

  const Gates& gates;
  const host_gradient_step<T>& step;

  void operator()(index row, index first, index end) const {
    index unit = first;
    for (; unit + lanes <= end; unit += lanes) pull(row, unit, whole_packs<T>{});
    if (unit < end) pull(row, unit, parts_of_packs<T>{end - unit});
  }

 private:
  template <class Memory>
  TENON_INLINE void pull(index row, index unit, const Memory& memory) const {
    using pack = typename Memory::pack;
    const auto& [at, gradient, squashed] = step;
    const index hidden = at.hidden.extent(1);
    const auto load = [&](const matrix_view<T, host>& from) { return memory.load(place_of(from, row, unit)); };
    const auto add = [&](const matrix_view<T, host>& to, const pack& share) {
      T* const place = place_of(to, row, unit);
      memory.store(place, memory.load(place) + share);
    };
    recurrent_activations<pack, count> here{};
    TENON_UNROLL(4)
    for (int gate = 0; gate < count; ++gate) {
      here.gates[gate] = memory.load(place_of(at.gates, row, gate * hidden + unit));
      here.products[gate] = memory.load(place_of(at.products, row, gate * hidden + unit));
    }
    here.hidden = load(at.hidden);
    if constexpr (Gates::keeps_products) here.previous = load(at.previous);
    pack of_cell{};
    if constexpr (has_cell) {
      here.previous_cell = load(at.previous_cell), here.squashed = load(squashed);
      of_cell = load(gradient.cell);
    }
    gates.backward(here, load(gradient.hidden), of_cell);
    TENON_UNROLL(4)
    for (int gate = 0; gate < count; ++gate) {
      memory.store(place_of(at.gates, row, gate * hidden + unit), here.gates[gate]);
      if constexpr (Gates::keeps_products) {
        memory.store(place_of(at.products, row, gate * hidden + unit), here.products[gate]);
      }
    }
    if constexpr (Gates::keeps_products) add(gradient.previous, here.previous);
    if constexpr (has_cell) add(gradient.previous_cell, here.previous_cell);
  }
};

/// Sums that are added to a matrix.
template <class Layout, dtype T>
struct added_sums {
  const matrix_view<T, host>& to;

  void prefetch(index row, index unit) const { __builtin_prefetch(place_of(to, row, unit), 1); }
  void operator()(index row, index unit, const T* sums) const {
    const index count = std::min(Layout::panel_units, to.extent(1) - unit);
    T* const place = place_of(to, row, unit);
    for (index i = 0; i < count; ++i) place[i] += sums[i];
  }
};

}  // namespace detail

/// The way back through `steps`; `gradients_of_step(step)` gives what a step reads and leaves. Activations become the
/// gradients of pre-activations, and the gradients of the states before are added to. A thread makes the gradients of
/// its own hidden units; all threads wait for each other before these are multiplied. The results do not depend on the
/// number of threads. Counts as one loop.
template <class Gates, dtype T, class GradientsOfStep>
void pull_host_steps(const Gates& gates, const matrix_view<T, host>& weight_hh,
                     const std::vector<recurrent_step>& steps, host_step_memory<T>& memory,
                     const GradientsOfStep& gradients_of_step) {
  const counted_launch counted("recurrent_steps_backward");
  using layout = panel_layout<T, 1>;
  const layout whole{weight_hh.extent(1), weight_hh.extent(0)};
  T* const packed = memory.state.resize(rank<1>(whole.size())).data();
  whole.pack({weight_hh.data(), 1, weight_hh.strides()[0]}, packed);
  const int threads = detail::threads_of_steps(steps, weight_hh.size(), whole.panels());
  run_team(threads, [&](const thread_team& team) {
    const auto part = team.share(whole.panels());
    const index first = part[0] * layout::panel_units, end = std::min(part[1] * layout::panel_units, whole.units);
    bool is_reversed = false;
    for (auto each = steps.rbegin(); each != steps.rend(); ++each) {
      const auto step = gradients_of_step(*each);
      const detail::pulled_gates<Gates, T> pull{gates, step};
      for (index row = 0; row < each->count; ++row) pull(row, first, end);
      team.wait();
      multiply_panels<layout>(panel_operands<T>{{detail::rows_with(packed, step.at.products)}, 1}, each->count, part,
                              is_reversed, detail::added_sums<layout, T>{step.gradient.previous});
      is_reversed = !is_reversed;
    }
  });
}

}  // namespace tenon::nn
