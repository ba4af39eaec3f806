// tenon/nn/transformer.hpp: the layers of transformers' encoders and decoders.
// Residual blocks of attention and of two linear layers; what is here is their order and their names.
// Floor 7: may include base, core, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <string>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/nn/several_inputs.hpp>

namespace tenon::nn {

/// Options of transformer_encoder_layer and transformer_decoder_layer, with PyTorch's names and defaults.
struct transformer_options {
  double dropout = 0.1;
  bool batch_first = false;
  bool norm_first = false;  // norms stand before attention and linear layers, not behind the sums
};

namespace detail {

/// Options as a type of numbers, as those of attention.
template <std::uint64_t DropoutBits, bool BatchFirst, bool NormFirst>
struct transformer_settings {
  static constexpr transformer_options value{std::bit_cast<double>(DropoutBits), BatchFirst, NormFirst};
  using of_attention = attention_settings<DropoutBits, true, BatchFirst, false, false>;
};
template <transformer_options Options>
using transformer_settings_of =
    transformer_settings<std::bit_cast<std::uint64_t>(Options.dropout), Options.batch_first, Options.norm_first>;

/// The layers, and by which names PyTorch calls those that have parameters.
template <index Features, index Heads, index Hidden, class Activation, class Settings, memory_space Space, dtype T>
struct encoder_parts {
  static constexpr transformer_options options = Settings::value;
  using self_attention = multihead_attention_layer<Features, Heads, typename Settings::of_attention, Space, T>;
  using norm = layer_norm<shape<Features>, affine::both, Space, T>;
  using linear1 = linear_layer<Features, Hidden, true, Space, T>;
  using linear2 = linear_layer<Hidden, Features, true, Space, T>;
  using network =
      std::conditional_t<options.norm_first,
                         sequential_network<residual_block<norm, self_attention, dropout>,
                                            residual_block<norm, linear1, Activation, dropout, linear2, dropout>>,
                         sequential_network<residual_block<self_attention, dropout>, norm,
                                            residual_block<linear1, Activation, dropout, linear2, dropout>, norm>>;
  static network made() {
    const dropout drop(options.dropout);
    if constexpr (options.norm_first) {
      return {{make_tuple_of(residual(norm{}, self_attention{}, drop),
                             residual(norm{}, linear1{}, Activation{}, drop, linear2{}, drop))}};
    } else {
      return {{make_tuple_of(residual(self_attention{}, drop), norm{},
                             residual(linear1{}, Activation{}, drop, linear2{}, drop), norm{})}};
    }
  }

  struct place {
    const char *inner, *name;
  };
  static constexpr place places[2][5] = {
      {{"0.0.", "self_attn."}, {"1.", "norm1."}, {"2.0.", "linear1."}, {"2.3.", "linear2."}, {"3.", "norm2."}},
      {{"0.0.", "norm1."}, {"0.1.", "self_attn."}, {"1.0.", "norm2."}, {"1.1.", "linear1."}, {"1.4.", "linear2."}}};

  static std::string name_of(const std::string& inner) {
    for (const place& each : places[options.norm_first ? 1 : 0]) {
      const std::string start = each.inner;
      if (inner.compare(0, start.size(), start) == 0) return each.name + inner.substr(start.size());
    }
    return inner;
  }
};

}  // namespace detail

/// Self-attention, then two linear layers with an activation between, each within a residual block with dropout and a
/// norm: for inputs [length, batch, Features], or [batch, length, Features]. A mask may follow, as that of
/// multihead_attention: `layer(x, mask)`.
/// parameters  self_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, as in torch.nn.TransformerEncoderLayer
/// extents     those of the input
/// source      Vaswani and others 2017; Xiong and others 2020 for norms before
template <index Features, index Heads, index Hidden, class Activation, class Settings, memory_space Space, dtype T>
struct encoder_layer : detail::encoder_parts<Features, Heads, Hidden, Activation, Settings, Space, T>::network {
  static constexpr const char* name = "transformer_encoder_layer";
  using parts = detail::encoder_parts<Features, Heads, Hidden, Activation, Settings, Space, T>;
  using network = typename parts::network;
  using space = Space;
  using element = T;
  using input_shape = shape<dyn, dyn, Features>;  // of the input that a network of layers is checked with
  template <space_or_element To>
  using moved =
      encoder_layer<Features, Heads, Hidden, Activation, Settings, space_after<To, Space>, element_after<To, T>>;

  encoder_layer() : network(parts::made()) {}

  using network::operator();
  template <tensor_operand Operand, tensor_operand Mask>
  auto operator()(Operand&& operand, const Mask& mask) {
    const auto& input = detail::settled_input(std::forward<Operand>(operand));
    return attempt_forward(*this, [&] {
      const auto attended = [&](auto& self_attn, auto& left_out, const auto& from) {
        return detail::settled(input + left_out(self_attn(from, mask)));
      };
      if constexpr (parts::options.norm_first) {
        auto& [first, second] = this->layers;
        auto& [norm1, self_attn, left_out] = first.layers;
        return second(attended(self_attn, left_out, norm1(input)));
      } else {
        auto& [first, norm1, second, norm2] = this->layers;
        auto& [self_attn, left_out] = first.layers;
        return detail::settled(norm2(second(norm1(attended(self_attn, left_out, input)))));
      }
    });
  }

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    network::visit_parameters(
        [&](const std::string& inner, auto& parameter) { visitor(parts::name_of(inner).c_str(), parameter); });
  }
  template <space_or_element To>
  auto to() const {
    moved<To> copy;
    static_cast<typename moved<To>::network&>(copy) = network::template to<To>();
    return copy;
  }
};
/// An encoder layer, [length, batch, Features] -> the same: `nn::transformer_encoder_layer<64, 8, 256>{}`.
template <index Features, index Heads, index Hidden = 2048, class Activation = relu,
          transformer_options Options = transformer_options{}, memory_space Space = host, dtype T = float>
using transformer_encoder_layer =
    encoder_layer<Features, Heads, Hidden, Activation, detail::transformer_settings_of<Options>, Space, T>;

/// Self-attention, attention to `memory` (what an encoder made), then two linear layers with an activation between,
/// each within a residual block with dropout and a norm: `layer(x, memory)`, [length, batch, Features] twice. Masks may
/// follow, as those of multihead_attention: that of x, then that of memory; `no_mask` is none. In place of a triangular
/// mask of x, `self_attn.is_causal = true`.
/// parameters  self_attn.*, multihead_attn.*, linear1.*, linear2.*, norm1.*, norm2.*, norm3.*, as in
///             torch.nn.TransformerDecoderLayer
/// extents     those of x
/// source      Vaswani and others 2017
template <index Features, index Heads, index Hidden, class Activation, class Settings, memory_space Space, dtype T>
struct decoder_layer : module<decoder_layer<Features, Heads, Hidden, Activation, Settings, Space, T>> {
  using parts = detail::encoder_parts<Features, Heads, Hidden, Activation, Settings, Space, T>;
  template <space_or_element To>
  using moved =
      decoder_layer<Features, Heads, Hidden, Activation, Settings, space_after<To, Space>, element_after<To, T>>;

  typename parts::self_attention self_attn, multihead_attn;
  typename parts::linear1 linear1;
  typename parts::linear2 linear2;
  typename parts::norm norm1, norm2, norm3;
  Activation activation;
  dropout inner{parts::options.dropout}, dropout1 = inner, dropout2 = inner, dropout3 = inner;

  template <class Mask = float, class MemoryMask = float>
  auto forward(const auto& x, const auto& memory, const Mask& mask = no_mask, const MemoryMask& of_memory = no_mask) {
    const auto attended = [&](const auto& h) { return dropout1(masked(self_attn, mask, h)); };
    const auto asked = [&](const auto& h) { return dropout2(masked(multihead_attn, of_memory, h, memory, memory)); };
    const auto fed = [&](const auto& h) { return dropout3(linear2(inner(activation(linear1(h))))); };
    if constexpr (parts::options.norm_first) {
      const traced first = x + attended(detail::settled(norm1(x)));
      const traced second = first + asked(norm2(first));
      return detail::settled(second + fed(norm3(second)));
    } else {
      const traced first = norm1(x + attended(x));
      const traced second = norm2(first + asked(first));
      return detail::settled(norm3(second + fed(second)));
    }
  }

 private:
  static auto masked(auto& attention, const auto& mask, const auto&... inputs) {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(mask)>>) return attention(inputs...);
    else return attention(inputs..., mask);
  }
};
/// A decoder layer, [length, batch, Features] and what an encoder made -> the same as the first:
/// `nn::transformer_decoder_layer<64, 8, 256>{}`.
template <index Features, index Heads, index Hidden = 2048, class Activation = relu,
          transformer_options Options = transformer_options{}, memory_space Space = host, dtype T = float>
using transformer_decoder_layer =
    decoder_layer<Features, Heads, Hidden, Activation, detail::transformer_settings_of<Options>, Space, T>;

}  // namespace tenon::nn
