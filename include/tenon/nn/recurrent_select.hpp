// tenon/nn/recurrent_select.hpp: which kernel runs all steps of a recurrence on a device, if one can.
// 16-bit elements go to Tensor Cores, others to threads. Where no kernel fits, steps are kernels of their own.
// Floor 7: may include base, core, device, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/nn/recurrent_tiles.hpp>

namespace tenon::nn {

namespace detail {

/// The kernels of forward steps, and of the way back: by threads with `Units` hidden units a block, and on Tensor Cores
/// for at most `256 Chunks` hidden units.
template <int Units, class Gates, dtype T>
auto thread_kernel(const unit_steps<Gates, T>& units) {
  return recurrent_kernel<Gates, T, Units>{units};
}
template <int Units, class Gates, dtype T>
auto thread_kernel(const unit_gradients<Gates, T>& units) {
  return recurrent_backward_kernel<Gates, T, Units>{units};
}
template <int Chunks, class Gates, dtype T>
auto tiles_kernel(const unit_steps<Gates, T>& units) {
  return recurrent_tiles_kernel<Gates, T, Chunks>{units, 0};
}
template <int Chunks, class Gates, dtype T>
auto tiles_kernel(const unit_gradients<Gates, T>& units) {
  return recurrent_tiles_backward_kernel<Gates, T, Chunks* static_cast<int>(Gates::count)>{units, 0};
}

/// The matrices whose rows a kernel of tiles reads in packets.
template <class Gates, dtype T>
bool lie_in_packets(const unit_steps<Gates, T>& units) {
  return units.all.states.hidden.lies_in_packets() && units.all.states.hidden_before.lies_in_packets();
}
template <class Gates, dtype T>
bool lie_in_packets(const unit_gradients<Gates, T>& units) {
  return units.all.products.lies_in_packets();
}

/// With as few hidden units for a block as let all blocks run at a time.
template <class Space, int Units = 1, class Work>
bool run_on_threads(const Work& units) {
  constexpr int most_units = 8;
  const auto kernel = thread_kernel<Units>(units);
  using kernel_type = std::remove_const_t<decltype(kernel)>;
  const index blocks = (units.all.hidden + Units - 1) / Units;
  const int shared_bytes = kernel.shared_bytes();
  if (shared_bytes > max_shared_bytes) return false;
  if (blocks <= cooperative_blocks<Space, kernel_type>(recurrent_threads, shared_bytes)) {
    launch<Space>({.grid = {static_cast<int>(blocks)}, .block = recurrent_threads, .shared_bytes = shared_bytes},
                  kernel);
    return true;
  }
  if constexpr (Units < most_units) return run_on_threads<Space, 2 * Units>(units);
  else return false;
}

/// Blocks share the sequences, in whole tiles of rows, as long as each has a multiprocessor: more would only wait for
/// each other longer.
template <class Space, int Chunks = 2, class Work>
bool run_on_tiles(const Work& units, index sequences) {
  constexpr int most_chunks = 4;
  if constexpr (Chunks < most_chunks) {
    if (units.all.hidden > Chunks * 256) return run_on_tiles<Space, 2 * Chunks>(units, sequences);
  }
  auto kernel = tiles_kernel<Chunks>(units);
  using kernel_type = decltype(kernel);
  const index blocks = units.all.hidden / tile_units;
  const index room = cooperative_blocks<Space, kernel_type>(recurrent_threads, kernel.shared_bytes());
  if (units.all.hidden > Chunks * 256 || blocks > room) return false;
  const auto parts = [](index whole, index of) { return (whole + of - 1) / of; };
  const index tiles = parts(sequences, lane_product_rows);
  const index most_shares = std::min<index>(room, space_devices<Space>::multiprocessors()) / blocks;
  const index shares = std::clamp<index>(tiles, 1, std::max<index>(most_shares, 1));
  kernel.rows = static_cast<int>(parts(tiles, shares)) * lane_product_rows;
  launch<Space>({.grid = {static_cast<int>(blocks), static_cast<int>(parts(sequences, kernel.rows))},
                 .block = recurrent_threads,
                 .shared_bytes = kernel.shared_bytes()},
                kernel);
  return true;
}

}  // namespace detail

/// Runs all steps of `sequences` sequences as one kernel: `unit_steps` forward, `unit_gradients` back. Does nothing and
/// returns false where not all blocks would run at a time, and for elements of 16 bits that do not lie in packets.
template <class Space, template <class, class> class Work, class Gates, dtype T>
bool launch_recurrence(const Work<Gates, T>& units, index sequences) {
  if constexpr (has_lane_products<T>) {
    const int architecture = space_devices<Space>::architecture();  // 0 of emulated ones
    if (architecture != 0 && architecture < 80) return false;
    if (units.all.hidden % detail::tile_units != 0 || !detail::lie_in_packets(units)) return false;
    return detail::run_on_tiles<Space>(units, sequences);
  } else {
    return detail::run_on_threads<Space>(units);
  }
}

}  // namespace tenon::nn
