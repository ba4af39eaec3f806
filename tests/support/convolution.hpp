// tests/support/convolution.hpp: convolutions by definition.
// One walk over every product of a convolution, with any number of axes; results and gradients are sums over it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <tenon/expr/window_geometry.hpp>
#include <vector>

namespace tenon_test {

/// A convolution: extents [n, c, ...] of the image, [o, c / groups, ...] of the weight, and how many windows there are.
template <int Rank>
struct convolution_problem {
  tenon::array<tenon::index, Rank + 2> image, weight;
  tenon::window_geometry<Rank> geometry;
  tenon::array<tenon::index, Rank> windows = counted_windows();

  tenon::array<tenon::index, Rank + 2> result() const {
    tenon::array<tenon::index, Rank + 2> extents{{image[0], weight[0]}};
    for (int i = 0; i < Rank; ++i) extents[2 + i] = windows[i];
    return extents;
  }
  static tenon::array<tenon::index, Rank> behind_channels(const tenon::array<tenon::index, Rank + 2>& extents) {
    tenon::array<tenon::index, Rank> rest{};
    for (int i = 0; i < Rank; ++i) rest[i] = extents[2 + i];
    return rest;
  }

  /// Calls `use(result, image, weight)` with the offsets of the three numbers of every product.
  template <class Use>
  void for_each_product(const Use& use) const {
    const auto walk = [](const auto& extents, const auto& body) {
      auto position = extents;
      for (auto& each : position) each = 0;
      tenon::index count = 1;
      for (const auto extent : extents) count *= extent;
      for (tenon::index i = 0; i < count; ++i) {
        body(i, position);
        for (int axis = extents.size() - 1; axis >= 0 && ++position[axis] == extents[axis]; --axis) position[axis] = 0;
      }
    };
    const tenon::index channels = weight[1], of_group = weight[0] / geometry.groups;
    auto taps = weight;
    taps[0] = 1;
    walk(result(), [&](tenon::index at, const auto& output) {
      walk(taps, [&](tenon::index tap, const auto& place) {
        tenon::index offset = output[0] * image[1] + output[1] / of_group * channels + place[1];
        for (int i = 0; i < Rank; ++i) {
          const tenon::index coordinate =
              output[2 + i] * geometry.stride[i] + place[2 + i] * geometry.dilation[i] - geometry.padding[i];
          if (coordinate < 0 || coordinate >= image[2 + i]) return;
          offset = offset * image[2 + i] + coordinate;
        }
        tenon::index taps_of_channel = channels;
        for (int i = 0; i < Rank; ++i) taps_of_channel *= weight[2 + i];
        use(static_cast<std::size_t>(at), static_cast<std::size_t>(offset),
            static_cast<std::size_t>(output[1] * taps_of_channel + tap));
      });
    });
  }

 private:
  tenon::array<tenon::index, Rank> counted_windows() const {
    return tenon::window_counts(behind_channels(image), behind_channels(weight), geometry);
  }
};

/// A convolution with small extents of any kind, never without a window.
template <int Rank>
convolution_problem<Rank> random_problem(std::mt19937& generator) {
  const auto number = [&](tenon::index from, tenon::index to) {
    return std::uniform_int_distribution<tenon::index>(from, to)(generator);
  };
  tenon::window_geometry<Rank> geometry;
  tenon::array<tenon::index, Rank + 2> image{}, weight{};
  geometry.groups = number(0, 2) == 0 ? number(2, 3) : 1;
  weight[1] = number(1, 3), image[0] = number(1, 3);
  image[1] = weight[1] * geometry.groups, weight[0] = geometry.groups * number(1, 3);
  for (int i = 0; i < Rank; ++i) {
    geometry.stride[i] = number(1, 3), geometry.dilation[i] = number(1, 2), geometry.padding[i] = number(0, 3);
    geometry.extra_padding[i] = number(-geometry.padding[i], 2), weight[2 + i] = number(1, 4);
    const tenon::index least = geometry.dilation[i] * (weight[2 + i] - 1) + 1;
    const tenon::index padded = 2 * geometry.padding[i] + geometry.extra_padding[i];
    image[2 + i] = std::max<tenon::index>(least - padded, 1) + number(0, Rank == 3 ? 4 : 9);
  }
  return {image, weight, geometry};
}

}  // namespace tenon_test
