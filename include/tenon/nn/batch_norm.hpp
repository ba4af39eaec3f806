// tenon/nn/batch_norm.hpp: channels made standard over a whole batch, and over all batches when the network is used.
// In training a first kernel takes mean and variance of the batch; the layer is x * slope + shift of each channel.
// Floor 7: may include base, core, device, expr, plan, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/buffer.hpp>
#include <tenon/grad/pass_numbers.hpp>
#include <tenon/nn/call_memory.hpp>
#include <tenon/nn/norm.hpp>

namespace tenon::nn {

namespace detail {

/// Calls `body(drop<...>)` with all axes of `Rank` but the channels', which are axis 1.
template <int Rank, class Body>
void without_channels(const Body& body) {
  [&]<int... I>(std::integer_sequence<int, I...>) {
    body(drop<(I == 0 ? 0 : I + 1)...>);
  }(std::make_integer_sequence<int, Rank - 1>{});
}

}  // namespace detail

/// Options of batch_norm, with PyTorch's defaults.
struct batch_norm_options {
  float epsilon = 1e-5f;
  float momentum = 0.1f;         // the share of a batch in the running statistics
  bool cumulative = false;       // the share is 1 / batches so far: PyTorch's momentum=None
  bool track_statistics = true;  // false: those of the batch serve outside training too
};

/// (x - mean) / sqrt(variance + epsilon) of each channel of [batch, Channels, ...], times weight plus bias. In training
/// with the statistics of the batch, which move the running ones; else with these.
/// parameters  weight, bias [Channels]; buffers running_mean, running_var, num_batches_tracked
/// accuracy    computed as x * slope + shift: errors grow with |mean| / deviation, as those of x itself do
/// throws      shape_error in training for one value a channel
/// source      Ioffe, Szegedy 2015: Batch normalization; PyTorch: the running variance is the unbiased one
template <index Channels = dyn, affine Affine = affine::both, memory_space Space = host, dtype T = float>
struct batch_norm : callable<batch_norm<Channels, Affine, Space, T>> {
  static constexpr const char* name = "batch_norm";
  using space = Space;
  using element = T;
  using row = tensor<T, shape<Channels>, Space>;
  static constexpr bool shares_statements = true;
  template <space_or_element To>
  using moved = batch_norm<Channels, Affine, space_after<To, Space>, element_after<To, T>>;

  shape<Channels> extents{};
  batch_norm_options options{};
  parameter<T, shape<Channels>, Space> weight{}, bias{};
  row running_mean{}, running_var = detail::unwritten_tensor<T, shape<Channels>, Space>();
  std::int64_t num_batches_tracked = 0;
  bool is_training = true;

  batch_norm() = default;
  explicit batch_norm(const batch_norm_options& given) : options(given) {}
  explicit batch_norm(index channels, const batch_norm_options& given = {}) : extents(channels), options(given) {
    if constexpr (Affine == affine::both) weight = bias = unwritten_parameter<T, Space>(extents);
    if constexpr (detail::marks_unwritten<T, Space>) {
      running_mean = running_var = detail::unwritten_tensor<T, shape<Channels>, Space>(extents);
    }
  }

  void initialise(std::uint64_t) {
    const auto filled = [&](float value) { return full<T, Space>(extents, static_cast<T>(value)); };
    if constexpr (Affine == affine::both) {
      weight = {filled(1), filled(0)};
      bias = {filled(0), filled(0)};
    }
    running_mean = filled(0), running_var = filled(1);
    num_batches_tracked = 0;
    make_rows();
  }
  template <space_or_element To>
  moved<To> to() const {
    moved<To> copy(options);
    copy.extents = extents;
    if constexpr (Affine == affine::both) {
      copy.weight = weight.template to<To>();
      copy.bias = bias.template to<To>();
    }
    copy.running_mean = moved_to<To>(running_mean);
    copy.running_var = moved_to<To>(running_var);
    copy.num_batches_tracked = num_batches_tracked;
    copy.is_training = is_training;
    copy.make_rows();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    if constexpr (Affine == affine::both) visitor("weight", weight), visitor("bias", bias);
  }

  template <class Visitor>
  void visit_buffers(Visitor&& visitor) {
    visitor("running_mean", running_mean), visitor("running_var", running_var);
    visitor("num_batches_tracked", num_batches_tracked);
  }

  template <shape_type Input>
  constexpr Input output_shape(const Input& input) const {
    static_assert(Input::rank >= 2, "tenon: batch_norm takes [batch, channels, ...]");
    check_input<batch_norm, 1, Channels>(input, extents.extent(0));
    return input;
  }

  /// Takes statistics, weight and bias for the next `forward`, and moves the running statistics in training.
  /// cost      kernels over rows of channels; for statistics of a batch one more over the input
  template <class Input>
  void prepare(const Input& input) {
    if (options.track_statistics) detail::must_be_written(name, "running_var", running_var);
    call_memory& memory = in_use();
    const rank<1> channels(extents.extent(0));
    memory.uses_running = !is_training && options.track_statistics;
    if (memory.uses_running) return make_slopes(memory, in_order(running_mean), in_order(running_var));
    const auto means = memory.mean.resize(channels), variances = memory.variance.resize(channels);
    const index count = values_per_channel(input);
    if (is_training && count < 2) {
      throw shape_error(compose_text("batch_norm: ", count,
                                     " values a channel, expected at least 2 in training (input ",
                                     input.shape().to_array(), ")"));
    }
    detail::without_channels<Input::shape_type::rank>(
        [&](auto axes) { evaluate(assign(means, mean(input, axes)), assign(variances, variance(input, axes))); });
    make_slopes(memory, means, variances);
    if (is_training && options.track_statistics && !tenon::detail::are_passes_repeated()) move_running(count);
  }
  /// What is done to the channels of a batch, which its gradients need, too.
  struct call_memory {
    buffer<T, rank<1>, Space> mean, variance, scale;  // the scale is 1 / deviation
    buffer<T, rank<1>, Space> slope, shift;           // the output is x * slope + shift; without a weight, x * scale
    bool uses_running = false;
  };
  /// The memory of a call in place of the layer's own, while the result lives.
  detail::lent_memory lend(call_memory& memory) const { return {memory_, memory}; }
  std::int64_t forward_count() const { return num_batches_tracked; }
  void undo_forward(std::int64_t count) {
    if (num_batches_tracked == count) return;
    running_mean = mean_before_, running_var = variance_before_;
    num_batches_tracked = count;
  }

  template <class Input>
  auto forward(const Input& input) const {
    constexpr int rank = Input::shape_type::rank;
    return as_node(input) * over_channels<rank>(slopes()) + over_channels<rank>(in_use().shift.current());
  }

  /// Leaves the gradients of weight and bias and writes that of the input.
  /// cost      one kernel of reductions and a pointwise one
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    constexpr int rank = Input::shape_type::rank;
    const auto sum_of_gradients = in_order(Affine == affine::none ? mean_gradient_ : bias.gradient);
    const auto sum_of_products = in_order(Affine == affine::none ? scale_gradient_ : weight.gradient);
    detail::without_channels<rank>([&](auto axes) {
      evaluate(assign(sum_of_gradients, sum(gradient, axes)),
               assign(sum_of_products, sum(gradient * standard(input), axes)));
    });
    if constexpr (is_wanted<Destination>) {
      const auto slope = over_channels<rank>(slopes());
      if (in_use().uses_running) {
        destination = gradient * slope;
      } else {
        const float share = 1 / static_cast<float>(values_per_channel(input));
        const auto common =
            over_channels<rank>(sum_of_gradients) + standard(input) * over_channels<rank>(sum_of_products);
        destination = (gradient - common * share) * slope;
      }
    }
  }

 private:
  template <index, affine, memory_space, dtype>
  friend struct batch_norm;

  call_memory memory_{};
  row mean_gradient_{}, scale_gradient_{};  // where there is no weight and bias to hold them
  row mean_before_{}, variance_before_{};   // the running ones before they moved

  call_memory& in_use() { return detail::memory_in_use(memory_); }
  const call_memory& in_use() const { return detail::memory_in_use(memory_); }
  void make_rows() {
    for (row* each : {&mean_gradient_, &scale_gradient_, &mean_before_, &variance_before_}) {
      *each = zeros<T, Space>(extents);
    }
  }
  template <class Input>
  index values_per_channel(const Input& input) const {
    return input.shape().count() / extents.extent(0);
  }
  auto slopes() const { return Affine == affine::none ? in_use().scale.current() : in_use().slope.current(); }
  /// Keeps the means of the channels, and what follows from them and the variances: one kernel on a device, short
  /// statements on the host, which run sooner than one with several results.
  void make_slopes(call_memory& memory, view<const T, rank<1>, Space> means, view<const T, rank<1>, Space> variances) {
    const rank<1> channels = means.shape();
    const auto centres = memory.mean.resize(channels), scales = memory.scale.resize(channels);
    const auto shifts = memory.shift.resize(channels);
    const auto scale = rsqrt(variances + options.epsilon);
    if constexpr (Affine == affine::none) {
      evaluate(assign(centres, means), assign(scales, scale), assign(shifts, -means * scale));
    } else {
      const auto slopes = memory.slope.resize(channels);
      const auto weights = in_order(std::as_const(weight.value)), biases = in_order(std::as_const(bias.value));
      if constexpr (std::is_same_v<Space, host>) {
        centres = means, scales = scale, slopes = scales * weights;
        shifts = biases - means * slopes;
      } else {
        const auto slope = scale * weights;
        evaluate(assign(centres, means), assign(scales, scale), assign(slopes, slope),
                 assign(shifts, biases - means * slope));
      }
    }
  }
  template <class Input>
  auto standard(const Input& input) const {
    constexpr int rank = Input::shape_type::rank;
    const call_memory& memory = in_use();
    return (as_node(input) - over_channels<rank>(memory.mean.current())) * over_channels<rank>(memory.scale.current());
  }
  void move_running(index count) {
    const std::int64_t batches = num_batches_tracked + 1;
    const float share = options.cumulative ? 1 / static_cast<float>(batches) : options.momentum;
    const float unbiased = static_cast<float>(count) / static_cast<float>(count - 1);
    const auto means = in_order(running_mean), variances = in_order(running_var);
    const auto means_before = in_order(mean_before_), variances_before = in_order(variance_before_);
    evaluate(assign(means_before, means), assign(variances_before, variances),
             assign(means, means + share * (in_use().mean.current() - means)),
             assign(variances, variances + share * (unbiased * in_use().variance.current() - variances)));
    num_batches_tracked = batches;
  }
};

}  // namespace tenon::nn
