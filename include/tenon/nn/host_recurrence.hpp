// tenon/nn/host_recurrence.hpp: the steps of a recurrence on the host's vectors.
// Each step is a product with packed weights whose sums go through the gates while they are in registers and cache; the
// threads of a team share its hidden units and meet after each step.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_panels.hpp>
#include <tenon/nn/gate_functions.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/recurrent_rows.hpp>
#include <tenon/nn/recurrent_steps.hpp>

namespace tenon::nn {

/// Whether steps run here.
template <class T, class Space>
inline constexpr bool has_host_steps = std::is_same_v<Space, host> && std::is_floating_point_v<T> && !compiled_by_nvcc;

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
      products[gate] = memory.load(place) + simd::load<T, lanes>(sums + gate * layout::packs * lanes);
      memory.store(place, products[gate]);
      inputs[gate] = Gates::keeps_products ? memory.load(place_of(at.gates, row, gate * hidden + unit)) : products[gate];
    }
    const pack previous = needs_previous ? memory.load(place_of(at.previous, row, unit)) : pack{};
    pack cell = has_cell ? memory.load(place_of(at.previous_cell, row, unit)) : pack{};
    memory.store(place_of(at.hidden, row, unit), gates.forward(inputs, products, previous, cell));
    if constexpr (has_cell) memory.store(place_of(at.cell, row, unit), cell);
  }
};

}  // namespace detail

/// Runs `steps`, of which `rows_of_step(step)` tells the rows: pre-activations are added to and kept, states written.
/// Weights are packed into `packed` first. The results do not depend on the number of threads.
template <class Gates, dtype T, class RowsOfStep>
void run_host_steps(const Gates& gates, const matrix_view<T, host>& weight, const std::vector<recurrent_step>& steps,
                    buffer<T, rank<1>, host>& packed, const RowsOfStep& rows_of_step) {
  using sums = detail::finished_sums<Gates, T>;
  const typename sums::layout layout{weight.extent(0) / Gates::count, weight.extent(1)};
  T* const panels = packed.resize(rank<1>(layout.size())).data();
  layout.pack({weight.data(), weight.strides()[0], 1}, panels);
  index most_rows = 0;
  for (const recurrent_step& step : steps) most_rows = std::max(most_rows, step.count);
  const index share = 1 + most_rows * layout.size() / 32768;  // less is done before a second thread has come
  const auto run = [&](const thread_team& team) {
    bool is_reversed = false;
    for (const recurrent_step& step : steps) {
      const auto at = rows_of_step(step);
      const matrix_memory<T> previous{at.previous.data(), at.previous.strides()[0], 1};
      multiply_panels(layout, panels, team.share(layout.panels()), is_reversed, previous, step.count, sums{gates, at});
      is_reversed = !is_reversed;
      team.wait();
    }
  };
  run_team(static_cast<int>(std::min({share, layout.panels(), index{1024}})), run);
}

}  // namespace tenon::nn
