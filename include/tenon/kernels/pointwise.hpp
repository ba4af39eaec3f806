// tenon/kernels/pointwise.hpp: the kernels of pointwise statements.
// A thread computes all outputs of a position before it stores any, so in-place statements are safe.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/kernels/packets.hpp>
#include <tenon/kernels/transposed.hpp>

namespace tenon {

/// Evaluates a program into its target, one position at a time; threads stride over the grid.
template <int Rank, class Target, class Program>
struct pointwise_kernel {
  static constexpr const char* name = "pointwise";
  static constexpr int min_blocks = resident_blocks;
  numbered_positions<Rank> positions;
  Target target;
  Program program;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index stride = static_cast<index>(device.grid_size().x) * device.block_size();
    for (index i = static_cast<index>(device.block().x) * device.block_size() + device.thread(); i < positions.count();
         i += stride) {
      const auto position = positions[i];
      target.store(position, program.at(position).value(0, no_slots{}));
    }
  }
};

/// Evaluates a program over `extents` into its target, in one launch.
template <class Space, int Rank, class Target, class Program>
void run_pointwise_kernel(array<index, Rank> extents, Target target, Program program) {
  turn_to_target(extents, target, program);
  merge_axes(extents, 0, Rank, target, program);
  if (run_packet_kernel<Space>(extents, target, program, other_sources::refused)) return;
  if (run_transposed_kernel<Space>(extents, target, program)) return;
  if (run_packet_kernel<Space>(extents, target, program, other_sources::read)) return;
  const pointwise_kernel<Rank, Target, Program> kernel{numbered_positions<Rank>(extents), target, program};
  launch<Space>(launch_shape{.grid = {blocks_for(kernel.positions.count())}, .block = kernel_block}, kernel);
}

}  // namespace tenon
