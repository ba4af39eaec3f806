// tenon/nn/host_recurrence.hpp: the steps of a recurrence on the host's vectors.
// The sums of a product go through the gates while they are in cache; threads share the hidden units of every step.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_panels.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/module.hpp>
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
      if (units >= lanes) finish(row, unit, sums + place * lanes, whole{});
      else if (units > 0) finish(row, unit, sums + place * lanes, part{units});
    }
  }

 private:
  struct whole {
    static pack load(const T* from) { return simd::load<T, lanes>(from); }
    static void store(T* to, const pack& values) { simd::store<lanes>(to, values); }
  };
  struct part {
    index units;
    pack load(const T* from) const { return simd::load_part<T, lanes>(from, units); }
    void store(T* to, const pack& values) const { simd::store_part<lanes>(to, values, units); }
  };

  static T* place_of(const matrix_view<T, host>& matrix, index row, index column) {
    return matrix.data() + row * matrix.strides()[0] + column;
  }
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

/// Runs `steps`, of which `rows_of_step(step)` tells the rows: writes pre-activations, which are kept, and states.
/// Packs the weights first. The results do not depend on the number of threads. Counts as one loop.
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
  const auto operand = [](const T* packed, const matrix& rows) {
    return panel_operand<T>{packed, rows.extent(1), rows.data(), rows.strides()[0]};
  };
  const index all_rows = operands.input.extent(0), count = static_cast<index>(steps.size());
  const bool with_inputs = !Gates::keeps_products && all_rows >= rows_with_inputs * count;
  const index panels = layout{operands.weight_hh.extent(0) / Gates::count, 0}.panels();
  const index share = 1 + all_rows * operands.weight_hh.size() / (32768 * count + 1);  // less does not pay a thread
  run_team(static_cast<int>(std::min({share, panels, index{1024}})), [&](const thread_team& team) {
    const auto part = team.share(panels);
    if (!with_inputs) {
      multiply_panels<layout>(panel_operands<T>{{operand(of_input, operands.input)}, 1}, all_rows, part, false,
                              detail::input_sums<layout, T>{operands.gates, operands.bias});
    }
    bool is_reversed = false;
    for (const recurrent_step& step : steps) {
      const auto at = rows_of_step(step);
      const auto input = operand(of_input, rows_of(operands.input, step.row, step.count));
      const panel_operands<T> products{{operand(of_state, at.previous), input}, with_inputs ? 2 : 1};
      multiply_panels<layout>(products, step.count, part, is_reversed,
                              sums{gates, at, with_inputs ? operands.bias : nullptr});
      is_reversed = !is_reversed;
      team.wait();
    }
  });
}

}  // namespace tenon::nn
