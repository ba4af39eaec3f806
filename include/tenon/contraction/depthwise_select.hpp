// tenon/contraction/depthwise_select.hpp: which convolutions run window by window, and in which packets.
// Those of several groups with few channels and results each; single ones that lie side by side are read in packets.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/depthwise.hpp>
#include <tenon/contraction/matrix_lines.hpp>
#include <tenon/contraction/plain_convolution.hpp>

namespace tenon {

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

/// A convolution of images [groups, n, c, ...] with results [n, groups, o, ...].
template <int Rank, class Programs>
struct depthwise_problem {
  Programs programs;
  patch_geometry<Rank> geometry;
  array<index, Rank + 3> image_extents, result_extents;

  index groups() const { return result_extents[1]; }
  /// Whether all of it can be counted in 31 bits, and there is an image to read.
  bool is_narrow() const {
    constexpr index limit = dividend_limit / 2;
    const index seen = count_between(image_extents, 0, Rank + 3);
    return seen > 0 && seen < limit && count_between(result_extents, 0, Rank + 3) < limit;
  }
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
  int lanes = 1;
  while (Size > 1 && lanes < warp_size && lanes < packets) lanes *= 2;
  const index each = depthwise_block / lanes, across = Size == 1 ? 1 : (packets + lanes - 1) / lanes;
  const kernel_type kernel{problem.programs,
                           narrow_windows<Rank>(problem.geometry),
                           static_cast<int>(problem.image_extents[2]),
                           static_cast<int>(problem.groups()),
                           divisors,
                           static_cast<int>(count),
                           lanes};
  const auto weights = Size == 1 ? 0 : static_cast<int>(problem.geometry.taps()) * lanes * Size;
  launch<Space>(launch_shape{.grid = {static_cast<int>((count + each - 1) / each), static_cast<int>(across)},
                             .block = depthwise_block,
                             .shared_bytes = shared_bytes_of<Number>(weights)},
                kernel);
}

}  // namespace detail

/// Evaluates a convolution with few channels in a group in one launch, its sums kept as `Number`; returns false, and
/// has done nothing, where there are more.
template <class Space, class Number, class T, int TargetRank, class E>
bool try_depthwise(const strided_target<T, TargetRank>& whole, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  if constexpr (detail::is_convolution<product_type>) {
    constexpr int rank = product_type::spatial_axes;
    const auto map = result_map(product);
    const auto weights = product.left_extents();
    const auto programs = detail::make_depthwise_programs(
        product.lower_image(), product.lower_left(), detail::mapped_target(whole, map), node.template lower<0>(map));
    detail::depthwise_problem<rank, std::remove_const_t<decltype(programs)>> problem{
        programs, product.patches(), {}, result_extents(product)};
    problem.image_extents = {{weights[0], problem.result_extents[0], weights[2]}};
    for (int i = 0; i < rank; ++i) problem.image_extents[3 + i] = problem.geometry.image[i];
    const index channels = weights[2], results = weights[1];
    const bool has_few = channels <= most_depthwise_channels && results <= most_depthwise_channels;
    if (problem.groups() < 2 || !has_few || !problem.is_narrow()) return false;
    using programs_type = std::remove_const_t<decltype(programs)>;
    constexpr int size = detail::depthwise_packet<programs_type>;
    if constexpr (size > 1) {
      const index weight_bytes = problem.geometry.taps() * warp_size * size * static_cast<index>(sizeof(Number));
      if (channels == 1 && results == 1 && weight_bytes <= most_depthwise_weights &&
          detail::pack_groups<size>(problem)) {
        detail::launch_depthwise<Space, Number, size>(problem);
        return true;
      }
    }
    detail::launch_depthwise<Space, Number, 1>(problem);
    return true;
  } else {
    return false;
  }
}

}  // namespace tenon
