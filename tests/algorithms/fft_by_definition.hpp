// tests/algorithms/fft_by_definition.hpp: transforms on the emulated device, without a library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/fft.hpp>
#include <tenon/device/emulated.hpp>

#include "support/fourier.hpp"

/// Sums by definition, of memory in the order that libraries are promised.
template <>
struct tenon::fft_pass<tenon::emulated> {
  static constexpr bool available = true;

  template <class T, int Rank>
  static void transform(const std::complex<T>* from, std::complex<T>* to, const array<index, Rank>& lengths,
                        index batch, fft_direction direction) {
    const index size = count_between(lengths, 0, Rank);
    const std::vector<index> extents(lengths.begin(), lengths.end());
    for (index number = 0; number < batch; ++number) {
      const tenon_test::complex_numbers line(from + number * size, from + (number + 1) * size);
      const auto found = tenon_test::by_definition(line, extents, std::vector<bool>(extents.size(), true),
                                                   direction == fft_direction::forward ? -1 : 1);
      for (index i = 0; i < size; ++i) to[number * size + i] = std::complex<T>(found[static_cast<std::size_t>(i)]);
    }
  }
  template <class T, int Rank>
  static void to_spectrum(const T* from, std::complex<T>* to, const array<index, Rank>& lengths, index batch) {
    const index size = count_between(lengths, 0, Rank), length = lengths[Rank - 1], half = length / 2 + 1;
    std::vector<std::complex<T>> operand(from, from + batch * size), whole(operand.size());
    transform(operand.data(), whole.data(), lengths, batch, fft_direction::forward);
    for (index i = 0; i < batch * size / length * half; ++i) {
      to[i] = whole[static_cast<std::size_t>(i / half * length + i % half)];
    }
  }
  template <class T, int Rank>
  static void from_spectrum(std::complex<T>* from, T* to, const array<index, Rank>& lengths, index batch) {
    static_assert(Rank == 1, "the mirror of a spectrum of several axes is left to libraries");
    const index length = lengths[0], half = length / 2 + 1;
    std::vector<std::complex<T>> whole(static_cast<std::size_t>(batch * length)), found(whole.size());
    for (index i = 0; i < batch * length; ++i) {
      const index line = i / length, place = i % length;
      whole[static_cast<std::size_t>(i)] =
          place < half ? from[line * half + place] : std::conj(from[line * half + length - place]);
    }
    transform(whole.data(), found.data(), lengths, batch, fft_direction::inverse);
    for (std::size_t i = 0; i < found.size(); ++i) to[i] = found[i].real();
    for (index i = 0; i < batch * half; ++i) from[i] = 0;  // as libraries may
  }
};
