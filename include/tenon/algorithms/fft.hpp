// tenon/algorithms/fft.hpp: discrete Fourier transforms along any axes, of complex and of real elements.
// Each is a pass of its own, by a library: FFTW on the host (algorithms/fftw.hpp), cuFFT on CUDA (cufft.hpp).
// Floor 5: may include base, core, expr, plan, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <tenon/algorithms/lines.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/complex.hpp>
#include <tenon/expr/views/permute.hpp>

namespace tenon {

/// Which transform is divided by the number n of elements that it joins, with PyTorch's names: the inverse one, both by
/// the root of n, or the forward one.
enum class fft_norm { backward, ortho, forward };

/// Options of transforms: `fft(x, axis<-1>, {.norm = fft_norm::ortho})`
struct fft_options {
  fft_norm norm = fft_norm::backward;
};
/// Options of `irfft`: `irfft(y, axis<-1>, {.length = 9})`
struct irfft_options {
  index length = 0;  ///< of the last axis of the result; 0: 2 (extent - 1), the even one
  fft_norm norm = fft_norm::backward;
};

enum class fft_direction { forward, inverse };

/// What runs transforms of memory in a space. Operands and results lie in row-major order, `batch` transforms one after
/// another, each of `lengths`; of a half spectrum the last length is n / 2 + 1:
///   transform        complex elements in either direction
///   to_spectrum      real elements forward, to a half spectrum
///   from_spectrum    a half spectrum, which may be overwritten, back to real elements
template <memory_space Space>
struct fft_pass {
  static constexpr bool available = false;
};

namespace detail {

/// The axes of an operand in the order in which libraries take them: those of the batch, then those transformed.
template <int Rank, int... Axes>
struct fft_axes {
  static constexpr int rank = Rank, count = sizeof...(Axes);
  static constexpr array<int, count> transformed{{normalise_axis(Axes, Rank)...}};
  static constexpr int last = transformed[count - 1];

  static constexpr bool is_transformed(int axis) {
    for (int i = 0; i < count; ++i) {
      if (transformed[i] == axis) return true;
    }
    return false;
  }
  static constexpr array<int, Rank> order = [] {
    array<int, Rank> result{};
    int place = 0;
    for (int axis = 0; axis < Rank; ++axis) {
      if (!is_transformed(axis)) result[place++] = axis;
    }
    static_assert(count > 0 && count <= Rank, "tenon: a transform names axes, each once");
    for (int i = 0; i < count && place < Rank; ++i) result[place++] = transformed[i];
    return result;
  }();
  static constexpr bool is_in_order = [] {
    for (int axis = 0; axis < Rank; ++axis) {
      if (order[axis] != axis) return false;
    }
    return true;
  }();
};

template <class Axes, class Operand, int... I>
auto permuted_for_fft(Operand&& operand, std::integer_sequence<int, I...>) {
  return permute(std::forward<Operand>(operand), axis_list<Axes::order[I]...>{});
}
/// An operand, or a destination, with its axes in the order of libraries.
template <class Axes, class Operand>
auto in_fft_order(Operand&& operand) {
  return permuted_for_fft<Axes>(std::forward<Operand>(operand), std::make_integer_sequence<int, Axes::rank>{});
}

/// Complex numbers of a space with parts of `T`.
template <class T, class Space>
struct complex_in {
  using type = std::complex<T>;
};
template <class T, class Space>
  requires is_complex<T>
struct complex_in<T, Space> {
  using type = T;
};
#if defined(__CUDACC__)
template <class T>
  requires(!is_complex<T>)
struct complex_in<T, cuda> {
  using type = thrust::complex<T>;
};
#endif

/// A transform by its name and the extents of its operand.
template <class Axes>
struct fft_problem {
  const char* name;
  array<index, Axes::count> lengths;  // of the axes that are transformed, of real elements where there are any
  index batch = 1;

  template <class Shape>
  fft_problem(const char* of_name, const Shape& extents) : name(of_name) {
    for (int axis = 0; axis < Axes::rank; ++axis) {
      if (!Axes::is_transformed(axis)) batch *= extents.extent(axis);
    }
    for (int i = 0; i < Axes::count; ++i) {
      lengths[i] = extents.extent(Axes::transformed[i]);
      if (lengths[i] < 1) {
        throw shape_error(compose_text(name, ": axis ", Axes::transformed[i], ": extent ", lengths[i],
                                       ", expected at least 1 (operand ", extents.to_array(), ")"));
      }
    }
  }
  template <class Real>
  Real factor(fft_direction direction, fft_norm norm) const {
    double count = 1;
    for (const index length : lengths) count *= static_cast<double>(length);
    if (norm == fft_norm::ortho) return static_cast<Real>(1 / std::sqrt(count));
    const bool divides = (norm == fft_norm::backward) == (direction == fft_direction::inverse);
    return static_cast<Real>(divides ? 1 / count : 1);
  }
};

template <class Operand>
consteval void must_be_transformable() {
  using element = typename node_of<Operand>::element;
  using space = algorithm_space<Operand>;
  using part = real_type<element>;
  static_assert(std::is_same_v<part, float> || std::is_same_v<part, double> || must_hold<element>,
                "tenon: transforms take float, double, and complex numbers of these; cast<float>(x) makes others so");
  static_assert(fft_pass<space>::available || must_hold<space>,
                "tenon: transforms run through libraries; include <tenon/algorithms/fftw.hpp> and link fftw3 and "
                "fftw3f, or on CUDA <tenon/algorithms/cufft.hpp> and link cufft");
}

/// Calls `body` with the elements of an operand as `T` in the order of libraries: where they lie, if they lie so.
template <class Axes, class T, bool MayChange, class Operand, class Body>
void with_fft_operand(const char* name, Operand&& operand, const Body& body) {
  using node = node_of<Operand>;
  using space = algorithm_space<Operand>;
  constexpr bool is_leaf = std::is_same_v<typename node::kind, leaf_kind>;
  algorithms_must_repeat<space>();
  check_operand(name, as_node(operand));
  if constexpr (is_leaf && Axes::is_in_order && std::is_same_v<typename node::element, T> && !MayChange) {
    const auto elements = as_node(operand).view();
    check_current_device(name, elements);
    if (is_contiguous(elements.shape().to_array(), elements.strides())) return body(elements.data());
  }
  const auto moved = in_fft_order<Axes>(as_node(operand));
  using moved_shape = typename std::remove_cvref_t<decltype(moved)>::shape_type;
  tensor<T, moved_shape, space> copy(moved.shape());
  copy = cast<T>(moved);
  body(copy.data());
}
/// Has `write` write elements in the order of libraries, and leaves them, times `factor`, in `result`.
template <class Axes, class Tensor, class Write>
void write_fft_result(Tensor& result, real_type<typename Tensor::element> factor, const Write& write) {
  if constexpr (Axes::is_in_order) {
    write(result.data());
    if (factor != 1) result = result * factor;
  } else {
    const auto target = in_fft_order<Axes>(result.view());
    using moved_shape = typename std::remove_cvref_t<decltype(target)>::shape_type;
    tensor<typename Tensor::element, moved_shape, typename Tensor::space> moved(target.shape());
    write(moved.data());
    target = moved * factor;
  }
}

template <fft_direction Direction, class Operand, int... Axes>
auto transformed(const char* name, Operand&& operand, axis_list<Axes...>, fft_norm norm) {
  using node = node_of<Operand>;
  using along = fft_axes<node::shape_type::rank, Axes...>;
  using space = algorithm_space<Operand>;
  using element = typename complex_in<typename node::element, space>::type;
  const fft_problem<along> problem(name, operand.shape());
  tensor<element, typename node::shape_type, space> result(operand.shape());
  if (result.size() == 0) return result;
  with_fft_operand<along, element, false>(name, operand, [&](const element* from) {
    const auto factor = problem.template factor<real_type<element>>(Direction, norm);
    write_fft_result<along>(result, factor, [&](element* to) {
      fft_pass<space>::transform(from, to, problem.lengths, problem.batch, Direction);
    });
  });
  return result;
}

}  // namespace detail

/// The discrete Fourier transform along some axes: the sum of x[k] exp(-2 pi i j k / n) for each j.
/// extents   those of the operand
/// types     complex, of float or double as the operand, which may be real
/// throws    shape_error for an axis without elements
/// cost      O(n log n); an operand whose axes are not its last ones, in order, is copied before and behind
/// example   const auto spectrum = fft(x, axis<-1>);
template <tensor_operand Operand, int... Axes>
auto fft(Operand&& operand, axis_list<Axes...> axes, fft_options options = {}) {
  detail::must_be_transformable<Operand>();
  return detail::transformed<fft_direction::forward>("fft", std::forward<Operand>(operand), axes, options.norm);
}

/// The inverse transform: `ifft(fft(x, axes), axes)` is x, as complex numbers.
/// extents   as of `fft`
/// example   const auto x = ifft(spectrum, axis<-1>);
template <tensor_operand Operand, int... Axes>
auto ifft(Operand&& operand, axis_list<Axes...> axes, fft_options options = {}) {
  detail::must_be_transformable<Operand>();
  return detail::transformed<fft_direction::inverse>("ifft", std::forward<Operand>(operand), axes, options.norm);
}

/// The first half of the transform of real elements; the other half is its mirror, conjugate.
/// extents   n / 2 + 1 along the last axis that is named, those of the operand elsewhere
/// throws    shape_error for an axis without elements
/// cost      half of that of `fft`
/// example   const auto spectrum = rfft(signal, axis<-1>);
template <tensor_operand Operand, int... Axes>
auto rfft(Operand&& operand, axis_list<Axes...>, fft_options options = {}) {
  detail::must_be_transformable<Operand>();
  using node = node_of<Operand>;
  using element = typename node::element;
  static_assert(!is_complex<element> || must_hold<element>,
                "tenon: rfft transforms real elements; fft(x, axes) transforms complex ones");
  using along = detail::fft_axes<node::shape_type::rank, Axes...>;
  using space = algorithm_space<Operand>;
  using result_element = typename detail::complex_in<element, space>::type;
  const detail::fft_problem<along> problem("rfft", operand.shape());
  const auto extents = with_extent<along::last>(operand.shape(), operand.shape().extent(along::last) / 2 + 1);
  tensor<result_element, std::remove_const_t<decltype(extents)>, space> result(extents);
  if (result.size() == 0) return result;
  detail::with_fft_operand<along, element, false>("rfft", operand, [&](const element* from) {
    const auto factor = problem.template factor<element>(fft_direction::forward, options.norm);
    detail::write_fft_result<along>(result, factor, [&](result_element* to) {
      fft_pass<space>::to_spectrum(from, to, problem.lengths, problem.batch);
    });
  });
  return result;
}

/// The real elements whose half spectrum this is: `irfft(rfft(x, axes), axes, {.length = n})` is x.
/// extents   `length` along the last axis that is named, those of the operand elsewhere
/// throws    shape_error for an axis without elements, a negative length, and where the extent is not length / 2 + 1
/// example   const auto signal = irfft(spectrum, axis<-1>, {.length = 441});
template <tensor_operand Operand, int... Axes>
auto irfft(Operand&& operand, axis_list<Axes...>, irfft_options options = {}) {
  detail::must_be_transformable<Operand>();
  using node = node_of<Operand>;
  using element = typename node::element;
  static_assert(is_complex<element> || must_hold<element>, "tenon: irfft transforms complex elements, a half spectrum");
  using along = detail::fft_axes<node::shape_type::rank, Axes...>;
  using space = algorithm_space<Operand>;
  using part = real_type<element>;
  detail::fft_problem<along> problem("irfft", operand.shape());
  const index half = problem.lengths[along::count - 1];
  if (options.length < 0) {
    throw shape_error(compose_text("irfft: axis ", along::last, ": a length of ", options.length,
                                   ", expected at least 1, or 0 for 2 (extent - 1)"));
  }
  if (options.length == 0 && half == 1) {
    throw shape_error(compose_text("irfft: axis ", along::last, ": extent 1, expected at least 2 (operand ",
                                   operand.shape().to_array(), "); a single element needs {.length = 1}"));
  }
  const index length = options.length != 0 ? options.length : 2 * (half - 1);
  if (half != length / 2 + 1) {
    throw shape_error(compose_text("irfft: axis ", along::last, ": extent ", half, ", expected ", length / 2 + 1,
                                   " for a length of ", length, " (operand ", operand.shape().to_array(), ")"));
  }
  problem.lengths[along::count - 1] = length;
  const auto extents = with_extent<along::last>(operand.shape(), length);
  tensor<part, std::remove_const_t<decltype(extents)>, space> result(extents);
  if (result.size() == 0) return result;
  detail::with_fft_operand<along, element, true>("irfft", operand, [&](element* from) {
    const auto factor = problem.template factor<part>(fft_direction::inverse, options.norm);
    detail::write_fft_result<along>(
        result, factor, [&](part* to) { fft_pass<space>::from_spectrum(from, to, problem.lengths, problem.batch); });
  });
  return result;
}

}  // namespace tenon
