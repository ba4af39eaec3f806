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
template <class Function>
struct result_of_products {
  static_assert(must_hold<Function>, "tenon: include <tenon/products.hpp>, or these arguments do not fit");
};
template <class Function>
struct result_of_algorithms {
  static_assert(must_hold<Function>, "tenon: include <tenon/algorithms.hpp>, or these arguments do not fit");
};
template <class Function>
struct result_of_random {
  static_assert(must_hold<Function>, "tenon: include <tenon/expr/random.hpp>, or these arguments do not fit");
};
template <class Operand>
struct result_of_print {
  static_assert(must_hold<Operand>, "tenon: to print tensors include <tenon/io/print.hpp>");
};
template <class Function>
struct result_of_extents {
  static_assert(must_hold<Function>, "tenon: extents stand in braces, zeros<float>({3, 4})");
};
}  // namespace detail

template <class... Types>
detail::result_of_products<struct matmul_call> matmul(...);
template <class... Types>
detail::result_of_products<struct gemm_call> gemm(...);
template <class... Types>
detail::result_of_products<struct dot_call> dot(...);
template <class... Types>
detail::result_of_products<struct outer_call> outer(...);
template <class... Types>
detail::result_of_products<struct tensordot_call> tensordot(...);
template <int, class... Types>
detail::result_of_products<struct tensordot_call> tensordot(...);
template <detail::any_text, class... Types>
detail::result_of_products<struct einsum_call> einsum(...);
template <class... Types>
detail::result_of_products<struct convolve_call> convolve(...);
template <class... Types>
detail::result_of_products<struct convolve_transpose_call> convolve_transpose(...);
template <class... Types>
detail::result_of_products<struct scaled_dot_product_attention_call> scaled_dot_product_attention(...);
template <class... Types>
detail::result_of_products<struct rotary_embedding_call> rotary_embedding(...);
template <class... Types>
detail::result_of_products<struct interpolate_call> interpolate(...);

template <class... Types>
detail::result_of_algorithms<struct sort_call> sort(...);
template <class... Types>
detail::result_of_algorithms<struct argsort_call> argsort(...);
template <class... Types>
detail::result_of_algorithms<struct topk_call> topk(...);
template <class... Types>
detail::result_of_algorithms<struct searchsorted_call> searchsorted(...);
template <class... Types>
detail::result_of_algorithms<struct unique_call> unique(...);
template <class... Types>
detail::result_of_algorithms<struct histogram_call> histogram(...);
template <class... Types>
detail::result_of_algorithms<struct bincount_call> bincount(...);
template <class... Types>
detail::result_of_algorithms<struct compress_call> compress(...);
template <class... Types>
detail::result_of_algorithms<struct masked_select_call> masked_select(...);
template <class... Types>
detail::result_of_algorithms<struct nonzero_call> nonzero(...);
template <class... Types>
detail::result_of_algorithms<struct scatter_call> scatter(...);
template <class... Types>
detail::result_of_algorithms<struct scatter_add_call> scatter_add(...);
template <class... Types>
detail::result_of_algorithms<struct scatter_nd_call> scatter_nd(...);
template <class... Types>
detail::result_of_algorithms<struct index_add_call> index_add(...);

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

template <class... Types>
detail::result_of_extents<struct zeros_call> zeros(...);
template <class... Types>
detail::result_of_extents<struct ones_call> ones(...);

/// Behind any for std::ostream, which is nearer to every stream.
template <tensor_operand Operand>
  requires(Operand::shape_type::rank > 0)
detail::result_of_print<Operand> operator<<(std::ios_base&, const Operand&);

}  // namespace tenon
