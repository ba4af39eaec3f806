// tests/algorithms/stft.cpp: spectra of parts of signals, and signals from them, by sums over all elements.
// The transforms of parts are sums by definition, on the emulated device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/stft.hpp>
#include <tenon/expr/window_functions.hpp>

#include "algorithms/fft_by_definition.hpp"
#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::complex_numbers;
using tenon_test::complex_numbers_of;
using tenon_test::distance;
using numbers_of_signal = std::vector<double>;
using device = tenon::emulated;

/// A signal mirrored at its ends, the ends themselves once.
double mirrored(const double* signal, tenon::index length, tenon::index place) {
  if (place < 0) place = -place;
  return signal[place < length ? place : 2 * (length - 1) - place];
}

/// Frequency k of part t is sum over j of window[j] x[t hop + j - half] exp(-2 pi i k j / n).
complex_numbers spectra_of(const numbers_of_signal& x, tenon::index lines, const numbers_of_signal& window,
                           tenon::index hop, tenon::index half) {
  const auto n = static_cast<tenon::index>(window.size()), length = static_cast<tenon::index>(x.size()) / lines;
  const tenon::index parts = (length + 2 * half - n) / hop + 1;
  complex_numbers result;
  for (tenon::index line = 0; line < lines; ++line) {
    for (tenon::index k = 0; k <= n / 2; ++k) {
      for (tenon::index t = 0; t < parts; ++t) {
        std::complex<double> sum = 0;
        for (tenon::index j = 0; j < n; ++j) {
          const double turns = static_cast<double>(k * j % n) / static_cast<double>(n);
          sum += window[static_cast<std::size_t>(j)] * mirrored(x.data() + line * length, length, t * hop + j - half) *
                 std::polar(1.0, -2 * std::numbers::pi * turns);
        }
        result.push_back(sum);
      }
    }
  }
  return result;
}

auto signals_of(tenon::index length) {
  return tenon::tensor<double, rank<2>, device>(tenon::uniform<double>({2, length}, 3, -1.0, 1.0));
}

}  // namespace

TEST_CASE("spectra of parts are sums by definition, and give the signal back", "[stft]") {
  for (const tenon::index n : {1, 4, 7, 8}) {
    for (const tenon::index hop : {0, 1, 3}) {
      for (const bool center : {true, false}) {
        CAPTURE(n, hop, center);
        const tenon::index step = hop != 0 ? hop : n < 4 ? 1 : n / 4, half = center ? n / 2 : 0;
        if (step > n) continue;  // parts would leave gaps
        const auto x = signals_of(23);
        const tenon::tensor<double, rank<1>, device> window = tenon::hamming_window<double>(n);
        const auto y = tenon::stft(x, window, {.hop_length = hop, .center = center});
        const tenon::index parts = (23 + 2 * half - n) / step + 1;
        CHECK(y.shape() == rank<3>(2, n / 2 + 1, parts));
        const auto expected =
            spectra_of(tenon_test::numbers_of<device>(x), 2, tenon_test::numbers_of<device>(window), step, half);
        CHECK(distance(complex_numbers_of(y), expected) < 1e-13);
        const auto again = tenon::istft(y, window, {.hop_length = hop, .center = center});
        const tenon::index length = n + step * (parts - 1) - 2 * half;
        CHECK(again.shape() == rank<2>(2, length));
        CHECK(distance(complex_numbers_of(again), complex_numbers_of(tenon::narrow(x, tenon::axis<1>, 0, length))) <
              1e-13);
        const auto part = tenon::istft(y, window, {.hop_length = hop, .center = center, .length = 5});
        CHECK(distance(complex_numbers_of(part), complex_numbers_of(tenon::narrow(x, tenon::axis<1>, 0, 5))) < 1e-13);
        auto powers = complex_numbers_of(tenon::spectrogram(x, window, {.hop_length = hop, .center = center}));
        complex_numbers squares;
        for (const auto& each : expected) squares.push_back(std::norm(each));
        CHECK(distance(powers, squares) < 1e-13);
      }
    }
  }
}

TEST_CASE("spectra that are no signal's give the nearest one", "[stft]") {
  const tenon::tensor<std::complex<double>, rank<2>, device> y =
      tenon::cast<std::complex<double>>(tenon::uniform<double>({3, 5}, 7, -1.0, 1.0));
  const tenon::tensor<double, rank<1>, device> window({4}, {1, 2, 3, 1});
  numbers_of_signal sums(12, 0), squares(12, 0);
  const auto spectra = complex_numbers_of(y);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t j = 0; j < 4; ++j) {
      double element = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        element +=
            spectra[(k < 3 ? k : 1) * 5 + t].real() * std::cos(std::numbers::pi / 2 * static_cast<double>(k * j)) / 4;
      }
      const double weight = numbers_of_signal{1, 2, 3, 1}[j];
      sums[2 * t + j] += weight * element, squares[2 * t + j] += weight * weight;
    }
  }
  complex_numbers expected;
  for (std::size_t i = 0; i < 12; ++i) expected.push_back(sums[i] / squares[i]);
  CHECK(distance(complex_numbers_of(tenon::istft(y, window, {.hop_length = 2, .center = false})), expected) < 1e-14);
}

TEST_CASE("windows and signals that do not fit are refused", "[stft]") {
  using tenon_test::text_of;
  const auto x = signals_of(4);
  const tenon::tensor<double, rank<1>, device> window = tenon::hamming_window<double>(8), none({0}),
                                               hann = tenon::hann_window<double>(4);
  CHECK(text_of<tenon::shape_error>([&] { tenon::stft(x, window); }) ==
        "stft: axis 1: extent 4 of the signal, expected at least 5 for a window of 8 elements");
  CHECK(text_of<tenon::shape_error>([&] { tenon::stft(x, window, {.center = false}); }) ==
        "stft: axis 1: extent 4 of the signal, expected at least 8 for a window of 8 elements");
  CHECK(text_of<tenon::shape_error>([&] { tenon::stft(x, none); }) ==
        "stft: a window of 0 elements, expected at least 1");
  CHECK(text_of<tenon::shape_error>([&] { tenon::stft(x, window, {.hop_length = -2}); }) ==
        "stft: a hop length of -2, expected at least 1, or 0 for a quarter of the window");
  const auto y = tenon::stft(x, hann);
  CHECK(text_of<tenon::shape_error>([&] { tenon::istft(y, window); }) ==
        "istft: axis 1: extent 3, expected 5 for a window of 8 elements");
  CHECK(text_of<tenon::shape_error>([&] { tenon::istft(y, hann, {.length = 7}); }) ==
        "istft: a length of 7, expected at most 6 as parts reach");
  CHECK(text_of<tenon::error>([&] { tenon::istft(y, hann, {.center = false}); }) ==
        "istft: the squares of the window add up to 0 at some sample, expected above 0: its parts leave a gap");
}
