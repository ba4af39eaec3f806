// tenon/expr/operations/rules.hpp: which element type an operation gives and computes in.
// An operation inherits one of these rules; its struct then holds only a name and a value.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_batch.hpp>
#include <tenon/device/simd_lanes.hpp>
#include <tenon/expr/node.hpp>

namespace tenon {

namespace detail {

struct no_element {};

template <class Element, class Operand>
constexpr auto promote_tensors() {
  using next = typename Operand::element;
  if constexpr (is_scalar_node<Operand>) {
    return std::type_identity<Element>{};
  } else if constexpr (std::is_same_v<Element, no_element>) {
    return std::type_identity<next>{};
  } else {
    return std::type_identity<promote<Element, next>>{};
  }
}

template <class Element, class Operand>
constexpr auto promote_numbers() {
  if constexpr (!is_scalar_node<Operand>) {
    return std::type_identity<Element>{};
  } else if constexpr (std::is_same_v<Element, no_element>) {
    return std::type_identity<typename Operand::element>{};
  } else {
    return std::type_identity<promote_scalar<Element, typename Operand::element>>{};
  }
}

template <class Element, class... Operands>
struct fold_elements {
  using tensors = Element;
  using numbers = Element;
};
template <class Element, class First, class... Rest>
struct fold_elements<Element, First, Rest...> {
  using tensors = typename fold_elements<typename decltype(promote_tensors<Element, First>())::type, Rest...>::tensors;
  using numbers = typename fold_elements<typename decltype(promote_numbers<Element, First>())::type, Rest...>::numbers;
};

}  // namespace detail

/// The promoted element type of several nodes: tensors among themselves first, then numbers, which never widen.
template <class... Operands>
using promoted_element =
    typename detail::fold_elements<typename detail::fold_elements<detail::no_element, Operands...>::tensors,
                                   Operands...>::numbers;

/// Operands and result share the promoted type: arithmetic.
struct promoting {
  template <class... Operands>
  using element = promoted_element<Operands...>;
  template <int, class... Operands>
  using operand = promoted_element<Operands...>;
};

/// As promoting, with integers taken to float: exponential, trigonometric and similar functions. They cost enough that
/// a row-resident statement computes them once and keeps the values.
struct floating_result {
  using costly = void;
  template <class... Operands>
  using element = std::conditional_t<is_floating<promoted_element<Operands...>>, promoted_element<Operands...>, float>;
  template <int, class... Operands>
  using operand = element<Operands...>;
};

/// Operands are promoted, the result is bool: comparison.
struct predicate {
  template <class... Operands>
  using element = bool;
  template <int, class... Operands>
  using operand = promoted_element<Operands...>;
};

/// Operands and result are bool: logic.
struct boolean {
  template <class... Operands>
  using element = bool;
  template <int, class... Operands>
  using operand = bool;
};

/// Which operand an operation's derivative is for: `Op::gradient(of_operand<I>{}, g, y, x...)` is the gradient of
/// operand I when g is that of the result y.
template <int I>
struct of_operand {};

/// The derivative of an operation of one operand that says it as `Op::slope(x)`; that of the slope itself, which
/// derivatives of higher order take, as `Op::curve(x)`.
template <class Op>
struct slope_op : floating_result {
  static constexpr const char* name = "slope";
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return Op::slope(x);
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x)
    requires requires { Op::curve(x); }
  {
    return g * Op::curve(x);
  }
};

/// For an operation that is given for numbers, `Op::number(x...)`: packs are done lane by lane.
template <class Op>
struct lanewise {
  template <class V, class... Same>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x, Same... more) {
    if constexpr (simd::is_number<V>) {
      return static_cast<V>(Op::number(x, more...));
    } else {
      using number = simd::lane_of<V>;
      const auto of_numbers = [](auto... numbers) { return static_cast<number>(Op::number(numbers...)); };
      return simd::map_lanes<number, simd::lane_of<Same>...>(of_numbers, x, more...);
    }
  }
};

/// For a function of one operand that is given for numbers and for batches of xsimd, as `Op::number(x)`.
template <class Op>
struct batchwise {
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static constexpr V value(V x) {
    return simd::in_batches<Op>(x);
  }
};

}  // namespace tenon
