// tenon/nn/pool.hpp: pooling layers.
// A pool is a reduction over the axes of sliding windows; so is the search for where its gradient goes.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// The greatest value of each Kernel x Kernel window of images [batch, channels, h, w]; windows do not overlap.
/// extents   [batch, channels, h / Kernel, w / Kernel]; rows and columns that fill no window are left out
/// gradient  goes to the first greatest value of each window, as in PyTorch; NaN counts as greatest
template <index Kernel>
struct max_pool2d : stateless {
  static constexpr const char* name = "max_pool2d";

  template <shape_type Input>
  static constexpr auto output_shape(const Input& input) {
    check_rank<max_pool2d, 4, Input>();
    return shape<Input::static_extent(0), Input::static_extent(1), pooled(Input::static_extent(2)),
                 pooled(Input::static_extent(3))>(input.extent(0), input.extent(1), pooled(input.extent(2)),
                                                  pooled(input.extent(3)));
  }
  template <class Input>
  auto forward(const Input& input) const {
    return max(windows<Kernel, Kernel>(input, Kernel), axis<-2, -1>);
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination& destination) {
    if constexpr (is_wanted<Destination>) {
      if (input.extent(2) % Kernel != 0 || input.extent(3) % Kernel != 0) destination = 0.0f;
      const auto place = iota<float>(shape<Kernel, Kernel>{});
      const auto inputs = windows<Kernel, Kernel>(input, Kernel);
      const auto is_greatest = inputs == max(inputs, axis<-2, -1>) || inputs != inputs;
      const auto first = min(where(is_greatest, place, float{Kernel * Kernel}), axis<-2, -1>);
      const auto spread = new_axis<-1>(new_axis<-1>(gradient));
      windows<Kernel, Kernel>(destination, Kernel) = where(place == first, spread, 0.0f);
    }
  }

 private:
  static constexpr index pooled(index extent) { return extent == dyn ? dyn : extent / Kernel; }
};

}  // namespace tenon::nn
