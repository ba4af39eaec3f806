// tenon/algorithms/fftw.hpp: transforms of memory that the host reaches, by FFTW.
// Included on its own: it needs <fftw3.h>, and to link fftw3 (of double) and fftw3f (of float).
// Floor 5: may include base, core, device, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <array>
#include <tenon/algorithms/fft.hpp>
#include <tenon/algorithms/fft_plans.hpp>
#include <tenon/core/storage.hpp>
#include <tenon/device/threads.hpp>
#include <type_traits>

namespace tenon {

namespace detail {

/// FFTW's functions for parts of `T`.
template <class T>
struct fftw_of;
template <>
struct fftw_of<float> {
  using plan = std::remove_pointer_t<fftwf_plan>;
  using complex = fftwf_complex;
  using dimension = fftwf_iodim64;
  static constexpr auto plan_complex = fftwf_plan_guru64_dft;
  static constexpr auto plan_to_spectrum = fftwf_plan_guru64_dft_r2c;
  static constexpr auto plan_from_spectrum = fftwf_plan_guru64_dft_c2r;
  static constexpr auto run_complex = fftwf_execute_dft;
  static constexpr auto run_to_spectrum = fftwf_execute_dft_r2c;
  static constexpr auto run_from_spectrum = fftwf_execute_dft_c2r;
  static constexpr auto end = fftwf_destroy_plan;
  static constexpr auto place_in_vector = fftwf_alignment_of;
};
template <>
struct fftw_of<double> {
  using plan = std::remove_pointer_t<fftw_plan>;
  using complex = fftw_complex;
  using dimension = fftw_iodim64;
  static constexpr auto plan_complex = fftw_plan_guru64_dft;
  static constexpr auto plan_to_spectrum = fftw_plan_guru64_dft_r2c;
  static constexpr auto plan_from_spectrum = fftw_plan_guru64_dft_c2r;
  static constexpr auto run_complex = fftw_execute_dft;
  static constexpr auto run_to_spectrum = fftw_execute_dft_r2c;
  static constexpr auto run_from_spectrum = fftw_execute_dft_c2r;
  static constexpr auto end = fftw_destroy_plan;
  static constexpr auto place_in_vector = fftw_alignment_of;
};

/// FFTW makes and ends plans in one thread at a time, those of all kinds.
inline std::mutex& fftw_planner() {
  static std::mutex planner;
  return planner;
}

/// The plan of a transform of elements that begin where a vector of the processor may. Threads run it together.
template <class T, class Make>
std::shared_ptr<typename fftw_of<T>::plan> fftw_plan_of(const std::vector<index>& numbers, const Make& make) {
  using plan = typename fftw_of<T>::plan;
  static fft_plans<plan> plans;
  return plans.of(numbers, [&] {
    const std::lock_guard lock(fftw_planner());
    plan* const made = make();
    if (made == nullptr) throw error("fft: FFTW makes no plan of such a transform");
    return std::shared_ptr<plan>(made, [](plan* ended) {
      const std::lock_guard lock_of_end(fftw_planner());
      fftw_of<T>::end(ended);
    });
  });
}

/// Axes in row-major order; of a half spectrum the last one has `half` elements.
template <class Dimension, int Rank>
std::array<Dimension, Rank> fftw_dimensions(const array<index, Rank>& lengths, index last_from, index last_to) {
  std::array<Dimension, Rank> result;
  index from = 1, to = 1;
  for (int axis = Rank - 1; axis >= 0; --axis) {
    result[static_cast<std::size_t>(axis)] = {static_cast<std::ptrdiff_t>(lengths[axis]),
                                              static_cast<std::ptrdiff_t>(from), static_cast<std::ptrdiff_t>(to)};
    from *= axis == Rank - 1 ? last_from : lengths[axis];
    to *= axis == Rank - 1 ? last_to : lengths[axis];
  }
  return result;
}

enum class fftw_kind : index { forward, inverse, to_spectrum, from_spectrum };

template <int Rank>
std::vector<index> fftw_numbers(fftw_kind kind, const array<index, Rank>& lengths) {
  std::vector<index> numbers{static_cast<index>(kind)};
  for (const index length : lengths) numbers.push_back(length);
  return numbers;
}

/// Elements that begin where a vector may: they themselves, or others that stand for them.
template <class T, class Element>
Element* begin_of_vectors(Element* elements, index count, storage<Element, host>& others) {
  if (fftw_of<T>::place_in_vector(reinterpret_cast<T*>(elements)) == 0) return elements;
  if (others.data() == nullptr) others = storage<Element, host>(count);
  return others.data();
}

/// How many elements one transform reads and writes.
struct fftw_sizes {
  index from, to;
};

/// Runs `run(from, to)` for each transform of a batch, shared among threads. With plans for any address FFTW would not
/// use vectors, so elements that begin elsewhere are copied.
template <class T, class From, class To, class Run>
void for_each_transform(From* from, To* to, index batch, fftw_sizes sizes, const Run& run) {
  constexpr index elements_of_thread = index{1} << 13;
  const index elements = sizes.from < sizes.to ? sizes.to : sizes.from;
  parallel_for(batch, 1 + elements_of_thread / elements, [&](index first, index last) {
    storage<From, host> other_from;
    storage<To, host> other_to;
    for (index number = first; number < last; ++number) {
      From* const source = from + number * sizes.from;
      To* const target = to + number * sizes.to;
      From* const read = begin_of_vectors<T>(source, sizes.from, other_from);
      To* const written = begin_of_vectors<T>(target, sizes.to, other_to);
      if (read != source) std::copy_n(source, sizes.from, read);
      run(read, written);
      if (written != target) std::copy_n(written, sizes.to, target);
    }
  });
}

/// Calls `make(from, to)` with elements to plan for, which planning neither reads nor writes.
template <class From, class To, class Make>
auto plan_apart(fftw_sizes sizes, const Make& make) {
  storage<From, host> from(sizes.from);
  storage<To, host> to(sizes.to);
  return make(from.data(), to.data());
}

}  // namespace detail

template <memory_space Space>
  requires(Space::host_accessible)
struct fft_pass<Space> {
  static constexpr bool available = true;

  template <class T, int Rank>
  static void transform(const std::complex<T>* from, std::complex<T>* to, const array<index, Rank>& lengths,
                        index batch, fft_direction direction) {
    using fftw = detail::fftw_of<T>;
    using complex = std::complex<T>;
    const bool is_forward = direction == fft_direction::forward;
    const index size = count_between(lengths, 0, Rank);
    const detail::fftw_sizes sizes{size, size};
    const auto kind = is_forward ? detail::fftw_kind::forward : detail::fftw_kind::inverse;
    const auto plan = detail::fftw_plan_of<T>(detail::fftw_numbers(kind, lengths), [&] {
      const auto axes =
          detail::fftw_dimensions<typename fftw::dimension>(lengths, lengths[Rank - 1], lengths[Rank - 1]);
      return detail::plan_apart<complex, complex>(sizes, [&](complex* in, complex* out) {
        return fftw::plan_complex(Rank, axes.data(), 0, nullptr, as_fftw(in), as_fftw(out),
                                  is_forward ? FFTW_FORWARD : FFTW_BACKWARD, flags);
      });
    });
    detail::for_each_transform<T>(const_cast<complex*>(from), to, batch, sizes, [&](complex* in, complex* out) {
      fftw::run_complex(plan.get(), as_fftw(in), as_fftw(out));
    });
  }
  template <class T, int Rank>
  static void to_spectrum(const T* from, std::complex<T>* to, const array<index, Rank>& lengths, index batch) {
    using fftw = detail::fftw_of<T>;
    using complex = std::complex<T>;
    const index length = lengths[Rank - 1], half = length / 2 + 1, lines = count_between(lengths, 0, Rank - 1);
    const detail::fftw_sizes sizes{lines * length, lines * half};
    const auto plan = detail::fftw_plan_of<T>(detail::fftw_numbers(detail::fftw_kind::to_spectrum, lengths), [&] {
      const auto axes = detail::fftw_dimensions<typename fftw::dimension>(lengths, length, half);
      return detail::plan_apart<T, complex>(sizes, [&](T* in, complex* out) {
        return fftw::plan_to_spectrum(Rank, axes.data(), 0, nullptr, in, as_fftw(out), flags);
      });
    });
    detail::for_each_transform<T>(const_cast<T*>(from), to, batch, sizes,
                                  [&](T* in, complex* out) { fftw::run_to_spectrum(plan.get(), in, as_fftw(out)); });
  }
  template <class T, int Rank>
  static void from_spectrum(std::complex<T>* from, T* to, const array<index, Rank>& lengths, index batch) {
    using fftw = detail::fftw_of<T>;
    using complex = std::complex<T>;
    const index length = lengths[Rank - 1], half = length / 2 + 1, lines = count_between(lengths, 0, Rank - 1);
    const detail::fftw_sizes sizes{lines * half, lines * length};
    const auto plan = detail::fftw_plan_of<T>(detail::fftw_numbers(detail::fftw_kind::from_spectrum, lengths), [&] {
      const auto axes = detail::fftw_dimensions<typename fftw::dimension>(lengths, half, length);
      return detail::plan_apart<complex, T>(sizes, [&](complex* in, T* out) {
        return fftw::plan_from_spectrum(Rank, axes.data(), 0, nullptr, as_fftw(in), out, FFTW_ESTIMATE);
      });
    });
    detail::for_each_transform<T>(from, to, batch, sizes,
                                  [&](complex* in, T* out) { fftw::run_from_spectrum(plan.get(), as_fftw(in), out); });
  }

 private:
  static constexpr unsigned flags = FFTW_ESTIMATE | FFTW_PRESERVE_INPUT;

  template <class T>
  static auto as_fftw(std::complex<T>* numbers) {
    return reinterpret_cast<typename detail::fftw_of<T>::complex*>(numbers);
  }
};

}  // namespace tenon
