// tenon/expr/other_headers.hpp: which header brings a function that door 1 does not bring, and how extents are written.
// Arguments behind an ellipsis fit worse than any others: where the function is declared, it is never one of these.
// Floor 2: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>

namespace tenon {

namespace detail {
/// Takes any text of a template argument.
struct any_text {
  template <int Size>
  consteval any_text(const char (&)[Size]) {}
};
}  // namespace detail

template <class... Types>
auto matmul(...) {
  static_assert(must_hold<Types...>, "tenon: matmul: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto gemm(...) {
  static_assert(must_hold<Types...>, "tenon: gemm: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto dot(...) {
  static_assert(must_hold<Types...>, "tenon: dot: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto outer(...) {
  static_assert(must_hold<Types...>, "tenon: outer: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto tensordot(...) {
  static_assert(must_hold<Types...>, "tenon: tensordot: include <tenon/products.hpp>, or these arguments do not fit");
}
template <int, class... Types>
auto tensordot(...) {
  static_assert(must_hold<Types...>, "tenon: tensordot: include <tenon/products.hpp>, or these arguments do not fit");
}
template <detail::any_text, class... Types>
auto einsum(...) {
  static_assert(must_hold<Types...>, "tenon: einsum: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto convolve(...) {
  static_assert(must_hold<Types...>, "tenon: convolve: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto convolve_transpose(...) {
  static_assert(must_hold<Types...>,
                "tenon: convolve_transpose: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto scaled_dot_product_attention(...) {
  static_assert(must_hold<Types...>,
                "tenon: scaled_dot_product_attention: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto rotary_embedding(...) {
  static_assert(must_hold<Types...>,
                "tenon: rotary_embedding: include <tenon/products.hpp>, or these arguments do not fit");
}
template <class... Types>
auto interpolate(...) {
  static_assert(must_hold<Types...>, "tenon: interpolate: include <tenon/products.hpp>, or these arguments do not fit");
}

template <class... Types>
auto sort(...) {
  static_assert(must_hold<Types...>, "tenon: sort: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto argsort(...) {
  static_assert(must_hold<Types...>, "tenon: argsort: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto topk(...) {
  static_assert(must_hold<Types...>, "tenon: topk: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto searchsorted(...) {
  static_assert(must_hold<Types...>,
                "tenon: searchsorted: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto unique(...) {
  static_assert(must_hold<Types...>, "tenon: unique: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto histogram(...) {
  static_assert(must_hold<Types...>, "tenon: histogram: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto bincount(...) {
  static_assert(must_hold<Types...>, "tenon: bincount: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto compress(...) {
  static_assert(must_hold<Types...>, "tenon: compress: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto masked_select(...) {
  static_assert(must_hold<Types...>,
                "tenon: masked_select: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto nonzero(...) {
  static_assert(must_hold<Types...>, "tenon: nonzero: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto scatter(...) {
  static_assert(must_hold<Types...>, "tenon: scatter: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto scatter_add(...) {
  static_assert(must_hold<Types...>,
                "tenon: scatter_add: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto scatter_nd(...) {
  static_assert(must_hold<Types...>,
                "tenon: scatter_nd: include <tenon/algorithms.hpp>, or these arguments do not fit");
}
template <class... Types>
auto index_add(...) {
  static_assert(must_hold<Types...>, "tenon: index_add: include <tenon/algorithms.hpp>, or these arguments do not fit");
}

template <class... Types>
auto uniform(...) {
  static_assert(must_hold<Types...>, "tenon: uniform: include <tenon/expr/random.hpp>, or these arguments do not fit");
}
template <class... Types>
auto normal(...) {
  static_assert(must_hold<Types...>, "tenon: normal: include <tenon/expr/random.hpp>, or these arguments do not fit");
}
template <class... Types>
auto truncated_normal(...) {
  static_assert(must_hold<Types...>,
                "tenon: truncated_normal: include <tenon/expr/random.hpp>, or these arguments do not fit");
}
template <class... Types>
auto bernoulli(...) {
  static_assert(must_hold<Types...>,
                "tenon: bernoulli: include <tenon/expr/random.hpp>, or these arguments do not fit");
}
template <class... Types>
auto randint(...) {
  static_assert(must_hold<Types...>, "tenon: randint: include <tenon/expr/random.hpp>, or these arguments do not fit");
}
template <class... Types>
auto permutation(...) {
  static_assert(must_hold<Types...>,
                "tenon: permutation: include <tenon/expr/random.hpp>, or these arguments do not fit");
}

template <class... Types>
auto zeros(...) {
  static_assert(must_hold<Types...>, "tenon: zeros: extents stand in braces, zeros<float>({3, 4})");
}
template <class... Types>
auto ones(...) {
  static_assert(must_hold<Types...>, "tenon: ones: extents stand in braces, ones<float>({3, 4})");
}

}  // namespace tenon
