// tenon/expr/other_headers.hpp: which header brings a function that door 1 does not bring, and how extents are written.
// Arguments behind an ellipsis fit worse than any others: where the function is declared, it is never one of these.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <tenon/expr/node.hpp>

namespace tenon {

namespace detail {
/// Takes any text of a template argument.
struct any_text {
  template <int Size>
  consteval any_text(const char (&)[Size]) {}
};

/// The results of functions that are not there: the compiler reads them at the user's call.
template <class Call>
struct result_of_products {
  static_assert(must_hold<Call>, "tenon: include <tenon/products.hpp>, or these arguments do not fit");
};
template <class Call>
struct result_of_algorithms {
  static_assert(must_hold<Call>,
                "tenon: include <tenon/algorithms.hpp>, or these arguments do not fit; axes "
                "are written as in sort(x, axis<1>)");
};
template <class Call>
struct result_of_linear_algebra {
  static_assert(must_hold<Call>, "tenon: include <tenon/linalg.hpp>, or these arguments do not fit");
};
template <class Call>
struct result_of_transforms {
  static_assert(must_hold<Call>,
                "tenon: include <tenon/algorithms/fftw.hpp>, on devices cufft.hpp, or these arguments do not fit; axes "
                "are written as in fft(x, axis<1>)");
};
template <class Call>
struct result_of_random {
  static_assert(must_hold<Call>, "tenon: include <tenon/expr/random.hpp>, or these arguments do not fit");
};
template <class Call>
struct result_without_seed {
  static_assert(must_hold<Call>,
                "tenon: a seed stands behind the extents, and both numbers of the distribution behind it, as in "
                "uniform<float>({3, 4}, 1) or uniform<float>({3, 4}, 1, -1, 1), with <tenon/expr/random.hpp>");
};
template <class Name>
struct result_of_other_name {
  static_assert(must_hold<Name>,
                "tenon: this function has another name here, which must_hold<use_...> says; docs/guide/from_numpy.md "
                "and from_pytorch.md show its arguments");
};
template <class Operand>
struct result_of_print {
  static_assert(must_hold<Operand>, "tenon: to print tensors include <tenon/io/print.hpp>");
};
template <class Call>
struct result_of_extents {
  static_assert(must_hold<Call>, "tenon: extents stand in braces, zeros<float>({3, 4}), reshape(x, {2, 6})");
};
template <class Call>
struct result_of_ranges {
  static_assert(must_hold<Call>,
                "tenon: a part is a range of each axis, slice(x, only(1), range(0, 3)), or x(1, range(0, 3))");
};
template <class Call>
struct result_of_axes {
  static_assert(must_hold<Call>, "tenon: axes are written as in softmax(x, axis<1>), or these arguments do not fit");
};
template <class Call>
struct result_of_shifts {
  static_assert(
      must_hold<Call>,
      "tenon: axes are written as in roll(x, 1, axis<1>), several shifts in braces, roll(x, {1, 2}, axis<0, 1>)");
};
template <class Call>
struct result_of_deviation {
  static_assert(must_hold<Call>,
                "tenon: axes are written as in stddev(x, axis<1>), a correction behind them, stddev(x, all_axes{}, 1)");
};
template <class Call>
struct result_of_tolerance {
  static_assert(must_hold<Call>,
                "tenon: tolerances have names, isclose(x, y, {.relative = 1e-5, .absolute = 1e-8}), and stand last");
};
template <class Call>
struct result_of_joining {
  static_assert(
      must_hold<Call>,
      "tenon: tensors are joined along an axis that stands first, stack(axis<1>, a, b); a list holds tensors, "
      "views or, with <tenon/tenon.hpp>, traced values");
};
}  // namespace detail

template <class... Types>
detail::result_of_products<struct matmul_call> matmul(...);
template <class... Types>
detail::result_of_products<struct tensordot_call> tensordot(...);
template <int, class... Types>
detail::result_of_products<struct tensordot_call> tensordot(...);
template <detail::any_text, class... Types>
detail::result_of_products<struct einsum_call> einsum(...);
detail::result_of_products<struct product_call> gemm(...), dot(...), outer(...), convolve(...), convolve_transpose(...),
    scaled_dot_product_attention(...), rotary_embedding(...), interpolate(...);

detail::result_of_algorithms<struct algorithm_call> sort(...), argsort(...), topk(...), searchsorted(...), unique(...),
    histogram(...), bincount(...), compress(...), masked_select(...), nonzero(...), scatter(...), scatter_add(...),
    scatter_nd(...), index_add(...);

/// Fourier transforms, which `<tenon/algorithms/fftw.hpp>` brings, for devices `<tenon/algorithms/cufft.hpp>`.
detail::result_of_transforms<struct transform_call> fft(...), ifft(...), rfft(...), irfft(...);

detail::result_of_linear_algebra<struct linear_algebra_call> cholesky(...), solve(...), solve_triangular(...),
    inverse(...), determinant(...), slogdet(...), qr(...), eigh(...), svd(...);

template <class... Types>
detail::result_of_random<struct uniform_call> uniform(...);
template <class... Types>
detail::result_of_random<struct normal_call> normal(...);
template <class... Types>
detail::result_of_random<struct truncated_normal_call> truncated_normal(...);
template <class... Types>
detail::result_of_random<struct bernoulli_call> bernoulli(...);
template <class... Types>
detail::result_of_random<struct randint_call> randint(...);
template <class... Types>
detail::result_of_random<struct permutation_call> permutation(...);

template <class... Types, int Rank>
detail::result_without_seed<struct uniform_call> uniform(const listed_extent (&)[Rank], ...);
template <class... Types, int Rank>
detail::result_without_seed<struct normal_call> normal(const listed_extent (&)[Rank], ...);

template <class... Types>
detail::result_of_extents<struct zeros_call> zeros(...);
template <class... Types>
detail::result_of_extents<struct ones_call> ones(...);
detail::result_of_extents<struct extents_call> reshape(...), broadcast_to(...), expand(...);
detail::result_of_ranges<struct slice_call> slice(...);

detail::result_of_joining<struct joining_call> concatenate(...), stack(...);
detail::result_of_deviation<struct deviation_call> stddev(...);
detail::result_of_shifts<struct shifts_call> roll(...);
detail::result_of_tolerance<struct tolerance_call> isclose(...);
detail::result_of_axes<struct axes_call> softmax(...), log_softmax(...), logsumexp(...), standardise(...), flip(...),
    repeat(...), squeeze(...), flatten(...), unflatten(...), permute(...), swap_axes(...), move_axis(...), take(...),
    take_along_axis(...), select(...), narrow(...), count_nonzero(...), norm_l1(...), norm_l2(...), norm_inf(...);

/// Names that NumPy and PyTorch have for functions of other names.
detail::result_of_other_name<struct use_concatenate> cat(...), concat(...), hstack(...), vstack(...);
detail::result_of_other_name<struct use_matmul> bmm(...);
detail::result_of_other_name<struct use_pow> power(...);
detail::result_of_other_name<struct use_clamp> clip(...);
detail::result_of_other_name<struct use_max> amax(...);
detail::result_of_other_name<struct use_min> amin(...);
detail::result_of_other_name<struct use_variance> var(...);
detail::result_of_other_name<struct use_where> masked_fill(...);
detail::result_of_other_name<struct use_take> index_select(...);
detail::result_of_other_name<struct use_swap_axes> swapaxes(...);
detail::result_of_other_name<struct use_move_axis> moveaxis(...);
detail::result_of_other_name<struct use_repeat> repeat_interleave(...);
detail::result_of_other_name<struct use_flatten> ravel(...);
detail::result_of_other_name<struct use_all_of_isclose> allclose(...);
template <int... Axes>
detail::result_of_other_name<struct use_new_axis> unsqueeze(...);
template <int... Axes>
detail::result_of_other_name<struct use_new_axis> expand_dims(...);
template <class... Types>
detail::result_of_other_name<struct use_cast> astype(...);
template <class... Types>
detail::result_of_other_name<struct use_normal_with_a_seed> randn(...);
template <class... Types, int Rank>
detail::result_of_other_name<struct use_normal_with_a_seed> randn(const listed_extent (&)[Rank]);
template <class... Types>
detail::result_of_other_name<struct use_permutation_with_a_seed> randperm(...);

/// Behind any for std::ostream, which is nearer to every stream.
template <tensor_operand Operand>
  requires(Operand::shape_type::rank > 0)
detail::result_of_print<Operand> operator<<(std::ios_base&, const Operand&);

}  // namespace tenon
