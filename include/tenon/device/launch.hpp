// tenon/device/launch.hpp: starts a kernel on the threads of a grid.
// The only launch of the library: each is checked, named and counted here, once for kernels of all types.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <tenon/device/captured.hpp>
#include <tenon/device/cuda.hpp>
#include <tenon/device/launch_clock.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/primitives.hpp>
#include <tenon/device/profiler_range.hpp>
#include <tenon/device/recent_launches.hpp>
#include <utility>
#if defined(__CUDACC__)
#include <map>
#endif

namespace tenon {

inline constexpr int max_block_threads = 1024;
inline constexpr int max_grid_extent = 65535;             // of the axes y and z
inline constexpr int max_shared_bytes = 227 * 1024;       // of the largest device
inline constexpr std::size_t max_kernel_bytes = 32'760;   // what nvcc takes as arguments of a kernel
inline constexpr std::size_t max_kernel_alignment = 128;  // that of a tensor map

namespace detail {

/// How a space runs a grid; a space specialises it beside its device. `code<Kernel>` points to what runs a thread, and
/// `run(shape, kernel)` calls that, whatever the type of the kernel is.
template <class Space>
struct launcher {};

template <class Space>
concept runs_kernels = requires { &launcher<Space>::run; };

/// What is known of a kernel without its type.
struct kernel_facts {
  const char* name;
  int max_threads;
  bool is_cooperative;
  std::size_t bytes;
  void (*read_choices)(const void* kernel, launch_facts& facts);
};

/// A kernel of any type, and what runs a thread of it: a function of the type that its space expects.
struct any_kernel {
  const kernel_facts& facts;
  const void* object;
  void (*code)();
};

inline void check_launch_shape(const char* kernel, const launch_shape& shape, int max_threads) {
  if (shape.block < 1 || shape.block > max_threads) {
    throw shape_error(compose_text("launch: ", kernel, ": a block of ", shape.block, " threads, expected 1 to ",
                                   max_threads, "; the kernel's max_threads sets the limit"));
  }
  if (shape.shared_bytes < 0 || shape.shared_bytes > max_shared_bytes) {
    throw shape_error(compose_text("launch: ", kernel, ": ", shape.shared_bytes,
                                   " bytes of shared memory, expected at most ", max_shared_bytes));
  }
  if (shape.grid.x < 0 || shape.grid.y < 0 || shape.grid.z < 0 || shape.grid.y > max_grid_extent ||
      shape.grid.z > max_grid_extent) {
    const array<int, 3> extents{shape.grid.x, shape.grid.y, shape.grid.z};
    throw shape_error(compose_text("launch: ", kernel, ": a grid of ", extents, " blocks, expected at most ",
                                   max_grid_extent, " along y and z and none negative"));
  }
}

/// A kernel's choices, read from such members below as it has. Explanations know nothing else of kernels.
template <class Kernel>
void read_choices(const void* erased, launch_facts& facts) {
  [[maybe_unused]] const Kernel& kernel = *static_cast<const Kernel*>(erased);
  if constexpr (requires { kernel.tile; }) facts.add_choice("tile", kernel.tile);
  if constexpr (requires { kernel.side; }) facts.add_choice("side of a tile", kernel.side);
  if constexpr (requires { kernel.tile_rows; }) facts.add_choice("rows of a tile", kernel.tile_rows);
  if constexpr (requires { kernel.tile_columns; }) facts.add_choice("columns of a tile", kernel.tile_columns);
  if constexpr (requires { kernel.depth_tile; }) facts.add_choice("depth of a tile", kernel.depth_tile);
  if constexpr (requires { kernel.stages; }) facts.add_choice("stages", kernel.stages);
  if constexpr (requires { kernel.packet; }) facts.add_choice("elements of a packet", kernel.packet);
  if constexpr (requires { kernel.packets; }) facts.add_choice("packets of a thread", kernel.packets);
  if constexpr (requires { kernel.team.size(); }) facts.add_choice("threads of a team", kernel.team.size());
  if constexpr (requires { kernel.parts; }) facts.add_choice("blocks of a result", kernel.parts);
}

/// The clock of a launch's space; null for the host's clock.
template <class Space>
const launch_clock* clock_of_launches() {
  if constexpr (requires { launcher<Space>::clock(); }) return launcher<Space>::clock();
  else return nullptr;
}

/// Counts a launch, and describes it to the thread's observer where there is one.
inline counted_launch count_kernel(const launch_shape& shape, const any_kernel& kernel, const launch_clock* clock) {
  if (current_launch_observer() == nullptr) return counted_launch(kernel.facts.name);
  launch_facts facts{.kernel = kernel.facts.name, .shape = &shape, .clock = clock};
  kernel.facts.read_choices(kernel.object, facts);
  return counted_launch(facts);
}

template <class Space>
void launch_any(const launch_shape& shape, const any_kernel& kernel) {
  check_launch_shape(kernel.facts.name, shape, kernel.facts.max_threads);
  if (shape.grid.blocks() == 0) return;
  const counted_launch counted = count_kernel(shape, kernel, clock_of_launches<Space>());
  if (!counted.runs()) return;
  launcher<Space>::run(shape, kernel);
  if (captured_work* const work = thread_capture<Space>()) ++work->kernels;
  remember_launch(kernel.facts.name);
}

}  // namespace detail

/// How many blocks of a cooperative kernel `Space` runs at a time.
template <class Space, class Kernel>
int cooperative_blocks(int block, int shared_bytes) {
  static_assert(is_cooperative_kernel<Kernel>(), "tenon: only cooperative kernels ask for their resident blocks");
  return detail::launcher<Space>::template cooperative_blocks<Kernel>(block, shared_bytes);
}

/// Runs `kernel` on `Space`: a trivially copyable struct whose `operator()(Device&) const` is the code of one thread.
/// It may name itself (`name`), its largest block (`max_threads`, 256 if not said) and how many blocks share a
/// multiprocessor (`min_blocks`, 1 if not said). Its choices, members of the names that detail::read_choices knows, are
/// passed to the launch's observer.
/// throws    shape_error for a shape that no device takes, cuda_error, and on emulated what its rules find
/// cost      one launch; none where the grid is empty
template <class Space, class Kernel>
void launch(const launch_shape& shape, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "tenon: a kernel must be trivially copyable");
  static_assert(sizeof(Kernel) <= max_kernel_bytes, "tenon: the arguments of this kernel exceed 32760 bytes");
  static_assert(alignof(Kernel) <= max_kernel_alignment, "tenon: a kernel is aligned to at most 128 bytes");
  static_assert(kernel_max_threads<Kernel>() <= max_block_threads, "tenon: a block has at most 1024 threads");
  static_assert(detail::runs_kernels<Space> || must_hold<Space, Kernel>,
                "tenon: this space runs no kernels here; for cuda compile this file with nvcc, for emulated include "
                "<tenon/device/emulated.hpp>");
  static constexpr detail::kernel_facts facts{kernel_name<Kernel>(), kernel_max_threads<Kernel>(),
                                              is_cooperative_kernel<Kernel>(), sizeof(Kernel),
                                              &detail::read_choices<Kernel>};
  const auto code = reinterpret_cast<void (*)()>(detail::launcher<Space>::template code<Kernel>);
  detail::launch_any<Space>(shape, {facts, &kernel, code});
}

#if defined(__CUDACC__)
namespace detail {

template <int MaxThreads, int MinBlocks, class Kernel>
__global__ void __launch_bounds__(MaxThreads, MinBlocks) run_kernel(const __grid_constant__ Kernel kernel) {
  cuda_device device;
  kernel(device);
}

inline constexpr int shared_bytes_without_asking = 48 * 1024;

/// Asks for a large block of shared memory. The size is remembered for each kernel and device.
inline void allow_shared_bytes(const void* entry, const char* kernel, int bytes) {
  thread_local std::map<std::pair<const void*, int>, int> allowed;
  int& known = allowed[{entry, current_cuda_device()}];
  if (bytes <= known) return;
  check_cuda("cudaFuncSetAttribute", cudaFuncSetAttribute(entry, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
             kernel);
  known = bytes;
}

template <>
struct launcher<cuda> {
  template <class Kernel>
  static constexpr auto code = &run_kernel<kernel_max_threads<Kernel>(), kernel_min_blocks<Kernel>(), Kernel>;

  static const launch_clock* clock() { return &cuda_launch_clock(); }
  static void run(const launch_shape& shape, const any_kernel& kernel) {
    const auto entry = reinterpret_cast<const void*>(kernel.code);
    const char* const name = kernel.facts.name;
    if (shape.shared_bytes > shared_bytes_without_asking) allow_shared_bytes(entry, name, shape.shared_bytes);
    const profiler_range range(name);
    const dim3 grid(static_cast<unsigned>(shape.grid.x), static_cast<unsigned>(shape.grid.y),
                    static_cast<unsigned>(shape.grid.z));
    const dim3 block(static_cast<unsigned>(shape.block));
    const auto shared_bytes = static_cast<std::size_t>(shape.shared_bytes);
    void* arguments[] = {const_cast<void*>(kernel.object)};
    if (kernel.facts.is_cooperative) {
      check_cuda("cudaLaunchCooperativeKernel",
                 cudaLaunchCooperativeKernel(entry, grid, block, arguments, shared_bytes, current_stream()), name);
    } else {
      check_cuda("cudaLaunchKernel", cudaLaunchKernel(entry, grid, block, arguments, shared_bytes, current_stream()),
                 name);
    }
  }
  static const cuda_properties& properties() { return properties_of(current_cuda_device()); }
  /// Registers of a thread, in the code that was made for the current device.
  template <class Kernel>
  static int registers_of() {
    thread_local int known_device = -1, known_registers = 0;
    const int device = current_cuda_device();
    if (device != known_device) {
      cudaFuncAttributes attributes{};
      check_cuda("cudaFuncGetAttributes", cudaFuncGetAttributes(&attributes, code<Kernel>), kernel_name<Kernel>());
      known_device = device, known_registers = attributes.numRegs;
    }
    return known_registers;
  }
  /// The latest answer is kept, so that a statement in a loop asks the driver once.
  template <class Kernel>
  static int cooperative_blocks(int block, int shared_bytes) {
    thread_local int known_device = -1, known_block = 0, known_bytes = 0, known_blocks = 0;
    const int device = current_cuda_device();
    if (shared_bytes > properties_of(device).shared_bytes_per_block) return 0;
    if (device != known_device || block != known_block || shared_bytes != known_bytes) {
      const auto entry = reinterpret_cast<const void*>(code<Kernel>);
      if (shared_bytes > shared_bytes_without_asking) allow_shared_bytes(entry, kernel_name<Kernel>(), shared_bytes);
      int each = 0;
      check_cuda("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, code<Kernel>, block,
                                                               static_cast<std::size_t>(shared_bytes)),
                 kernel_name<Kernel>());
      known_device = device, known_block = block, known_bytes = shared_bytes;
      known_blocks = each * properties_of(device).multiprocessors;
    }
    return known_blocks;
  }
};

}  // namespace detail
#endif

}  // namespace tenon
