// tenon/nn/block_linear.hpp: the fully connected layer with its weight in blocks of few bits.
// A network in use holds it in place of `linear`: its statement reads the bytes, and nothing of it is trained.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/block_matrix.hpp>
#include <tenon/nn/linear.hpp>

namespace tenon::nn {

/// y = x weight^T + bias for inputs [..., In], with a weight in blocks of `Format`, `q8_0` or `q4_0`. `In` and `Out`
/// are template arguments, or `dyn` and given to the constructor. Gradients reach its input; its weight has none.
/// buffers   weight, the bytes of a block_matrix [Out, In], and bias [Out] if any
/// extents   [..., Out]
/// throws    shape_error when the input has another last extent than In (at compile time where it is static)
/// example   struct reader : nn::module<reader> {
///             nn::block_linear<1024, 256, tn::q4_0> hidden;
///             nn::linear<256, 10> head;
///             auto forward(const auto& x) { return head(tn::relu(hidden(x))); }
///           };
template <index In, index Out, block_format Format, bool Bias, memory_space Space>
struct block_linear_layer : callable<block_linear_layer<In, Out, Format, Bias, Space>> {
  static constexpr const char* name = "block_linear";
  using input_shape = shape<dyn, In>;  // of the input that a network of layers is checked with
  static constexpr bool takes_any_rank = true;
  using weight_shape = shape<Out, In>;
  using space = Space;
  using element = float;

  block_matrix<Format, weight_shape, Space> weight;
  tensor<float, shape<Out>, Space> bias;

  block_linear_layer() {
    static_assert((In != dyn && Out != dyn) || must_hold<block_linear_layer>,
                  "tenon: sizes that the type does not know are given to the constructor");
  }
  block_linear_layer(index in, index out) : weight(weight_shape(out, in)), bias(shape<Out>(Bias ? out : 0)) {}
  /// The layer that this one takes the place of, its weight rounded to the format.
  template <dtype T>
  explicit block_linear_layer(const linear_layer<In, Out, Bias, Space, T>& layer)
      : weight(block_quantise<Format>(layer.weight.value)) {
    if constexpr (Bias) bias = cast<float>(layer.bias.value);
  }

  /// As the layer that it takes the place of.
  void initialise(std::uint64_t seed) {
    const auto extents = weight.shape();
    linear_layer<In, Out, Bias, Space, float> drawn(extents.extent(1), extents.extent(0));
    drawn.initialise(seed);
    *this = block_linear_layer(drawn);
  }
  template <class Visitor>
  void visit_parameters(Visitor&&) {}
  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("weight", weight.bytes);
    if constexpr (Bias) visitor("bias", bias);
  }
  /// The layer in another memory space; another type of elements leaves it as it is.
  template <space_or_element To>
  auto to() const {
    if constexpr (!memory_space<To>) {
      return *this;
    } else {
      block_linear_layer<In, Out, Format, Bias, To> copy(weight.extent(1), weight.extent(0));
      copy.weight = weight.template to<To>();
      if constexpr (Bias) copy.bias = bias.template to<To>();
      return copy;
    }
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    static_assert(Input::rank >= 1 || must_hold<block_linear_layer>, "tenon: this layer maps the last axis");
    check_input<block_linear_layer, Input::rank - 1, In>(input, weight.extent(1));
    return with_extent<Input::rank - 1, Out>(input, weight.extent(0));
  }
  /// Of a forward pass.
  template <shape_type Input>
  constexpr index multiply_adds(const Input& input) const {
    return input.count() * weight.extent(0);
  }
  template <class Input>
  auto forward(const Input& input) const {
    (void)output_shape(input.shape());  // names this layer where extents differ
    const auto product = matmul(input, transpose(weight));
    if constexpr (Bias) return product + bias;
    else return product;
  }
};
/// The layer as users name it.
template <index In, index Out, block_format Format, linear_options Options = linear_options{},
          memory_space Space = host>
using block_linear = block_linear_layer<In, Out, Format, Options.bias, Space>;

}  // namespace tenon::nn
