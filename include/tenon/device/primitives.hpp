// tenon/device/primitives.hpp: what a kernel may ask of the machine that runs it.
// Kernels are templates over a device object; this page is the contract its implementations keep.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <tenon/base/array.hpp>
#include <tenon/base/dtype.hpp>
#include <type_traits>

namespace tenon {

inline constexpr int warp_size = 32;
inline constexpr int shared_alignment = 32;  // bytes; what matrix fragments ask of their tiles

/// The position of a block in its grid.
struct grid_position {
  int x = 0, y = 0, z = 0;
};

/// How many blocks a grid has along each axis.
struct grid_extent {
  int x = 1, y = 1, z = 1;

  TENON_HOST_DEVICE constexpr index blocks() const { return static_cast<index>(x) * y * z; }
};

/// How a kernel is started: blocks, threads of a block, bytes of shared memory of a block.
struct launch_shape {
  grid_extent grid{};
  int block = 1;
  int shared_bytes = 0;
};

/// Bytes that `device.shared<T>(count)` takes; a kernel's `shared_bytes` is the sum over its arrays.
template <class T>
TENON_HOST_DEVICE constexpr int shared_bytes_of(int count) {
  const int bytes = count * static_cast<int>(sizeof(T));
  return (bytes + shared_alignment - 1) / shared_alignment * shared_alignment;
}

/// Where a call stands; a last parameter `source_position caller = {}` takes the caller's place.
struct source_position {
  const char* file;
  int line;

  TENON_HOST_DEVICE constexpr source_position(const char* from = __builtin_FILE(), int at = __builtin_LINE())
      : file(from), line(at) {}
};

struct matrix_a {};      ///< role of a fragment: the left operand, M x K
struct matrix_b {};      ///< role of a fragment: the right operand, K x N
struct accumulator {};   ///< role of a fragment: the result, M x N
struct row_major {};     ///< consecutive columns lie side by side in memory
struct column_major {};  ///< consecutive rows lie side by side in memory
struct tf32 {};          ///< element type of fragments: stored as float, multiplied with 10 bits of mantissa

/// What a fragment element looks like in memory.
template <class T>
using fragment_storage = std::conditional_t<std::is_same_v<T, tf32>, float, T>;

/// The element type that products of `T` are accumulated in.
template <class T>
using fragment_accumulator = std::conditional_t<std::is_same_v<T, std::int8_t>, std::int32_t,
                                                std::conditional_t<std::is_same_v<T, double>, double, float>>;

/// Rows and columns of the matrix that a fragment of `Role` holds.
template <class Role, int M, int N, int K>
struct fragment_extent {
  static constexpr int rows = std::is_same_v<Role, matrix_b> ? K : M;
  static constexpr int columns = std::is_same_v<Role, matrix_a> ? K : N;
  static constexpr int size = rows * columns;
};

/// True for operand types and extents that the matrix units of every supported device multiply.
/// half, bfloat16, int8: 16 x 16 x 16; tf32: 16 x 16 x 8; double: 8 x 8 x 4
template <class T, int M, int N, int K>
inline constexpr bool operand_is_legal =
    std::is_same_v<T, half> || std::is_same_v<T, bfloat16> || std::is_same_v<T, std::int8_t>
        ? M == 16 && N == 16 && K == 16
    : std::is_same_v<T, tf32> ? M == 16 && N == 16 && K == 8
                              : std::is_same_v<T, double> && M == 8 && N == 8 && K == 4;

/// True where a fragment of `Role` may have these extents and this element type.
template <class Role, class T, int M, int N, int K>
inline constexpr bool fragment_is_legal =
    !std::is_same_v<Role, accumulator> ? operand_is_legal<T, M, N, K>
    : std::is_same_v<T, float>         ? operand_is_legal<half, M, N, K> || operand_is_legal<tf32, M, N, K>
    : std::is_same_v<T, std::int32_t>  ? operand_is_legal<std::int8_t, M, N, K>
                                       : std::is_same_v<T, double> && operand_is_legal<double, M, N, K>;

/// True where Result += Left * Right is one operation of a matrix unit.
template <class Result, class Left, class Right>
inline constexpr bool product_is_legal =
    std::is_same_v<typename Result::role, accumulator> && std::is_same_v<typename Left::role, matrix_a> &&
    std::is_same_v<typename Right::role, matrix_b> && std::is_same_v<typename Left::element, typename Right::element> &&
    std::is_same_v<typename Result::element, fragment_accumulator<typename Left::element>> && Result::m == Left::m &&
    Result::m == Right::m && Result::n == Left::n && Result::n == Right::n && Result::k == Left::k &&
    Result::k == Right::k;

inline constexpr int lane_value_bytes = 32;

/// A value that lanes may pass to each other.
template <class T>
concept lane_value = std::is_trivially_copyable_v<T> && (sizeof(T) <= lane_value_bytes);

/// A part of shared memory, as a kernel's thread sees it.
/// `load_vector` and `store_vector` move up to 16 bytes at once and need that alignment.
template <class Array>
concept shared_view = requires(const Array& shared, typename Array::value_type value) {
  { shared.load(0) } -> std::same_as<typename Array::value_type>;
  shared.store(0, value);
  shared.template store_vector<1>(0, shared.template load_vector<1>(0));
  shared.part(0, 1);
  shared.template as<std::uint8_t>();
};

/// The device object of a kernel: positions, barriers, lanes, shared memory, asynchronous copies and atomics.
/// Blocks have one axis. `reread_thread` is read anew where it is called, so that values derived from it take no
/// registers between rounds of a loop. Lane operations need all 32 lanes of a warp. Barriers need every thread of the
/// block; those of the grid need every thread of every block, and a word that was zero before its first use. Loading
/// and multiplying blocks of matrices are lane operations, too: lane_matrix.hpp says which lane holds what.
template <class Device>
concept kernel_device = requires(Device& device, float value, bool flag, float* global, array<std::uint32_t, 2> words,
                                 array<float, 4> sums) {
  { device.thread() } -> std::same_as<int>;
  { device.reread_thread() } -> std::same_as<int>;
  { device.block() } -> std::same_as<grid_position>;
  { device.block_size() } -> std::same_as<int>;
  { device.grid_size() } -> std::same_as<grid_extent>;
  { device.lane() } -> std::same_as<int>;
  { device.warp() } -> std::same_as<int>;
  device.sync();
  device.sync_grid(static_cast<unsigned*>(nullptr));
  device.sync_warp();
  { device.shuffle(value, 0) } -> std::same_as<float>;
  { device.shuffle_xor(value, 1) } -> std::same_as<float>;
  { device.shuffle_down(value, 1) } -> std::same_as<float>;
  { device.ballot(flag) } -> std::same_as<unsigned>;
  { device.template shared<float>(1) } -> shared_view;
  device.release_shared(device.shared_used());
  device.template copy_async<4>(device.template shared<float>(1), 0, global, flag);
  device.commit_copies();
  device.template wait_copies<0>();
  { device.atomic_add(global, value) } -> std::same_as<float>;
  device.fence();
  { device.select_bytes(words[0], words[1], 0x6420u) } -> std::same_as<std::uint32_t>;
  { device.template pack_pair<half>(value, value) } -> std::same_as<std::uint32_t>;
  { device.power_of_two(value) } -> std::same_as<float>;
  device.template round_words<half>(words);
  device.template multiply_blocks<half>(sums, device.load_blocks(device.template shared<half>(1), 0), words);
};

/// The name of a kernel in error texts: its member `name` where it has one, else its type as the compiler spells it.
template <class Kernel>
constexpr const char* kernel_name() {
  if constexpr (requires { Kernel::name; }) {
    return Kernel::name;
  } else {
    return __PRETTY_FUNCTION__;
  }
}

/// Most threads of a block of `Kernel`: its member `max_threads`, else 256. Registers are divided by this figure.
template <class Kernel>
constexpr int kernel_max_threads() {
  if constexpr (requires { Kernel::max_threads; }) {
    return Kernel::max_threads;
  } else {
    return 256;
  }
}

/// Whether the blocks of `Kernel` wait for each other by `sync_grid`: its member `is_cooperative`. All of its blocks
/// are then alive together, so a launch has at most `cooperative_blocks`.
template <class Kernel>
constexpr bool is_cooperative_kernel() {
  if constexpr (requires { Kernel::is_cooperative; }) {
    return Kernel::is_cooperative;
  } else {
    return false;
  }
}

/// Blocks of `Kernel` that a multiprocessor shall hold at a time: its member `min_blocks`, else 1. This bounds
/// registers: left to choose, compilers spill some for the sake of more blocks.
template <class Kernel>
constexpr int kernel_min_blocks() {
  if constexpr (requires { Kernel::min_blocks; }) {
    return Kernel::min_blocks;
  } else {
    return 1;
  }
}

}  // namespace tenon
