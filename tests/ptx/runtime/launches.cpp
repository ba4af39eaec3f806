// tests/ptx/runtime/launches.cpp: the part of CUDA's runtime that knows kernels: their registration and launches.
// A kernel that fails makes its launch return cudaErrorLaunchFailure, whose text tells what it did.
// SPDX-License-Identifier: Apache-2.0
#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "ptx/runtime/state.hpp"
#include "ptx/runtime/streams.hpp"

namespace tenon_test::ptx {

namespace {

constexpr int threads_per_multiprocessor = 2048, most_blocks_of_multiprocessor = 32;

struct fatbin_wrapper {
  int magic, version;
  const unsigned char* data;
  void* others;
};
struct fatbin_header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};
struct fatbin_entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
};
constexpr std::uint16_t kind_of_text = 1;

/// The text of the module in a fatbin; what is compressed or machine code is none.
std::string text_in(const void* fatbin) {
  const auto* const data = static_cast<const fatbin_wrapper*>(fatbin)->data;
  fatbin_header header;
  std::memcpy(&header, data, sizeof(header));
  for (std::size_t at = header.header_bytes; at < header.header_bytes + header.bytes;) {
    fatbin_entry entry;
    std::memcpy(&entry, data + at, sizeof(entry));
    const std::string_view body(reinterpret_cast<const char*>(data + at + entry.header_bytes), entry.bytes);
    const std::size_t begin = body.find(".version");
    if (entry.kind == kind_of_text && begin != std::string_view::npos)
      return std::string(body.substr(begin, body.find('\0', begin) - begin));
    at += entry.header_bytes + entry.bytes;
  }
  return {};
}

void place_variables(module& of) {
  for (auto& [name, each] : of.variables()) {
    each.address = device_memory::of_process().allocate(each.bytes);
    device_memory::of_process().copy(each.address, each.value.data(), each.bytes);
  }
}

cudaError_t check_configuration(const known_kernel& kernel, const struct kernel& code, const launch& asked) {
  const runtime_state& state = runtime_state::of_process();
  if (asked.grid.count() == 0 || asked.block.count() == 0 || asked.grid.y > 65535 || asked.grid.z > 65535 ||
      asked.block.count() > static_cast<std::size_t>(code.most_threads))
    return cudaErrorInvalidConfiguration;
  if (asked.cluster.count() > kernel.most_blocks_of_cluster) return cudaErrorInvalidClusterSize;
  if (asked.cluster.count() == 0 || asked.grid.x % asked.cluster.x != 0 || asked.grid.y % asked.cluster.y != 0 ||
      asked.grid.z % asked.cluster.z != 0)
    return cudaErrorInvalidConfiguration;
  const auto bytes = asked.shared_bytes + code.static_shared_bytes;
  if (bytes > static_cast<std::uint32_t>(kernel.shared_bytes_allowed) + code.static_shared_bytes ||
      bytes > static_cast<std::uint32_t>(state.shared_bytes_per_block))
    return cudaErrorInvalidValue;
  return cudaSuccess;
}

int resident_blocks(const struct kernel& code, int threads, std::size_t shared_bytes) {
  const std::size_t bytes = shared_bytes + code.static_shared_bytes + first_shared_byte;
  const auto room = static_cast<std::size_t>(runtime_state::of_process().shared_bytes_per_block) + first_shared_byte;
  const int rounded = (threads + warp_lanes - 1) / warp_lanes * warp_lanes;
  if (threads > code.most_threads || rounded == 0) return 0;
  return std::min(
      {threads_per_multiprocessor / rounded, static_cast<int>(room / bytes), most_blocks_of_multiprocessor});
}

/// At least as many as its widest instruction has results; some more are for addresses.
int registers_of(const struct kernel& code) {
  constexpr int others = 24, most = 255;
  int widest = 0;
  for (const instruction& each : code.code) widest = std::max<int>(widest, each.count);
  return std::min(widest + others, most);
}

/// Of a core, whoever else uses it.
double seconds_of_thread() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Tells of everything that ran, when the process ends.
void report() {
  const runtime_state& state = runtime_state::of_process();
  std::fprintf(stderr, "ptx: %llu launches, %.3e instructions of warps, %.3e of lanes, %.2f s of a core, seed %llu\n",
               static_cast<unsigned long long>(state.launches), static_cast<double>(state.done.instructions()),
               static_cast<double>(state.done.lane_instructions()), state.seconds,
               static_cast<unsigned long long>(state.seed));
}

/// A kernel's name as C++ has it.
std::string readable(const std::string& name) {
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr),
                                                    &std::free);
  return text == nullptr ? name : text.get();
}

/// Keeps the counts of a launch for whoever wants them: a test, and a file that has a line of JSON for each.
void keep_counts(runtime_state& state, const grid& ran) {
  const launch& asked = ran.asked;
  state.done += ran.done;
  if (!asked.counts_traffic) return;
  const counted_launch made{.kernel = readable(asked.code->name),
                            .entry = asked.code->name,
                            .grid = {asked.grid.x, asked.grid.y, asked.grid.z},
                            .block = {asked.block.x, asked.block.y, asked.block.z},
                            .shared_bytes = asked.shared_bytes + asked.code->static_shared_bytes,
                            .done = ran.done};
  if (state.counted != nullptr) state.counted->push_back(made);
  if (state.counts_file != nullptr) std::fprintf(state.counts_file, "%s\n", json_of(made).c_str());
}

/// A modelled time: a kernel's instructions, at those that an H100's lanes can do.
double seconds_of(const counts& done) {
  constexpr double launch_seconds = 2e-6, lanes_of_multiprocessor = 128, clock_rate = 1.7e9;
  return launch_seconds + static_cast<double>(done.lane_instructions()) / lanes_of_multiprocessor / clock_rate /
                              runtime_state::of_process().multiprocessors;
}

/// Runs a kernel as work of a stream.
cudaError_t run_on(cudaStream_t stream, launch asked) {
  runtime_state& state = runtime_state::of_process();
  stream_state& streams = stream_state::of_process();
  const double begin = seconds_of_thread();
  if (state.launches++ == 0 && setting("TENON_PTX_REPORT", 0) != 0) std::atexit(report);
  asked.seed = state.seed * 1000003 + state.launches;
  asked.counts_traffic = state.counted != nullptr || state.counts_file != nullptr;
  streams.order.known = &streams.at(stream).known;
  asked.order = &streams.order;
  asked.first_unordered = streams.order.first_unordered(*streams.order.known);
  try {
    grid running(asked);
    streams.order.add(streams.key(stream), streams.now(stream), running.first_block);
    running.run();
    for (region* const each : running.touched) {
      const auto marks = each->marks;
      streams.note(stream, reinterpret_cast<const void*>(each->begin()), (marks & region::was_read) != 0,
                   (marks & region::was_written) != 0, true);
    }
    streams.at(stream).seconds += seconds_of(running.done);
    keep_counts(state, running);
  } catch (const fault& failure) {
    state.fault_text = std::string(failure.what()) + "\n  (TENON_PTX_SEED=" + std::to_string(state.seed) + ")";
    return state.keep(cudaErrorLaunchFailure);
  }
  state.seconds += seconds_of_thread() - begin;
  return cudaSuccess;
}

/// What launches may ask for beside extents.
struct launch_attributes {
  bool is_cooperative = false;
  triple cluster = {};
  bool has_cluster = false;
};

launch_attributes attributes_of(const cudaLaunchConfig_t& how) {
  launch_attributes with;
  for (unsigned i = 0; i < how.numAttrs; ++i) {
    const cudaLaunchAttribute& each = how.attrs[i];
    if (each.id == cudaLaunchAttributeCooperative) with.is_cooperative = each.val.cooperative != 0;
    if (each.id != cudaLaunchAttributeClusterDimension) continue;
    with.has_cluster = true;
    with.cluster = {each.val.clusterDim.x, each.val.clusterDim.y, each.val.clusterDim.z};
  }
  return with;
}

/// The size of a kernel's clusters, which it or the launch says. cudaErrorInvalidClusterSize where they differ.
cudaError_t choose_cluster(launch& asked, const launch_attributes& with) {
  asked.cluster = asked.code->has_cluster ? asked.code->cluster : with.cluster;
  return with.has_cluster && with.cluster != asked.cluster ? cudaErrorInvalidClusterSize : cudaSuccess;
}

cudaError_t run(const void* function, dim3 grid_extent, dim3 block_extent, void** arguments, std::size_t shared_bytes,
                const launch_attributes& with, cudaStream_t stream) {
  runtime_state& state = runtime_state::of_process();
  const runtime_state::guard lock(state.mutex);
  const auto found = state.kernels.find(function);
  if (found == state.kernels.end()) return state.keep(cudaErrorInvalidDeviceFunction);
  launch asked{.grid = {grid_extent.x, grid_extent.y, grid_extent.z},
               .block = {block_extent.x, block_extent.y, block_extent.z},
               .shared_bytes = static_cast<std::uint32_t>(shared_bytes),
               .parameters = {},
               .is_cooperative = with.is_cooperative,
               .starts_in_order = found->second.name.find("3cub") != std::string::npos};  // its blocks look back
  try {
    asked.code = &found->second.of->entry(found->second.name);
  } catch (const fault& failure) {
    state.fault_text = failure.what();
    return state.keep(cudaErrorLaunchFailure);
  }
  if (const cudaError_t code = choose_cluster(asked, with)) return state.keep(code);
  if (const cudaError_t code = check_configuration(found->second, *asked.code, asked)) return state.keep(code);
  if (with.is_cooperative &&
      asked.grid.count() > static_cast<std::size_t>(state.multiprocessors) *
                               static_cast<std::size_t>(
                                   resident_blocks(*asked.code, static_cast<int>(asked.block.count()), shared_bytes)))
    return state.keep(cudaErrorCooperativeLaunchTooLarge);
  asked.parameters.resize(asked.code->all_parameter_bytes);
  for (std::size_t i = 0; i < asked.code->parameter_bytes.size(); ++i)
    std::memcpy(&asked.parameters[asked.code->parameter_offsets[i]], arguments[i], asked.code->parameter_bytes[i]);
  return stream_state::of_process().work(
      stream, {cudaGraphNodeTypeKernel, [asked](cudaStream_t on) { return run_on(on, asked); }});
}

struct call_configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local call_configuration next_call;

}  // namespace

std::vector<counted_launch> launches_of(const std::function<void()>& body) {
  std::vector<counted_launch> result;
  auto*& counted = runtime_state::of_process().counted;
  struct restore {
    std::vector<counted_launch>*& where;
    std::vector<counted_launch>* before;
    ~restore() { where = before; }
  } const restores{counted, std::exchange(counted, &result)};
  body();
  return result;
}

}  // namespace tenon_test::ptx

using namespace tenon_test::ptx;

extern "C" {

void** __cudaRegisterFatBinary(void* fatbin) {
  runtime_state& state = runtime_state::of_process();
  state.modules.push_back(std::make_unique<module>(text_in(fatbin)));
  state.newest_code = std::max(state.newest_code, state.modules.back()->architecture());
  place_variables(*state.modules.back());
  return reinterpret_cast<void**>(state.modules.back().get());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void** handle, const char* function, char*, const char* name, int, void*, void*, void*,
                            void*, int*) {
  auto* const of = reinterpret_cast<module*>(handle);
  runtime_state::of_process().kernels.try_emplace(function, known_kernel{of, name});
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
  next_call = {grid, block, shared_bytes, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream) {
  *grid = next_call.grid, *block = next_call.block, *shared_bytes = next_call.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = next_call.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return run(function, grid, block, arguments, shared_bytes, {}, stream);
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                               cudaStream_t stream) {
  return run(kernel, grid, block, arguments, shared_bytes, {}, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* how, const void* function, void** arguments) {
  const launch_attributes with = attributes_of(*how);
  return run(function, how->gridDim, how->blockDim, arguments, how->dynamicSmemBytes, with, how->stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return run(function, grid, block, arguments, shared_bytes, {.is_cooperative = true}, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  runtime_state& state = runtime_state::of_process();
  const auto found = state.kernels.find(function);
  if (found == state.kernels.end()) return state.keep(cudaErrorInvalidDeviceFunction);
  const struct kernel& code = found->second.of->entry(found->second.name);
  *attributes = {};
  attributes->sharedSizeBytes = code.static_shared_bytes;
  attributes->maxThreadsPerBlock = code.most_threads;
  attributes->numRegs = registers_of(code);
  attributes->ptxVersion = found->second.of->architecture();
  attributes->binaryVersion = state.architecture();
  attributes->maxDynamicSharedSizeBytes = found->second.shared_bytes_allowed;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  runtime_state& state = runtime_state::of_process();
  const auto found = state.kernels.find(function);
  if (found == state.kernels.end()) return state.keep(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed)
    found->second.most_blocks_of_cluster = value != 0 ? 16 : 8;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value > state.shared_bytes_per_block) return state.keep(cudaErrorInvalidValue);
  found->second.shared_bytes_allowed = value;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t shared_bytes, unsigned) {
  runtime_state& state = runtime_state::of_process();
  const auto found = state.kernels.find(function);
  if (found == state.kernels.end()) return state.keep(cudaErrorInvalidDeviceFunction);
  *blocks = resident_blocks(found->second.of->entry(found->second.name), threads, shared_bytes);
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0);
}
/// As many as multiprocessors hold, wherever a cluster's blocks are. A device may hold fewer.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* how) {
  runtime_state& state = runtime_state::of_process();
  const auto found = state.kernels.find(function);
  if (found == state.kernels.end()) return state.keep(cudaErrorInvalidDeviceFunction);
  launch asked{.code = &found->second.of->entry(found->second.name),
               .grid = {how->gridDim.x, how->gridDim.y, how->gridDim.z},
               .block = {how->blockDim.x, how->blockDim.y, how->blockDim.z},
               .shared_bytes = static_cast<std::uint32_t>(how->dynamicSmemBytes),
               .parameters = {}};
  if (const cudaError_t code = choose_cluster(asked, attributes_of(*how))) return state.keep(code);
  if (const cudaError_t code = check_configuration(found->second, *asked.code, asked)) return state.keep(code);
  const int blocks = resident_blocks(*asked.code, static_cast<int>(asked.block.count()), how->dynamicSmemBytes);
  *clusters = state.multiprocessors * blocks / static_cast<int>(asked.cluster.count());
  return cudaSuccess;
}

}  // extern "C"
