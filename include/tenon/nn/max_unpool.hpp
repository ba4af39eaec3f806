// tenon/nn/max_unpool.hpp: values back to the places that a max pool found them in.
// Names and shapes are those of torch.nn.MaxUnpool1d to torch.nn.MaxUnpool3d.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/scatter.hpp>
#include <tenon/expr/views/take.hpp>
#include <tenon/nn/pool.hpp>

namespace tenon::nn {

/// Writes values [batch, channels, ...] to the places that `indices` of a max pool along `Rank` axes name, zeros
/// elsewhere.
/// extents   [batch, channels, ...]: (extent - 1) stride - 2 padding + kernel, or the size that is given
/// throws    shape_error when kernel or stride is below 1, padding negative or more than half a kernel, or an extent
///           negative or beyond 64 bits; index_error for an index outside the plane of a channel
/// cost      as `scatter`; on CUDA files include <tenon/algorithms/cuda.hpp>
/// example   const tn::traced places = pool.indices(h); ... unpool(pool(h), places)
template <int Rank>
struct max_unpool : stateless, callable<max_unpool<Rank>> {
  static constexpr const char* name = "max_unpool";
  per_axis<Rank> kernel, stride, padding;

  explicit max_unpool(const per_axis<Rank>& window, const per_axis<Rank>& step = per_axis<Rank>(0),
                      const per_axis<Rank>& border = per_axis<Rank>(0))
      : kernel(window), stride(step == per_axis<Rank>(0) ? window : step), padding(border) {
    for (int axis = 0; axis < Rank; ++axis) {
      if (kernel[axis] >= 1 && stride[axis] >= 1 && padding[axis] >= 0 && padding[axis] <= kernel[axis] / 2) continue;
      throw shape_error(compose_text("max_unpool: axis ", 2 + axis, ": kernel ", kernel[axis], ", stride ",
                                     stride[axis], ", padding ", padding[axis],
                                     ", expected at least 1, 1 and 0, padding at most half of the kernel"));
    }
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    check_rank<max_unpool, Rank + 2, Input>();
    array<index, Rank + 2> extents{{input.extent(0), input.extent(1)}};
    for (int axis = 0; axis < Rank; ++axis) {
      const checked_extent extent = (checked_extent(input.extent(2 + axis)) - 1) * stride[axis] -
                                    checked_extent(padding[axis]) * 2 + kernel[axis];
      extents[2 + axis] = extent.fits() ? extent.value() : -1;
      if (extents[2 + axis] < 0) refuse(axis, input);
    }
    return tenon::rank<Rank + 2>(extents);
  }
  template <class Input, class Indices>
  auto forward(const Input& input, const Indices& indices) const {
    return forward(input, indices, output_shape(input.shape()));
  }
  template <class Input, class Indices>
  auto forward(const Input& input, const Indices& indices, const tenon::rank<Rank + 2>& size) const {
    const auto values = as_node(input);
    using node = std::remove_const_t<decltype(values)>;
    tensor<typename node::element, tenon::rank<Rank + 2>, typename node::space> result(size);
    result = typename node::element(0.0f);
    scatter(reshape(result.write_view(), planes(size)), axis<2>, flat(as_node(indices)), flat(values));
    return result;
  }
  /// The way back of a call: places have no gradient.
  template <class Input, class Indices, class Output, class Gradient, class Destination>
  void pull(const Input&, const Indices& indices, const Output&, const Gradient& gradient,
            const Destination& destination, not_wanted) const {
    if constexpr (is_wanted<Destination>) destination = input_gradient(indices, gradient);
  }
  /// The gradient of the values, from that of the result: an expression.
  template <class Indices, class Gradient>
  auto input_gradient(const Indices& indices, const Gradient& gradient) const {
    const auto places = as_node(indices);
    const auto taken = take_along_axis(flat(as_node(gradient)), flat(places), axis<2>);
    return reshape(taken, tenon::rank<Rank + 2>(places.shape().to_array()));
  }

 private:
  template <class Input>
  [[noreturn]] void refuse(int axis, const Input& input) const {
    throw shape_error(compose_text("max_unpool: axis ", 2 + axis, ": extent ", input.extent(2 + axis), " with kernel ",
                                   kernel[axis], ", stride ", stride[axis], ", padding ", padding[axis],
                                   ", expected a result within 64 bits that is not negative"));
  }
  template <class Shape>
  static tenon::rank<3> planes(const Shape& extents) {
    index count = 1;
    for (int axis = 0; axis < Rank; ++axis) count *= extents.extent(2 + axis);
    return tenon::rank<3>(extents.extent(0), extents.extent(1), count);
  }
  template <class Node>
  static auto flat(const Node& node) {
    return reshape(node, planes(node.shape()));
  }
};

}  // namespace tenon::nn
