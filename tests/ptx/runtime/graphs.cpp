// tests/ptx/runtime/graphs.cpp: captures, and graphs, which do again what was captured.
// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "ptx/runtime/state.hpp"
#include "ptx/runtime/streams.hpp"

namespace tenon_test::ptx {

namespace {

/// What a thread captures, and whether it lets calls in that cannot be captured.
struct thread_capture_state {
  recording* into = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
};
thread_capture_state& of_thread() {
  static thread_local thread_capture_state state;
  return state;
}

struct known_graph {
  std::vector<graph_node> nodes;
};
known_graph& graph_of(cudaGraph_t graph) { return *reinterpret_cast<known_graph*>(graph); }

cudaError_t keep(cudaError_t code) { return runtime_state::of_process().keep(code); }

}  // namespace

bool is_refused_in_capture(const char* call) {
  const thread_capture_state& state = of_thread();
  if (state.into == nullptr || state.mode == cudaStreamCaptureModeRelaxed) return false;
  state.into->is_broken = true;
  runtime_state::of_process().fault_text = std::string(call) + " in a capture";
  return true;
}

}  // namespace tenon_test::ptx

using namespace tenon_test::ptx;

extern "C" {

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, of_thread().mode);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  const runtime_state::guard lock(runtime_state::of_process().mutex);
  const recording* const into = stream_state::of_process().at(stream).into;
  *status = into == nullptr   ? cudaStreamCaptureStatusNone
            : into->is_broken ? cudaStreamCaptureStatusInvalidated
                              : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  const runtime_state::guard lock(runtime_state::of_process().mutex);
  stream_state& state = stream_state::of_process();
  if (stream == nullptr) return keep(cudaErrorStreamCaptureUnsupported);
  if (state.at(stream).into != nullptr) return keep(cudaErrorIllegalState);
  auto* const made = new recording;
  made->origin = stream;
  made->members = {stream};
  state.at(stream).into = made;
  of_thread().into = made;
  of_thread().mode = mode;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const runtime_state::guard lock(runtime_state::of_process().mutex);
  stream_state& state = stream_state::of_process();
  *graph = nullptr;
  recording* const ended = state.at(stream).into;
  if (ended == nullptr || ended->origin != stream) return keep(cudaErrorStreamCaptureUnmatched);
  for (const void* const member : ended->members) state.streams[member].into = nullptr;
  if (of_thread().into == ended) of_thread() = {};
  if (ended->is_broken) return keep(cudaErrorStreamCaptureInvalidated);
  if (!ended->unjoined.empty()) return keep(cudaErrorStreamCaptureUnjoined);
  *graph = reinterpret_cast<cudaGraph_t>(new known_graph{ended->nodes});
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = reinterpret_cast<cudaGraphExec_t>(new known_graph(graph_of(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  const runtime_state::guard lock(runtime_state::of_process().mutex);
  for (const graph_node& each : reinterpret_cast<known_graph*>(graph)->nodes) {
    const cudaError_t code = stream_state::of_process().work(stream, each);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &graph_of(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete reinterpret_cast<known_graph*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  std::vector<graph_node>& all = graph_of(graph).nodes;
  for (std::size_t i = 0; nodes != nullptr && i < *count && i < all.size(); ++i)
    nodes[i] = reinterpret_cast<cudaGraphNode_t>(&all[i]);
  *count = all.size();
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  *type = reinterpret_cast<graph_node*>(node)->kind;
  return cudaSuccess;
}

}  // extern "C"
