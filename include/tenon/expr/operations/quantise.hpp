// tenon/expr/operations/quantise.hpp: real numbers as small integers and back: scale * (integer - zero point).
// Scale and zero point are numbers, or one for each position along an axis; any that broadcast over x will do.
// Floor 2: may include base, core, device, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd_rounding.hpp>
#include <tenon/expr/operations/arithmetic.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/rounding.hpp>
#include <tenon/expr/operations/where_cast.hpp>
#include <tenon/expr/views/reshape.hpp>

namespace tenon {

/// x after it has been quantised and dequantised.
template <dtype T>
struct fake_quantise_op : floating_result {
  static_assert(is_integer<T>, "tenon: numbers are quantised to integers");
  static constexpr const char* name = "fake_quantise";
  static constexpr double least = static_cast<double>(lowest_value<T>()),
                          greatest = static_cast<double>(highest_value<T>());

  template <class V>
  TENON_HOST_DEVICE TENON_INLINE static V value(V x, V scale, V zero_point) {
    const V step = simd::rounded<simd::rounding::nearest_even>(x / scale) + zero_point;
    return (clamp_op::value(step, simd::constant_like<V>(least), simd::constant_like<V>(greatest)) - zero_point) *
           scale;
  }
  static auto gradient(of_operand<0>, const auto& g, const auto&, const auto& x, const auto& s, const auto& z) {
    return apply_op<where_op>(is_in_range(x, s, z), g, 0);
  }
  static auto gradient(of_operand<1>, const auto& g, const auto& y, const auto& x, const auto& s, const auto& z) {
    return g * ((y - apply_op<where_op>(is_in_range(x, s, z), x, 0)) / s);
  }
  static auto gradient(of_operand<2>, const auto& g, const auto&, const auto& x, const auto& s, const auto& z) {
    return apply_op<where_op>(is_in_range(x, s, z), 0, g * -s);
  }

 private:
  static auto is_in_range(const auto& x, const auto& scale, const auto& zero_point) {
    const auto step = apply_op<round_op>(x / scale) + zero_point;
    return apply_op<clamp_op>(step, least, greatest) == step;
  }
};

namespace detail {

/// Numbers along axis `Axis` of an operand of `Rank` axes, or one number for all.
template <int Rank, int Axis, class Numbers>
auto along_axis(Numbers&& numbers) {
  if constexpr (tensor_operand<Numbers>) {
    static_assert(std::remove_cvref_t<Numbers>::shape_type::rank == 1, "tenon: numbers along an axis are a vector");
    return with_unit_axes<Rank - 1 - only_axis<Rank>(axis_list<Axis>{})>(as_node(std::forward<Numbers>(numbers)));
  } else {
    return numbers;
  }
}

}  // namespace detail

/// The integer of type `T` nearest to x / scale + zero_point: round(x / scale), the even one of two as near, plus
/// zero_point, and the nearest number of T where that is beyond its range; NaN gives 0.
/// types     x floating; of the type of x / scale up to the last step
/// cost      none of its own: pointwise
/// source    ONNX QuantizeLinear, torch.quantize_per_tensor
/// example   const auto bytes = evaluated_tensor(quantise<std::int8_t>(x, scale, 0));
template <dtype T, tensor_operand Operand, class Scale, class ZeroPoint = int>
  requires operands_of_expression<Operand, Scale, ZeroPoint>
auto quantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point = 0) {
  static_assert(is_integer<T>, "tenon: numbers are quantised to integers");
  return cast<T>(round(std::forward<Operand>(x) / std::forward<Scale>(scale)) + std::forward<ZeroPoint>(zero_point));
}
/// The same with a scale, and a zero point or one for all, for each position along an axis.
/// source    torch.quantize_per_channel
/// example   quantise<std::int8_t>(weight, scales, 0, axis<0>)
template <dtype T, tensor_operand Operand, class Scale, class ZeroPoint, int Axis>
auto quantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  return quantise<T>(std::forward<Operand>(x), detail::along_axis<rank, Axis>(std::forward<Scale>(scale)),
                     detail::along_axis<rank, Axis>(std::forward<ZeroPoint>(zero_point)));
}

/// The numbers that integers stand for: (x - zero_point) * scale.
/// types     float, or what float and the scale promote to
/// cost      none of its own: pointwise; a product reads integers, `matmul(dequantise(x, scale), y)`
/// source    ONNX DequantizeLinear, torch.dequantize
/// example   y = dequantise(bytes, scale, 0);
template <tensor_operand Operand, class Scale, class ZeroPoint = int>
  requires operands_of_expression<Operand, Scale, ZeroPoint>
auto dequantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point = 0) {
  return (cast<float>(std::forward<Operand>(x)) - std::forward<ZeroPoint>(zero_point)) * std::forward<Scale>(scale);
}
template <tensor_operand Operand, class Scale, class ZeroPoint, int Axis>
auto dequantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  return dequantise(std::forward<Operand>(x), detail::along_axis<rank, Axis>(std::forward<Scale>(scale)),
                    detail::along_axis<rank, Axis>(std::forward<ZeroPoint>(zero_point)));
}

/// dequantise(quantise<T>(x, scale, zero_point), scale, zero_point) for training: gradients pass through the rounding,
/// and are 0 for numbers beyond the range of T. NaN stays NaN.
/// gradient  of x: that of the result, within the range of T; of scale and zero_point as in learned step sizes
/// source    Jacob and others 2018: Quantization and training of neural networks for efficient integer-arithmetic-only
///           inference; Esser and others 2020: Learned step size quantization; torch.fake_quantize_per_tensor_affine
/// example   y = fake_quantise<std::int8_t>(x, scale, 0.0f);
template <dtype T, tensor_operand Operand, class Scale, class ZeroPoint = int>
  requires operands_of_expression<Operand, Scale, ZeroPoint>
auto fake_quantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point = 0) {
  return make_pointwise(fake_quantise_op<T>{}, std::forward<Operand>(x), std::forward<Scale>(scale),
                        std::forward<ZeroPoint>(zero_point));
}
template <dtype T, tensor_operand Operand, class Scale, class ZeroPoint, int Axis>
auto fake_quantise(Operand&& x, Scale&& scale, ZeroPoint&& zero_point, axis_list<Axis>) {
  constexpr int rank = std::remove_cvref_t<Operand>::shape_type::rank;
  return fake_quantise<T>(std::forward<Operand>(x), detail::along_axis<rank, Axis>(std::forward<Scale>(scale)),
                          detail::along_axis<rank, Axis>(std::forward<ZeroPoint>(zero_point)));
}

}  // namespace tenon
