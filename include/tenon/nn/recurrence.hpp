// tenon/nn/recurrence.hpp: one layer of a recurrent network in one direction, forward and backward.
// Input products of a sequence are one matrix product, its steps one kernel, or a graph of two kernels for each.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/nn/captured_steps.hpp>
#include <tenon/nn/host_recurrence.hpp>
#include <tenon/nn/recurrent_parameters.hpp>
#include <tenon/nn/recurrent_rows.hpp>
#include <tenon/nn/recurrent_select.hpp>
#include <tenon/nn/recurrent_steps.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// What flows through a recurrence: values, or the gradients of these.
template <dtype T, memory_space Space>
struct recurrent_flow {
  using matrix = matrix_view<T, Space>;

  matrix input, output;               // [rows, features], [rows, state]
  matrix hidden_before, cell_before;  // [batch, state], [batch, hidden]
  matrix hidden_after, cell_after;
};

/// Keeps what the way back needs, in memory that further calls use again.
template <class Gates, dtype T, memory_space Space>
class recurrence {
 public:
  using matrix = matrix_view<T, Space>;
  using parameters = recurrent_parameters<T, Space>;
  using flow = recurrent_flow<T, Space>;

  /// Fills output and the state after.
  void forward(const Gates& gates, parameters& weights, const recurrent_steps& steps, const flow& values) {
    prepare(weights, values);
    const auto all = rows_of_all(weights, values);
    run_steps(gates, weights, steps, values, all);
    for (const recurrent_end& end : steps.ends()) {
      rows_of(values.hidden_after, end.place, end.count) = rows_of(values.output, end.row, end.count);
      if constexpr (has_cell) {
        rows_of(values.cell_after, end.place, end.count) = rows_of(all.cell, end.row, end.count);
      }
    }
  }

  /// Leaves the gradients of the parameters and of the state before, and adds the gradient of the input where there is
  /// memory for it. Takes the values of the last forward pass and the gradients of the output and of the state after;
  /// the gradient of the output is changed.
  void backward(const Gates& gates, parameters& weights, const recurrent_steps& steps, const flow& values,
                const flow& gradients) {
    const auto all = rows_of_all(weights, values);
    const matrix squashed = has_cell ? squashed_.resize(all.cell.shape()) : no_matrix<T, Space>();
    gates.activate(all, squashed);
    const auto of_all = start_backward(weights, steps, values, gradients);
    run_backward_steps(gates, weights, steps, values, all, of_all, gradients);
    leave_gradients(weights, steps, values, gradients, all);
  }

 private:
  struct nothing {};
  static constexpr bool has_cell = Gates::states == 2;
  using rows = recurrent_rows<T, Space>;
  using row_gradients = recurrent_row_gradients<T, Space>;

  static matrix rows_at(const matrix& all, const recurrent_step& step) { return rows_of(all, step.row, step.count); }
  /// The states that a step takes.
  static matrix previous_rows(const matrix& all, const matrix& initial, const recurrent_step& step) {
    return rows_of(step.starts ? initial : all, step.previous, step.count);
  }
  static matrix before(const flow& values, const recurrent_step& step) {
    return previous_rows(values.output, values.hidden_before, step);
  }

  /// Whether the host runs the steps beside packed weights; a step alone reads these once.
  static bool packs_weights(const parameters& weights, const recurrent_steps& steps) {
    const auto& all = steps.steps();
    return !weights.is_projected() && (all.size() != 1 || all[0].count > rows_without_packing);
  }
  void run_steps(const Gates& gates, parameters& weights, const recurrent_steps& steps, const flow& values,
                 const rows& all) {
    if constexpr (has_host_steps<T, Space>) {
      if (packs_weights(weights, steps)) return run_steps_of_host(gates, weights, steps, values, all);
    }
    multiply_inputs(weights, values);
    if (run_in_one_kernel(gates, weights, steps, values, all)) return;
    const auto one_by_one = [&] {
      for (const recurrent_step& step : steps.steps()) {
        const auto at = rows_of_step(all, values, step);
        add_product(at.products, at.previous, transpose(weights.weight_hh.value));
        gates.forward(at);
        if (weights.is_projected())
          add_product(rows_at(values.output, step), at.hidden, transpose(weights.weight_hr.value));
      }
    };
    captured_.run(steps.steps(),
                  {all.gates.data(), all.products.data(), all.hidden.data(), all.cell.data(), values.output.data(),
                   values.hidden_before.data(), values.cell_before.data(), weights.weight_hh.value.data(),
                   weights.weight_hr.value.data()},
                  one_by_one);
  }

  void run_backward_steps(const Gates& gates, parameters& weights, const recurrent_steps& steps, const flow& values,
                          const rows& all, const row_gradients& of_all, const flow& gradients) {
    const auto squashed_of = [&](const recurrent_step& step) {
      return has_cell ? rows_at(squashed_.current(), step) : no_matrix<T, Space>();
    };
    if constexpr (has_host_steps<T, Space>) {
      if (!weights.is_projected()) {
        return pull_host_steps(
            gates, weights.weight_hh.value.view(), steps.steps(), packed_, [&](const recurrent_step& step) {
              return host_gradient_step<T>{rows_of_step(all, values, step), gradients_of_step(of_all, gradients, step),
                                           squashed_of(step)};
            });
      }
    }
    if (pull_in_one_kernel(gates, weights, steps, values, all, of_all, gradients)) return;
    const auto one_by_one = [&] {
      for (auto step = steps.steps().rbegin(); step != steps.steps().rend(); ++step) {
        const auto at = rows_of_step(all, values, *step);
        const auto of_step = gradients_of_step(of_all, gradients, *step);
        if (weights.is_projected())
          add_product(of_step.hidden, rows_at(gradients.output, *step), weights.weight_hr.value);
        gates.backward(at, of_step, squashed_of(*step));
        add_product(of_step.previous, at.products, weights.weight_hh.value);
      }
    };
    captured_back_.run(
        steps.steps(),
        {all.gates.data(), all.products.data(), all.hidden.data(), all.cell.data(), values.output.data(),
         values.hidden_before.data(), values.cell_before.data(), of_all.hidden.data(), of_all.cell.data(),
         gradients.output.data(), gradients.hidden_before.data(), gradients.cell_before.data(),
         squashed_.current().data(), weights.weight_hh.value.data(), weights.weight_hr.value.data()},
        one_by_one);
  }

  /// Whether all steps may run as one kernel.
  static bool fits_one_kernel(const parameters& weights, const recurrent_steps& steps) {
    return !std::is_same_v<Space, host> && !weights.is_projected() && !steps.steps().empty();
  }
  static kernel_states<T> states_in_kernel(const matrix& hidden, const matrix& cell, const flow& border) {
    using rows_in_kernel = kernel_matrix<T>;
    return {rows_in_kernel::of(hidden), rows_in_kernel::of(cell), rows_in_kernel::of(border.hidden_before),
            rows_in_kernel::of(border.cell_before)};
  }
  kernel_recurrence<T> in_kernel(const parameters& weights, const recurrent_steps& steps, const flow& values,
                                 const rows& all, unsigned* barrier) {
    const auto weight = weights.weight_hh.value.view();
    return {kernel_matrix<T>::of(all.gates),
            kernel_matrix<T>::of(all.products),
            states_in_kernel(all.hidden, all.cell, values),
            {weight.data(), weight.strides()[0]},
            weight.extent(1),
            steps_in_space_.of(steps.steps()),
            static_cast<int>(steps.steps().size()),
            barrier};
  }
  bool run_in_one_kernel(const Gates& gates, const parameters& weights, const recurrent_steps& steps,
                         const flow& values, const rows& all) {
    if constexpr (!std::is_same_v<Space, host>) {
      if (!fits_one_kernel(weights, steps)) return false;
      auto& meeting = workspace<Space>::with(0);
      const unit_steps<Gates, T> units{gates, in_kernel(weights, steps, values, all, meeting.grid_barrier())};
      const bool has_run = launch_recurrence<Space>(units, steps.sequences());
      meeting.launched();
      return has_run;
    }
    return false;
  }
  bool pull_in_one_kernel(const Gates& gates, const parameters& weights, const recurrent_steps& steps,
                          const flow& values, const rows& all, const row_gradients& of_all, const flow& gradients) {
    if constexpr (!std::is_same_v<Space, host>) {
      if (!fits_one_kernel(weights, steps)) return false;
      auto& meeting = workspace<Space>::with(0);
      const unit_gradients<Gates, T> units{
          gates, in_kernel(weights, steps, values, all, meeting.grid_barrier()),
          states_in_kernel(of_all.hidden, of_all.cell, gradients),
          kernel_matrix<T>::of(has_cell ? squashed_.current() : no_matrix<T, Space>())};
      const bool has_run = launch_recurrence<Space>(units, steps.sequences());
      meeting.launched();
      return has_run;
    }
    return false;
  }

  void run_steps_of_host(const Gates& gates, parameters& weights, const recurrent_steps& steps, const flow& values,
                         const rows& all) {
    const host_step_operands<T> operands{.weight_ih = weights.weight_ih.value.view(),
                                         .weight_hh = weights.weight_hh.value.view(),
                                         .input = values.input,
                                         .gates = all.gates,
                                         .bias = bias_.current().data()};
    run_host_steps(gates, operands, steps.steps(), packed_,
                   [&](const recurrent_step& step) { return rows_of_step(all, values, step); });
  }

  /// The products of all inputs, with the biases that may be added to them.
  void multiply_inputs(parameters& weights, const flow& values) {
    gates_.current() = matmul(values.input, transpose(weights.weight_ih.value)) + bias_.current();
  }

  /// Room for all rows, and what is added to products.
  void prepare(parameters& weights, const flow& values) {
    const index count = values.input.extent(0), width = weights.weight_ih.value.extent(0);
    const auto gates = gates_.resize(rank<2>(count, width));
    const auto bias = bias_.resize(rank<1>(width));
    if (!weights.has_bias()) bias = 0;
    else if constexpr (Gates::keeps_products) bias = weights.bias_ih.value;
    else bias = weights.bias_ih.value + weights.bias_hh.value;
    if constexpr (Gates::keeps_products) {
      const auto products = products_.resize(gates.shape());
      if (weights.has_bias()) products = weights.bias_hh.value;
      else products = 0;
    }
    const rank<2> states(count, width / Gates::count);
    if constexpr (has_cell) cells_.resize(states);
    if (weights.is_projected()) hidden_.resize(states), values.output = 0;
  }

  rows rows_of_all(const parameters& weights, const flow& values) {
    const matrix gates = gates_.current();
    return {.gates = gates,
            .products = Gates::keeps_products ? products_.current() : gates,
            .previous = no_matrix<T, Space>(),
            .previous_cell = no_matrix<T, Space>(),
            .hidden = weights.is_projected() ? hidden_.current() : values.output,
            .cell = has_cell ? cells_.current() : no_matrix<T, Space>()};
  }
  static rows rows_of_step(const rows& all, const flow& values, const recurrent_step& step) {
    return {.gates = rows_at(all.gates, step),
            .products = rows_at(all.products, step),
            .previous = before(values, step),
            .previous_cell = has_cell ? previous_rows(all.cell, values.cell_before, step) : all.previous_cell,
            .hidden = rows_at(all.hidden, step),
            .cell = has_cell ? rows_at(all.cell, step) : all.cell};
  }

  /// Gradients of all states as far as they come from the output and from the states after.
  row_gradients start_backward(const parameters& weights, const recurrent_steps& steps, const flow& values,
                               const flow& gradients) {
    const rank<2> states(values.input.extent(0), gates_.current().extent(1) / Gates::count);
    const auto zeros_in = [&](auto& memory) { return memory.resize(states) = 0; };
    const row_gradients result{.previous = no_matrix<T, Space>(),
                               .previous_cell = no_matrix<T, Space>(),
                               .hidden = weights.is_projected() ? zeros_in(hidden_gradient_) : gradients.output,
                               .cell = has_cell ? zeros_in(cell_gradient_) : no_matrix<T, Space>()};
    gradients.hidden_before = 0, gradients.cell_before = 0;
    for (const recurrent_end& end : steps.ends()) {
      const auto last = rows_of(gradients.output, end.row, end.count);
      last = last + rows_of(gradients.hidden_after, end.place, end.count);
      if constexpr (has_cell) {
        rows_of(result.cell, end.row, end.count) = rows_of(gradients.cell_after, end.place, end.count);
      }
    }
    return result;
  }
  static row_gradients gradients_of_step(const row_gradients& all, const flow& gradients, const recurrent_step& step) {
    return {.previous = before(gradients, step),
            .previous_cell = has_cell ? previous_rows(all.cell, gradients.cell_before, step) : all.previous_cell,
            .hidden = rows_at(all.hidden, step),
            .cell = has_cell ? rows_at(all.cell, step) : all.cell};
  }

  /// The gradients of parameters and input, from those of the gates.
  static void leave_gradients(parameters& weights, const recurrent_steps& steps, const flow& values,
                              const flow& gradients, const rows& all) {
    const auto leave = [](auto& weight) -> matrix { return weight.gradient = 0, weight.gradient.view(); };
    add_product(leave(weights.weight_ih), transpose(all.gates), values.input);
    const matrix of_state = leave(weights.weight_hh);
    for (const recurrent_step& run : steps.runs()) {
      add_product(of_state, transpose(rows_at(all.products, run)), before(values, run));
    }
    if (weights.is_projected()) add_product(leave(weights.weight_hr), transpose(gradients.output), all.hidden);
    if (weights.has_bias()) {
      weights.bias_ih.gradient = sum(all.gates, axis<0>);
      if constexpr (Gates::keeps_products) weights.bias_hh.gradient = sum(all.products, axis<0>);
      else weights.bias_hh.gradient = weights.bias_ih.gradient;
    }
    if (gradients.input.size() != 0) add_product(gradients.input, all.gates, weights.weight_ih.value);
  }

  buffer<T, rank<2>, Space> gates_, products_, cells_, hidden_;
  buffer<T, rank<2>, Space> squashed_, hidden_gradient_, cell_gradient_;
  buffer<T, rank<1>, Space> bias_;
  captured_steps<Space> captured_, captured_back_;
  [[no_unique_address]] std::conditional_t<std::is_same_v<Space, host>, nothing, steps_in_space<Space>> steps_in_space_;
  [[no_unique_address]] std::conditional_t<keeps_packed_weights<T, Space>, host_step_memory<T>, nothing> packed_;
};

}  // namespace tenon::nn
