// tests/contraction/channels_last.hpp: convolutions of images with channels last, beside those of the host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "contraction/kernel_cases.hpp"

namespace tenon_test {

/// [n, c, ...] in memory as [n, ..., c].
template <class Space, class T, int Axes>
class channels_last_tensor {
 public:
  explicit channels_last_tensor(const tenon::tensor<T, tenon::rank<Axes>>& values)
      : memory_(tenon::evaluated_tensor(inner_last(values)).template to<Space>()) {}
  explicit channels_last_tensor(const tenon::rank<Axes>& extents)
      : channels_last_tensor(tenon::evaluated_tensor(tenon::zeros<T>(extents))) {}

  auto view() { return channels_second(memory_); }
  std::vector<double> numbers() const {
    const auto here = memory_.template to<tenon::host>();
    return numbers_of(tenon::evaluated_tensor(channels_second(here)));
  }

 private:
  template <class E>
  static auto inner_last(const E& x) {
    if constexpr (Axes == 3) return tenon::permute(x, tenon::axis<0, 2, 1>);
    else if constexpr (Axes == 4) return tenon::permute(x, tenon::axis<0, 2, 3, 1>);
    else return tenon::permute(x, tenon::axis<0, 2, 3, 4, 1>);
  }
  template <class E>
  static auto channels_second(E& x) {
    if constexpr (Axes == 3) return tenon::permute(x, tenon::axis<0, 2, 1>);
    else if constexpr (Axes == 4) return tenon::permute(x, tenon::axis<0, 3, 1, 2>);
    else return tenon::permute(x, tenon::axis<0, 4, 1, 2, 3>);
  }

  tenon::tensor<T, tenon::rank<Axes>, Space> memory_;
};

/// A convolution of `Rank` axes.
template <int Rank>
struct convolution_case {
  tenon::index images, channels, outputs;  // channels of a group, outputs of all
  tenon::array<tenon::index, Rank> image, kernel;
  tenon::window_geometry<Rank> geometry{};

  tenon::rank<Rank + 2> image_extents() const { return extents(images, channels * geometry.groups, image); }
  tenon::rank<Rank + 2> weight_extents() const { return extents(outputs, channels, kernel); }
  tenon::rank<Rank + 2> result_extents() const {
    return extents(images, outputs, tenon::window_counts(image, kernel, geometry));
  }

 private:
  static tenon::rank<Rank + 2> extents(tenon::index first, tenon::index second,
                                       const tenon::array<tenon::index, Rank>& others) {
    return tenon::rank<Rank + 2>(tenon::detail::with_spatial(first, second, others));
  }
};

/// Such as are hard in some way: edges, strides, dilation, groups, channels that fill no chunk.
inline std::vector<convolution_case<2>> hard_convolutions() {
  return {{2, 16, 24, {{9, 8}}, {{3, 3}}, {.padding = {{1, 1}}}},
          {3, 16, 5, {{7, 11}}, {{3, 2}}, {.stride = {{2, 3}}, .padding = {{2, 1}}, .dilation = {{1, 2}}}},
          {2, 32, 32, {{5, 6}}, {{1, 3}}, {.padding = {{0, 1}}, .groups = 2}},
          {1, 3, 16, {{12, 10}}, {{5, 5}}, {.stride = {{2, 2}}, .padding = {{2, 2}}}},
          {2, 40, 72, {{6, 6}}, {{3, 3}}, {.padding = {{1, 1}}, .extra_padding = {{1, 0}}}},
          {1, 8, 8, {{4, 4}}, {{4, 4}}, {}}};
}

}  // namespace tenon_test
