// tenon/contraction/depthwise.hpp: convolutions with few channels in a group, on devices.
// A result sums few products, so nothing is laid out for matrix units: threads add up the taps of their windows.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/matrix_lines.hpp>
#include <tenon/contraction/narrow_windows.hpp>
#include <tenon/contraction/plain_convolution.hpp>
#include <tenon/contraction/tile.hpp>
#include <tenon/device/divisor.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

inline constexpr int depthwise_block = 256;

/// What a convolution is made of, by axes: images [groups, n, c, ...], weight [groups, o, c, ...] and results
/// [n, groups, o, ...], with as many axes behind these as windows have.
template <class ImageProgram, class WeightProgram, class Target, class Program>
struct depthwise_programs {
  ImageProgram image;
  WeightProgram weight;
  Target target;
  Program result;
};

/// Each thread computes the results of `run` windows that follow each other along the last axis but one; what several
/// of them see it reads once, where windows and taps move by one. Neighbouring threads have neighbours along the last
/// axis; or, where `Size` > 1, packets of neighbouring groups of one channel each, whose axis then has changed places
/// with the last one in images and results. Their weights pass through shared memory.
template <class Number, int Size, int Rank, class Programs>
struct depthwise_kernel {
  static constexpr const char* name = "depthwise";
  static constexpr int max_threads = depthwise_block, packet = Size, axes = Rank + 3;
  static constexpr int min_blocks = 2;  // 128 registers a thread
  static constexpr int run_axis = Rank - 2, run = Rank == 1 ? 1 : 4;

  Programs programs;
  narrow_windows<Rank> windows;
  int channels, groups;
  array<divisor, axes> counts;  // of results along each axis, in runs; 1 group where packets are of several
  int count;                    // all of these
  int lane_bits;                // 1 << lane_bits threads have neighbouring packets
  divisor window_taps;
  array<divisor, Rank> taps;  // along each axis of a window

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto weights = shared_weights(device);
    const int threads = device.grid_size().x * depthwise_block;
    for (int at = device.block().x * depthwise_block + device.thread(); at >> lane_bits < count; at += threads) {
      compute_run(device, weights, at >> lane_bits);
    }
  }

 private:
  using position = array<index, axes>;
  /// What a thread computes: its first result, and what it sees.
  struct window_run {
    position first, image;
    position taps;
    array<int, run> rows;  // of the image that its windows see at a tap, -1 where none
    array<Number, Size> seen[run], sums[run];
  };

  TENON_HOST_DEVICE int tile() const { return Size << lane_bits; }  // groups of a block
  template <class Device>
  TENON_HOST_DEVICE int own_lane(Device& device) const {
    return device.thread() & ((1 << lane_bits) - 1);
  }
  template <class Device>
  TENON_HOST_DEVICE int first_group(Device& device) const {
    return device.block().y * tile();
  }
  template <class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void compute_run(Device& device, const Weights& weights, int number) const {
    window_run work{first_of(number), {}, {}, {}, {}, {}};
    if constexpr (Size > 1) work.first[1] = first_group(device) + own_lane(device) * Size;
    if (work.first[1] >= groups) return;
    work.image[0] = work.first[1], work.image[1] = work.first[0];
    for (auto& row : work.sums) {
      for (Number& each : row) each = Number(0);
    }
    for (int channel = 0; channel < channels; ++channel) {
      work.image[2] = channel;
      add_taps<0>(device, weights, work);
    }
    for (int i = 0; i < run; ++i) store(work, i);
  }
  /// The weights of a block's groups, tap by tap.
  template <class Device>
  TENON_HOST_DEVICE auto shared_weights(Device& device) const {
    const int count_of_taps = static_cast<int>(window_taps.number());
    const auto weights = device.template shared<Number>(Size == 1 ? 0 : count_of_taps * tile());
    if constexpr (Size > 1) {
      for (int i = device.thread(); i < count_of_taps * tile(); i += depthwise_block) {
        const auto group = static_cast<int>(window_taps.quotient(static_cast<std::uint32_t>(i)));
        const int number = i - group * count_of_taps;
        position at{};
        at[0] = first_group(device) + group;
        auto rest = static_cast<std::uint32_t>(number);
        for (int axis = Rank - 1; axis >= 0; --axis) {
          const std::uint32_t quotient = taps[axis].quotient(rest);
          at[3 + axis] = static_cast<index>(rest - quotient * taps[axis].number());
          rest = quotient;
        }
        weights.store(number * tile() + group, at[0] < groups ? weight(at) : Number(0));
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

  /// The axis of which taps are added `Place`-th: that of the runs last.
  template <int Place>
  static constexpr int axis_in_turn = Rank == 1 || Place < Rank - 2 ? Place
                                      : Place == Rank - 2           ? Rank - 1
                                                                    : Rank - 2;

  /// Adds the taps along the axes whose turn it is from `Place` on.
  template <int Place, class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void add_taps(Device& device, const Weights& weights, window_run& work) const {
    if constexpr (Place == Rank) {
      add_tap(device, weights, work);
    } else {
      constexpr int axis = axis_in_turn<Place>;
      const int window = static_cast<int>(work.first[3 + axis]);
      if constexpr (axis == run_axis) {
        if (windows.slide(axis)) return slide_along_taps(device, weights, work);
      }
      for (int tap = 0; tap < windows.kernel[axis]; ++tap) {
        work.taps[3 + axis] = tap;
        if constexpr (axis == run_axis) {
          TENON_UNROLLED
          for (int i = 0; i < run; ++i) see(work, i, windows.place(axis, window + i, tap));
        } else {
          const int place = windows.place(axis, window, tap);
          if (place < 0) continue;
          work.image[3 + axis] = place;
          if constexpr (Rank == 1) see(work, 0, 0);
        }
        add_taps<Place + 1>(device, weights, work);
      }
    }
  }
  /// The same along the axis of runs, where windows and taps move by one: what a window sees at a tap is what the one
  /// behind it saw at the tap before.
  template <class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void slide_along_taps(Device& device, const Weights& weights, window_run& work) const {
    int row = static_cast<int>(work.first[3 + run_axis]);
    TENON_UNROLLED
    for (int i = 0; i + 1 < run; ++i) see(work, i, windows.place_sliding(run_axis, row++));
    for (int tap = 0; tap < windows.kernel[run_axis]; ++tap) {
      work.taps[3 + run_axis] = tap;
      see(work, run - 1, windows.place_sliding(run_axis, row++));
      add_tap(device, weights, work);
      TENON_UNROLLED
      for (int i = 0; i + 1 < run; ++i) {
        work.rows[i] = work.rows[i + 1];
        for (int k = 0; k < Size; ++k) work.seen[i][k] = work.seen[i + 1][k];
      }
    }
  }
  /// Reads what window `i` of the run sees in a row. What lies outside is read somewhere inside, so that no access
  /// waits for a branch.
  TENON_HOST_DEVICE TENON_INLINE void see(window_run& work, int i, int row) const {
    position at = work.image;
    if constexpr (Rank > 1) at[3 + run_axis] = row < 0 ? 0 : row;
    const auto cursor = programs.image.at(packed<0>(at));
    const auto fetched = fetch<Size>(cursor);
    work.rows[i] = row;
    for (int k = 0; k < Size; ++k) work.seen[i][k] = static_cast<Number>(value_from(cursor, fetched, k));
  }
  /// Adds one tap of all windows that see something there.
  template <class Device, class Weights>
  TENON_HOST_DEVICE TENON_INLINE void add_tap(Device& device, const Weights& weights, window_run& work) const {
    array<Number, Size> factors;
    if constexpr (Size > 1) {
      constexpr int chunk = chunk_size<Number> < Size ? chunk_size<Number> : Size;
      int number = 0;
      for (int axis = 0; axis < Rank; ++axis) {
        number = number * windows.kernel[axis] + static_cast<int>(work.taps[3 + axis]);
      }
      const int first = number * tile() + own_lane(device) * Size;
      for (int k = 0; k < Size; k += chunk) {
        const auto part = weights.template load_vector<chunk>(first + k);
        for (int j = 0; j < chunk; ++j) factors[k + j] = part[j];
      }
    } else {
      position at = work.taps;
      at[0] = work.first[1], at[1] = work.first[2], at[2] = work.image[2];
      factors[0] = weight(at);
    }
    TENON_UNROLLED
    for (int i = 0; i < run; ++i) {
      if (work.rows[i] < 0) continue;
      for (int k = 0; k < Size; ++k) work.sums[i][k] += factors[k] * work.seen[i][k];
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

inline constexpr int most_depthwise_channels = 8;         // of a group, in images and in results
inline constexpr int most_depthwise_weights = 64 * 1024;  // bytes in shared memory

namespace detail {

/// Groups of a packet: as many as are read and written in one access.
template <class Programs>
inline constexpr int depthwise_packet = 1;
template <class Image, class Weight, class Target, class Result>
inline constexpr int depthwise_packet<depthwise_programs<Image, Weight, Target, Result>> =
    !visits_all_reads<Image>                             ? 1
    : line_packet<Image> < result_packet<Target, Result> ? line_packet<Image>
                                                         : result_packet<Target, Result>;

/// The extents of a convolution of images [groups, n, c, ...] with results [n, groups, o, ...].
template <int Rank>
struct depthwise_extents {
  patch_geometry<Rank> geometry;
  array<index, Rank + 3> image_extents, result_extents;

  index groups() const { return result_extents[1]; }
  index channels() const { return image_extents[2]; }
  index results() const { return result_extents[2]; }
  /// Whether all of it can be counted in 31 bits, and there is an image to read.
  bool is_narrow() const {
    constexpr index limit = dividend_limit / 2;
    const index seen = count_between(image_extents, 0, Rank + 3);
    return seen > 0 && seen < limit && count_between(result_extents, 0, Rank + 3) < limit;
  }
};
template <class Product>
auto depthwise_extents_of(const Product& product) {
  constexpr int rank = Product::spatial_axes;
  const auto weights = product.left_extents();
  depthwise_extents<rank> result{product.patches(), {}, result_extents(product)};
  result.image_extents = {{weights[0], result.result_extents[0], weights[2]}};
  for (int i = 0; i < rank; ++i) result.image_extents[3 + i] = result.geometry.image[i];
  return result;
}

template <int Rank, class Programs>
struct depthwise_problem : depthwise_extents<Rank> {
  Programs programs;
};

template <class Image, class Weight, class Target, class Result>
depthwise_programs<Image, Weight, Target, Result> make_depthwise_programs(const Image& image, const Weight& weight,
                                                                          const Target& target, const Result& result) {
  return {image, weight, target, result};
}

/// Exchanges the axis of groups with the last one where packets of `Size` groups can then be read and written.
template <int Size, int Rank, class Programs>
bool pack_groups(depthwise_problem<Rank, Programs>& problem) {
  constexpr int last = Rank + 2;
  auto turned = problem;
  auto& [image, weight, target, result] = turned.programs;
  stride_list<Rank + 3> of_image, of_result;
  image.visit(of_image), target.visit(of_result), result.visit(of_result);
  constexpr int capacity = stride_list<Rank + 3>::capacity;
  if (of_image.count > capacity || of_result.count > capacity || problem.groups() % Size != 0) return false;
  of_image.exchange(0, last), of_result.exchange(1, last);
  std::swap(turned.image_extents[0], turned.image_extents[last]);
  std::swap(turned.result_extents[1], turned.result_extents[last]);
  packet_check<Rank + 3, Size> image_check{turned.image_extents}, result_check{turned.result_extents};
  image.visit(image_check), target.visit(result_check), result.visit(result_check);
  if (!image_check.fits || !result_check.fits || target.step() != 1) return false;
  problem.programs = turned.programs;
  return true;
}

/// Blocks that do the work of `blocks`: a block brings its weights once for up to four times its work, and processors
/// have as many blocks as each other.
template <class Space>
int depthwise_blocks(index blocks) {
  constexpr index most = 4;
  const index processors = space_devices<Space>::multiprocessors();
  const index wanted = (blocks + most * processors - 1) / (most * processors) * processors;
  return static_cast<int>(wanted < blocks ? wanted : blocks);
}

template <class Space, class Number, int Size, int Rank, class Programs>
void launch_depthwise(const depthwise_problem<Rank, Programs>& problem) {
  using kernel_type = depthwise_kernel<Number, Size, Rank, Programs>;
  auto counts = problem.result_extents;
  if constexpr (Rank > 1) {
    auto& windows = counts[3 + kernel_type::run_axis];
    windows = (windows + kernel_type::run - 1) / kernel_type::run;
  }
  if constexpr (Size > 1) counts[1] = 1;
  array<divisor, Rank + 3> divisors{};
  for (int axis = 0; axis < Rank + 3; ++axis) divisors[axis] = divisor(counts[axis]);
  const index count = count_between(counts, 0, Rank + 3), packets = problem.groups() / Size;
  int lane_bits = 0;
  while (Size > 1 && 1 << lane_bits < warp_size && 1 << lane_bits < packets) ++lane_bits;
  array<divisor, Rank> taps{};
  for (int axis = 0; axis < Rank; ++axis) taps[axis] = divisor(problem.geometry.kernel[axis]);
  const int lanes = 1 << lane_bits;
  const index each = depthwise_block / lanes, across = Size == 1 ? 1 : (packets + lanes - 1) / lanes;
  const kernel_type kernel{problem.programs,
                           narrow_windows<Rank>(problem.geometry),
                           static_cast<int>(problem.image_extents[2]),
                           static_cast<int>(problem.groups()),
                           divisors,
                           static_cast<int>(count),
                           lane_bits,
                           divisor(problem.geometry.taps()),
                           taps};
  const auto weights = Size == 1 ? 0 : static_cast<int>(problem.geometry.taps()) * lanes * Size;
  launch<Space>(launch_shape{.grid = {depthwise_blocks<Space>((count + each - 1) / each), static_cast<int>(across)},
                             .block = depthwise_block,
                             .shared_bytes = shared_bytes_of<Number>(weights)},
                kernel);
}

}  // namespace detail

namespace on_device {

/// Convolutions of several groups with few channels and results each; one launch.
struct depthwise_windows {
  static constexpr const char* name = "depthwise windows";
  template <class Problem>
  static constexpr bool can_take = detail::is_convolution<typename Problem::product_type>;
  template <class Problem>
  static bool takes(const Problem& problem) {
    const auto extents = detail::depthwise_extents_of(problem.product);
    return extents.groups() >= 2 && extents.channels() <= most_depthwise_channels &&
           extents.results() <= most_depthwise_channels && extents.is_narrow();
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using number = typename Problem::number;
    const auto& product = problem.product;
    const auto map = result_map(product);
    const auto programs = detail::make_depthwise_programs(product.lower_image(), product.lower_left(),
                                                          detail::mapped_target(problem.target, map),
                                                          problem.node.template lower<0>(map));
    using programs_type = std::remove_const_t<decltype(programs)>;
    constexpr int rank = Problem::product_type::spatial_axes, size = detail::depthwise_packet<programs_type>;
    detail::depthwise_problem<rank, programs_type> windows{detail::depthwise_extents_of(product), programs};
    if constexpr (size > 1) {
      const index weight_bytes = windows.geometry.taps() * warp_size * size * static_cast<index>(sizeof(number));
      if (windows.channels() == 1 && windows.results() == 1 && weight_bytes <= most_depthwise_weights &&
          detail::pack_groups<size>(windows)) {
        return detail::launch_depthwise<space, number, size>(windows);
      }
    }
    detail::launch_depthwise<space, number, 1>(windows);
  }
};

}  // namespace on_device

}  // namespace tenon
