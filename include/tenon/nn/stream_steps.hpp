// tenon/nn/stream_steps.hpp: layers that take one sample after another: packed weights, and what they keep in between.
// Types know most sizes. The sums of a tile stay in registers until its gates have read them.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_partial.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/recurrent.hpp>
#include <tenon/nn/stream_tiles.hpp>
#include <vector>

namespace tenon::nn {

/// What one call of a layer keeps from sample to sample.
struct stream_part {
  virtual ~stream_part() = default;
  /// As before the first sample.
  virtual void reset() {}

  const void* owner = nullptr;  ///< whose part this is
};

namespace detail {

/// Zeros that are kept.
template <class T>
storage<T, host> zeros_of(index count) {
  storage<T, host> result(count);
  std::fill_n(result.data(), count, T(0));
  return result;
}

/// throws    error where a layer has no weights, or nobody wrote them
template <class Layer>
void check_weights(const Layer& layer, index expected) {
  if (layer.weight.value.size() == expected && !is_unwritten(layer.weight.value)) return;
  refuse_unwritten(compose_text("stream: ", Layer::name).c_str(), "weight");
}

/// Sums of packed products, the bias added: what linear layers and convolutions have in common.
template <dtype T, index Out, index Each, index Taps>
class stream_product {
 public:
  using tiles = stream_tiles<T, 1, Out, Each == dyn || Taps == dyn ? dyn : Each * Taps, Each>;

  /// `weight(row, k)` are the weights of `taps` runs of `each` factors.
  template <class Weight>
  stream_product(index units, index taps, index each, const Weight& weight, const T* bias)
      : units_(units),
        packed_(tiles::packed(units, taps, each, weight)),
        bias_(tiles::packed_vector(units, bias)),
        output_(2 * tiles::padded(units)) {}

  /// The results for `taps` runs of `each` factors, which lie `step` apart. They may be the results of the last call.
  const T* next(const T* factors, index each, index taps, index step) {
    is_odd_ = !is_odd_;
    const index units = extent_or<Out>(units_);
    T* const output = output_.data() + (is_odd_ ? tiles::padded(units) : 0);
    visit_tiles(tiles::tiles(units), is_odd_, [&](index tile) __attribute__((always_inline)) {
      run_tile(tile, factors, extent_or<Each>(each), extent_or<Taps>(taps), step, output);
    });
    return output;
  }

 private:
  TENON_INLINE void run_tile(index tile, const T* factors, index each, index taps, index step, T* output) {
    constexpr int lanes = tiles::lanes;
    typename tiles::sums sums = {};
    const index of_run = tiles::groups(each) * tiles::width;
    const T* const packed = packed_.data() + tile * taps * of_run;
    for (index tap = 0; tap < taps; ++tap) add_products<tiles>(sums, packed + tap * of_run, factors + tap * step, each);
    TENON_UNROLL(8)
    for (int vector = 0; vector < tiles::vectors; ++vector) {
      const index place = tile * tiles::tile_units + vector * lanes;
      const auto sum = joined_sum<tiles>(sums, vector) + simd::load<T, lanes>(bias_.data() + place);
      simd::store<lanes>(output + place, sum);
    }
  }

  index units_;
  storage<T, host> packed_, bias_, output_;
  bool is_odd_ = false;
};

}  // namespace detail

/// A linear layer of a stream.
template <dtype T, index In, index Out>
class linear_stream : public stream_part {
 public:
  template <bool Bias, memory_space Space>
  explicit linear_stream(const linear_layer<In, Out, Bias, Space, T>& layer)
      : in_(checked(layer).extents.extent(1)),
        product_(
            layer.extents.extent(0), 1, in_,
            [&](index row, index k) { return layer.weight.value.data()[row * in_ + k]; },
            Bias ? layer.bias.value.data() : nullptr) {}
  const T* next(const T* x) { return product_.next(x, in_, 1, 0); }

 private:
  template <class Layer>
  static const Layer& checked(const Layer& layer) {
    detail::check_weights(layer, layer.extents.count());
    return layer;
  }

  index in_;
  detail::stream_product<T, Out, In, 1> product_;
};

/// A convolution along time. It keeps the samples that its kernel spans, each twice, so that the last samples always
/// lie one behind another.
template <dtype T, index In, index Out, index Taps>
class conv_stream : public stream_part {
 public:
  /// throws    error for what does not stream: padding, a stride, groups; without weights
  template <class Layer>
  explicit conv_stream(const Layer& layer)
      : in_(checked(layer).in_channels),
        taps_(layer.kernel[0]),
        dilation_(layer.options.dilation[0]),
        span_((taps_ - 1) * dilation_ + 1),
        product_(
            layer.out_channels, taps_, in_,
            [&](index row, index k) { return layer.weight.value.data()[(row * in_ + k % in_) * taps_ + k / in_]; },
            Layer::known_options.bias ? layer.bias.value.data() : nullptr),
        samples_(detail::zeros_of<T>(2 * span_ * in_)) {}
  const T* next(const T* x) {
    const index channels = detail::extent_or<In>(in_);
    T* const place = samples_.data() + newest_ * channels;
    for (index i = 0; i < channels; ++i) place[i] = place[span_ * channels + i] = x[i];
    const T* const oldest = place + channels;
    newest_ = newest_ + 1 == span_ ? 0 : newest_ + 1;
    return product_.next(oldest, in_, taps_, dilation_ * channels);
  }
  void reset() override { std::fill_n(samples_.data(), samples_.count(), T(0)); }

 private:
  template <class Layer>
  static const Layer& checked(const Layer& layer) {
    const auto& options = layer.options;
    if (options.padding[0] != 0 || options.stride[0] != 1 || options.groups != 1) {
      throw error(compose_text("stream: conv1d: padding ", options.padding[0], ", stride ", options.stride[0],
                               ", groups ", options.groups, ", expected 0, 1 and 1"));
    }
    detail::check_weights(layer, layer.in_channels * layer.out_channels * layer.kernel[0]);
    return layer;
  }

  index in_, taps_, dilation_, span_, newest_ = 0;
  detail::stream_product<T, Out, In, Taps> product_;
  storage<T, host> samples_;
};

/// Functions of gates for packs of floats: quotients of polynomials, chosen for short chains of dependent steps.
/// Samples come one by one, so there is no other work to do while a step waits.
/// accuracy  tanh within 6 units in the last place, sigmoid within 2^-22
struct functions_of_streams : functions_of_packs {
  template <class Pack>
  TENON_INLINE static Pack tanh(const Pack& x) {
    if constexpr (!std::is_same_v<simd::lane_of<Pack>, float>) {
      return functions_of_packs::tanh(x);
    } else {
      const Pack within = simd::at_most(simd::at_least(x, simd::constant_like<Pack>(-9.01f)),
                                        simd::constant_like<Pack>(9.01f));  // where tanh is 1 but for rounding
      const Pack square = within * within, fourth = square * square;
      const auto sum = [&](float a, float b, float c, float d, float e) __attribute__((always_inline)) {
        return (square * b + a) + fourth * (fourth * e + (square * d + c));
      };
      return within * sum(0.999999979f, 0.133803708f, 0.00349481015f, 2.05962592e-5f, 1.33368281e-8f) /
             sum(1.0f, 0.467136863f, 0.0258740233f, 0.000328436176f, 7.76927471e-7f);
    }
  }
  template <class Pack>
  TENON_INLINE static Pack sigmoid(const Pack& x) {
    if constexpr (!std::is_same_v<simd::lane_of<Pack>, float>) return functions_of_packs::sigmoid(x);
    else return tanh(Pack(x * 0.5f)) * 0.5f + 0.5f;
  }
};

namespace detail {

/// One recurrent layer.
template <class Gates, dtype T, index Input, index Hidden>
class recurrent_stream_layer {
 public:
  recurrent_stream_layer(const Gates& gates, const recurrent_parameters<T, host>& weights)
      : gates_(gates),
        input_(weights.weight_ih.value.extent(1)),
        hidden_(weights.weight_hh.value.extent(1)),
        of_input_(packed(weights.weight_ih)),
        of_state_(packed(weights.weight_hh)),
        bias_(tiles::packed_vector(hidden_, weights.bias_ih.value.data())),
        state_bias_(tiles::packed_vector(hidden_, weights.bias_hh.value.data())),
        state_(zeros_of<T>(2 * tiles::padded(hidden_))),
        cell_(zeros_of<T>(has_cell ? tiles::padded(hidden_) : 0)) {
    if (Gates::keeps_products) return;
    for (index i = 0; i < bias_.count(); ++i) bias_.data()[i] += state_bias_.data()[i];
  }
  /// The state after a step.
  const T* next(const T* x) {
    const T* const before = state_of(is_odd_);
    is_odd_ = !is_odd_;
    visit_tiles(tiles::tiles(extent_or<Hidden>(hidden_)), is_odd_,
                [&](index tile) __attribute__((always_inline)) { run_tile(tile, x, before); });
    return state_of(is_odd_);
  }
  void reset() {
    std::fill_n(state_.data(), state_.count(), T(0));
    std::fill_n(cell_.data(), cell_.count(), T(0));
  }

 private:
  static constexpr int count = static_cast<int>(Gates::count);
  static constexpr bool has_cell = Gates::states == 2;
  using tiles = stream_tiles<T, count, Hidden, Input == dyn || Hidden == dyn ? dyn : Input + Hidden, 1>;
  using pack = typename tiles::pack;

  template <class Parameter>
  storage<T, host> packed(const Parameter& weight) const {
    const auto& values = weight.value;
    return tiles::packed(hidden_, 1, values.extent(1),
                         [&](index row, index k) { return values.data()[row * values.extent(1) + k]; });
  }
  T* state_of(bool is_odd) { return state_.data() + (is_odd ? tiles::padded(extent_or<Hidden>(hidden_)) : 0); }

  TENON_INLINE void run_tile(index tile, const T* x, const T* before) {
    const index inputs = extent_or<Input>(input_), states = extent_or<Hidden>(hidden_);
    pack from_input[tiles::vectors], from_state[tiles::vectors];  // the input's first, as it waits for no state
    multiply(from_input, of_input_.data() + tile * tiles::groups(inputs) * tiles::width, x, inputs);
    multiply(from_state, of_state_.data() + tile * tiles::groups(states) * tiles::width, before, states);
    TENON_UNROLL(8)
    for (int place = 0; place < tiles::packs; ++place) finish(tile, place, from_input, from_state, before);
  }
  TENON_INLINE static void multiply(pack (&results)[tiles::vectors], const T* packed, const T* factors, index run) {
    typename tiles::sums sums = {};
    add_products<tiles>(sums, packed, factors, run);
    TENON_UNROLL(8)
    for (int vector = 0; vector < tiles::vectors; ++vector) results[vector] = joined_sum<tiles>(sums, vector);
  }
  /// What the gates make of a pack of units.
  TENON_INLINE void finish(index tile, int place, const pack (&from_input)[tiles::vectors],
                           const pack (&from_state)[tiles::vectors], const T* before) {
    constexpr int lanes = tiles::lanes;
    const index unit = tile * tiles::tile_units + place * lanes;
    pack gates[count], products[count];
    TENON_UNROLL(4)
    for (int gate = 0; gate < count; ++gate) {
      const int vector = gate * tiles::packs + place;
      const index at = (tile * tiles::vectors + vector) * lanes;
      gates[gate] = from_input[vector] + simd::load<T, lanes>(bias_.data() + at);
      if constexpr (Gates::keeps_products) {
        products[gate] = simd::load<T, lanes>(state_bias_.data() + at) + from_state[vector];
      } else {
        gates[gate] = products[gate] = gates[gate] + from_state[vector];
      }
    }
    pack cell{};
    if constexpr (has_cell) cell = simd::load<T, lanes>(cell_.data() + unit);
    const pack previous = simd::load<T, lanes>(before + unit);
    simd::store<lanes>(state_of(is_odd_) + unit,
                       gates_.forward(gates, products, previous, cell, functions_of_streams()));
    if constexpr (has_cell) simd::store<lanes>(cell_.data() + unit, cell);
  }

  Gates gates_;
  index input_, hidden_;
  storage<T, host> of_input_, of_state_, bias_, state_bias_, state_, cell_;
  bool is_odd_ = false;
};

}  // namespace detail

/// Recurrent layers one upon another, of which each keeps its state.
template <class Gates, dtype T, index Input, index Hidden>
class recurrent_stream : public stream_part {
 public:
  /// throws    error for what does not stream: a second direction, a projection; for weights that nobody wrote
  explicit recurrent_stream(recurrent<Gates, Input, Hidden, host, T>& layer)
      : first_(layer.network().make_gates(), layer.network().weights(0)) {
    const recurrent_options& options = layer.options();
    if (options.bidirectional || options.projection != 0) {
      throw error(compose_text("stream: ", Gates::name, ": ", options.bidirectional ? "two directions" : "a projection",
                               ", expected ", options.bidirectional ? "one: samples to come are not known" : "none"));
    }
    layer.visit_parameters([](const std::string& name, auto& each) {
      detail::must_be_written(compose_text("stream: ", Gates::name).c_str(), name, each.value);
    });
    for (index number = 1; number < options.layers; ++number) {
      rest_.emplace_back(layer.network().make_gates(), layer.network().weights(static_cast<std::size_t>(number)));
    }
  }
  const T* next(const T* x) {
    const T* state = first_.next(x);
    for (auto& each : rest_) state = each.next(state);
    return state;
  }
  void reset() override {
    first_.reset();
    for (auto& each : rest_) each.reset();
  }

 private:
  detail::recurrent_stream_layer<Gates, T, Input, Hidden> first_;
  std::vector<detail::recurrent_stream_layer<Gates, T, Hidden, Hidden>> rest_;
};

}  // namespace tenon::nn
