// tenon/nn/recurrent_tiles.hpp: all steps of a recurrence of 16-bit elements as one kernel on Tensor Cores.
// A block has eight hidden units; its warps share the depth of products and keep their weights in registers.
// Floor 7: may include base, core, device, expr, evaluate, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/lane_matrix.hpp>
#include <tenon/expr/packet.hpp>
#include <tenon/nn/recurrent_kernel.hpp>

namespace tenon::nn {

namespace detail {

/// Hidden units of a block, and rows of a step that its threads finish at a time, a thread a unit of a row.
inline constexpr int tile_units = lane_product_columns, rows_of_pass = recurrent_threads / tile_units;

/// Weights that a block keeps: `Groups` times eight lines, whose depth its warps share in chunks of 32 elements. A lane
/// has eight neighbouring elements of a chunk, of lines and of rows alike, so that each comes in one access; which of
/// them meet in which step of a product is the same for both.
template <class T, int Groups, int Chunks>
class held_lines {
 public:
  static constexpr int lines = Groups * lane_product_columns, warps = recurrent_threads / warp_size;
  static constexpr int elements = 8, chunk = 4 * elements;  // of a lane, and of the four lanes of a line
  static constexpr int depth = Chunks * warps * chunk;      // of the longest lines
  /// Sums of a warp's share lie in shared memory a row a pitch: eight lanes write eight rows to banks of their own.
  static constexpr int pitch = lines % 32 == 0 ? lines + 8 : lines, partial_count = warps * rows_of_pass * pitch;

  /// Takes lines of `length` elements, a multiple of eight; `weight(line, place)` is one.
  template <class Device, class Weight>
  TENON_HOST_DEVICE void take(Device& device, int length, const Weight& weight) {
    TENON_UNROLLED
    for (int number = 0; number < Chunks; ++number) {
      const int place = place_of(device, number);
      TENON_UNROLLED
      for (int group = 0; group < Groups; ++group) {
        packet<T, elements> own{};
        TENON_UNROLLED
        for (int k = 0; k < elements; ++k) {
          if (place < length) set_element(own, k, weight(group * lane_product_columns + device.lane() / 4, place + k));
        }
        own_[number][group] = own;
      }
    }
  }
  /// Leaves what the warp's part of the depth gives of the products of `count` rows, at most a pass, with all lines;
  /// `row(number)` is the address of one.
  template <class Device, class Row, class Partial>
  TENON_HOST_DEVICE void leave_products(Device& device, int length, int count, const Row& row,
                                        const Partial& partial) const {
    for (int first = 0; first < count; first += lane_product_rows) {
      array<lane_sums<T>, Groups> sums{};
      add_products(device, length, first, count, row, sums);
      TENON_UNROLLED
      for (int group = 0; group < Groups; ++group) {
        TENON_UNROLLED
        for (int half = 0; half < 2; ++half) {
          const int at = first + lane_sum_row(device.lane(), 2 * half);
          partial.template store_vector<2>((device.warp() * rows_of_pass + at) * pitch + group * lane_product_columns +
                                               lane_sum_column(device.lane(), 0),
                                           array<float, 2>{{sums[group][2 * half], sums[group][2 * half + 1]}});
        }
      }
    }
  }
  /// The product of a row of the pass with a line, when all warps have left theirs.
  template <class Partial>
  TENON_HOST_DEVICE static float product(const Partial& partial, int row, int line) {
    float sum = 0;
    TENON_UNROLLED
    for (int warp = 0; warp < warps; ++warp) sum += partial.load((warp * rows_of_pass + row) * pitch + line);
    return sum;
  }

 private:
  static constexpr int chunks_at_once = Chunks % 4 == 0 ? 4 : Chunks % 3 == 0 ? 3 : Chunks % 2 == 0 ? 2 : 1;

  /// Where a lane's elements of its warp's chunk `number` begin in a line.
  template <class Device>
  TENON_HOST_DEVICE static int place_of(Device& device, int number) {
    return (number * warps + device.warp()) * chunk + device.lane() % 4 * elements;
  }
  /// Adds the products of 16 rows from `first` on; rows from `count` on are zeros.
  template <class Device, class Row>
  TENON_HOST_DEVICE void add_products(Device& device, int length, int first, int count, const Row& row,
                                      array<lane_sums<T>, Groups>& sums) const {
    const int upper = first + device.lane() / 4, lower = upper + block_lines;
    const T* const upper_row = row(upper < count ? upper : first);
    const T* const lower_row = row(lower < count ? lower : first);
    TENON_UNROLLED
    for (int start = 0; start < Chunks; start += chunks_at_once) {
      if ((start * warps + device.warp()) * chunk >= length) return;  // and so are the chunks behind
      packet<T, elements> above[chunks_at_once], below[chunks_at_once];
      TENON_UNROLLED
      for (int k = 0; k < chunks_at_once; ++k) {
        const int place = place_of(device, start + k);
        above[k] = below[k] = packet<T, elements>{};
        if (place < length && upper < count) above[k] = load_packet<elements>(upper_row + place);
        if (place < length && lower < count) below[k] = load_packet<elements>(lower_row + place);
      }
      TENON_UNROLLED
      for (int k = 0; k < chunks_at_once; ++k) {
        TENON_UNROLLED
        for (int half = 0; half < 2; ++half) {
          const lane_words<4> left{{above[k].words[2 * half], below[k].words[2 * half], above[k].words[2 * half + 1],
                                    below[k].words[2 * half + 1]}};
          TENON_UNROLLED
          for (int group = 0; group < Groups; ++group) {
            const auto& words = own_[start + k][group].words;
            device.template multiply_blocks<T>(sums[group], left, {{words[2 * half], words[2 * half + 1]}});
          }
        }
      }
    }
  }

  packet<T, elements> own_[Chunks][Groups];
};

/// The rows of a step that belong to share `number` of the sequences, `rows` each.
struct block_rows {
  int first, end;

  TENON_HOST_DEVICE static block_rows of(int number, const recurrent_step& step, int rows) {
    const index before = step.starts ? step.previous : 0;  // sequences that are no rows of the step
    const index first = index{number} * rows - before, end = first + rows;
    return {static_cast<int>(first < 0 ? 0 : first), static_cast<int>(end < step.count ? end : step.count)};
  }
};

}  // namespace detail

/// Forward steps of at most `256 Chunks` hidden units, a multiple of eight, of which a block makes eight. Sequences are
/// independent, so that blocks share them, too, `rows` each.
/// source    Diamos and others 2016, "Persistent RNNs: Stashing recurrent weights on-chip"
template <class Gates, dtype T, int Chunks>
struct recurrent_tiles_kernel {
  static constexpr const char* name = "recurrent_steps";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads, count = static_cast<int>(Gates::count);
  using lines_type = detail::held_lines<T, count, Chunks>;

  unit_steps<Gates, T> units;
  int rows;

  static constexpr int shared_bytes() { return shared_bytes_of<float>(lines_type::partial_count); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto& all = units.all;
    const int hidden = static_cast<int>(all.hidden), first_unit = device.block().x * detail::tile_units;
    const int own_row = device.thread() / detail::tile_units, own_unit = device.thread() % detail::tile_units;
    lines_type lines;
    lines.take(device, hidden, [&](int line, int place) {
      return all.weight.at(line / detail::tile_units * hidden + first_unit + line % detail::tile_units, place);
    });
    const auto partial = device.template shared<float>(lines_type::partial_count);
    for (int i = 0; i < all.step_count; ++i) {
      const recurrent_step step = all.steps[i];
      const auto block = detail::block_rows::of(device.block().y, step, rows);
      for (int first = block.first; first < block.end; first += detail::rows_of_pass) {
        const int left = block.end - first, in_pass = left < detail::rows_of_pass ? left : detail::rows_of_pass;
        const bool has_row = own_row < in_pass;
        typename unit_steps<Gates, T>::given at{};
        if (has_row) at = units.read(step, first + own_row, first_unit + own_unit);
        const auto row = [&](int number) { return &all.states.previous(step, first + number, 0); };
        lines.leave_products(device, hidden, in_pass, row, partial);
        device.sync();
        if (has_row) {
          TENON_UNROLLED
          for (int gate = 0; gate < count; ++gate) {
            at.products[gate] += lines_type::product(partial, own_row, gate * detail::tile_units + own_unit);
          }
          units.finish(step, first + own_row, first_unit + own_unit, at);
        }
        if (left > detail::rows_of_pass) device.sync();
      }
      if (i + 1 < all.step_count) device.sync_grid(all.barrier);
    }
  }
};

/// The way back, of at most `256 Chunks` pre-activations of gates.
template <class Gates, dtype T, int Chunks>
struct recurrent_tiles_backward_kernel {
  static constexpr const char* name = "recurrent_steps_backward";
  static constexpr bool is_cooperative = true;
  static constexpr int max_threads = detail::recurrent_threads;
  using lines_type = detail::held_lines<T, 1, Chunks>;

  unit_gradients<Gates, T> units;
  int rows;

  static constexpr int shared_bytes() { return shared_bytes_of<float>(lines_type::partial_count); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto& all = units.all;
    const int length = static_cast<int>(Gates::count * all.hidden), first_unit = device.block().x * detail::tile_units;
    const int own_row = device.thread() / detail::tile_units, own_unit = device.thread() % detail::tile_units;
    lines_type lines;
    lines.take(device, length, [&](int line, int place) { return all.weight.at(place, first_unit + line); });
    const auto partial = device.template shared<float>(lines_type::partial_count);
    for (int i = all.step_count - 1; i >= 0; --i) {
      const recurrent_step step = all.steps[i];
      const auto block = detail::block_rows::of(device.block().y, step, rows);
      device.sync();
      for (int row = block.first + own_row; row < block.end; row += detail::rows_of_pass) {
        units.pull(step, row, first_unit + own_unit);
      }
      device.sync_grid(all.barrier);
      for (int first = block.first; first < block.end; first += detail::rows_of_pass) {
        const int left = block.end - first, in_pass = left < detail::rows_of_pass ? left : detail::rows_of_pass;
        const auto row = [&](int number) -> const T* { return &all.products.at(step.row + first + number, 0); };
        lines.leave_products(device, length, in_pass, row, partial);
        device.sync();
        if (own_row < in_pass) {
          units.add(step, first + own_row, first_unit + own_unit, lines_type::product(partial, own_row, own_unit));
        }
        if (left > detail::rows_of_pass) device.sync();
      }
    }
  }
};

}  // namespace tenon::nn
