// tenon/kernels/pointwise.hpp: the kernel of pointwise statements.
// A thread computes all outputs of a position before it stores any, so in-place statements are safe.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

/// Evaluates a program over `extents` into its target; threads stride over the grid.
template <int Rank, class Target, class Program>
struct pointwise_kernel {
  static constexpr const char* name = "pointwise";
  array<index, Rank> extents;
  Target target;
  Program program;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index count = count_between(extents, 0, Rank);
    const index stride = static_cast<index>(device.grid_size().x) * device.block_size();
    for (index i = static_cast<index>(device.block().x) * device.block_size() + device.thread(); i < count;
         i += stride) {
      array<index, Rank> position{};
      set_position(position, extents, 0, Rank, i);
      target.store(position, program.at(position).value(0, no_slots{}));
    }
  }
};

namespace detail {
inline constexpr int kernel_block = 256;
inline constexpr index kernel_grid_limit = 1 << 16;  // beyond this, threads take several positions

/// Blocks for `count` positions, one thread each.
constexpr int blocks_for(index count) {
  const index blocks = (count + kernel_block - 1) / kernel_block;
  return static_cast<int>(blocks < kernel_grid_limit ? blocks : kernel_grid_limit);
}
}  // namespace detail

/// Evaluates a program over `extents` into its target, in one launch.
template <class Space, int Rank, class Target, class Program>
void run_pointwise_kernel(array<index, Rank> extents, Target target, Program program) {
  merge_iteration(extents, target, program);
  const index count = count_between(extents, 0, Rank);
  const pointwise_kernel<Rank, Target, Program> kernel{extents, target, program};
  launch<Space>(launch_shape{.grid = {detail::blocks_for(count)}, .block = detail::kernel_block}, kernel);
}

}  // namespace tenon
