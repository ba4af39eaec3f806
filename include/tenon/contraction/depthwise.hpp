// tenon/contraction/depthwise.hpp: convolutions with few channels in a group, on devices.
// A result sums few products, so nothing is laid out for matrix units: threads add up the taps of their windows.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/tile.hpp>
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

/// What a convolution is made of, by axes: images [groups, n, c, ...], weight [groups, o, c, ...] and results
/// [n, groups, o, ...], with as many axes behind these as windows have.
template <class ImageProgram, class WeightProgram, class Target, class Program>
struct depthwise_programs {
  ImageProgram image;
  WeightProgram weight;
  Target target;
  Program result;
};

/// Each thread computes the results of `run` windows that follow each other along the last axis but one. Neighbouring
/// threads have neighbours along the last axis; or, where `Size` > 1, packets of neighbouring groups of one channel
/// each, whose axis then has changed places with the last one in images and results. Their weights pass through shared
/// memory.
template <class Number, int Size, int Rank, class Programs>
struct depthwise_kernel {
  static constexpr const char* name = "depthwise";
  static constexpr int max_threads = depthwise_block, packet = Size, axes = Rank + 3;
  static constexpr int run_axis = Rank - 2, run = Rank == 1 ? 1 : 4;

  Programs programs;
  narrow_windows<Rank> windows;
  int channels, groups;
  array<divisor, axes> counts;  // of results along each axis, in runs; 1 group where packets are of several
  int count;                    // all of these
  int lanes;                    // of a block that have neighbouring packets

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto weights = shared_weights(device);
    const int number = device.block().x * (depthwise_block / lanes) + device.thread() / lanes;
    window_run work{first_of(number), {}, {}, {}, {}};
    if constexpr (Size > 1) work.first[1] = first_group(device) + device.thread() % lanes * Size;
    if (number >= count || work.first[1] >= groups) return;
    work.image[0] = work.first[1], work.image[1] = work.first[0];
    for (auto& row : work.sums) {
      for (Number& each : row) each = Number(0);
    }
    for (int channel = 0; channel < channels; ++channel) {
      work.image[2] = channel;
      add_taps<0>(device, weights, work, channel);
    }
    for (int i = 0; i < run; ++i) store(work, i);
  }

 private:
  using position = array<index, axes>;
  /// What a thread computes: its first result, and what it sees.
  struct window_run {
    position first, image;
    position taps;
    array<int, run> rows;  // of the image that its windows see, -1 where none
    array<Number, Size> sums[run];
  };

  TENON_HOST_DEVICE int taps_of_channel() const {
    int result = 1;
    for (const int taps : windows.kernel) result *= taps;
    return result;
  }
  TENON_HOST_DEVICE int tile() const { return lanes * Size; }  // groups of a block
  template <class Device>
  TENON_HOST_DEVICE int first_group(Device& device) const {
    return device.block().y * tile();
  }
  /// The weights of a block's groups, tap by tap.
  template <class Device>
  TENON_HOST_DEVICE auto shared_weights(Device& device) const {
    const int taps = taps_of_channel();
    const auto weights = device.template shared<Number>(Size == 1 ? 0 : taps * tile());
    if constexpr (Size > 1) {
      for (int i = device.thread(); i < taps * tile(); i += depthwise_block) {
        position at{};
        at[0] = first_group(device) + i / taps;
        int rest = i % taps;
        for (int axis = Rank - 1; axis >= 0; --axis) {
          at[3 + axis] = rest % windows.kernel[axis];
          rest /= windows.kernel[axis];
        }
        weights.store(i % taps * tile() + i / taps, at[0] < groups ? weight(at) : Number(0));
      }
      device.sync();
    }
    return weights;
  }
  TENON_HOST_DEVICE Number weight(const position& at) const {
    return static_cast<Number>(programs.weight.at(at).value(0, no_slots{}));
  }
  TENON_HOST_DEVICE position first_of(int number) const {
    position result{};
    auto rest = static_cast<std::uint32_t>(number);
    for (int axis = axes - 1; axis >= 0; --axis) {
      const std::uint32_t quotient = counts[axis].quotient(rest);
      result[axis] = static_cast<index>(rest - quotient * counts[axis].number());
      rest = quotient;
    }
    if constexpr (Rank > 1) result[3 + run_axis] *= run;
    return result;
  }

  /// The taps along `Axis` and those behind it; `number` is that of the taps before.
  template <int Axis, class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void add_taps(Device& device, const Weights& weights, window_run& work,
                                               int number) const {
    if constexpr (Axis == Rank) {
      add_tap(device, weights, work, number);
    } else {
      const int window = static_cast<int>(work.first[3 + Axis]);
      for (int tap = 0; tap < windows.kernel[Axis]; ++tap) {
        work.taps[3 + Axis] = tap;
        if constexpr (Axis == run_axis) {
          for (int i = 0; i < run; ++i) work.rows[i] = windows.place(Axis, window + i, tap);
        } else {
          const int place = windows.place(Axis, window, tap);
          if (place < 0) continue;
          work.image[3 + Axis] = place;
        }
        add_taps<Axis + 1>(device, weights, work, number * windows.kernel[Axis] + tap);
      }
    }
  }
  /// Adds one tap of all windows. What lies outside is read somewhere inside, so that no access waits for a branch.
  template <class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void add_tap(Device& device, const Weights& weights, window_run& work,
                                              int number) const {
    array<Number, Size> factors, seen[run];
    if constexpr (Size > 1) {
      constexpr int chunk = chunk_size<Number> < Size ? chunk_size<Number> : Size;
      const int first = number * tile() + device.thread() % lanes * Size;
      for (int k = 0; k < Size; k += chunk) {
        const auto part = weights.template load_vector<chunk>(first + k);
        for (int j = 0; j < chunk; ++j) factors[k + j] = part[j];
      }
    } else {
      position at = work.taps;
      at[0] = work.first[1], at[1] = work.first[2], at[2] = work.image[2];
      factors[0] = weight(at);
    }
    for (int i = 0; i < run; ++i) {
      position at = work.image;
      if constexpr (Rank > 1) at[3 + run_axis] = work.rows[i] < 0 ? 0 : work.rows[i];
      const auto cursor = programs.image.at(packed<0>(at));
      const auto fetched = fetch<Size>(cursor);
      for (int k = 0; k < Size; ++k) seen[i][k] = static_cast<Number>(value_from(cursor, fetched, k));
    }
    for (int i = 0; i < run; ++i) {
      for (int k = 0; k < Size; ++k) work.sums[i][k] += work.rows[i] < 0 ? Number(0) : factors[k] * seen[i][k];
    }
  }
  /// A position with the axis of groups where the programs have it.
  template <int Groups>
  TENON_HOST_DEVICE static position packed(position at) {
    if constexpr (Size > 1) {
      const index group = at[Groups];
      at[Groups] = at[axes - 1], at[axes - 1] = group;
    }
    return at;
  }
  TENON_HOST_DEVICE TENON_INLINE void store(const window_run& work, int i) const {
    position at = work.first;
    if constexpr (Rank > 1) {
      at[3 + run_axis] += i;
      if (at[3 + run_axis] >= windows.output[run_axis]) return;
    }
    at = packed<1>(at);
    const auto to = programs.target.at(at);
    if constexpr (Size > 1) {
      const auto cursor = bind_slots(programs.result.at(at), accumulator_packet<Number, Size>{work.sums[i]});
      write_packet<Size>(to, cursor, fetch<Size>(cursor));
    } else {
      const auto value = programs.result.at(at).value(0, accumulator_slot<Number>{work.sums[i][0]});
      *to = static_cast<std::remove_reference_t<decltype(*to)>>(value);
    }
  }
};

}  // namespace tenon
