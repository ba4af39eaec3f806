// tenon/contraction/vector_product.hpp: products of a matrix with a few vectors on devices.
// Memory decides their time: each element of the matrix is read once, in packets, and multiplied with every vector.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/matrix_lines.hpp>
#include <tenon/device/launch.hpp>
#include <tenon/device/workspace.hpp>

namespace tenon {

inline constexpr int vector_block = 256, vector_warps = vector_block / warp_size;
inline constexpr int lines_of_team = 4;  // that are summed at a time

/// How blocks share a product with vectors.
struct vector_sharing {
  bool along_depth;  // lines of the matrix are summed, else added to each other
  int tile;          // results of a block for each vector
  int groups;        // blocks that have the results of a batch
  int team;          // threads that share the depth of a result
  int parts;         // blocks that do

  /// By extents alone, so that results are the same on every device.
  static vector_sharing of(bool along_depth, index results, index depth, index batches, int packet) {
    const index units = (depth + packet - 1) / packet;
    const int team = !along_depth ? vector_warps : units < 2 * vector_block ? warp_size : vector_block;
    const int tile = along_depth ? vector_block / team * lines_of_team : warp_size * packet;
    const index groups = (results + tile - 1) / tile;
    const int parts =
        team == warp_size ? 1 : parts_of_result(groups * batches, along_depth ? units * lines_of_team : depth, team);
    return {along_depth, tile, static_cast<int>(groups), team, parts};
  }
};

/// C = epilogue(left * right) where one operand has at most `Vectors` rows or columns, and the other is a matrix.
/// Where lines of the matrix run along the depth, a team of threads sums a few of them, packet by packet; where they
/// run along the results, each thread has a packet of results and adds up what warps share of the depth. All sums are
/// added in a fixed order.
template <class Number, int Vectors, bool AreRows, bool InPackets, int Rank, class Matrix, class Few, class Epilogue>
struct vector_product_kernel : vector_sharing {
  static constexpr const char* name = "vector_product";
  static constexpr int max_threads = vector_block, min_blocks = !InPackets ? 1 : Vectors == 1 ? 3 : 2;
  static constexpr int packet = Matrix::packet;
  static constexpr int lines = lines_of_team, sums_of_team = lines * Vectors;
  static constexpr int depths = Vectors == 1 ? 4 : 2;  // that a thread reads before it adds
  static constexpr int scratch_size = greatest_size({vector_warps * sums_of_team, vector_block* packet});
  static constexpr int shared_bytes = shared_bytes_of<Number>(scratch_size) + shared_bytes_of<int>(1);

  product_extents<Rank> extents;
  Matrix matrix;
  Few few;  // a line along the depth for each vector
  Epilogue epilogue;
  Number* left_sums;  // those of a block beside each other, part by part of a group
  unsigned* counters;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int group = device.block().x % groups;
    const auto batch = extents.batch_position(device.block().x / groups);
    const place at{static_cast<index>(group) * tile, epilogue.at_batch(batch)};
    const auto own = matrix.at_batch(batch);
    const auto vectors = few.at_batch(batch);
    const auto scratch = device.template shared<Number>(scratch_size);
    if (along_depth) sum_lines(device, scratch, own, vectors, at);
    else add_lines(device, scratch, own, vectors, at);
    if (parts > 1) finish_parts(device, at);
  }

 private:
  /// The first result of a block, and what is done with the results of its batch.
  struct place {
    index first;
    Epilogue epilogue;
  };
  TENON_HOST_DEVICE index results() const { return AreRows ? extents.columns : extents.rows; }
  TENON_HOST_DEVICE int vector_count() const { return static_cast<int>(AreRows ? extents.rows : extents.columns); }

  /// The share of `units` of the depth that this block has.
  struct range {
    index first, end;
  };
  template <class Device>
  TENON_HOST_DEVICE range share(Device& device, index units) const {
    const int part = device.block().y;
    return {units * part / parts, units * (part + 1) / parts};
  }

  /// Lines along the depth.
  template <class Device, class Scratch>
  TENON_HOST_DEVICE void sum_lines(Device& device, const Scratch& scratch, const Matrix& own, const Few& vectors,
                                   const place& at) const {
    const int team_warps = team / warp_size;
    const range units = share(device, (extents.depth + packet - 1) / packet);
    const index first_line = at.first + device.thread() / team * lines;
    Number sums[sums_of_team];
    for (Number& each : sums) each = Number(0);
    for (index i = units.first + device.thread() % team; i < units.end; i += team) {
      add_units(sums, own, vectors, first_line, i * packet);
    }
    leave_totals<sums_of_team>(device, scratch, sums, 1, 0);
    device.sync();
    if (device.thread() >= vector_block / team * sums_of_team) return;
    const int own_team = device.thread() / sums_of_team, number = device.thread() % sums_of_team;
    Number total = scratch.load(own_team * team_warps * sums_of_team + number);
    for (int warp = 1; warp < team_warps; ++warp) {
      total += scratch.load((own_team * team_warps + warp) * sums_of_team + number);
    }
    store_or_leave(device, at, device.thread() / Vectors, number % Vectors, total);
  }
  /// Adds what a thread multiplies of each line: number `line * Vectors + vector` of the sums. All of the matrix is
  /// read before any is multiplied. A line beyond the last one is that one.
  TENON_HOST_DEVICE TENON_INLINE void add_units(Number (&sums)[sums_of_team], const Matrix& own, const Few& vectors,
                                                index first_line, index depth) const {
    const index last_line = results() - 1;
    const int count = static_cast<int>(least(extents.depth - depth, packet));
    array<Number, packet> numbers[lines];
    TENON_UNROLLED
    for (int i = 0; i < lines; ++i) {
      own.template read<InPackets>(numbers[i], least(first_line + i, last_line), depth, count);
    }
    TENON_UNROLLED
    for (int vector = 0; vector < Vectors; ++vector) {
      if (Vectors > 1 && vector >= vector_count()) break;
      array<Number, packet> factors;
      if (vectors.in_packets) vectors.template read<true>(factors, vector, depth, count);
      else vectors.template read<false>(factors, vector, depth, count);
      TENON_UNROLLED
      for (int i = 0; i < lines; ++i) {
        TENON_UNROLLED
        for (int k = 0; k < packet; ++k) sums[i * Vectors + vector] += numbers[i][k] * factors[k];
      }
    }
  }
  /// Adds the sums of all lanes and leaves the total of sum `i` as number `i` of the warp's part of scratch. In each
  /// step a lane keeps half of its sums and gives the other half away, so few pass from lane to lane.
  template <int Count, class Device, class Scratch>
  TENON_HOST_DEVICE TENON_INLINE static void leave_totals(Device& device, const Scratch& scratch,
                                                          Number (&sums)[sums_of_team], int mask, int first) {
    if constexpr (Count > 1) {
      const bool keeps_upper = (device.lane() & mask) != 0;
      TENON_UNROLLED
      for (int i = 0; i < Count / 2; ++i) {
        const Number kept = keeps_upper ? sums[i + Count / 2] : sums[i];
        const Number given = keeps_upper ? sums[i] : sums[i + Count / 2];
        sums[i] = kept + device.shuffle_xor(given, mask);
      }
      leave_totals<Count / 2>(device, scratch, sums, 2 * mask, first + (keeps_upper ? Count / 2 : 0));
    } else {
      for (; mask < warp_size; mask *= 2) sums[0] += device.shuffle_xor(sums[0], mask);
      if (device.lane() < sums_of_team) scratch.store(device.warp() * sums_of_team + first, sums[0]);
    }
  }

  /// Lines along the results.
  template <class Device, class Scratch>
  TENON_HOST_DEVICE void add_lines(Device& device, const Scratch& scratch, const Matrix& own, const Few& vectors,
                                   const place& at) const {
    const range depth = share(device, extents.depth);
    const index first = at.first + device.lane() * packet;
    Number sums[Vectors][packet];
    for (auto& row : sums) {
      for (Number& each : row) each = Number(0);
    }
    if (first < results()) {
      index k = depth.first + device.warp() * depths;
      for (; k + depths <= depth.end; k += depths * vector_warps) add_rows<depths>(sums, own, vectors, first, k);
      for (; k < depth.end; ++k) add_rows<1>(sums, own, vectors, first, k);
    }
    TENON_UNROLLED
    for (int vector = 0; vector < Vectors; ++vector) {
      if (Vectors > 1 && vector >= vector_count()) break;
      device.sync();
      for (int i = 0; i < packet; ++i) scratch.store(device.thread() * packet + i, sums[vector][i]);
      device.sync();
      for (int i = device.thread(); i < warp_size * packet; i += vector_block) {
        Number total = scratch.load(i);
        for (int warp = 1; warp < vector_warps; ++warp) total += scratch.load(warp * warp_size * packet + i);
        store_or_leave(device, at, i, vector, total);
      }
    }
  }
  /// Adds `Depths` rows, each multiplied with a number of each vector. All of them are read before any is added.
  template <int Depths>
  TENON_HOST_DEVICE TENON_INLINE void add_rows(Number (&sums)[Vectors][packet], const Matrix& own, const Few& vectors,
                                               index first, index depth) const {
    const int count = static_cast<int>(least(results() - first, packet));
    array<Number, packet> numbers[Depths];
    TENON_UNROLLED
    for (int k = 0; k < Depths; ++k) own.template read<InPackets>(numbers[k], depth + k, first, count);
    TENON_UNROLLED
    for (int vector = 0; vector < Vectors; ++vector) {
      if (Vectors > 1 && vector >= vector_count()) break;
      TENON_UNROLLED
      for (int k = 0; k < Depths; ++k) {
        array<Number, 1> factor;
        vectors.template read<false>(factor, vector, depth + k, 1);
        TENON_UNROLLED
        for (int i = 0; i < packet; ++i) sums[vector][i] += numbers[k][i] * factor[0];
      }
    }
  }

  /// Finishes result `result` of a block, or leaves it to the last of those that share it.
  template <class Device>
  TENON_HOST_DEVICE void store_or_leave(Device& device, const place& at, int result, int vector, Number total) const {
    if (vector >= vector_count()) return;
    if (parts == 1) return store(at, result, vector, total);
    sums_of_part(device, device.block().y)[result * vector_count() + vector] = total;
  }
  template <class Device>
  TENON_HOST_DEVICE void finish_parts(Device& device, const place& at) const {
    if (!is_last_block(device, counters + device.block().x, parts)) return;
    const int size = sums_of_block();
    const Number* const from = sums_of_part(device, 0);
    for (int i = device.thread(); i < size; i += vector_block) {
      Number total = from[i];
      for (int part = 1; part < parts; ++part) total += from[static_cast<index>(part) * size + i];
      store(at, i / vector_count(), i % vector_count(), total);
    }
  }
  TENON_HOST_DEVICE int sums_of_block() const { return tile * vector_count(); }
  template <class Device>
  TENON_HOST_DEVICE Number* sums_of_part(Device& device, int part) const {
    return left_sums + (static_cast<index>(device.block().x) * parts + part) * sums_of_block();
  }
  TENON_HOST_DEVICE void store(const place& at, int result, int vector, Number total) const {
    const index line = at.first + result;
    if (line >= results()) return;
    if constexpr (AreRows) at.epilogue.store(vector, line, total);
    else at.epilogue.store(line, vector, total);
  }
  TENON_HOST_DEVICE static constexpr index least(index left, index right) { return left < right ? left : right; }
};

inline constexpr int most_vectors = 8;           // that one reading of a matrix serves
inline constexpr index least_vector_depth = 32;  // where there is less, tiles are as good

namespace detail {

template <class Matrix>
inline constexpr bool is_folded_matrix = false;
template <class Program, int Rank, class Axes>
inline constexpr bool is_folded_matrix<folded_matrix<Program, Rank, Axes>> = true;

/// Launches the kernel of at most `Vectors` vectors; `along_depth` says of the matrix how its lines run.
template <class Space, class Number, int Vectors, bool AreRows, bool InPackets, int Rank, class Matrix, class Few,
          class Epilogue>
void launch_vector_product(const product_extents<Rank>& extents, const Matrix& matrix, bool along_depth, const Few& few,
                           const Epilogue& epilogue) {
  using kernel_type = vector_product_kernel<Number, Vectors, AreRows, InPackets, Rank, Matrix, Few, Epilogue>;
  const index results = AreRows ? extents.columns : extents.rows, batches = extents.batch_count();
  const auto sharing = vector_sharing::of(along_depth, results, extents.depth, batches, Matrix::packet);
  const index blocks = sharing.groups * batches;
  const index vectors = AreRows ? extents.rows : extents.columns;
  const auto places =
      workspace_places<Space, Number>::take(sharing.parts == 1 ? 0 : blocks * sharing.parts * sharing.tile * vectors);
  const kernel_type kernel{sharing, extents, matrix, few, epilogue, get<0>(places.values), places.counters};
  launch<Space>(launch_shape{.grid = {static_cast<int>(blocks), sharing.parts},
                             .block = vector_block,
                             .shared_bytes = kernel_type::shared_bytes},
                kernel);
  places.launched();
}

/// The same for operands that allow it. One vector and several, and packets and single elements, have kernels of their
/// own: none holds registers for what the others do. `IsOne` says that types know of a single vector.
template <class Space, class Number, bool AreRows, bool IsOne, int Rank, class Matrix, class Few, class Epilogue>
void launch_vectors(const product_extents<Rank>& extents, const Matrix& matrix, const Few& few,
                    const Epilogue& epilogue) {
  const auto lines = lines_of(matrix, line_direction::adjacent);
  const auto vectors = lines_of(few, AreRows ? line_direction::rows : line_direction::columns);
  const auto launch_for = [&]<int Vectors, bool InPackets>(std::integral_constant<int, Vectors>,
                                                           std::bool_constant<InPackets>) {
    launch_vector_product<Space, Number, Vectors, AreRows, InPackets>(
        extents, lines.matrix, lines.are_columns == AreRows, vectors.matrix, epilogue);
  };
  const auto launch_with = [&](auto in_packets) {
    if constexpr (!IsOne) {
      const index count = AreRows ? extents.rows : extents.columns;
      if (count > 1) return launch_for(std::integral_constant<int, most_vectors>{}, in_packets);
    }
    launch_for(std::integral_constant<int, 1>{}, in_packets);
  };
  if (lines.matrix.in_packets) launch_with(std::true_type{});
  else launch_with(std::false_type{});
}

}  // namespace detail

namespace on_device {

/// Products with few rows or columns, where both operands have lines in memory for them; one launch.
struct few_vectors {
  static constexpr const char* name = "few vectors";
  template <class Problem>
  static constexpr bool can_take =
      detail::is_folded_matrix<typename Problem::left_type> && detail::is_folded_matrix<typename Problem::right_type>;
  template <class Problem>
  static bool takes(const Problem& problem) {
    const auto& extents = problem.extents;
    const bool rows = are_rows(problem);
    if (extents.depth < least_vector_depth || (rows ? extents.rows : extents.columns) > most_vectors) return false;
    const auto left = lines_of(problem.left(), rows ? line_direction::rows : line_direction::adjacent);
    const auto right = lines_of(problem.right(), rows ? line_direction::adjacent : line_direction::columns);
    return left.exist && right.exist;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using number = typename Problem::number;
    constexpr bool is_one_row = has_one_row<Problem>;
    if constexpr (!is_one_row) {
      if (!are_rows(problem)) {
        return detail::launch_vectors<space, number, false, false>(problem.extents, problem.left(), problem.right(),
                                                                   problem.epilogue());
      }
    }
    detail::launch_vectors<space, number, true, is_one_row>(problem.extents, problem.right(), problem.left(),
                                                            problem.epilogue());
  }

 private:
  template <class Problem>
  static constexpr bool has_one_row = Problem::product_type::left_axes::rows.size() == 0;
  /// Whether the vectors are rows of the left operand, else columns of the right one.
  template <class Problem>
  static bool are_rows(const Problem& problem) {
    return has_one_row<Problem> || problem.extents.rows <= problem.extents.columns;
  }
};

}  // namespace on_device

}  // namespace tenon
