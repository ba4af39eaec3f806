// tenon/nn/attention.hpp: attention of several heads.
// Queries, keys and values are maps of the inputs; each head attends to its own part of their features.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/attention_gradient.hpp>
#include <tenon/grad/attention.hpp>
#include <tenon/grad/pass_numbers.hpp>
#include <tenon/nn/call_memory.hpp>
#include <tenon/nn/head_rows.hpp>
#include <tenon/nn/initial.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/products.hpp>

namespace tenon::nn {

/// Attention of `Heads` heads, each over Embed / Heads features of maps of queries, keys and values, whose results are
/// mapped again. One input is attended to by itself. Sizes are template arguments, or `dyn` and given to the
/// constructor. A mask is an expression that repeats over [batch, head, query, key]: numbers are added to scores;
/// true, as in torch.nn.MultiheadAttention, keeps a query from a key. Of one for padding, [batch, key], it is
/// new_axis<1>(new_axis<1>(padding)). What `forward` returns is valid until the next call.
/// parameters  in_proj_weight [3 Embed, Embed] (or q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias,
///             out_proj.weight, out_proj.bias
/// throws      shape_error when sizes do not fit
/// cost        a product for what one input is mapped to, one kernel of attention, one product; a backward pass keeps
///             no weights in memory, unless gradients of the mask or of averaged weights are asked for
/// source      Vaswani and others 2017, "Attention is all you need"
template <index Embed, index Heads, class Settings, memory_space Space, dtype T>
struct multihead_attention_layer : callable<multihead_attention_layer<Embed, Heads, Settings, Space, T>> {
  static constexpr multihead_attention_options known_options = Settings::value;
  static constexpr const char* name = "multihead_attention";
  using space = Space;
  using element = T;
  using input_shape = shape<dyn, dyn, Embed>;  // of the input that a network of layers is checked with
  template <space_or_element To>
  using moved = multihead_attention_layer<Embed, Heads, Settings, space_after<To, Space>, element_after<To, T>>;
  static_assert(Embed == dyn || Heads == dyn || Embed % Heads == 0,
                "tenon: heads share the features of multihead_attention evenly");

  index embed_dim = Embed, num_heads = Heads, kdim = Embed, vdim = Embed;
  bool is_causal = known_options.is_causal;  // queries see the keys up to their own position
  bool is_training = true;
  parameter<T, rank<2>, Space> in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight;
  parameter<T, rank<1>, Space> in_proj_bias;
  linear_layer<Embed, Embed, known_options.bias, Space, T> out_proj;

  multihead_attention_layer()
    requires(Embed != dyn && Heads != dyn)
  {
    give_extents();
  }
  multihead_attention_layer(index features, index heads)
      : multihead_attention_layer(features, heads, features, features) {}
  multihead_attention_layer(index features, index heads, index key_features, index value_features)
      : embed_dim(features),
        num_heads(heads),
        kdim(key_features),
        vdim(value_features),
        out_proj(checked_features(features), features) {
    detail::check_size<multihead_attention_layer>("num_heads", heads, Heads);
    if (heads < 1 || features % heads != 0) {
      throw shape_error(compose_text(name, ": num_heads ", heads, ", expected a divisor of ", features, " features"));
    }
    if (!known_options.kdim_vdim && (kdim != features || vdim != features)) {
      throw shape_error(compose_text(name, ": kdim ", kdim, " and vdim ", vdim, ", expected ", features,
                                     "; keys and values of other features need the option kdim_vdim"));
    }
    give_extents();
  }

  /// Xavier's for the first maps; PyTorch's default for the last; biases 0.
  void initialise(std::uint64_t seed) {
    seed_ = seed, step_ = 0;
    for_first_maps([&](auto& weight, const rank<2>& extents, std::uint64_t number) {
      weight = {tensor<T, rank<2>, Space>(extents), zeros<T, Space>(extents)};
      initial::xavier_uniform(weight, 5 * seed + number);
    });
    out_proj.initialise(5 * seed + 3);
    if constexpr (known_options.bias) {
      const rank<1> extents(3 * embed_dim);
      in_proj_bias = {zeros<T, Space>(extents), zeros<T, Space>(extents)};
      initial::constant(out_proj.bias, 0);
    }
  }
  std::uint64_t forward_count() const { return step_; }
  void undo_forward(std::uint64_t count) { tenon::detail::take_back_passes(step_, count); }
  template <class Visitor>
  void visit_random_state(Visitor&& visitor) {
    if constexpr (known_options.dropout > 0) visitor("seed", seed_), visitor("step", step_);
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    if constexpr (known_options.kdim_vdim) {
      visitor("q_proj_weight", q_proj_weight), visitor("k_proj_weight", k_proj_weight);
      visitor("v_proj_weight", v_proj_weight);
    } else {
      visitor("in_proj_weight", in_proj_weight);
    }
    if constexpr (known_options.bias) visitor("in_proj_bias", in_proj_bias);
    visitor("out_proj.weight", out_proj.weight);
    if constexpr (known_options.bias) visitor("out_proj.bias", out_proj.bias);
  }
  template <space_or_element To>
  auto to() const {
    moved<To> copy(embed_dim, num_heads, kdim, vdim);
    copy.is_causal = is_causal, copy.is_training = is_training;
    copy.seed_ = seed_, copy.step_ = step_;
    if constexpr (known_options.kdim_vdim) {
      copy.q_proj_weight = q_proj_weight.template to<To>(), copy.k_proj_weight = k_proj_weight.template to<To>();
      copy.v_proj_weight = v_proj_weight.template to<To>();
    } else {
      copy.in_proj_weight = in_proj_weight.template to<To>();
    }
    if constexpr (known_options.bias) copy.in_proj_bias = in_proj_bias.template to<To>();
    copy.out_proj = out_proj.template to<To>();
    return copy;
  }
  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    check_rank<multihead_attention_layer, 3, Input>();
    check_input<multihead_attention_layer, 2, Embed>(input, embed_dim);
    return input;
  }

  /// One batch of queries, keys or values stands beside several of the others.
  template <shape_type Query, shape_type Key, shape_type Value, class... Mask>
  constexpr rank<3> output_shape(const Query& query, const Key& key, const Value& value, const Mask&...) const {
    constexpr int batch = known_options.batch_first ? 0 : 1;
    auto extents = output_shape(query).to_array();
    if (extents[batch] == 1) extents[batch] = key.extent(batch) == 1 ? value.extent(batch) : key.extent(batch);
    return rank<3>(extents);
  }

  /// An input that attends to itself.
  template <tensor_operand Input, class Mask = float>
  auto forward(const Input& input, const Mask& mask = no_mask) {
    (void)output_shape(input.shape());
    const auto rows =
        in_use().projected[0].resize(rank<3>(input.shape().extent(0), input.shape().extent(1), 3 * embed_dim));
    rows = projection(as_node(input), in_proj_weight.value.view());
    for (int part = 0; part < 3; ++part) in_use().parts[part] = rows_of(rows, part);
    return attend(mask);
  }
  template <tensor_operand Query, tensor_operand Key, tensor_operand Value, class Mask = float>
  auto forward(const Query& query, const Key& key, const Value& value, const Mask& mask = no_mask) {
    project<0>(as_node(query)), project<1>(as_node(key)), project<2>(as_node(value));
    return attend(mask);
  }
  /// What one input is mapped to by the weight, or by a copy whose elements may lie in another order.
  auto projection(const auto& input, const view<const T, rank<2>, Space>& weight) const {
    static_assert(!known_options.kdim_vdim, "tenon: one input has no features of keys and values of its own");
    const auto product = matmul(input, transpose(weight));
    if constexpr (known_options.bias) return product + in_proj_bias.value;
    else return product;
  }
  /// The heads of part `part` of rows [., ., features]: of queries, keys or values.
  view<T, rank<4>, Space> heads_of(const view<T, rank<3>, Space>& rows, int part) const {
    return heads(rows_of(rows, part));
  }
  /// Attention between heads as an expression.
  auto expression(const auto& query, const auto& key, const auto& value, const auto& mask, const auto&... drop) const {
    const attention_options options{.is_causal = is_causal};
    return tenon::detail::make_attention(query, key, value, detail::bias_of_blocks(mask), options, drop...);
  }
  /// The weights of the last `forward`, [batch, query, key], averaged over the heads.
  template <class Mask = float>
  tensor<T, rank<3>, Space> average_weights(const Mask& mask = no_mask) const {
    tensor<T, rank<3>, Space> result;
    with_node(mask, [&](const auto& last) {
      const auto weights = evaluated_tensor(tenon::detail::attention_weights(last));
      result = mean(tenon::detail::with_factor(last, as_node(weights)), drop<1>);
    });
    return result;
  }

  /// Leaves the gradients of the parameters and writes that of the input to `destination`.
  template <class Input, class Output, class Gradient, class Destination, class Mask = float,
            class MaskGradient = not_wanted>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination,
                const Mask& mask = no_mask, const MaskGradient& to_mask = {}) {
    const auto rows = in_use().gradients[0].resize(in_use().projected[0].current().shape());
    attend_backward(mask, gradient, {{rows_of(rows, 0), rows_of(rows, 1), rows_of(rows, 2)}}, not_wanted{}, to_mask);
    project_whole_backward(as_node(input), rows, destination);
  }
  /// The same with several inputs. `average_gradient` is the gradient of the averaged weights; the gradient of a mask
  /// goes to `to_mask`, summed over what the mask repeats along. Both may be not_wanted.
  template <class Query, class Key, class Value, class Mask, class Gradient, class QueryGradient, class KeyGradient,
            class ValueGradient, class AverageGradient = not_wanted, class MaskGradient = not_wanted>
  void backward(const Query& query, const Key& key, const Value& value, const Mask& mask, const Gradient& gradient,
                const QueryGradient& to_query, const KeyGradient& to_key, const ValueGradient& to_value,
                const AverageGradient& average_gradient = {}, const MaskGradient& to_mask = {}) {
    array<part_rows, 3> parts;
    for (int part = 0; part < 3; ++part) {
      parts[part] = rows_of(in_use().gradients[part].resize(in_use().projected[part].current().shape()), 0);
    }
    attend_backward(mask, gradient, parts, average_gradient, to_mask);
    project_backward<0>(as_node(query), to_query);
    project_backward<1>(as_node(key), to_key), project_backward<2>(as_node(value), to_value);
  }

  using call_memory = detail::attention_memory<T, Embed, Space>;
  /// The memory of a call in place of the layer's own, while the result lives.
  detail::lent_memory lend(call_memory& memory) const { return {memory_, memory}; }

  /// The way back of a call: of a query, a key and a value, or of an input that attends to itself; a mask behind them.
  template <class Query, class Key, class Value, class Output, class Gradient, class... To>
    requires(sizeof...(To) == 3)
  void pull(const Query& query, const Key& key, const Value& value, const Output&, const Gradient& gradient,
            const To&... to) {
    backward(query, key, value, no_mask, gradient, to...);
  }
  template <class Query, class Key, class Value, class Mask, class Output, class Gradient, class ToQuery, class ToKey,
            class ToValue, class ToMask>
  void pull(const Query& query, const Key& key, const Value& value, const Mask& mask, const Output&,
            const Gradient& gradient, const ToQuery& q, const ToKey& k, const ToValue& v, const ToMask& m) {
    backward(query, key, value, mask, gradient, q, k, v, not_wanted{}, m);
  }
  template <class Input, class Mask, class Output, class Gradient, class To, class ToMask>
  void pull(const Input& input, const Mask& mask, const Output& output, const Gradient& gradient, const To& to,
            const ToMask& m) {
    backward(input, output, gradient, to, mask, m);
  }

 private:
  template <index, index, class, memory_space, dtype>
  friend struct multihead_attention_layer;
  using part_rows = detail::head_rows<T>;

  /// Calls `body(weight, extents, number)` for the maps of queries, keys and values.
  template <class Body>
  void for_first_maps(const Body& body) {
    if constexpr (known_options.kdim_vdim) {
      body(q_proj_weight, rank<2>(embed_dim, embed_dim), 0u);
      body(k_proj_weight, rank<2>(embed_dim, kdim), 1u), body(v_proj_weight, rank<2>(embed_dim, vdim), 2u);
    } else {
      body(in_proj_weight, rank<2>(3 * embed_dim, embed_dim), 0u);
    }
  }
  void give_extents() {
    for_first_maps([](auto& weight, const rank<2>& extents, auto) { weight = unwritten_parameter<T, Space>(extents); });
    if constexpr (known_options.bias) in_proj_bias = unwritten_parameter<T, Space>(rank<1>(3 * embed_dim));
  }
  call_memory& in_use() { return detail::memory_in_use(memory_); }
  const call_memory& in_use() const { return detail::memory_in_use(memory_); }
  static index checked_features(index features) {
    detail::check_size<multihead_attention_layer>("embed_dim", features, Embed);
    return features;
  }
  index head_features() const { return embed_dim / num_heads; }
  /// Part `part` of rows [., ., features], each part of `embed_dim` features.
  part_rows rows_of(const view<T, rank<3>, Space>& rows, int part) const {
    const index first = rows.extent(0), second = rows.extent(1), step = rows.extent(2);
    T* const data = rows.data() == nullptr ? nullptr : rows.data() + part * embed_dim;
    if constexpr (known_options.batch_first) return {data, first, second, second * step, step};
    else return {data, second, first, step, second * step};
  }
  view<T, rank<4>, Space> heads(const part_rows& rows) const {
    return rows.template heads<Space>(num_heads, head_features());
  }

  /// The weight that maps input `I`, or its gradient.
  template <int I, class Layer>
  static auto& separate_weight(Layer& layer) {
    if constexpr (I == 0) return layer.q_proj_weight;
    else if constexpr (I == 1) return layer.k_proj_weight;
    else return layer.v_proj_weight;
  }
  template <int I, class Tensor>
  view<T, rank<2>, Space> own_rows(Tensor& whole) const {
    return {whole.data() + I * embed_dim * embed_dim, rank<2>(embed_dim, embed_dim)};
  }
  template <int I>
  view<T, rank<2>, Space> weight_of() {
    if constexpr (known_options.kdim_vdim) return separate_weight<I>(*this).value.write_view();
    else return own_rows<I>(in_proj_weight.value);
  }
  template <int I>
  view<T, rank<2>, Space> weight_gradient_of() {
    if constexpr (known_options.kdim_vdim) return separate_weight<I>(*this).gradient.write_view();
    else return own_rows<I>(in_proj_weight.gradient);
  }
  template <int I, class Tensor>
  view<T, rank<1>, Space> bias_of(Tensor& whole) const {
    return {whole.data() + I * embed_dim, rank<1>(embed_dim)};
  }

  template <int I, class Input>
  void project(const Input& input) {
    constexpr const char* names[] = {"query", "key", "value"};
    check_rank<multihead_attention_layer, 3, typename Input::shape_type>();
    const auto& extents = input.shape();
    const index expected = I == 0 ? embed_dim : I == 1 ? kdim : vdim;
    if (extents.extent(2) != expected) {
      throw shape_error(compose_text(name, ": ", names[I], ", axis 2: extent ", extents.extent(2), ", expected ",
                                     expected, " (", names[I], " ", extents.to_array(), ")"));
    }
    const auto rows = in_use().projected[I].resize(rank<3>(extents.extent(0), extents.extent(1), embed_dim));
    const auto product = matmul(input, transpose(weight_of<I>()));
    if constexpr (known_options.bias) rows = product + bias_of<I>(in_proj_bias.value);
    else rows = product;
    in_use().parts[I] = rows_of(rows, 0);
  }
  template <class Input, class Destination>
  void project_whole_backward(const Input& input, const view<T, rank<3>, Space>& rows, const Destination& destination) {
    in_proj_weight.gradient = tensordot(rows, input, axis<0, 1>, axis<0, 1>);
    if constexpr (known_options.bias) in_proj_bias.gradient = sum(rows, drop<0, 1>);
    if constexpr (is_wanted<Destination>) destination = matmul(rows, in_proj_weight.value);
  }
  template <int I, class Input, class Destination>
  void project_backward(const Input& input, const Destination& destination) {
    const auto rows = in_use().gradients[I].current();
    weight_gradient_of<I>() = tensordot(rows, input, axis<0, 1>, axis<0, 1>);
    if constexpr (known_options.bias) bias_of<I>(in_proj_bias.gradient) = sum(rows, drop<0, 1>);
    if constexpr (is_wanted<Destination>) destination = matmul(rows, weight_of<I>());
  }

  /// Calls `use` with attention as the last `forward` saw it.
  void with_node(const auto& mask, const auto& use) const {
    const auto part = [&](int number) { return as_node(heads(in_use().parts[number])); };
    const auto make = [&](auto... drop) { return expression(part(0), part(1), part(2), as_node(mask), drop...); };
    if constexpr (known_options.dropout > 0) {
      if (is_training) return use(make(attention_dropout{known_options.dropout, in_use().mask}));
    }
    use(make());
  }
  template <class Mask>
  auto attend(const Mask& mask) {
    attempt_forward(*this, [&] {
      if (known_options.dropout > 0 && is_training) {
        in_use().mask = detail::seed_of_pass<Space>(seed_ * 0x9E3779B97F4A7C15u + tenon::detail::next_pass(step_) + 1);
      }
      with_node(mask, [&](const auto& last) {
        index first = last.shape().extent(0), second = last.shape().extent(2);
        if constexpr (!known_options.batch_first) std::swap(first, second);
        const auto rows = in_use().attended.resize(shape<dyn, dyn, Embed>(first, second, embed_dim));
        const view<T, rank<3>, Space> whole(rows.data(), rank<3>(first, second, embed_dim));
        heads(rows_of(whole, 0)) = last;
      });
    });
    return out_proj.forward(in_use().attended.current());
  }
  /// From the gradient of the result to those of what was projected.
  template <class Mask, class Gradient, class AverageGradient, class MaskGradient>
  void attend_backward(const Mask& mask, const Gradient& gradient, const array<part_rows, 3>& to,
                       const AverageGradient& average_gradient, const MaskGradient& to_mask) {
    const auto rows = in_use().attended.current();
    const auto of_rows = in_use().attended_gradient.resize(rows.shape());
    out_proj.backward(rows, rows, gradient, of_rows);
    const view<T, rank<3>, Space> whole(of_rows.data(), rank<3>(of_rows.shape().to_array()));
    const auto of_heads = heads(rows_of(whole, 0));
    with_node(mask, [&](const auto& last) {
      const detail::batch_gradients<T, Space> all({{heads(to[0]), heads(to[1]), heads(to[2])}}, last.shape().extent(0));
      if constexpr (is_wanted<AverageGradient> || is_wanted<MaskGradient>) {
        pull_weights(last, of_heads, all.of, average_gradient, to_mask);
      } else {
        write_attention_gradients(last, as_node(of_heads), all.of[0], all.of[1], all.of[2]);
      }
      all.sum_up();
    });
  }
  /// The same by way of all weights in memory.
  template <class Node, class OfHeads, class AverageGradient, class MaskGradient>
  void pull_weights(const Node& last, const OfHeads& of_heads, const array<view<T, rank<4>, Space>, 3>& to,
                    const AverageGradient& average_gradient, const MaskGradient& to_mask) {
    const auto weights = evaluated_tensor(tenon::detail::attention_weights(last));
    const auto products = matmul(of_heads, transpose(heads(in_use().parts[2])));
    const auto exponents_of = [&](const auto& of_weights) {
      return evaluated_tensor(
          tenon::detail::exponents_gradient(as_node(weights), tenon::detail::with_factor(last, of_weights)));
    };
    const auto exponents = [&] {
      if constexpr (is_wanted<AverageGradient>) {
        const auto share = new_axis<1>(as_node(average_gradient)) * (1 / static_cast<float>(num_heads));
        return exponents_of(products + share);
      } else {
        return exponents_of(products);
      }
    }();
    if constexpr (is_wanted<MaskGradient>) detail::write_mask_gradient(exponents, to_mask);
    to[0] = matmul(exponents, heads(in_use().parts[1])) * last.scale();
    to[1] = matmul(transpose(exponents), heads(in_use().parts[0])) * last.scale();
    to[2] = matmul(transpose(tenon::detail::with_factor(last, as_node(weights))), of_heads);
  }

  std::uint64_t seed_ = 0, step_ = 0;  // of what dropout draws
  call_memory memory_;
};
/// Multi-head attention, [length, batch, Embed] -> the same: `nn::multihead_attention<64, 8>{}`.
template <index Embed, index Heads, multihead_attention_options Options = multihead_attention_options{},
          memory_space Space = host, dtype T = float>
using multihead_attention = multihead_attention_layer<Embed, Heads, detail::attention_settings_of<Options>, Space, T>;

}  // namespace tenon::nn
