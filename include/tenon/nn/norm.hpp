// tenon/nn/norm.hpp: layers that make rows, groups of channels or images standard: layer, group, instance and RMS norm.
// Each is an expression of reductions over trailing axes, one kernel forward; batch norm is in batch_norm.hpp.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/expression_layer.hpp>

namespace tenon::nn {

/// Whether a norm has a weight and a bias.
enum class affine { none, weight, both };

/// A weight of ones and a bias of zeros, as far as `Affine` has them: what every norm scales and shifts by.
template <class Layer, class Shape, affine Affine, memory_space Space, dtype T>
struct affine_layer : expression_layer<Layer> {
  using space = Space;
  using element = T;
  Shape extents{};  ///< of weight and bias
  parameter<T, Shape, Space> weight, bias;
  float epsilon = Layer::default_epsilon;

  affine_layer() = default;
  explicit affine_layer(const Shape& given) : extents(given) {
    if constexpr (Affine != affine::none) weight = unwritten_parameter<T, Space>(given);
    if constexpr (Affine == affine::both) bias = unwritten_parameter<T, Space>(given);
  }

  auto parameters() const { return listed(weight, bias); }
  auto parameters() { return listed(weight, bias); }
  void initialise(std::uint64_t) {
    if constexpr (Affine != affine::none) weight = filled(1);
    if constexpr (Affine == affine::both) bias = filled(0);
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    if constexpr (Affine != affine::none) visitor("weight", weight);
    if constexpr (Affine == affine::both) visitor("bias", bias);
  }
  template <space_or_element To>
  auto to() const {
    typename Layer::template moved<To> copy;
    copy.extents = extents, copy.epsilon = epsilon;
    if constexpr (Affine != affine::none) copy.weight = weight.template to<To>();
    if constexpr (Affine == affine::both) copy.bias = bias.template to<To>();
    return copy;
  }

 private:
  template <class Parameter>
  static auto listed(Parameter& scale, Parameter& shift) {
    if constexpr (Affine == affine::none) return tuple<>{};
    else if constexpr (Affine == affine::weight) return make_tuple_of(&scale);
    else return make_tuple_of(&scale, &shift);
  }
  parameter<T, Shape, Space> filled(float value) const {
    return {full<T, Space>(extents, static_cast<T>(value)), zeros<T, Space>(extents)};
  }
};

namespace detail {

/// Calls `body` with as many trailing axes as there are numbers I.
template <class Body, int... I>
auto with_trailing_axes(const Body& body, std::integer_sequence<int, I...>) {
  return body(axis<(-1 - I)...>);
}

/// x times weight plus bias, as far as they are given.
template <class X>
auto scaled(const X& x) {
  return x;
}
template <class X, class Weight>
auto scaled(const X& x, const Weight& weight) {
  return x * weight;
}
template <class X, class Weight, class Bias>
auto scaled(const X& x, const Weight& weight, const Bias& bias) {
  return x * weight + bias;
}

template <class Layer, class Normalised, class Input>
constexpr void check_trailing(const Input& input, const Normalised& extents) {
  static_assert(Input::rank >= Normalised::rank, "tenon: the input has fewer axes than are made standard");
  for_each_index<Normalised::rank>([&](auto i) {
    check_input<Layer, Input::rank - Normalised::rank + i.value, Normalised::static_extent(i.value)>(
        input, extents.extent(i.value));
  });
}

}  // namespace detail

/// Layer norm over the trailing axes, of extents `Normalised`: (x - mean) / sqrt(variance + epsilon), biased.
/// parameters  weight, bias [Normalised]
/// source      Ba, Kiros, Hinton 2016: Layer normalization
template <shape_type Normalised, affine Affine = affine::both, memory_space Space = host, dtype T = float>
struct layer_norm : affine_layer<layer_norm<Normalised, Affine, Space, T>, Normalised, Affine, Space, T> {
  static constexpr const char* name = "layer_norm";
  using affine_layer<layer_norm, Normalised, Affine, Space, T>::affine_layer;
  template <space_or_element To>
  using moved = layer_norm<Normalised, Affine, space_after<To, Space>, element_after<To, T>>;
  static constexpr float default_epsilon = 1e-5f;

  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    detail::check_trailing<layer_norm>(input, this->extents);
    return input;
  }
  template <class Input, class... Parameters>
  auto expression(const Input& x, const Parameters&... parameters) const {
    return detail::with_trailing_axes(
        [&](auto axes) { return detail::scaled(standardise(x, axes, this->epsilon), parameters...); },
        std::make_integer_sequence<int, Normalised::rank>{});
  }
};

/// x / sqrt(mean of squares + epsilon) over the trailing axes, of extents `Normalised`.
/// parameters  weight [Normalised]
/// source      Zhang, Sennrich 2019: Root mean square layer normalization; epsilon as in PyTorch: that of the type
template <shape_type Normalised, affine Affine = affine::weight, memory_space Space = host, dtype T = float>
struct rms_norm : affine_layer<rms_norm<Normalised, Affine, Space, T>, Normalised, Affine, Space, T> {
  static_assert(Affine != affine::both, "tenon: rms_norm has no bias");
  static constexpr const char* name = "rms_norm";
  using affine_layer<rms_norm, Normalised, Affine, Space, T>::affine_layer;
  template <space_or_element To>
  using moved = rms_norm<Normalised, Affine, space_after<To, Space>, element_after<To, T>>;
  static constexpr float default_epsilon = 0x1p-23f;

  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    detail::check_trailing<rms_norm>(input, this->extents);
    return input;
  }
  template <class Input, class... Parameters>
  auto expression(const Input& x, const Parameters&... parameters) const {
    return detail::with_trailing_axes(
        [&](auto axes) { return detail::scaled(x * rsqrt(mean(square(x), axes) + this->epsilon), parameters...); },
        std::make_integer_sequence<int, Normalised::rank>{});
  }
};

/// Every group of neighbouring channels of [batch, Channels, ...] made standard with all its positions.
/// parameters  weight, bias [Channels]
/// source      Wu, He 2018: Group normalization
template <index Channels = dyn, affine Affine = affine::both, memory_space Space = host, dtype T = float>
struct group_norm : affine_layer<group_norm<Channels, Affine, Space, T>, shape<Channels>, Affine, Space, T> {
  static constexpr const char* name = "group_norm";
  index groups = 1;

  group_norm() = default;
  /// throws    shape_error when the channels are no multiple of the groups
  explicit group_norm(index group_count, index channels = Channels)
      : affine_layer<group_norm, shape<Channels>, Affine, Space, T>(shape<Channels>(channels)), groups(group_count) {
    if (groups < 1 || channels % groups != 0) {
      throw shape_error(
          compose_text("group_norm: ", channels, " channels, expected a multiple of ", groups, " groups"));
    }
  }
  template <space_or_element To>
  using moved = group_norm<Channels, Affine, space_after<To, Space>, element_after<To, T>>;
  static constexpr float default_epsilon = 1e-5f;
  template <space_or_element To>
  moved<To> to() const {
    auto copy = affine_layer<group_norm, shape<Channels>, Affine, Space, T>::template to<To>();
    copy.groups = groups;
    return copy;
  }

  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    check_input<group_norm, 1, Channels>(input, this->extents.extent(0));
    return input;
  }
  template <class Input, class... Parameters>
  auto expression(const Input& x, const Parameters&... parameters) const {
    return detail::scaled(standardise_groups(x, groups, this->epsilon),
                          over_channels<Input::shape_type::rank>(parameters)...);
  }
};

/// Every channel of every image of [batch, Channels, ...] made standard.
/// parameters  weight, bias [Channels] where `Affine` says so
/// throws      shape_error for one value a channel of an image
/// source      Ulyanov, Vedaldi, Lempitsky 2016: Instance normalization
template <index Channels = dyn, affine Affine = affine::none, memory_space Space = host, dtype T = float>
struct instance_norm : affine_layer<instance_norm<Channels, Affine, Space, T>, shape<Channels>, Affine, Space, T> {
  static constexpr const char* name = "instance_norm";
  instance_norm() = default;
  explicit instance_norm(index channels)
      : affine_layer<instance_norm, shape<Channels>, Affine, Space, T>(shape<Channels>(channels)) {}
  template <space_or_element To>
  using moved = instance_norm<Channels, Affine, space_after<To, Space>, element_after<To, T>>;
  static constexpr float default_epsilon = 1e-5f;

  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    static_assert(Input::rank >= 3, "tenon: instance_norm takes [batch, channels, ...]");
    check_input<instance_norm, 1, Channels>(input, this->extents.extent(0));
    index values = 1;
    for (int place = 2; place < Input::rank; ++place) values *= input.extent(place);
    if (values == 1) {
      throw shape_error(compose_text("instance_norm: 1 value a channel of an image, expected at least 2 (input ",
                                     input.to_array(), ")"));
    }
    return input;
  }
  template <class Input, class... Parameters>
  auto expression(const Input& x, const Parameters&... parameters) const {
    constexpr int rank = Input::shape_type::rank;
    return detail::with_trailing_axes(
        [&](auto axes) {
          return detail::scaled(standardise(x, axes, this->epsilon), over_channels<rank>(parameters)...);
        },
        std::make_integer_sequence<int, rank - 2>{});
  }
};

/// x / (k + alpha / size * sum of squares of the `size` nearest channels)^beta of [batch, channels, ...].
/// source    Krizhevsky, Sutskever, Hinton 2012; as in PyTorch, a window of even size reaches one channel further back
struct local_response_norm : stateless, expression_layer<local_response_norm> {
  static constexpr const char* name = "local_response_norm";
  index size = 5;
  double alpha = 1e-4, beta = 0.75, k = 1;

  local_response_norm() = default;
  explicit local_response_norm(index channels, double factor = 1e-4, double exponent = 0.75, double offset = 1)
      : size(channels), alpha(factor), beta(exponent), k(offset) {}

  template <shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    static_assert(Input::rank >= 3, "tenon: local_response_norm takes [batch, channels, ...]");
    return input;
  }
  template <class Input>
  auto expression(const Input& x) const {
    array<padding, Input::shape_type::rank> widths{};
    widths[1] = {size / 2, (size - 1) / 2};
    const auto neighbours = windows(pad(square(x), widths), axis<1>, {size});
    return x * pow(k + alpha / static_cast<double>(size) * sum(neighbours, drop<-1>), -beta);
  }
};

}  // namespace tenon::nn
