// tenon/contraction/narrow_windows.hpp: where the taps of windows see images, in numbers of 32 bits.
// Kernels that go from tap to tap count with them; the host has checked that all of them fit.
// Floor 4: may include expr, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/window_geometry.hpp>

namespace tenon {

/// The geometry of windows along `Rank` axes, in numbers of 32 bits.
template <int Rank>
struct narrow_windows {
  array<int, Rank> image, kernel, output, stride, dilation, padding, image_step;

  explicit narrow_windows(const patch_geometry<Rank>& windows) {
    for (int i = 0; i < Rank; ++i) {
      image[i] = static_cast<int>(windows.image[i]), kernel[i] = static_cast<int>(windows.kernel[i]);
      output[i] = static_cast<int>(windows.output[i]), stride[i] = static_cast<int>(windows.stride[i]);
      dilation[i] = static_cast<int>(windows.dilation[i]), padding[i] = static_cast<int>(windows.padding[i]);
      image_step[i] = static_cast<int>(windows.image_step[i]);
    }
  }
  /// Whether windows and taps move by one along an axis.
  TENON_HOST_DEVICE bool slide(int axis) const {
    return stride[axis] == 1 && dilation[axis] == 1 && image_step[axis] == 1;
  }
  /// `place` along such an axis; `spread` is window + tap.
  TENON_HOST_DEVICE int place_sliding(int axis, int spread) const {
    const int found = spread - padding[axis];
    return static_cast<unsigned>(found) < static_cast<unsigned>(image[axis]) ? found : -1;
  }
  /// As patch_geometry::place.
  TENON_HOST_DEVICE int place(int axis, int window, int tap) const {
    const int spread = window * stride[axis] + tap * dilation[axis] - padding[axis], step = image_step[axis];
    if (spread < 0) return -1;
    const int found = step == 1 ? spread : spread / step;
    return found < image[axis] && found * step == spread ? found : -1;
  }
};

}  // namespace tenon
