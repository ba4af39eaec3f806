// tenon/device/cuda_memory.hpp: the memory space of CUDA devices.
// The space can be named everywhere; using it needs nvcc, and elsewhere is one readable error.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/base/config.hpp>
#include <tenon/device/stream.hpp>
#if defined(__CUDACC__)
#include <tenon/device/blocks.hpp>
#include <tenon/device/captured.hpp>
#include <tenon/device/freeing_streams.hpp>
#include <tenon/device/pending_copies.hpp>
#include <tenon/device/pinned.hpp>
#endif

namespace tenon {

namespace detail {

/// Memory calls of `cuda`; the specialisation for `true` exists in files that nvcc compiles.
template <bool CompiledByNvcc>
struct cuda_memory {
  template <class... Arguments>
  static void* use(Arguments...) {
    static_assert(CompiledByNvcc, "tenon: memory of the space cuda is used here; compile this file with nvcc");
    return nullptr;
  }
  static void* allocate(std::size_t bytes) { return use(bytes); }
  static void deallocate(void* memory, std::size_t bytes) { use(memory, bytes); }
  static void copy(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void start_copy_from_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void start_copy_to_host(void* target, const void* source, std::size_t bytes) { use(target, source, bytes); }
  static void set_zero(void* target, std::size_t bytes) { use(target, bytes); }
};

}  // namespace detail

/// Memory of CUDA devices; an allocation lies on the device that is current then. All work happens in the order of the
/// thread's current stream. The host waits for nothing but copies from and to memory that is not page-locked; these are
/// complete on return. Memory is freed in the order of all streams whose statements and copies have used it.
/// throws    cuda_error, out_of_memory, capture_error
struct cuda {
  static constexpr const char* name = "cuda";
  static constexpr bool host_accessible = false;

  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void* allocate(std::size_t bytes) {
    return detail::cuda_memory<CompiledByNvcc>::allocate(bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void deallocate(void* memory, std::size_t bytes) noexcept {
    detail::cuda_memory<CompiledByNvcc>::deallocate(memory, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy_from_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy_from_host(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void copy_to_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::copy_to_host(target, source, bytes);
  }
  /// Copies between a device and page-locked memory, whose block begins at the host's address; they return at once.
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void start_copy_from_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::start_copy_from_host(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void start_copy_to_host(void* target, const void* source, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::start_copy_to_host(target, source, bytes);
  }
  template <bool CompiledByNvcc = compiled_by_nvcc>
  static void set_zero(void* target, std::size_t bytes) {
    detail::cuda_memory<CompiledByNvcc>::set_zero(target, bytes);
  }
};

}  // namespace tenon

#if defined(__CUDACC__)
namespace tenon {

template <>
struct space_devices<cuda> {
  static constexpr bool available = true;

  static int count() { return static_cast<int>(detail::all_properties().size()); }
  static int current() { return current_cuda_device(); }
  static stream_id stream() { return {current_stream(), current()}; }
  static int multiprocessors() { return properties_of(current()).multiprocessors; }
  static int architecture() { return detail::architecture_of_code(current()); }
  static void use(int device) { check_cuda("cudaSetDevice", cudaSetDevice(device)); }
  static int of(const void* address) {
    return count() < 2 ? current() : blocks_of<cuda>().device_of(address, current());
  }
  static bool are_watched() {
    return count() > 1 || detail::idle_streams::of_process().were_taken() || thread_capture<cuda>() != nullptr;
  }
  static void note(const void* address) {
    if (captured_work* const work = thread_capture<cuda>()) work->note_use(address, current());
    else blocks_of<cuda>().note_use(address, stream());
  }
};

namespace detail {

inline pending_copies<event>& copies_under_way() {
  static pending_copies<event>& copies = *new pending_copies<event>;
  return copies;
}

/// Marks a page-locked block as in use until the present work of the current stream is done.
inline void mark_copy_under_way(const void* host_memory) {
  event mark;
  mark.record();
  copies_under_way().add(host_memory, std::move(mark));
}

/// While it lives, the calling thread may make calls that would break its capture. They are not captured.
class outside_capture {
 public:
  outside_capture() { check_cuda("cudaThreadExchangeStreamCaptureMode", cudaThreadExchangeStreamCaptureMode(&mode_)); }
  outside_capture(const outside_capture&) = delete;
  outside_capture& operator=(const outside_capture&) = delete;
  ~outside_capture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

inline cudaError_t try_allocate(void** memory, std::size_t bytes, stream_id home) {
  const cudaError_t code = properties_of(home.device).has_memory_pools ? cudaMallocAsync(memory, bytes, handle_of(home))
                                                                       : cudaMalloc(memory, bytes);
  if (code == cudaErrorMemoryAllocation) cudaGetLastError();  // forgets the failure
  return code;
}

template <>
struct cuda_memory<true> {
  static void* allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    captured_work* const work = thread_capture<cuda>();
    if (work == nullptr) return allocate_on(space_devices<cuda>::stream(), bytes);
    if (void* const again = work->take(bytes)) return again;
    const outside_capture outside;
    void* const memory = allocate_on(work->outer, bytes);
    work->used.push_back(memory);  // by each launch, whether or not a statement names it
    return memory;
  }
  static void deallocate(void* memory, std::size_t) noexcept {  // failures while the process ends are of no interest
    if (memory == nullptr) return;
    if (captured_work* const work = thread_capture<cuda>())
      return work->keep(memory, blocks_of<cuda>().bytes_at(memory));
    try {
      const memory_block block = blocks_of<cuda>().take(memory);
      const cuda_device_scope on(block.home.device);
      if (cudaFreeAsync(memory, handle_of(last_stream_of(block))) == cudaSuccess) return;
      cudaGetLastError();
    } catch (const cuda_error&) {
    }
    cudaFree(memory);
  }
  static void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const int to = space_devices<cuda>::of(target), from = space_devices<cuda>::of(source);
    if (to == from) transfer(to, target, source, bytes, cudaMemcpyDeviceToDevice);
    else copy_across(target, to, source, from, bytes);
  }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) {
    refuse_in_capture<cuda>("a copy from the host", "copy before, or from a tensor of the space pinned");
    transfer(space_devices<cuda>::of(target), target, source, bytes, cudaMemcpyHostToDevice);
    wait_for(space_devices<cuda>::of(target));
  }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) {
    refuse_in_capture<cuda>("a value is read on the host", "read it after the graph's launch");
    transfer(space_devices<cuda>::of(source), target, source, bytes, cudaMemcpyDeviceToHost);
    wait_for(space_devices<cuda>::of(source));
  }
  static void start_copy_from_host(void* target, const void* source, std::size_t bytes) {
    transfer(space_devices<cuda>::of(target), target, source, bytes, cudaMemcpyHostToDevice);
    mark_under_way(space_devices<cuda>::of(target), source);
  }
  static void start_copy_to_host(void* target, const void* source, std::size_t bytes) {
    transfer(space_devices<cuda>::of(source), target, source, bytes, cudaMemcpyDeviceToHost);
    mark_under_way(space_devices<cuda>::of(source), target);
  }
  static void set_zero(void* target, std::size_t bytes) {
    const cuda_device_scope on(space_devices<cuda>::of(target));
    check_cuda("cudaMemsetAsync", cudaMemsetAsync(target, 0, bytes, current_stream()));
  }

 private:
  /// Where the driver has too little memory, waits once for work under way, which may still hold freed blocks.
  static void* allocate_on(stream_id home, std::size_t bytes) {
    void* memory = nullptr;
    cudaError_t code = try_allocate(&memory, bytes, home);
    if (code == cudaErrorMemoryAllocation && thread_capture<cuda>() == nullptr) {
      await_streams_of_device(home);
      code = try_allocate(&memory, bytes, home);
    }
    if (code == cudaErrorMemoryAllocation) throw_out_of_memory(bytes, home.device);
    check_cuda("cudaMallocAsync", code);
    blocks_of<cuda>().add(memory, bytes, home);
    return memory;
  }
  [[noreturn]] static void throw_out_of_memory(std::size_t bytes, int device) {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw out_of_memory(out_of_memory_text(bytes, device, free, total));
  }
  /// A stream after whose present work nothing uses the block.
  static stream_id last_stream_of(const memory_block& block) {
    if (block.users.empty()) return block.home;
    const stream_id last = freeing_stream(block.home.device);
    follow(last, block.home);
    for (const stream_id& user : block.users) follow(last, user);
    return last;
  }
  static void transfer(int device, void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    if (bytes == 0) return;
    const cuda_device_scope on(device);
    check_cuda("cudaMemcpyAsync", cudaMemcpyAsync(target, source, bytes, kind, current_stream()));
    note_copy(target, source);
  }
  /// Each device's current stream waits for the other: the source is complete, and stays until it has been read.
  static void copy_across(void* target, int to, const void* source, int from, std::size_t bytes) {
    refuse_in_capture<cuda>("a copy between devices", "copy before the capture");
    const stream_id reader{thread_stream(to), to}, writer{thread_stream(from), from};
    follow(reader, writer);
    const cuda_device_scope on(to);
    check_cuda("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync(target, to, source, from, bytes, handle_of(reader)));
    note_copy(target, source);
    follow(writer, reader);
  }
  static void note_copy(const void* target, const void* source) {
    if (!space_devices<cuda>::are_watched()) return;
    space_devices<cuda>::note(target);
    space_devices<cuda>::note(source);
  }
  static void mark_under_way(int device, const void* host_memory) {
    if (captured_work* const work = thread_capture<cuda>()) return work->host_memory.push_back(host_memory);
    const cuda_device_scope on(device);
    mark_copy_under_way(host_memory);
  }
  static void wait_for(int device) {
    const cuda_device_scope on(device);
    synchronize();
  }
};

/// What CUDA does for the space `pinned`.
struct cuda_page_locking {
  static void lock(void* memory, std::size_t bytes) {
    if (cuda_device_count() == 0) return;
    const outside_capture outside;
    const cudaError_t code = cudaHostRegister(memory, bytes, cudaHostRegisterPortable);
    if (code == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw out_of_memory(compose_text("allocate: ", bytes, " bytes of pinned memory: the host cannot lock them"));
    }
    check_cuda("cudaHostRegister", code);
  }
  static void unlock(void* memory) noexcept {
    if (cuda_device_count() == 0) return;
    try {
      const outside_capture outside;
      await(memory);
      check_cuda("cudaHostUnregister", cudaHostUnregister(memory));
    } catch (const cuda_error&) {  // a lasting failure is reported by the next call
      cudaGetLastError();
    }
  }
  static void await(const void* memory) {
    if (copies_under_way().blocks() == 0) return;
    const outside_capture outside;
    copies_under_way().await(memory);
  }
};
inline const bool locks_pages = [] {
  page_locks = {cuda_page_locking::lock, cuda_page_locking::unlock, cuda_page_locking::await};
  return true;
}();

}  // namespace detail
}  // namespace tenon
#endif
