// tests/ptx/runtime/streams.cpp: streams and events, and what is wrong about their order.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/runtime/streams.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ptx/runtime/state.hpp"

namespace tenon_test::ptx {

namespace {

constexpr int queries_until_done = 4;
constexpr double seconds_of_event = 1e-6, seconds_of_copy = 1e-6, bytes_a_second = 3e12;

/// A fault of order is told at once, and ends the process in the end: programs may ignore errors of memory.
void end_with_failure() {
  if (stream_state::of_process().faults.empty()) return;
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace

void join(moments& known, const moments& more) {
  for (const auto& [stream, time] : more) known[stream] = std::max(known[stream], time);
}

bool covers(const moments& known, const moments& work) {
  return std::all_of(work.begin(), work.end(), [&](const auto& each) {
    const auto at = known.find(each.first);
    return at != known.end() && at->second >= each.second;
  });
}

void launch_order::add(const void* stream, long time, std::uint32_t first_block) {
  all_.push_back({stream, time, first_block});
  by_stream_[stream].push_back(all_.back());
}

std::uint32_t launch_order::first_unordered(const moments& done) const {
  std::uint32_t least = ~std::uint32_t{0};
  for (const auto& [stream, entries] : by_stream_) {
    const auto at = done.find(stream);
    const long time = at == done.end() ? 0 : at->second;
    const auto later = std::upper_bound(entries.begin(), entries.end(), time,
                                        [](long value, const entry& each) { return value < each.time; });
    if (later != entries.end()) least = std::min(least, later->first_block);
  }
  return least;
}

bool launch_order::is_before(std::uint32_t block) const {
  const auto after = std::upper_bound(all_.begin(), all_.end(), block,
                                      [](std::uint32_t value, const entry& each) { return value < each.first_block; });
  if (after == all_.begin()) return true;
  const entry& of = *std::prev(after);
  const auto at = known->find(of.stream);
  return at != known->end() && at->second >= of.time;
}

int& current_device() {
  static thread_local int device = 0;
  return device;
}

stream_state& stream_state::of_process() {
  static stream_state& state = *new stream_state;
  return state;
}

const void* stream_state::key(cudaStream_t handle) const {
  return handle == nullptr ? defaults + current_device() : static_cast<const void*>(handle);
}

void stream_state::add_fault(const std::string& what) {
  if (faults.empty()) std::atexit(end_with_failure);
  std::fprintf(stderr, "ptx: %s\n", what.c_str());
  faults.push_back(what);
}

cudaError_t stream_state::work(cudaStream_t handle, graph_node node) {
  known_stream& stream = at(handle);
  const void* const id = key(handle);
  if (handle != nullptr && stream.device != current_device()) add_fault("work on a stream of another device");
  if (stream.into != nullptr) {
    stream.into->nodes.push_back(std::move(node));
    if (id != stream.into->origin) stream.into->unjoined.insert(id);
    return cudaSuccess;
  }
  join(stream.known, host);
  ++stream.known[id];
  return node.run(handle);
}

void stream_state::wait(const moments& done) {
  ++waits;
  join(host, done);
  deliver(host);
}

void stream_state::deliver(const moments& known) {
  std::erase_if(copies, [&](const pending_copy& each) {
    if (!covers(known, {{each.stream, each.time}})) return false;
    if (each.arrives) std::memcpy(each.memory, each.bytes.data(), each.bytes.size());
    else if (std::memcmp(each.memory, each.bytes.data(), each.bytes.size()) != 0)
      add_fault("page-locked memory was written before a copy from it had been waited for");
    return true;
  });
}

void stream_state::note(cudaStream_t handle, const void* memory, bool reads, bool writes, bool is_kernel) {
  region* const in = device_memory::of_process().find(reinterpret_cast<std::uintptr_t>(memory));
  const auto found = in == nullptr ? histories.end() : histories.find(in->begin());
  if (found == histories.end()) return;
  history& of = found->second;
  const known_stream& stream = at(handle);
  const std::string name = in->name();
  if (!covers(stream.known, of.made)) add_fault(name + " is used before it is made, in the order of streams");
  // Kernels race word by word, which their grids notice; here copies are compared with all else.
  if (!is_kernel && reads && !covers(stream.known, of.written))
    add_fault(name + " is copied before another stream has written it");
  if (!is_kernel && writes && !(covers(stream.known, of.written) && covers(stream.known, of.read)))
    add_fault(name + " is overwritten by a copy before another stream has used it");
  if (reads) of.read[key(handle)] = now(handle);
  if (writes) of.written[key(handle)] = now(handle);
}

void stream_state::note_copy(cudaStream_t handle, void* target, const void* source, std::size_t bytes) {
  at(handle).seconds += seconds_of_copy + 2 * static_cast<double>(bytes) / bytes_a_second;
  note(handle, target, false, true, false);
  if (source != nullptr) note(handle, source, true, false, false);
}

}  // namespace tenon_test::ptx

using namespace tenon_test::ptx;

namespace {

known_event& event_of(cudaEvent_t event) { return *reinterpret_cast<known_event*>(event); }
cudaError_t keep(cudaError_t code) { return runtime_state::of_process().keep(code); }
runtime_state::guard locked() { return runtime_state::guard(runtime_state::of_process().mutex); }

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const auto lock = locked();
  *stream = reinterpret_cast<cudaStream_t>(new char);
  stream_state::of_process().streams[*stream].device = current_device();
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }  // its clock stays
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const auto lock = locked();
  stream_state& state = stream_state::of_process();
  if (state.at(stream).into != nullptr || is_refused_in_capture("cudaStreamSynchronize"))
    return keep(cudaErrorStreamCaptureUnsupported);
  state.wait(state.at(stream).known);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const auto lock = locked();
  stream_state& state = stream_state::of_process();
  bool is_refused = is_refused_in_capture("cudaDeviceSynchronize");
  for (const auto& [id, stream] : state.streams) {  // whoever captures them
    if (stream.into == nullptr) continue;
    stream.into->is_broken = is_refused = true;
  }
  if (is_refused) return keep(cudaErrorStreamCaptureUnsupported);
  for (const auto& [id, stream] : state.streams) state.wait(stream.known);
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const auto lock = locked();
  stream_state& state = stream_state::of_process();
  known_stream& waiting = state.at(stream);
  const known_event& of = event_of(event);
  if (of.of == nullptr) {
    if (waiting.into == nullptr) join(waiting.known, of.known);
    return keep(waiting.into == nullptr || of.known.empty() ? cudaSuccess : cudaErrorStreamCaptureIsolation);
  }
  if (waiting.into != nullptr && waiting.into != of.of) return keep(cudaErrorStreamCaptureMerge);
  waiting.into = of.of;
  of.of->members.insert(state.key(stream));
  of.of->unjoined.erase(of.stream);
  if (state.key(stream) != of.of->origin) of.of->unjoined.insert(state.key(stream));
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new known_event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<known_event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const auto lock = locked();
  stream_state& state = stream_state::of_process();
  known_stream& from = state.at(stream);
  if (stream != nullptr && from.device != current_device()) state.add_fault("an event on a stream of another device");
  from.seconds += seconds_of_event;
  event_of(event) = {.known = from.known, .seconds = from.seconds, .of = from.into, .stream = state.key(stream)};
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const auto lock = locked();
  stream_state& state = stream_state::of_process();
  if (event_of(event).of != nullptr) return keep(cudaErrorCapturedEvent);
  if (covers(state.host, event_of(event).known)) return cudaSuccess;
  if (++event_of(event).queries < queries_until_done) return cudaErrorNotReady;
  join(state.host, event_of(event).known);
  state.deliver(state.host);
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const auto lock = locked();
  if (event_of(event).of != nullptr) return keep(cudaErrorCapturedEvent);
  if (is_refused_in_capture("cudaEventSynchronize")) return keep(cudaErrorStreamCaptureUnsupported);
  stream_state::of_process().wait(event_of(event).known);
  return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = static_cast<float>(1e3 * (event_of(to).seconds - event_of(from).seconds));
  return cudaSuccess;
}

}  // extern "C"
