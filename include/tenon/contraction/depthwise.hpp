// tenon/contraction/depthwise.hpp: convolutions with few channels in a group, on devices.
// A result sums few products, so nothing is laid out for matrix units: threads add up the taps of their windows.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/matrix_lines.hpp>
#include <tenon/device/divisor.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

inline constexpr int depthwise_block = 256;

/// Where taps see images, in numbers of 32 bits.
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
  /// As that of patch_geometry.
  TENON_HOST_DEVICE int place(int axis, int window, int tap) const {
    const int spread = window * stride[axis] + tap * dilation[axis] - padding[axis], step = image_step[axis];
    if (spread < 0) return -1;
    const int found = step == 1 ? spread : spread / step;
    return found < image[axis] && found * step == spread ? found : -1;
  }
};

/// What a convolution is made of, by the axes of its node: images [groups, n, c, ...], weight [groups, o, c, ...] and
/// results [n, groups, o, ...], as many behind as windows have. Of packets, those of all neighbouring groups, the axis
/// of groups has changed places with the last one.
template <int Rank, class Image, class Weight, class Target, class Program>
struct convolution_programs {
  static constexpr int axes = Rank + 3;
  Image image;
  Weight weight;
  Target target;
  Program program;
};

/// Each thread computes the results of `run` windows that follow each other along the last axis but one. Neighbouring
/// threads have neighbouring windows along the last axis, or of `Size` > 1 groups each, neighbouring packets of them.
template <class Number, int Size, int Rank, class Programs>
struct depthwise_kernel {
  static constexpr const char* name = "depthwise";
  static constexpr int max_threads = depthwise_block, packet = Size, axes = Rank + 3;
  static constexpr int last = Rank - 1, run_axis = Rank - 2, run = Rank == 1 ? 1 : 4;

  Programs programs;
  narrow_windows<Rank> windows;
  int channels;                 // of a group
  array<divisor, axes> counts;  // of n, groups or their packets, results of a group, and runs of windows
  int count;                    // all of them

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int number = device.block().x * depthwise_block + device.thread();
    if (number >= count) return;
    const auto first = place_of(number);
    taps work{{}, {}, {}, first};
    for (auto& row : work.sums) {
      for (Number& each : row) each = Number(0);
    }
    work.image[0] = work.weight[0] = first[1], work.image[1] = first[0], work.weight[1] = first[2];
    for (int channel = 0; channel < channels; ++channel) {
      work.image[2] = work.weight[2] = channel;
      add_taps<0>(work);
    }
    for (int i = 0; i < run; ++i) store(work, i);
  }

 private:
  using position = array<index, axes>;
  /// The windows of a thread: the first of them, and what is seen of image and weight.
  struct taps {
    Number sums[run][Size];
    position image, weight, first;
    array<int, run> rows{};  // of the image that the windows see, -1 where none
  };

  /// Numbers run along the last axis first; of packets, along groups first.
  TENON_HOST_DEVICE position place_of(int number) const {
    position result{};
    auto rest = static_cast<std::uint32_t>(number);
    const auto take = [&](int axis) {
      const std::uint32_t quotient = counts[axis].quotient(rest);
      result[axis] = static_cast<index>(rest - quotient * counts[axis].number());
      rest = quotient;
    };
    if constexpr (Size > 1) take(1);
    for (int axis = axes - 1; axis >= 0; --axis) {
      if (axis != 1 || Size == 1) take(axis);
    }
    if constexpr (Size > 1) result[1] *= Size;
    if constexpr (Rank > 1) result[3 + run_axis] *= run;
    return result;
  }
  template <int Axis>
  TENON_HOST_DEVICE TENON_INLINE void add_taps(taps& work) const {
    const int window = static_cast<int>(work.first[3 + Axis]);
    for (int tap = 0; tap < windows.kernel[Axis]; ++tap) {
      work.weight[3 + Axis] = tap;
      if constexpr (Axis == run_axis) {
        for (int i = 0; i < run; ++i) work.rows[i] = windows.place(Axis, window + i, tap);
        add_taps<Axis + 1>(work);
      } else {
        const int place = windows.place(Axis, window, tap);
        if (place < 0) continue;
        work.image[3 + Axis] = place;
        if constexpr (Axis == last) add_tap(work);
        else add_taps<Axis + 1>(work);
      }
    }
  }
};

}  // namespace tenon
