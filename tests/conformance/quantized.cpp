// tests/conformance/quantized.cpp: small integers that stand for real numbers, scale * (integer - zero point).
// Integers are widened within the statement that multiplies them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

/// The only element of input `i`; `fallback` where it is absent.
double number(const call& from, std::size_t i, double fallback) {
  if (!from.has(i)) return fallback;
  return with_type<float, tn::half, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t>(
      from.input(i).dtype, [&]<class T>() { return static_cast<double>(*from.input(i).elements<T>()); });
}

template <class Space>
array quantize(const call& from) {
  const auto x = tensor_of<float, Space>(from.input(0));
  const auto scale = static_cast<float>(number(from, 1, 1));
  return with_type<std::uint16_t>(from.has(2) ? from.input(2).dtype : "uint8", [&]<class T>() {
    return evaluated<Space>(tn::quantise<T>(x, scale, number(from, 2, 0)), from.input(0).rank());
  });
}

/// A number, or one for each position along `axis`.
template <class T, class Space>
auto along_axis(const call& from, std::size_t i) {
  array numbers = from.input(i);
  const int rank = from.input(0).rank(), axis = front_axis(from.attributes.integer("axis", 1), rank);
  if (numbers.rank() == 1) numbers.extents.resize(static_cast<std::size_t>(rank - axis), 1);
  return tensor_of<T, Space>(numbers);
}

template <class T, class Space>
array dequantize(const call& from) {
  const auto x = tensor_of<T, Space>(from.input(0)), zero_point = along_axis<T, Space>(from, 2);
  const auto scale = along_axis<float, Space>(from, 1);
  return evaluated<Space>(tn::dequantise(x, scale, zero_point), from.input(0).rank());
}

/// Elements less their zero point, as int32.
template <class Tensor>
auto centred(const Tensor& x, double zero_point) {
  return tn::cast<std::int32_t>(x) - static_cast<std::int32_t>(zero_point);
}

template <class Space>
array matmul_integer(const call& from) {
  const auto left = tensor_of<std::uint8_t, Space, 2>(from.input(0));
  const auto right = tensor_of<std::uint8_t, Space, 2>(from.input(1));
  return evaluated<Space>(tn::matmul(centred(left, number(from, 2, 0)), centred(right, number(from, 3, 0))), 2);
}

/// Without padding or strides, which the cases do not have.
template <class Space>
array convolve_integer(const call& from) {
  const auto image = tensor_of<std::uint8_t, Space, 4>(from.input(0));
  const auto weight = tensor_of<std::uint8_t, Space, 4>(from.input(1));
  return evaluated<Space>(tn::convolve(centred(image, number(from, 2, 0)), centred(weight, number(from, 3, 0))), 4);
}

template <class T, class Space>
array quantized_matmul(const call& from) {
  const auto left = tensor_of<T, Space, 3>(from.input(0)), right = tensor_of<T, Space, 3>(from.input(3));
  const auto scale = static_cast<float>(number(from, 6, 1) / (number(from, 1, 1) * number(from, 4, 1)));
  const auto product = tn::matmul(centred(left, number(from, 2, 0)), centred(right, number(from, 5, 0)));
  return evaluated<Space>(tn::quantise<T>(tn::cast<float>(product), scale, number(from, 7, 0)), from.input(0).rank());
}

}  // namespace

void add_quantized(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["QuantizeLinear"] = quantize<Space>;
    table["DequantizeLinear"] = [](const call& from) {
      return with_type<std::uint8_t, std::int16_t>(from.input(0).dtype,
                                                   [&]<class T>() { return dequantize<T, Space>(from); });
    };
    table["MatMulInteger"] = matmul_integer<Space>;
    table["ConvInteger"] = convolve_integer<Space>;
    table["QLinearMatMul"] = [](const call& from) {
      return with_type<std::int8_t, std::uint8_t>(from.input(0).dtype,
                                                  [&]<class T>() { return quantized_matmul<T, Space>(from); });
    };
  });
}

}  // namespace conformance
