// tenon/kernels/pointwise.hpp: the kernel of pointwise statements.
// A thread computes all outputs of its positions before it stores any, so in-place statements are safe.
// Floor 4: may include base, core, device, expr, plan, kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

/// Evaluates each program over `extents` into its target; threads stride over the grid.
template <int Rank, class Targets, class Programs>
struct pointwise_kernel {
  static constexpr const char* name = "pointwise";
  array<index, Rank> extents;
  Targets targets;
  Programs programs;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const index count = count_between(extents, 0, Rank);
    const index stride = static_cast<index>(device.grid_size().x) * device.block_size();
    for (index i = static_cast<index>(device.block().x) * device.block_size() + device.thread(); i < count;
         i += stride) {
      array<index, Rank> position{};
      set_position(position, extents, 0, Rank, i);
      store(position, std::make_integer_sequence<int, Targets::count>{});
    }
  }

 private:
  template <int... I>
  TENON_HOST_DEVICE void store(const array<index, Rank>& position, std::integer_sequence<int, I...>) const {
    const auto values = make_tuple_of(get<I>(programs).at(position).value(0, no_slots{})...);
    (store_one(*get<I>(targets).at(position), get<I>(values)), ...);
  }
  template <class T, class Value>
  TENON_HOST_DEVICE static void store_one(T& element, Value value) {
    element = static_cast<T>(value);
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

/// Evaluates each program over `extents` into its target, in one launch.
template <class Space, int Rank, class... Targets, class... Programs>
void run_pointwise_kernel(array<index, Rank> extents, tuple<Targets...> targets, tuple<Programs...> programs) {
  merge_axes(extents, 0, Rank, [&](auto&& visitor) {
    apply_tuple([&](auto&... target) { (target.visit(visitor), ...); }, targets);
    apply_tuple([&](auto&... program) { (program.visit(visitor), ...); }, programs);
  });
  const index count = count_between(extents, 0, Rank);
  const pointwise_kernel<Rank, tuple<Targets...>, tuple<Programs...>> kernel{extents, targets, programs};
  launch<Space>(launch_shape{.grid = {detail::blocks_for(count)}, .block = detail::kernel_block}, kernel);
}

}  // namespace tenon
