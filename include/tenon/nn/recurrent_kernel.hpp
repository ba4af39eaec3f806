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

/// Forward steps: a block makes the states of `Units` hidden units, of which it keeps the weights' rows.
/// source    Diamos and others 2016, "Persistent RNNs: Stashing recurrent weights on-chip"
template <class Gates, dtype T, int Units>
struct recurrent_kernel {
  static constexpr const char* name = "recurrent_steps";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads, count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  Gates gates;
  kernel_recurrence<T> all;

  int shared_bytes() const { return shared_bytes_of<T>(count * Units * static_cast<int>(all.hidden)); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
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
          number products[count];
          TENON_UNROLLED
          for (int gate = 0; gate < count; ++gate) products[gate] = sums[gate * Units + unit];
          finish(step, row, first_unit + unit, products);
        }
      }
      if (i + 1 < all.step_count) device.sync_grid(all.barrier);
    }
  }

 private:
  TENON_HOST_DEVICE void finish(const recurrent_step& step, index row, index unit, number (&products)[count]) const {
    const index own = step.row + row;
    number inputs[count], cell = 0;
    TENON_UNROLLED
    for (int gate = 0; gate < count; ++gate) {
      T& place = all.products.at(own, gate * all.hidden + unit);
      products[gate] += static_cast<number>(place);
      place = static_cast<T>(products[gate]);
      inputs[gate] = products[gate];
      if constexpr (Gates::keeps_products) {
        inputs[gate] = static_cast<number>(all.gates.at(own, gate * all.hidden + unit));
      }
    }
    const auto previous = static_cast<number>(all.states.previous(step, row, unit));
    if constexpr (Gates::states == 2) cell = static_cast<number>(all.states.previous_cell(step, row, unit));
    all.states.hidden.at(own, unit) = static_cast<T>(gates.forward(inputs, products, previous, cell));
    if constexpr (Gates::states == 2) all.states.cell.at(own, unit) = static_cast<T>(cell);
  }
};

/// The way back: a block makes the gradients of the gates of its hidden units and, when all have, those of its units in
/// the state before, of which it keeps the weights' columns. Given are activations, and the tanh of cells.
template <class Gates, dtype T, int Units>
struct recurrent_backward_kernel {
  static constexpr const char* name = "recurrent_steps_backward";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads, count = static_cast<int>(Gates::count);
  using number = compute_type<T>;

  Gates gates;
  kernel_recurrence<T> all;
  kernel_states<T> gradients;
  kernel_matrix<T> squashed;

  int shared_bytes() const { return shared_bytes_of<T>(count * Units * static_cast<int>(all.hidden)); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
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
        if (unit < hidden) pull_gates(step, item / Units, unit);
      }
      device.sync_grid(all.barrier);
      for (index row = device.warp(); row < step.count; row += max_threads / warp_size) {
        number sums[Units];
        detail::multiply_lines(device, weights, &all.products.at(step.row + row, 0), length, sums);
        TENON_UNROLLED
        for (int unit = 0; unit < Units; ++unit) {
          if (device.lane() != unit || first_unit + unit >= hidden) continue;
          add(gradients.previous(step, row, first_unit + unit), sums[unit]);
        }
      }
    }
  }

 private:
  TENON_HOST_DEVICE static void add(T& to, number share) { to = static_cast<T>(static_cast<number>(to) + share); }

  TENON_HOST_DEVICE void pull_gates(const recurrent_step& step, index row, index unit) const {
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
    if constexpr (Gates::keeps_products) add(gradients.previous(step, row, unit), at.previous);
    if constexpr (has_cell) add(gradients.previous_cell(step, row, unit), at.previous_cell);
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

/// Launches `kernel_of(constant<Units>{})` with as few hidden units for a block as let all blocks run at a time; false,
/// and nothing is done, where none do.
template <class Space, int Units = 1, class KernelOf>
bool launch_persistent(index hidden, const KernelOf& kernel_of) {
  constexpr int most_units = 8;
  const auto kernel = kernel_of(constant<Units>{});
  using kernel_type = std::remove_const_t<decltype(kernel)>;
  const index blocks = (hidden + Units - 1) / Units;
  const int shared_bytes = kernel.shared_bytes();
  if (shared_bytes > max_shared_bytes) return false;
  if (blocks <= cooperative_blocks<Space, kernel_type>(detail::recurrent_threads, shared_bytes)) {
    launch<Space>(
        launch_shape{
            .grid = {static_cast<int>(blocks)}, .block = detail::recurrent_threads, .shared_bytes = shared_bytes},
        kernel);
    return true;
  }
  if constexpr (Units < most_units) return launch_persistent<Space, 2 * Units>(hidden, kernel_of);
  else return false;
}

}  // namespace tenon::nn
