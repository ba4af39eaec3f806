// tests/conformance/convolution.cpp: convolutions and transposed convolutions.
// Cases have one, two or three axes behind the channels; attributes become a geometry of as many.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/operations.hpp"

#include <tenon/expressions.hpp>

namespace conformance {

namespace {

template <int Rank>
using axis_numbers = tn::array<index, Rank>;

template <int Rank>
axis_numbers<Rank> numbers_or(const call& from, const char* name, index fallback) {
  const std::vector<index> given = from.attributes.integers(name);
  axis_numbers<Rank> result = tn::filled_array<Rank>(fallback);
  if (!given.empty()) std::copy_n(given.begin(), Rank, result.begin());
  return result;
}

/// Strides, dilations, groups, and pads in front of and behind each axis.
template <int Rank>
tn::window_geometry<Rank> geometry_of(const call& from) {
  tn::window_geometry<Rank> geometry{.stride = numbers_or<Rank>(from, "strides", 1),
                                     .dilation = numbers_or<Rank>(from, "dilations", 1),
                                     .groups = from.attributes.integer("group", 1)};
  const std::vector<index> pads = from.attributes.integers("pads");
  for (int i = 0; i < Rank && !pads.empty(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    geometry.padding[i] = pads[axis], geometry.extra_padding[i] = pads[axis + Rank] - pads[axis];
  }
  return geometry;
}

/// With the bias, where there is one.
template <int Rank, class Space, class Convolution>
array biased(const call& from, const Convolution& convolution) {
  if (!from.has(2)) return evaluated<Space>(convolution, Rank + 2);
  auto extents = tn::filled_array<Rank + 2>(index{1});
  extents[1] = from.input(2).extents[0];
  const auto bias = tensor_of<float, Space, 1>(from.input(2));
  return evaluated<Space>(convolution + tn::reshape(bias, tn::rank<Rank + 2>(extents)), Rank + 2);
}

template <int Rank, class Space>
array convolve(const call& from) {
  const auto image = tensor_of<float, Space, Rank + 2>(from.input(0)),
             weight = tensor_of<float, Space, Rank + 2>(from.input(1));
  return biased<Rank, Space>(from, tn::convolve(image, weight, geometry_of<Rank>(from)));
}

/// Padding that gives results of the wanted extents: the odd one behind for SAME_UPPER, else in front.
template <int Rank>
void fit_padding(tn::window_geometry<Rank>& geometry, const axis_numbers<Rank>& whole, const axis_numbers<Rank>& wanted,
                 bool more_behind) {
  for (int i = 0; i < Rank; ++i) {
    const index total = std::max<index>(whole[i] - wanted[i], 0), front = more_behind ? total / 2 : total - total / 2;
    geometry.padding[i] = front, geometry.extra_padding[i] = total - 2 * front;
  }
}

template <int Rank, class Space>
array convolve_transpose(const call& from) {
  const auto image = tensor_of<float, Space, Rank + 2>(from.input(0)),
             weight = tensor_of<float, Space, Rank + 2>(from.input(1));
  auto geometry = geometry_of<Rank>(from);
  auto output_padding = numbers_or<Rank>(from, "output_padding", 0);
  const std::string automatic = from.attributes.text("auto_pad", "NOTSET");
  const bool is_same = automatic.starts_with("SAME"), has_extents = from.attributes.has("output_shape");
  if (is_same || has_extents) {
    axis_numbers<Rank> whole{}, wanted = numbers_or<Rank>(from, "output_shape", 0);
    for (int i = 0; i < Rank; ++i) {
      whole[i] = (image.extent(2 + i) - 1) * geometry.stride[i] + geometry.dilation[i] * (weight.extent(2 + i) - 1) + 1;
      if (!has_extents) wanted[i] = image.extent(2 + i) * geometry.stride[i];
      output_padding[i] = std::max<index>(wanted[i] - whole[i], 0);
    }
    fit_padding(geometry, whole, wanted, automatic == "SAME_UPPER");
  }
  return biased<Rank, Space>(from, tn::convolve_transpose(image, weight, geometry, output_padding));
}

/// One of three, by the axes behind batch and channels.
template <array (*One)(const call&), array (*Two)(const call&), array (*Three)(const call&)>
array of_rank(const call& from) {
  const int axes = from.input(0).rank() - 2;
  return axes == 1 ? One(from) : axes == 2 ? Two(from) : Three(from);
}

}  // namespace

void add_convolution(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Conv"] = of_rank<convolve<1, Space>, convolve<2, Space>, convolve<3, Space>>;
    table["ConvTranspose"] =
        of_rank<convolve_transpose<1, Space>, convolve_transpose<2, Space>, convolve_transpose<3, Space>>;
  });
}

}  // namespace conformance
