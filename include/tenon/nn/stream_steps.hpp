// tenon/nn/stream_steps.hpp: layers that take one sample after another: packed weights, and what they keep in between.
// Types know most sizes. The sums of a tile stay in registers until its gates have read them.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_partial.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/recurrent.hpp>
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

/// An extent that its type knows, else the one given.
template <index Known>
constexpr index extent_or(index given) {
  return Known == dyn ? given : Known;
}

/// Results of `Blocks * Units` rows of weights, such as the gates of `Units` hidden units, in tiles of a few packs.
template <dtype T, int Blocks, index Units>
struct stream_tiles {
  static constexpr int registers = panel_layout<T, 1>::registers;
  static constexpr int lanes = [] {
    if (compiled_by_nvcc) return 1;  // which has no vectors
    int found = Units == dyn ? simd::native_width<T> : static_cast<int>(16 / sizeof(T));
    while (found < Units && found < simd::native_width<T>) found *= 2;
    return found;
  }();
  /// Packs of units in a tile, so that tiles are as full as can be.
  static constexpr int packs = [] {
    constexpr index most = Blocks == 1 ? 8 : registers / 16;
    constexpr index all = Units == dyn ? (most + 1) / 2 : (Units + lanes - 1) / lanes, tiles = (all + most - 1) / most;
    return static_cast<int>((all + tiles - 1) / tiles);
  }();
  static constexpr int vectors = Blocks * packs, width = vectors * lanes, tile_units = packs * lanes;
  using pack = simd::pack<T, lanes>;

  static constexpr index tiles(index units) { return (units + tile_units - 1) / tile_units; }
  static constexpr index padded(index units) { return tiles(units) * tile_units; }

  /// Packs `weight(row, k)` in the order of use; units that do not exist get zeros.
  template <class Weight>
  static storage<T, host> packed(index units, index depth, const Weight& weight) {
    storage<T, host> result(tiles(units) * depth * width);
    T* to = result.data();
    for (index tile = 0; tile < tiles(units); ++tile) {
      for (index k = 0; k < depth; ++k) {
        for (index block = 0; block < Blocks; ++block) {
          for (index unit = tile * tile_units; unit < (tile + 1) * tile_units; ++unit) {
            *to++ = unit < units ? weight(block * units + unit, k) : T(0);
          }
        }
      }
    }
    return result;
  }
  /// The same of one number for each row: a bias, zeros where there is none.
  static storage<T, host> packed_vector(index units, const T* values) {
    return packed(units, 1, [&](index row, index) { return values == nullptr ? T(0) : values[row]; });
  }
};

/// Adds the products of factors with packed weights. Factor k belongs to chain `k % Chains`, so that sums do not wait
/// for each other; those that are left over belong to the first.
template <class Tiles, int Chains, class T>
TENON_INLINE void add_products(typename Tiles::pack (&sums)[Chains][Tiles::vectors], const T* packed, const T* factors,
                               index depth) {
  const auto add = [&](int chain, index k) __attribute__((always_inline)) {
    TENON_UNROLL(8)
    for (int vector = 0; vector < Tiles::vectors; ++vector) {
      sums[chain][vector] +=
          factors[k] * simd::load<T, Tiles::lanes>(packed + k * Tiles::width + vector * Tiles::lanes);
    }
  };
  index k = 0;
  for (; k + Chains <= depth; k += Chains) {
    TENON_UNROLL(8)
    for (int chain = 0; chain < Chains; ++chain) add(chain, k + chain);
  }
  for (; k < depth; ++k) add(0, k);
}

/// Zeros that are kept.
template <class T>
storage<T, host> zeros_of(index count) {
  storage<T, host> result(count);
  std::fill_n(result.data(), count, T(0));
  return result;
}

/// Checks that a layer has its weights.
template <class Layer>
void check_weights(const Layer& layer, index expected) {
  const index found = layer.weight.value.size();
  if (found == expected) return;
  throw error(compose_text("stream: ", Layer::name, ": weight: ", found, " elements, expected ", expected,
                           "; call initialise or load_state before"));
}

/// Sums of packed products, the bias added: what linear layers and convolutions have in common.
template <dtype T, index Out>
class stream_product {
 public:
  using tiles = stream_tiles<T, 1, Out>;

  /// `weight(row, k)` are the weights of all `depth` factors.
  template <class Weight>
  stream_product(index units, index depth, const Weight& weight, const T* bias)
      : units_(units),
        depth_(depth),
        packed_(tiles::packed(units, depth, weight)),
        bias_(tiles::packed_vector(units, bias)),
        output_(tiles::padded(units)) {}

  /// The results for `taps` groups of factors, `Each` in a group, which lie `step` apart.
  template <index Each>
  const T* next(const T* factors, index each, index taps, index step) {
    constexpr int chains = std::clamp(8 / tiles::vectors, 1, 4);
    const index count = extent_or<Each>(each);
    for (index tile = 0; tile < tiles::tiles(extent_or<Out>(units_)); ++tile) {
      typename tiles::pack sums[chains][tiles::vectors] = {};
      const T* packed = packed_.data() + tile * depth_ * tiles::width;
      for (index tap = 0; tap < taps; ++tap) {
        add_products<tiles, chains>(sums, packed + tap * count * tiles::width, factors + tap * step, count);
      }
      TENON_UNROLL(8)
      for (int vector = 0; vector < tiles::vectors; ++vector) {
        const index place = tile * tiles::tile_units + vector * tiles::lanes;
        auto total = sums[0][vector];
        TENON_UNROLL(4)
        for (int chain = 1; chain < chains; ++chain) total += sums[chain][vector];
        simd::store<tiles::lanes>(output_.data() + place, total + simd::load<T, tiles::lanes>(bias_.data() + place));
      }
    }
    return output_.data();
  }

 private:
  index units_, depth_;
  storage<T, host> packed_, bias_, output_;
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
            layer.extents.extent(0), in_, [&](index row, index k) { return layer.weight.value.data()[row * in_ + k]; },
            Bias ? layer.bias.value.data() : nullptr) {}
  const T* next(const T* x) { return product_.template next<In>(x, in_, 1, 0); }

 private:
  template <class Layer>
  static const Layer& checked(const Layer& layer) {
    detail::check_weights(layer, layer.extents.count());
    return layer;
  }

  index in_;
  detail::stream_product<T, Out> product_;
};

/// A convolution along time. It keeps the samples that its kernel spans, each twice: so those of any place lie one
/// behind another.
template <dtype T, index In, index Out>
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
            layer.out_channels, in_ * taps_,
            [&](index row, index k) { return layer.weight.value.data()[(row * in_ + k % in_) * taps_ + k / in_]; },
            Layer::known_options.bias ? layer.bias.value.data() : nullptr),
        samples_(detail::zeros_of<T>(2 * span_ * in_)) {}
  const T* next(const T* x) {
    const index channels = detail::extent_or<In>(in_);
    T* const place = samples_.data() + newest_ * channels;
    for (index i = 0; i < channels; ++i) place[i] = place[span_ * channels + i] = x[i];
    const T* const oldest = place + channels;
    newest_ = newest_ + 1 == span_ ? 0 : newest_ + 1;
    return product_.template next<In>(oldest, in_, taps_, dilation_ * channels);
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
  detail::stream_product<T, Out> product_;
  storage<T, host> samples_;
};

namespace detail {

/// One recurrent layer. Its sums are added in the order of a whole sequence, so results are the same to the bit.
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
    for (index tile = 0; tile < tiles::tiles(extent_or<Hidden>(hidden_)); ++tile) run_tile(tile, x, before);
    return state_of(is_odd_);
  }
  void reset() {
    std::fill_n(state_.data(), state_.count(), T(0));
    std::fill_n(cell_.data(), cell_.count(), T(0));
  }

 private:
  static constexpr int count = static_cast<int>(Gates::count);
  static constexpr bool has_cell = Gates::states == 2;
  using tiles = stream_tiles<T, count, Hidden>;
  using pack = typename tiles::pack;

  template <class Parameter>
  storage<T, host> packed(const Parameter& weight) const {
    const auto& values = weight.value;
    return tiles::packed(hidden_, values.extent(1),
                         [&](index row, index k) { return values.data()[row * values.extent(1) + k]; });
  }
  T* state_of(bool is_odd) { return state_.data() + (is_odd ? tiles::padded(extent_or<Hidden>(hidden_)) : 0); }

  void run_tile(index tile, const T* x, const T* before) {
    const index inputs = extent_or<Input>(input_), states = extent_or<Hidden>(hidden_), both = std::min(inputs, states);
    const T* const of_input = of_input_.data() + tile * inputs * tiles::width;
    const T* const of_state = of_state_.data() + tile * states * tiles::width;
    pack from_input[1][tiles::vectors] = {}, from_state[1][tiles::vectors] = {};
    for (index k = 0; k < both; ++k) {  // side by side, as neither waits for the other
      add_products<tiles, 1>(from_input, of_input + k * tiles::width, x + k, 1);
      add_products<tiles, 1>(from_state, of_state + k * tiles::width, before + k, 1);
    }
    add_products<tiles, 1>(from_input, of_input + both * tiles::width, x + both, inputs - both);
    add_products<tiles, 1>(from_state, of_state + both * tiles::width, before + both, states - both);
    TENON_UNROLL(8)
    for (int place = 0; place < tiles::packs; ++place) finish(tile, place, from_input[0], from_state[0], before);
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
    simd::store<lanes>(state_of(is_odd_) + unit, gates_.forward(gates, products, previous, cell));
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
  /// throws    error for what does not stream: a second direction, a projection
  explicit recurrent_stream(recurrent<Gates, Input, Hidden, host, T>& layer)
      : first_(layer.network().make_gates(), layer.network().weights(0)) {
    const recurrent_options& options = layer.options();
    if (options.bidirectional || options.projection != 0) {
      throw error(compose_text("stream: ", Gates::name, ": ", options.bidirectional ? "two directions" : "a projection",
                               ", expected ", options.bidirectional ? "one: samples to come are not known" : "none"));
    }
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
