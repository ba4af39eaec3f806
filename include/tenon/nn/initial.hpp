// tenon/nn/initial.hpp: first values of parameters.
// Names, defaults and bounds are those of torch.nn.init; numbers are functions of a seed, the same on every space.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/layer.hpp>
#include <tenon/products.hpp>

namespace tenon::nn::initial {

/// The activation behind a layer, for which its initial weights are scaled.
enum class nonlinearity { linear, sigmoid, tanh, relu, leaky_relu, selu };

/// The factor of weights before a nonlinearity, so that values keep their variance: torch's calculate_gain.
inline float gain_of(nonlinearity behind, float slope = 0.01f) {
  switch (behind) {
    case nonlinearity::tanh:
      return 5.0f / 3.0f;
    case nonlinearity::relu:
      return std::sqrt(2.0f);
    case nonlinearity::leaky_relu:
      return std::sqrt(2.0f / (1.0f + slope * slope));
    case nonlinearity::selu:
      return 0.75f;
    default:
      return 1.0f;
  }
}

/// Whether values keep their variance on the way forward, or gradients on the way back.
enum class fan { in, out };

/// How many inputs an output is a sum of (`in`), and how many outputs an input goes to (`out`).
struct fan_counts {
  float in, out;

  constexpr float operator[](fan side) const { return side == fan::in ? in : out; }
};

/// The fan counts of a weight [Out, In, ...]: its extents 1 and 0, times all that follow.
template <shape_type Shape>
fan_counts fans_of(const Shape& extents) {
  static_assert(Shape::rank >= 2 || must_hold<Shape>, "tenon: only weights of two axes or more have a fan in and out");
  index field = 1;
  for (int axis = 2; axis < Shape::rank; ++axis) field *= extents.extent(axis);
  return {static_cast<float>(extents.extent(1) * field), static_cast<float>(extents.extent(0) * field)};
}

/// Options of kaiming_uniform and kaiming_normal.
struct kaiming_options {
  float slope = 0;  // of leaky_relu, below 0
  fan mode = fan::in;
  nonlinearity behind = nonlinearity::leaky_relu;
};

namespace detail {

template <dtype T, shape_type Shape, memory_space Space>
tensor<T, Shape, Space>& values_of(tensor<T, Shape, Space>& weight) {
  return weight;
}
template <dtype T, shape_type Shape, memory_space Space>
tensor<T, Shape, Space>& values_of(parameter<T, Shape, Space>& weight) {
  return weight.value;
}
template <class Weight>
using element_of = typename std::remove_reference_t<decltype(values_of(std::declval<Weight&>()))>::element;

template <class Shape>
float xavier_deviation(const Shape& extents, float gain) {
  const fan_counts counts = fans_of(extents);
  return gain * std::sqrt(2.0f / (counts.in + counts.out));
}
template <class Shape>
float kaiming_deviation(const Shape& extents, const kaiming_options& options) {
  return gain_of(options.behind, options.slope) / std::sqrt(fans_of(extents)[options.mode]);
}

/// Takes from `rows` what they have in common with rows that are orthonormal.
template <class Rows, class Others>
void take_away(const Rows& rows, const Others& others) {
  rows = rows - matmul(matmul(rows, transpose(others)), others);
}

/// Draws normal numbers and makes their rows orthonormal, a block after the other, so that nearly all work is matrix
/// products; each block twice, as what rounding leaves the first time is gone the second.
/// source    Giraud, Langou, Rozloznik 2005: The loss of orthogonality in the Gram-Schmidt process
template <class T>
tensor<T, rank<2>> draw_orthonormal(const rank<2>& extents, std::uint64_t seed) {
  constexpr index block = 32;
  tensor<T, rank<2>> rows = tenon::normal<T>(extents, seed);
  const auto part = [&](index begin, index end) { return slice(rows, range(begin, end)); };
  for (index begin = 0; begin < rows.extent(0); begin += block) {
    const index end = begin + block < rows.extent(0) ? begin + block : rows.extent(0);
    for (int pass = 0; pass < 2; ++pass) {
      if (begin != 0) take_away(part(begin, end), part(0, begin));
      for (index i = begin; i < end; ++i) {
        const auto row = part(i, i + 1);
        if (i != begin) take_away(row, part(begin, i));
        const T square_of_length = sum(square(row));
        row = row / std::sqrt(square_of_length);
      }
    }
  }
  return rows;
}

}  // namespace detail

/// Fills a tensor or a layer's parameter with one number: `initial::constant(layer.bias, 0)`.
template <class Weight>
void constant(Weight& weight, float number) {
  auto& values = detail::values_of(weight);
  values = constants(values.shape(), static_cast<detail::element_of<Weight>>(number));
}
/// Fills a tensor or parameter with numbers drawn uniformly from [low, high); equal seeds draw equal numbers.
template <class Weight>
void uniform(Weight& weight, std::uint64_t seed, float low = 0, float high = 1) {
  auto& values = detail::values_of(weight);
  values = tenon::uniform<detail::element_of<Weight>>(values.shape(), seed, low, high);
}
/// Fills a tensor or parameter with normal numbers of mean `centre` and standard deviation `deviation`.
template <class Weight>
void normal(Weight& weight, std::uint64_t seed, float centre = 0, float deviation = 1) {
  auto& values = detail::values_of(weight);
  values = tenon::normal<detail::element_of<Weight>>(values.shape(), seed, centre, deviation);
}
/// Fills a tensor or parameter with normal numbers within [low, high] of the options.
/// throws    error when next to no numbers lie within
template <class Weight>
void truncated_normal(Weight& weight, std::uint64_t seed, const truncated_normal_options& options = {}) {
  auto& values = detail::values_of(weight);
  values = tenon::truncated_normal<detail::element_of<Weight>>(values.shape(), seed, options);
}

/// Fills a weight [Out, In, ...] uniformly, a compromise at which values forward and gradients backward about keep
/// their variance.
/// source    Glorot, Bengio 2010: Understanding the difficulty of training deep feedforward neural networks
template <class Weight>
void xavier_uniform(Weight& weight, std::uint64_t seed, float gain = 1) {
  const float bound = std::sqrt(3.0f) * detail::xavier_deviation(detail::values_of(weight).shape(), gain);
  uniform(weight, seed, -bound, bound);
}
/// As xavier_uniform, with normal numbers.
template <class Weight>
void xavier_normal(Weight& weight, std::uint64_t seed, float gain = 1) {
  normal(weight, seed, 0, detail::xavier_deviation(detail::values_of(weight).shape(), gain));
}

/// Fills a weight [Out, In, ...] uniformly, so that values forward (`fan::in`) or gradients backward (`fan::out`) keep
/// their variance through a nonlinearity.
/// source    He, Zhang, Ren, Sun 2015: Delving deep into rectifiers
/// example   initial::kaiming_uniform(layer.weight, 7, {.mode = initial::fan::out})
template <class Weight>
void kaiming_uniform(Weight& weight, std::uint64_t seed, const kaiming_options& options = {}) {
  const float bound = std::sqrt(3.0f) * detail::kaiming_deviation(detail::values_of(weight).shape(), options);
  uniform(weight, seed, -bound, bound);
}
/// As kaiming_uniform, with normal numbers.
template <class Weight>
void kaiming_normal(Weight& weight, std::uint64_t seed, const kaiming_options& options = {}) {
  normal(weight, seed, 0, detail::kaiming_deviation(detail::values_of(weight).shape(), options));
}

/// Draws a matrix [extent 0, all other elements] whose shorter side's rows or columns are orthogonal, of length `gain`.
/// cost      on the host, in double: 4 rows^2 columns multiply-adds of matrix products, of the shorter side's rows
/// source    Saxe, McClelland, Ganguli 2013: Exact solutions to the nonlinear dynamics of learning
template <class Weight>
void orthogonal(Weight& weight, std::uint64_t seed, float gain = 1) {
  auto& values = detail::values_of(weight);
  using shape_type = typename std::remove_reference_t<decltype(values)>::shape_type;
  static_assert(shape_type::rank >= 2 || must_hold<shape_type>, "tenon: only weights of two axes or more are matrices");
  if (values.size() == 0) return;
  const index rows = values.extent(0), columns = values.size() / rows;
  const bool is_wide = rows <= columns;
  const auto vectors =
      detail::draw_orthonormal<double>(is_wide ? rank<2>(rows, columns) : rank<2>(columns, rows), seed);
  tensor<detail::element_of<Weight>, shape_type> drawn(values.shape());
  for (index i = 0; i < drawn.size(); ++i) {
    const index row = i / columns, column = i % columns;
    const double number = gain * (is_wide ? vectors(row, column) : vectors(column, row));
    drawn.data()[i] = static_cast<detail::element_of<Weight>>(static_cast<float>(number));
  }
  values.copy_from(drawn);
}

/// Makes the weight [Out, In / groups, ...] of a convolution hand on its channels as they are, as many as it can.
/// throws    shape_error when the groups do not divide the outputs
/// source    torch.nn.init.dirac_
template <class Weight>
void dirac(Weight& weight, index groups = 1) {
  auto& values = detail::values_of(weight);
  using shape_type = typename std::remove_reference_t<decltype(values)>::shape_type;
  static_assert(shape_type::rank >= 3 || must_hold<shape_type>, "tenon: dirac is for weights of convolutions");
  const index outputs = values.extent(0), inputs = values.extent(1);
  if (groups < 1 || outputs % groups != 0) {
    throw shape_error(compose_text("dirac: ", outputs, " outputs, expected a multiple of ", groups, " groups"));
  }
  auto made = zeros<detail::element_of<Weight>>(values.shape());
  for (index output = 0; output < outputs; ++output) {
    const index input = output % (outputs / groups);
    if (input >= inputs) continue;
    index place = output * inputs + input;
    for (int axis = 2; axis < shape_type::rank; ++axis) place = place * values.extent(axis) + values.extent(axis) / 2;
    made.data()[place] = detail::element_of<Weight>(1.0f);
  }
  values.copy_from(made);
}

}  // namespace tenon::nn::initial
