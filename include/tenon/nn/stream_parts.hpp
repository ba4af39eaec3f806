// tenon/nn/stream_parts.hpp: what layers do for one step of a stream, and keep until the next.
// Weights are laid out once, so that lanes run over results; a step allocates nothing and takes no lock.
// Floor 7: may include base, core, device, expr, plan, contraction, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/recurrent.hpp>
#include <vector>

namespace tenon::nn {

/// What a layer keeps of a stream.
struct stream_part {
  virtual ~stream_part() = default;
  /// Forgets all steps.
  virtual void reset() noexcept = 0;
};

namespace detail {

/// Lanes for rows of so many results: the machine's, or fewer where they would be empty.
template <class T>
constexpr int lanes_of_row(index results) {
  int lanes = simd::native_width<T>;
  while (results != dyn && lanes > 4 && lanes / 2 >= results) lanes /= 2;
  return lanes;
}

/// y = W x + b of one row. Columns, the results, are whole packs; up to eight of them are one block, of which the
/// weights of an input lie side by side.
template <dtype T, int Lanes>
class row_product {
 public:
  row_product(index inputs, index columns)
      : inputs_(inputs), packs_(columns / Lanes), weights_((inputs + 1) * columns) {
    std::fill_n(weights_.data(), weights_.count(), T(0));
  }
  /// The weight of an input for a result.
  T& weight(index input, index column) {
    index first = 0, packs = 8;
    for (; column >= (first + packs) * Lanes || first + packs > packs_;) {
      if (first + packs <= packs_) first += packs;
      else packs /= 2;
    }
    return weights_.data()[first * Lanes * (inputs_ + 1) + input * packs * Lanes + column - first * Lanes];
  }
  /// What is added to a result.
  T& bias(index column) { return weight(inputs_, column); }

  void run(const T* x, T* y) const noexcept {
    index first = 0;
    for (; first + 8 <= packs_; first += 8) run_block<8, 1>(x, y, first);
    if (first + 4 <= packs_) run_block<4, 2>(x, y, first), first += 4;
    if (first + 2 <= packs_) run_block<2, 4>(x, y, first), first += 2;
    if (first + 1 <= packs_) run_block<1, 8>(x, y, first);
  }

 private:
  /// Sums of `Packs` packs, each in `Ways` parts, which wait for no other.
  template <int Packs, int Ways>
  void run_block(const T* x, T* y, index first) const noexcept {
    using pack = simd::pack<T, Lanes>;
    const T* from = weights_.data() + first * Lanes * (inputs_ + 1);
    pack sums[Ways][Packs] = {};
    const auto add = [&](T value, pack(&to)[Packs]) {
      TENON_UNROLL(8)
      for (int place = 0; place < Packs; ++place) to[place] += value * simd::load<T, Lanes>(from + place * Lanes);
      from += Packs * Lanes;
    };
    index input = 0;
    for (; input + Ways <= inputs_; input += Ways) {
      TENON_UNROLL(8)
      for (int way = 0; way < Ways; ++way) add(x[input + way], sums[way]);
    }
    for (; input < inputs_; ++input) add(x[input], sums[0]);
    add(T(1), sums[0]);
    TENON_UNROLL(8)
    for (int place = 0; place < Packs; ++place) {
      pack sum = sums[0][place];
      TENON_UNROLL(8)
      for (int way = 1; way < Ways; ++way) sum += sums[way][place];
      simd::store<Lanes>(y + (first + place) * Lanes, sum);
    }
  }

  index inputs_, packs_;
  storage<T, host> weights_;
};

/// A linear layer: rows of inputs to rows of results.
template <index Out, bool Bias, dtype T>
class streamed_linear : public stream_part {
 public:
  template <class Layer>
  explicit streamed_linear(const Layer& layer)
      : in_(layer.weight.value.extent(1)),
        out_(layer.weight.value.extent(0)),
        product_(in_, tenon::detail::round_up(out_, lanes)) {
    sums_.resize(static_cast<std::size_t>(tenon::detail::round_up(out_, lanes)));
    for (index row = 0; row < out_; ++row) {
      for (index i = 0; i < in_; ++i) product_.weight(i, row) = layer.weight.value(row, i);
      if constexpr (Bias) product_.bias(row) = layer.bias.value(row);
    }
  }
  void reset() noexcept override {}
  void run(const T* x, index rows, T* y) noexcept {
    for (index row = 0; row < rows; ++row) {
      product_.run(x + row * in_, sums_.data());
      std::copy_n(sums_.data(), out_, y + row * out_);
    }
  }

 private:
  static constexpr int lanes = lanes_of_row<T>(Out);
  index in_, out_;
  row_product<T, lanes> product_;
  std::vector<T> sums_;
};

/// A convolution along time, which keeps the steps that its kernel reaches back to; zeros before the first one.
template <index Out, dtype T>
class streamed_convolution : public stream_part {
 public:
  template <class Layer>
  explicit streamed_convolution(const Layer& layer)
      : channels_(layer.in_channels),
        out_(layer.out_channels),
        taps_(layer.kernel[0]),
        dilation_(layer.options.dilation[0]),
        product_(taps_ * channels_, tenon::detail::round_up(out_, lanes)) {
    check(layer);
    steps_.resize(static_cast<std::size_t>(channels_ * reach()));
    window_.resize(static_cast<std::size_t>(channels_ * taps_));
    sums_.resize(static_cast<std::size_t>(tenon::detail::round_up(out_, lanes)));
    const index groups = layer.options.groups, of_group = channels_ / groups;
    for (index row = 0; row < out_; ++row) {
      const index first = row / (out_ / groups) * of_group;
      for (index i = 0; i < of_group; ++i) {
        for (index tap = 0; tap < taps_; ++tap) {
          product_.weight(tap * channels_ + first + i, row) = layer.weight.value(row, i, tap);
        }
      }
      if constexpr (Layer::known_options.bias) product_.bias(row) = layer.bias.value(row);
    }
    reset();
  }
  void reset() noexcept override { std::fill(steps_.begin(), steps_.end(), T(0)), now_ = 0; }
  void run(const T* x, T* y) noexcept {
    const auto at = [&](index step) { return steps_.data() + (step % reach()) * channels_; };
    std::copy_n(x, channels_, at(now_));
    for (index tap = 0; tap < taps_; ++tap) {
      std::copy_n(at(now_ + 1 + tap * dilation_), channels_, window_.data() + tap * channels_);  // oldest first
    }
    now_ = (now_ + 1) % reach();
    product_.run(window_.data(), sums_.data());
    std::copy_n(sums_.data(), out_, y);
  }

 private:
  static constexpr int lanes = lanes_of_row<T>(Out);
  index reach() const { return (taps_ - 1) * dilation_ + 1; }
  template <class Layer>
  static void check(const Layer& layer) {
    const auto refuse = [](const char* what, index given, index expected) {
      if (given == expected) return;
      throw error(compose_text("stream: conv1d: ", what, " ", given, ", expected ", expected,
                               ": each step makes one result, and zeros stand before the first step"));
    };
    refuse("stride", layer.options.stride[0], 1), refuse("padding", layer.options.padding[0], 0);
  }

  index channels_, out_, taps_, dilation_;
  row_product<T, lanes> product_;
  std::vector<T> steps_, window_, sums_;
  index now_ = 0;
};

/// One layer of a recurrence. Units are padded to whole packs, gates too; what is padded stays zero.
template <class Gates, dtype T, int Lanes>
class streamed_recurrence {
  static constexpr int count = static_cast<int>(Gates::count);
  static constexpr bool has_cell = Gates::states == 2, apart = Gates::keeps_products;

 public:
  streamed_recurrence(const Gates& gates, const recurrent_parameters<T, host>& weights)
      : gates_(gates),
        in_(weights.weight_ih.value.extent(1)),
        hidden_(weights.weight_hh.value.extent(1)),
        pitch_(tenon::detail::round_up(hidden_, Lanes)),
        of_input_(apart ? in_ : in_ + hidden_, count * pitch_),
        of_state_(apart ? hidden_ : 0, apart ? count * pitch_ : 0) {
    const auto resize = [](std::vector<T>& memory, index size) { memory.resize(static_cast<std::size_t>(size)); };
    resize(joined_, in_ + pitch_), resize(cell_, pitch_);
    resize(sums_, count * pitch_), resize(products_, count * pitch_);
    for (index row = 0; row < count * hidden_; ++row) {
      const index column = row / hidden_ * pitch_ + row % hidden_;
      for (index i = 0; i < in_; ++i) of_input_.weight(i, column) = weights.weight_ih.value(row, i);
      for (index i = 0; i < hidden_; ++i) {
        (apart ? of_state_.weight(i, column) : of_input_.weight(in_ + i, column)) = weights.weight_hh.value(row, i);
      }
      if (!weights.has_bias()) continue;
      of_input_.bias(column) = weights.bias_ih.value(row);
      (apart ? of_state_ : of_input_).bias(column) += weights.bias_hh.value(row);
    }
    reset();
  }
  void reset() noexcept {
    std::fill(joined_.begin(), joined_.end(), T(0)), std::fill(cell_.begin(), cell_.end(), T(0));
  }
  /// The state after a step, which stays here.
  const T* run(const T* x) noexcept {
    using pack = simd::pack<T, Lanes>;
    std::copy_n(x, in_, joined_.data());
    of_input_.run(joined_.data(), sums_.data());
    if constexpr (apart) of_state_.run(state(), products_.data());
    for (index unit = 0; unit < pitch_; unit += Lanes) {
      pack inputs[count], products[count];
      TENON_UNROLL(4)
      for (int gate = 0; gate < count; ++gate) {
        inputs[gate] = simd::load<T, Lanes>(sums_.data() + gate * pitch_ + unit);
        products[gate] = apart ? simd::load<T, Lanes>(products_.data() + gate * pitch_ + unit) : inputs[gate];
      }
      pack cell = simd::load<T, Lanes>(cell_.data() + unit);
      const pack before = simd::load<T, Lanes>(state() + unit);
      simd::store<Lanes>(state() + unit, gates_.forward(inputs, products, before, cell));
      if constexpr (has_cell) simd::store<Lanes>(cell_.data() + unit, cell);
    }
    return state();
  }
  T* state() { return joined_.data() + in_; }
  T* cell() { return cell_.data(); }
  index hidden() const { return hidden_; }

 private:
  Gates gates_;
  index in_, hidden_, pitch_;
  row_product<T, Lanes> of_input_, of_state_;
  std::vector<T> joined_, cell_, sums_, products_;  // joined: the input, then the state
};

/// Layers of a recurrence, one upon another.
template <class Gates, index Hidden, dtype T>
class streamed_recurrent : public stream_part {
 public:
  template <class Layer>
  explicit streamed_recurrent(Layer& layer) {
    const auto& options = layer.options();
    if (options.bidirectional) {
      throw error(
          compose_text("stream: ", Gates::name, ": two directions, expected one: the other one reads from the end"));
    }
    if (options.projection != 0) {
      throw error(compose_text("stream: ", Gates::name, ": projection ", options.projection, ", expected none"));
    }
    Gates gates{};
    if constexpr (requires { Gates{options.function}; }) gates = Gates{options.function};
    for (auto& weights : weights_of(layer)) layers_.emplace_back(gates, weights);
    const auto count = layers_.size() * static_cast<std::size_t>(layers_[0].hidden());
    hidden_.resize(count), cell_.resize(count);
  }
  void reset() noexcept override {
    for (auto& layer : layers_) layer.reset();
  }
  /// The state of the last layer.
  const T* run(const T* x) noexcept {
    T *hidden = hidden_.data(), *cell = cell_.data();
    for (auto& layer : layers_) {
      x = layer.run(x);
      hidden = std::copy_n(layer.state(), layer.hidden(), hidden),
      cell = std::copy_n(layer.cell(), layer.hidden(), cell);
    }
    return x;
  }
  /// All states after a step, [layers, 1, hidden].
  view<const T, rank<3>, host> hidden() const { return states(hidden_); }
  view<const T, rank<3>, host> cell() const { return states(cell_); }

 private:
  view<const T, rank<3>, host> states(const std::vector<T>& of_all) const {
    return {of_all.data(), rank<3>(static_cast<index>(layers_.size()), 1, layers_[0].hidden())};
  }
  /// The parameters of each layer; names end in their number.
  template <class Layer>
  static std::vector<recurrent_parameters<T, host>> weights_of(Layer& layer) {
    std::vector<recurrent_parameters<T, host>> all(static_cast<std::size_t>(layer.options().layers));
    std::size_t number = 0;
    layer.visit_parameters([&](const std::string& name, auto& parameter) {
      number = std::stoul(name.substr(name.rfind('l') + 1));
      auto& of_layer = all[number];
      const auto take = [&](const char* kind, auto& to) {
        if constexpr (std::is_same_v<decltype(to.value), decltype(parameter.value)>) {
          if (name.starts_with(kind)) to.value = parameter.value;
        }
      };
      take("weight_ih", of_layer.weight_ih), take("weight_hh", of_layer.weight_hh);
      take("bias_ih", of_layer.bias_ih), take("bias_hh", of_layer.bias_hh);
    });
    return all;
  }

  std::vector<streamed_recurrence<Gates, T, lanes_of_row<T>(Hidden)>> layers_;
  std::vector<T> hidden_, cell_;
};

}  // namespace detail

}  // namespace tenon::nn
