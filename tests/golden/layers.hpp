// tests/golden/layers.hpp: one call of a layer of one input, forward and backward, as a golden case tells it.
// Parameters and buffers are found by PyTorch's names.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/per_axis.hpp>

#include "golden/cases.hpp"

namespace golden {

template <class Tensor>
array copied(const Tensor& elements) {
  const tn::tensor<typename Tensor::element, tn::rank<Tensor::shape_type::rank>, typename Tensor::space> copy =
      elements;
  return array_of(copy, Tensor::shape_type::rank);
}

/// Sets a layer's parameters to those of the case.
template <class Space, class Layer>
void fill_parameters(const golden_case& given, Layer& called) {
  called.initialise(0);
  called.visit_parameters([&](const char* name, auto& parameter) {
    using tensor = std::remove_cvref_t<decltype(parameter.value)>;
    parameter.value = tensor_of<typename tensor::element, Space, tensor::rank>(given.parameters.at(name));
  });
}

/// The gradients that a backward pass left.
template <class Layer>
array_table parameter_gradients(Layer& called) {
  array_table found;
  called.visit_parameters([&](const char* name, auto& parameter) { found[name] = copied(parameter.gradient); });
  return found;
}

/// Calls `use` for the buffers of a layer that may have some, where the case has values for them.
template <class Layer, class Use>
void visit_buffers_of(const golden_case& given, Layer& called, const Use& use) {
  if constexpr (requires { called.visit_buffers(use); }) {
    if (!given.buffers.empty()) called.visit_buffers(use);
  }
}

/// Fills a layer's parameters, calls it with an input of `Rank` axes, and goes back.
template <int Rank, class Space, class Layer>
result run_layer(const golden_case& given, Layer called) {
  using T = float;
  fill_parameters<Space>(given, called);
  visit_buffers_of(given, called, [&]<class Buffer>(const char* name, Buffer& buffer) {
    if constexpr (tn::tensor_operand<Buffer>) buffer = tensor_of<T, Space, 1>(given.buffers.at(name));
    else buffer = *tensor_of<std::int64_t, tn::host, 0>(given.buffers.at(name)).data();
  });

  const auto x = tensor_of<T, Space, Rank>(given.inputs.at("input"));
  if constexpr (requires { called.prepare(x); }) called.prepare(x);
  const auto y = tn::evaluated_tensor(called.forward(x));
  constexpr int output_rank = std::remove_cvref_t<decltype(y)>::rank;
  tn::tensor<T, tn::rank<Rank>, Space> gradient(x.shape());
  called.backward(x, y, tensor_of<T, Space, output_rank>(given.grad_outputs.at("output")), gradient.write_view());

  result found;
  found.outputs["output"] = copied(y);
  found.gradients = parameter_gradients(called);
  found.gradients["input"] = copied(gradient);
  visit_buffers_of(given, called, [&]<class Buffer>(const char* name, const Buffer& buffer) {
    if constexpr (tn::tensor_operand<Buffer>) {
      found.buffers_after[name] = copied(buffer);
    } else {
      tn::tensor<std::int64_t, tn::shape<>, tn::host> number;
      number = tn::constants(tn::shape<>{}, buffer);
      found.buffers_after[name] = array_of(number, 0);
    }
  });
  return found;
}

/// The same of an input whose rank, from `Least` to `Most`, the case knows.
template <int Least, int Most, class Space, class Layer>
result run_layer_of_rank(const golden_case& given, const Layer& called) {
  const auto rank = static_cast<int>(given.inputs.at("input").extents.size());
  if constexpr (Least < Most) {
    if (rank != Least) return run_layer_of_rank<Least + 1, Most, Space>(given, called);
  }
  if (rank != Least) throw not_supported("an input of " + std::to_string(rank) + " axes");
  return run_layer<Least, Space>(given, called);
}

/// An attribute of one number for each axis, or one for all; `otherwise` where there is none.
template <int Rank>
tn::nn::per_axis<Rank> per_axis_of(const golden_case& given, const char* name, index otherwise) {
  if (given.attributes.is_text(name)) return tn::nn::same;  // the only word that options along axes know
  tn::nn::per_axis<Rank> result(otherwise);
  const auto values = given.attributes.integers(name);
  for (std::size_t axis = 0; axis < values.size(); ++axis) result.values[axis] = values[axis];
  return result;
}

}  // namespace golden
