// tenon/algorithms/stft.hpp: spectra of the parts of a signal, one after another, and the signal back from them.
// A part is a window of the signal times weights, whose transform a library computes (algorithms/fft.hpp).
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/fft.hpp>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/reshape.hpp>
#include <tenon/expr/views/select.hpp>
#include <tenon/expr/views/split.hpp>
#include <tenon/expr/views/window.hpp>

namespace tenon {

/// Options of stft and spectrogram: `stft(x, window, {.hop_length = 256})`
struct stft_options {
  index hop_length = 0;  ///< from one part to the next; 0: a quarter of the window
  bool center = true;    ///< whether part t has element t hop_length in its middle: the signal is mirrored at its ends
};
/// Options of istft: `istft(y, window, {.hop_length = 256, .length = 44100})`
struct istft_options {
  index hop_length = 0;
  bool center = true;
  index length = 0;  ///< of the result; 0: what the parts tell
};

namespace detail {

/// A window and how far it moves.
struct stft_steps {
  index length, hop, half;  // `half`: what the middle of a part lies behind its begin, or 0

  template <class Weights>
  stft_steps(const char* name, const Weights& window, index hop_length, bool center)
      : length(window.shape().extent(0)), hop(hop_length), half(center ? length / 2 : 0) {
    static_assert(Weights::shape_type::rank == 1 || must_hold<Weights>, "tenon: the window of stft has one axis");
    if (length < 1) throw shape_error(compose_text(name, ": a window of 0 elements, expected at least 1"));
    if (hop < 0) {
      throw shape_error(
          compose_text(name, ": a hop length of ", hop, ", expected at least 1, or 0 for a quarter of the window"));
    }
    if (hop == 0) hop = length < 4 ? 1 : length / 4;
  }
};

/// throws    shape_error where a signal is too short for a window, or for its mirror image
inline void check_signal(int axis, index extent, const stft_steps& steps) {
  const bool mirrors = extent > steps.half || steps.half == 0;
  if (mirrors && extent + 2 * steps.half >= steps.length) return;
  throw shape_error(compose_text("stft: axis ", axis, ": extent ", extent, " of the signal, expected at least ",
                                 steps.half != 0 ? steps.half + 1 : steps.length, " for a window of ", steps.length,
                                 " elements"));
}

}  // namespace detail

/// The spectra of overlapping parts of real signals along the last axis, each times `window`: the short-time Fourier
/// transform, as torch.stft of `window.size()` elements, onesided and not normalised.
/// extents   [.., n / 2 + 1, parts] of [.., samples] and a window of n
/// types     complex, of float or double as signal and window
/// throws    shape_error where a window has no element or the signal has fewer than it needs
/// cost      a copy of the parts, their transforms, and a copy
/// example   const auto y = stft(x, hann_window<float>(512), {.hop_length = 128});
template <tensor_operand Operand, tensor_operand Window>
auto stft(Operand&& x, Window&& window, stft_options options = {}) {
  using node = node_of<Operand>;
  constexpr int last = node::shape_type::rank - 1;
  static_assert(last >= 0 || must_hold<node>, "tenon: stft takes a signal of at least one axis");
  static_assert(!is_complex<typename node::element> || must_hold<node>, "tenon: stft takes real signals");
  const auto signal = as_node(std::forward<Operand>(x));
  const auto weights = as_node(std::forward<Window>(window));
  const detail::stft_steps steps("stft", weights, options.hop_length, options.center);
  detail::check_signal(last, signal.shape().extent(last), steps);
  const auto mirrored = pad(signal, axis<last>, {{{steps.half, steps.half}}}, reflect);
  const auto parts = windows(mirrored, axis<last>, rank<1>(steps.length), {{steps.hop}}) * weights;
  return rfft(swap_axes(parts, axis<last, last + 1>), axis<last>);
}

/// The squares of the absolute values of `stft`: the power of each frequency in each part, as torchaudio's Spectrogram.
/// extents   as of stft, and so are errors
/// types     float or double
/// example   const auto power = spectrogram(x, hann_window<float>(512));
template <tensor_operand Operand, tensor_operand Window>
auto spectrogram(Operand&& x, Window&& window, stft_options options = {}) {
  const auto spectra = stft(std::forward<Operand>(x), std::forward<Window>(window), options);
  return evaluated_tensor(square(real(spectra)) + square(imag(spectra)));
}

/// The signal whose `stft` is nearest to these spectra: parts are transformed back, weighted again, added where they
/// overlap, and divided by the sum of the squares of the weights there, as torch.istft.
/// extents   [.., samples] of [.., n / 2 + 1, parts] and a window of n
/// throws    shape_error for other extents, no part, or a length that parts do not reach; error where the squares of
///           the weights add up to nothing
/// source    Griffin, Lim 1984: Signal estimation from modified short-time Fourier transform
/// example   const auto x = istft(y, hann_window<float>(512), {.hop_length = 128});
template <tensor_operand Operand, tensor_operand Window>
auto istft(Operand&& y, Window&& window, istft_options options = {}) {
  using node = node_of<Operand>;
  constexpr int last = node::shape_type::rank - 1;
  static_assert(last >= 1 || must_hold<node>, "tenon: istft takes spectra [.., n / 2 + 1, parts]");
  const auto spectra = as_node(std::forward<Operand>(y));
  const auto weights = as_node(std::forward<Window>(window));
  const detail::stft_steps steps("istft", weights, options.hop_length, options.center);
  const index count = spectra.shape().extent(last), rows = spectra.shape().extent(last - 1);
  if (rows != steps.length / 2 + 1) {
    throw shape_error(compose_text("istft: axis ", last - 1, ": extent ", rows, ", expected ", steps.length / 2 + 1,
                                   " for a window of ", steps.length, " elements"));
  }
  if (count < 1) throw shape_error(compose_text("istft: axis ", last, ": extent 0, expected at least 1 part"));
  const index reach = steps.length + steps.hop * (count - 1), most = reach - steps.half;
  const index length = options.length == 0 ? most - steps.half : options.length;
  if (length < 0 || length > most) {
    throw shape_error(compose_text("istft: a length of ", length, ", expected at most ", most, " as parts reach"));
  }
  const auto parts = irfft(swap_axes(spectra, axis<last - 1, last>), axis<last>, {.length = steps.length});
  using element = promoted_element<node_of<decltype(parts)>, std::remove_const_t<decltype(weights)>>;
  using space = algorithm_space<Operand>;
  const tensor<index, rank<1>, space> places =
      flatten(new_axis<1>(progression<index>(count, 0, steps.hop)) + arange<index>(steps.length), axis<0, 1>);
  auto sums = zeros<element, space>(with_extent<last - 1>(select(spectra, axis<last>, 0).shape(), reach));
  auto squares = zeros<element, space>(rank<1>(reach));
  index_add(sums, axis<-1>, places, flatten(parts * weights, axis<last - 1, last>));
  index_add(squares, axis<0>, places, flatten(broadcast_to(square(weights), rank<2>(count, steps.length)), axis<0, 1>));
  const auto kept = narrow(squares, axis<0>, steps.half, length);
  if (length > 0 && !(element(min(kept)) > element(1e-11))) {
    throw error("istft: the squares of the window add up to 0 at some sample, expected above 0: its parts leave a gap");
  }
  return evaluated_tensor(narrow(sums, axis<-1>, steps.half, length) / kept);
}

}  // namespace tenon
