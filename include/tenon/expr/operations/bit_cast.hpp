// tenon/expr/operations/bit_cast.hpp: the bits of elements, read as another type.
// The same bits in registers: no value is converted, no memory read under another type.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/pointwise.hpp>

namespace tenon {

namespace detail {
/// Types whose elements are computed in themselves, so that their bits survive.
template <class T>
inline constexpr bool keeps_bits = std::is_same_v<compute_type<T>, T> && !std::is_same_v<T, bool>;
}  // namespace detail

/// The bits of each element as a `T`.
template <dtype T>
struct bit_cast_op {
  static constexpr const char* name = "bit_cast";
  template <class>
  using element = T;
  template <int, class Operand>
  using operand = typename Operand::element;
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr auto value(V x) {
    return simd::as_bits<simd::pack<T, simd::width_of<V>>>(x);
  }
};

/// The elements' bits as elements of type `T`, which has the same size: NumPy's `x.view(T)`.
/// types     integers, float and double; bool and the 16-bit floats are computed in other types
/// example   const auto bits = evaluated_tensor(bit_cast<std::uint32_t>(x));
template <dtype T, tensor_operand Operand>
auto bit_cast(Operand&& operand) {
  using element = typename std::remove_cvref_t<Operand>::element;
  static_assert(sizeof(T) == sizeof(element), "tenon: bit_cast needs element types of one size");
  static_assert(detail::keeps_bits<T> && detail::keeps_bits<element>,
                "tenon: bit_cast takes integers, float and double");
  return make_pointwise(bit_cast_op<T>{}, std::forward<Operand>(operand));
}

}  // namespace tenon
