// tests/cuda_calls/model.hpp: a stand-in for CUDA's runtime that knows what comes before what.
// Streams, events and graphs carry clocks, so it tells which memory was freed, or read, before work on it is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tenon_test {

/// For each stream, how much of its work is known to be done.
using clock = std::map<const void*, long>;

inline void merge(clock& into, const clock& other) {
  for (const auto& [stream, time] : other) into[stream] = std::max(into[stream], time);
}

struct modelled_block {
  std::size_t bytes;
  int device;
  clock uses;  ///< the latest of each stream
  clock made;  ///< its allocation
};

struct freed_bytes {
  std::size_t bytes;
  int device;
  clock done;  ///< the work before
};

/// What a program has asked of CUDA. The default stream of device d is its own, whose address is `defaults + d`.
struct cuda_model {
  static constexpr int devices = 2;
  char defaults[devices];
  int current = 0;
  std::map<const void*, int> stream_devices;  ///< of streams that were made
  std::map<const void*, clock> streams;
  std::map<const void*, clock> events;
  std::map<char*, modelled_block> blocks;  ///< of devices
  std::set<const void*> locked;            ///< blocks of the host
  clock host;                              ///< what the host has waited for
  const void* captured = nullptr;          ///< the stream that is captured
  std::thread::id capturing;               ///< the thread that captures it
  std::vector<const void*> captured_uses;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  int graphs = 0, waits = 0, allocations = 0, peer_copies = 0;
  std::size_t room = std::size_t{1} << 40;
  std::vector<freed_bytes> freed;     ///< that are out of use once work is done
  cudaError_t failure = cudaSuccess;  ///< of a kernel; every later call returns it
  cudaError_t last = cudaSuccess;
  std::vector<std::string> faults;  ///< what a GPU would have left undefined

  static cuda_model& get() {
    static cuda_model& model = *new cuda_model;
    return model;
  }
  const void* stream(cudaStream_t handle) {
    return handle == nullptr ? defaults + current : static_cast<const void*>(handle);
  }
  int device_of(const void* id) {
    for (int device = 0; device < devices; ++device) {
      if (id == defaults + device) return device;
    }
    return stream_devices.at(id);
  }
  cudaError_t say(cudaError_t code) { return last = failure != cudaSuccess ? failure : code; }

  /// Work of a stream on some memory.
  cudaError_t work(cudaStream_t handle, std::vector<const void*> used) {
    const void* const id = stream(handle);
    if (device_of(id) != current) faults.push_back("work on a stream of another device");
    if (id == captured) {
      captured_uses.insert(captured_uses.end(), used.begin(), used.end());
      return say(cudaSuccess);
    }
    const long time = ++streams[id][id];
    for (const void* address : used) {
      auto* const block = find(address);
      if (block == nullptr) continue;
      block->uses[id] = time;
      if (!covers(streams[id], block->made)) faults.push_back("used before it is allocated");
    }
    return say(cudaSuccess);
  }
  modelled_block* find(const void* address) {
    auto at = blocks.upper_bound(const_cast<char*>(static_cast<const char*>(address)));
    if (at == blocks.begin()) return nullptr;
    --at;
    return address < at->first + at->second.bytes ? &at->second : nullptr;
  }
  void wait(const clock& done) {
    ++waits;
    refuse_in_capture("the host waits");
    merge(host, done);
  }
  /// For calls that CUDA may refuse a thread that captures.
  void refuse_in_capture(const std::string& call) {
    const bool is_own = captured != nullptr && capturing == std::this_thread::get_id();
    if (is_own && mode != cudaStreamCaptureModeRelaxed) faults.push_back(call + " in a capture");
  }
  /// Bytes that are freed behind work of which a stream does not know.
  std::size_t bytes_in_use_for(const void* id) {
    std::size_t bytes = 0;
    for (const auto& each : freed) {
      const bool is_done = covers(host, each.done) || covers(streams[id], each.done);
      if (each.device == device_of(id) && !is_done) bytes += each.bytes;
    }
    return bytes;
  }
  /// Whether `known` includes all work on a block.
  static bool covers(const clock& known, const clock& uses) {
    for (const auto& [stream, time] : uses) {
      const auto at = known.find(stream);
      if (at == known.end() || at->second < time) return false;
    }
    return true;
  }
};

inline cuda_model& model() { return cuda_model::get(); }

struct modelled_graph {
  std::vector<const void*> uses;
};

}  // namespace tenon_test

// The runtime's functions, as far as Tenon's memory, streams and graphs call them.
extern "C" {
using tenon_test::model;

cudaError_t cudaGetDeviceCount(int* count) { return *count = tenon_test::cuda_model::devices, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = model().current, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return model().current = device, cudaSuccess; }
cudaError_t cudaGetLastError() {
  const cudaError_t code = model().last;
  model().last = cudaSuccess;
  return code;
}
const char* cudaGetErrorName(cudaError_t) { return "a name"; }
const char* cudaGetErrorString(cudaError_t) { return "a text"; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) { return *value = 1, cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceCanAccessPeer(int* is_able, int, int) { return *is_able = 1, cudaSuccess; }
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) { return *free = model().room, *total = 999, cudaSuccess; }
cudaError_t cudaDeviceSynchronize() {
  if (model().captured != nullptr) return model().say(cudaErrorStreamCaptureUnsupported);
  tenon_test::clock everything;
  for (const auto& [stream, done] : model().streams) tenon_test::merge(everything, done);
  model().wait(everything);
  return model().say(cudaSuccess);
}

cudaError_t cudaMallocAsync(void** memory, size_t bytes, cudaStream_t stream) {
  if (bytes + model().bytes_in_use_for(model().stream(stream)) > model().room)
    return model().say(cudaErrorMemoryAllocation);
  if (model().stream(stream) == model().captured) model().faults.push_back("an allocation is captured");
  model().refuse_in_capture("an allocation");
  *memory = std::malloc(bytes);
  model().blocks[static_cast<char*>(*memory)] = {bytes, model().current, {}, {}};
  ++model().allocations;
  const cudaError_t code = model().work(stream, {*memory});
  model().blocks[static_cast<char*>(*memory)].made = model().blocks[static_cast<char*>(*memory)].uses;
  return code;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream) {
  auto& blocks = model().blocks;
  const auto at = blocks.find(static_cast<char*>(memory));
  if (at == blocks.end()) return model().faults.push_back("a stranger is freed"), model().say(cudaErrorInvalidValue);
  if (at->second.device != model().current) model().faults.push_back("freed on another device");
  if (!tenon_test::cuda_model::covers(model().streams[model().stream(stream)], at->second.uses)) {
    model().faults.push_back("freed before its use");
  }
  const std::size_t bytes = at->second.bytes;
  blocks.erase(at);  // and the memory is leaked, so that addresses are not used again
  const cudaError_t code = model().work(stream, {});
  model().freed.push_back({bytes, model().current, model().streams[model().stream(stream)]});
  return code;
}
cudaError_t cudaMalloc(void**, size_t) { return model().faults.push_back("cudaMalloc"), cudaErrorInvalidValue; }
cudaError_t cudaFree(void*) { return model().faults.push_back("cudaFree"), cudaErrorInvalidValue; }
cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  if (model().stream(stream) != model().captured) std::memcpy(target, source, bytes);
  return model().work(stream, {target, source});
}
cudaError_t cudaMemcpyPeerAsync(void* target, int to, const void* source, int from, size_t bytes, cudaStream_t stream) {
  if (model().find(target)->device != to || model().find(source)->device != from) model().faults.push_back("peers");
  const auto& known = model().streams[model().stream(stream)];
  if (!tenon_test::cuda_model::covers(known, model().find(source)->uses)) model().faults.push_back("copied too early");
  ++model().peer_copies;
  std::memcpy(target, source, bytes);
  return model().work(stream, {target, source});
}
cudaError_t cudaMemsetAsync(void* target, int, size_t, cudaStream_t stream) { return model().work(stream, {target}); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = static_cast<cudaStream_t>(std::malloc(1));
  model().stream_devices[*stream] = model().current;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const bool is_captured = model().stream(stream) == model().captured;
  return *status = is_captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone, cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (model().stream(stream) == model().captured) return model().say(cudaErrorStreamCaptureUnsupported);
  model().wait(model().streams[model().stream(stream)]);
  return model().say(cudaSuccess);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  tenon_test::merge(model().streams[model().stream(stream)], model().events.at(event));
  return model().say(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return *event = static_cast<cudaEvent_t>(std::malloc(1)), cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (model().device_of(model().stream(stream)) != model().current) model().faults.push_back("an event of a device");
  model().events[event] = model().streams[model().stream(stream)];
  return model().say(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  model().wait(model().events.at(event));
  return model().say(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const bool done = tenon_test::cuda_model::covers(model().host, model().events.at(event));
  return done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return std::swap(*mode, model().mode), cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  model().captured = stream;
  model().capturing = std::this_thread::get_id();
  model().captured_uses.clear();
  return model().mode = mode, cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (model().captured != stream) model().faults.push_back("another capture ends");
  model().captured = nullptr;
  ++model().graphs;
  *graph = reinterpret_cast<cudaGraph_t>(new tenon_test::modelled_graph{model().captured_uses});
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  const auto* const known = reinterpret_cast<const tenon_test::modelled_graph*>(graph);
  return *made = reinterpret_cast<cudaGraphExec_t>(new tenon_test::modelled_graph(*known)), cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<tenon_test::modelled_graph*>(graph);
  return --model().graphs, cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return delete reinterpret_cast<tenon_test::modelled_graph*>(graph), cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return model().work(stream, reinterpret_cast<const tenon_test::modelled_graph*>(graph)->uses);
}
cudaError_t cudaHostRegister(void* memory, size_t, unsigned) {
  model().refuse_in_capture("locking pages");
  return model().locked.insert(memory), model().say(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* memory) {
  model().refuse_in_capture("unlocking pages");
  if (model().locked.erase(memory) == 0) model().faults.push_back("a stranger is unlocked");
  return model().say(cudaSuccess);
}
}
