// tenon/nn/recurrent_kernel.hpp: all steps of a recurrence as one kernel, whose blocks keep their weights.
// A block has some hidden units with all their gates; states go through memory, and blocks meet after every step.
// Floor 7: may include base, core, device, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/device/workspace.hpp>
#include <tenon/nn/recurrent_rows.hpp>
#include <tenon/nn/recurrent_steps.hpp>

namespace tenon::nn {

/// A matrix as a kernel finds its rows.
template <class T>
struct kernel_matrix {
  T* data;
  index pitch;

  template <memory_space Space>
  static kernel_matrix of(const matrix_view<T, Space>& matrix) {
    return {matrix.data(), matrix.strides()[0]};
  }
  TENON_HOST_DEVICE T& at(index row, index column) const { return data[row * pitch + column]; }
  /// Whether every row begins where a packet of 16 bytes may.
  bool lies_in_packets() const {
    constexpr std::uintptr_t bytes = 16;
    return reinterpret_cast<std::uintptr_t>(data) % bytes == 0 &&
           static_cast<std::uintptr_t>(pitch) * sizeof(T) % bytes == 0;
  }
};

/// What the steps of a recurrence read and write, or the gradients of these.
template <dtype T>
struct kernel_states {
  kernel_matrix<T> hidden, cell, hidden_before, cell_before;

  TENON_HOST_DEVICE T& previous(const recurrent_step& step, index row, index unit) const {
    return (step.starts ? hidden_before : hidden).at(step.previous + row, unit);
  }
  TENON_HOST_DEVICE T& previous_cell(const recurrent_step& step, index row, index unit) const {
    return (step.starts ? cell_before : cell).at(step.previous + row, unit);
  }
};

/// The same for all steps: pre-activations, products of states, weights [gates hidden, hidden], and the word by which
/// blocks wait for each other.
template <dtype T>
struct kernel_recurrence {
  kernel_matrix<T> gates, products;
  kernel_states<T> states;
  kernel_matrix<const T> weight;
  index hidden;
  const recurrent_step* steps;
  int step_count;
  unsigned* barrier;
};

namespace detail {

/// Threads of a block of the persistent kernels: each warp has rows of a step by itself.
inline constexpr int recurrent_threads = 256;

/// Adds the products of a row's elements with `Count` lines of weights in shared memory, in every lane.
template <int Count, class Device, class Weights, class Number, class T>
TENON_HOST_DEVICE void multiply_lines(Device& device, const Weights& weights, const T* row, int length,
                                      Number (&sums)[Count]) {
  TENON_UNROLLED
  for (int line = 0; line < Count; ++line) sums[line] = 0;
  for (int k = device.lane(); k < length; k += warp_size) {
    const auto element = static_cast<Number>(row[k]);
    TENON_UNROLLED
    for (int line = 0; line < Count; ++line) {
      sums[line] += element * static_cast<Number>(weights.load(line * length + k));
    }
  }
  TENON_UNROLLED
  for (int line = 0; line < Count; ++line) sums[line] = warp_reduce(device, sums[line], sum_monoid::combine<Number>);
}

}  // namespace detail

/// The forward arithmetic of hidden units, in a kernel whose threads have the products of some.
template <class Gates, dtype T>
struct unit_steps {
  static constexpr int count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  Gates gates;
  kernel_recurrence<T> all;

  /// What a step takes of a unit besides the products of its state.
  struct given {
    number inputs[count], products[count], previous, cell;
  };
  TENON_HOST_DEVICE given read(const recurrent_step& step, index row, index unit) const {
    const index own = step.row + row;
    given at{};
    TENON_UNROLLED
    for (int gate = 0; gate < count; ++gate) {
      at.products[gate] = static_cast<number>(all.products.at(own, gate * all.hidden + unit));
      if constexpr (Gates::keeps_products) {
        at.inputs[gate] = static_cast<number>(all.gates.at(own, gate * all.hidden + unit));
      }
    }
    at.previous = static_cast<number>(all.states.previous(step, row, unit));
    if constexpr (Gates::states == 2) at.cell = static_cast<number>(all.states.previous_cell(step, row, unit));
    return at;
  }
  /// Leaves the state after the step, and its sums; the products of the state before are added already.
  TENON_HOST_DEVICE void finish(const recurrent_step& step, index row, index unit, given& at) const {
    const index own = step.row + row;
    TENON_UNROLLED
    for (int gate = 0; gate < count; ++gate) {
      all.products.at(own, gate * all.hidden + unit) = static_cast<T>(at.products[gate]);
      if constexpr (!Gates::keeps_products) at.inputs[gate] = at.products[gate];
    }
    all.states.hidden.at(own, unit) = static_cast<T>(gates.forward(at.inputs, at.products, at.previous, at.cell));
    if constexpr (Gates::states == 2) all.states.cell.at(own, unit) = static_cast<T>(at.cell);
  }
};

/// The way back of hidden units, in a kernel. Given are activations, and the tanh of cells.
template <class Gates, dtype T>
struct unit_gradients {
  static constexpr int count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  Gates gates;
  kernel_recurrence<T> all;
  kernel_states<T> gradients;
  kernel_matrix<T> squashed;

  /// Adds what the products of the gates' gradients give to the gradient of the state before.
  TENON_HOST_DEVICE void add(const recurrent_step& step, index row, index unit, number share) const {
    add_to(gradients.previous(step, row, unit), share);
  }
  /// Activations of a unit become gradients of its gates.
  TENON_HOST_DEVICE void pull(const recurrent_step& step, index row, index unit) const {
    constexpr bool has_cell = Gates::states == 2;
    const index own = step.row + row;
    recurrent_activations<number, count> at{};
    TENON_UNROLLED
    for (int gate = 0; gate < count; ++gate) {
      at.gates[gate] = static_cast<number>(all.gates.at(own, gate * all.hidden + unit));
      at.products[gate] = static_cast<number>(all.products.at(own, gate * all.hidden + unit));
    }
    at.previous = static_cast<number>(all.states.previous(step, row, unit));
    at.hidden = static_cast<number>(all.states.hidden.at(own, unit));
    number of_cell = 0;
    if constexpr (has_cell) {
      at.previous_cell = static_cast<number>(all.states.previous_cell(step, row, unit));
      at.squashed = static_cast<number>(squashed.at(own, unit));
      of_cell = static_cast<number>(gradients.cell.at(own, unit));
    }
    gates.backward(at, static_cast<number>(gradients.hidden.at(own, unit)), of_cell);
    TENON_UNROLLED
    for (int gate = 0; gate < count; ++gate) {
      all.gates.at(own, gate * all.hidden + unit) = static_cast<T>(at.gates[gate]);
      if constexpr (Gates::keeps_products) {
        all.products.at(own, gate * all.hidden + unit) = static_cast<T>(at.products[gate]);
      }
    }
    if constexpr (Gates::keeps_products) add(step, row, unit, at.previous);
    if constexpr (has_cell) add_to(gradients.previous_cell(step, row, unit), at.previous_cell);
  }

 private:
  TENON_HOST_DEVICE static void add_to(T& to, number share) { to = static_cast<T>(static_cast<number>(to) + share); }
};

/// Forward steps: a block makes the states of `Units` hidden units, of which it keeps the weights' rows.
/// source    Diamos and others 2016, "Persistent RNNs: Stashing recurrent weights on-chip"
template <class Gates, dtype T, int Units>
struct recurrent_kernel {
  static constexpr const char* name = "recurrent_steps";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads, count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  unit_steps<Gates, T> units;

  int shared_bytes() const { return shared_bytes_of<T>(count * Units * static_cast<int>(units.all.hidden)); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto& all = units.all;
    const int hidden = static_cast<int>(all.hidden), first_unit = device.block().x * Units;
    const auto weights = device.template shared<T>(count * Units * hidden);
    for (int i = device.thread(); i < count * Units * hidden; i += max_threads) {
      const int line = i / hidden, unit = first_unit + line % Units;
      weights.store(i, unit < hidden ? all.weight.at(line / Units * hidden + unit, i % hidden) : T(0.0f));
    }
    device.sync();
    for (int i = 0; i < all.step_count; ++i) {
      const recurrent_step step = all.steps[i];
      for (index row = device.warp(); row < step.count; row += max_threads / warp_size) {
        number sums[count * Units];
        detail::multiply_lines(device, weights, &all.states.previous(step, row, 0), hidden, sums);
        TENON_UNROLLED
        for (int unit = 0; unit < Units; ++unit) {
          if (device.lane() != unit || first_unit + unit >= hidden) continue;
          auto at = units.read(step, row, first_unit + unit);
          TENON_UNROLLED
          for (int gate = 0; gate < count; ++gate) at.products[gate] += sums[gate * Units + unit];
          units.finish(step, row, first_unit + unit, at);
        }
      }
      if (i + 1 < all.step_count) device.sync_grid(all.barrier);
    }
  }
};

/// The way back: a block makes the gradients of the gates of its hidden units and, when all have, those of its units in
/// the state before, of which it keeps the weights' columns.
template <class Gates, dtype T, int Units>
struct recurrent_backward_kernel {
  static constexpr const char* name = "recurrent_steps_backward";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads, count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  unit_gradients<Gates, T> units;

  int shared_bytes() const { return shared_bytes_of<T>(count * Units * static_cast<int>(units.all.hidden)); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto& all = units.all;
    const int hidden = static_cast<int>(all.hidden), first_unit = device.block().x * Units, length = count * hidden;
    const auto weights = device.template shared<T>(Units * length);
    for (int i = device.thread(); i < Units * length; i += max_threads) {
      const int unit = first_unit + i % Units, line = i / Units;
      weights.store(i % Units * length + line, unit < hidden ? all.weight.at(line, unit) : T(0.0f));
    }
    for (int i = all.step_count - 1; i >= 0; --i) {
      const recurrent_step step = all.steps[i];
      device.sync();
      for (index item = device.thread(); item < step.count * Units; item += max_threads) {
        const index unit = first_unit + item % Units;
        if (unit < hidden) units.pull(step, item / Units, unit);
      }
      device.sync_grid(all.barrier);
      for (index row = device.warp(); row < step.count; row += max_threads / warp_size) {
        number sums[Units];
        detail::multiply_lines(device, weights, &all.products.at(step.row + row, 0), length, sums);
        TENON_UNROLLED
        for (int unit = 0; unit < Units; ++unit) {
          if (device.lane() == unit && first_unit + unit < hidden) units.add(step, row, first_unit + unit, sums[unit]);
        }
      }
    }
  }
};

/// The steps of a recurrence in a device's memory; they are copied when they are others than before.
template <memory_space Space>
class steps_in_space {
 public:
  const recurrent_step* of(const std::vector<recurrent_step>& steps) {
    if (!(steps == known_)) {
      constexpr index words = sizeof(recurrent_step) / sizeof(index);
      tensor<index, rank<1>, host> copied(rank<1>(static_cast<index>(steps.size()) * words));
      __builtin_memcpy(copied.data(), steps.data(), steps.size() * sizeof(recurrent_step));
      words_.clear();
      words_.push_back(copied.to<Space>());
      known_ = steps;
    }
    return reinterpret_cast<const recurrent_step*>(words_.front().view().data());
  }

 private:
  std::vector<recurrent_step> known_;
  std::vector<tensor<index, rank<1>, Space>> words_;  // one, but before the first call
};

}  // namespace tenon::nn
