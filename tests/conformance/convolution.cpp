// tests/conformance/convolution.cpp: convolutions and transposed convolutions.
// Cases have one, two or three axes behind the channels; attributes become a geometry of as many.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/windows.hpp"

#include <tenon/products.hpp>

namespace conformance {

namespace {

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

}  // namespace

void add_convolution(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Conv"] = of_rank<convolve<1, Space>, convolve<2, Space>, convolve<3, Space>>;
    table["ConvTranspose"] =
        of_rank<convolve_transpose<1, Space>, convolve_transpose<2, Space>, convolve_transpose<3, Space>>;
  });
}

}  // namespace conformance
