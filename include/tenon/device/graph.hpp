// tenon/device/graph.hpp: a function's statements, captured once and started as one piece as often as wanted.
// Capturing runs nothing: it records kernels and copies with the memory that they use. Replays allocate nothing.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <tenon/device/captured.hpp>
#include <tenon/device/cuda_memory.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/device/recent_launches.hpp>

namespace tenon {

namespace detail {

#if defined(__CUDACC__)
/// A graph of CUDA. It is captured from a stream of its own, to which the thread's kernels and copies go meanwhile.
template <>
class graph_recording<cuda> {
 public:
  graph_recording() = default;
  graph_recording(const graph_recording&) = delete;
  graph_recording& operator=(const graph_recording&) = delete;
  ~graph_recording() {
    abandon();
    if (replayed_ != nullptr) cudaGraphExecDestroy(replayed_);
  }

  void begin() {
    captured_ = idle_streams::of_captures().take();
    outer_ = std::exchange(thread_stream(captured_.device), handle_of(captured_));
    check_cuda("cudaStreamBeginCapture",
               cudaStreamBeginCapture(handle_of(captured_), cudaStreamCaptureModeThreadLocal));
  }
  void end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t code = cudaStreamEndCapture(handle_of(captured_), &graph);
    leave_stream();
    check_cuda("cudaStreamEndCapture", code);
    const cudaError_t made = cudaGraphInstantiateWithFlags(&replayed_, graph, 0);
    cudaGraphDestroy(graph);
    check_cuda("cudaGraphInstantiate", made);
  }
  void launch(captured_work& work) const {
    const cuda_device_scope on(work.outer.device);
    const stream_id stream = space_devices<cuda>::stream();
    follow(stream, work.outer);  // where its memory was allocated
    if (work.before_launch != nullptr) work.before_launch(work);
    check_cuda("cudaGraphLaunch", cudaGraphLaunch(replayed_, handle_of(stream)));
    if (space_devices<cuda>::are_watched()) {
      for (const void* address : work.used) blocks_of<cuda>().note_use(address, stream);
    }
    for (const void* memory : work.host_memory) mark_copy_under_way(memory);
  }

 private:
  void leave_stream() {
    thread_stream(captured_.device) = outer_;
    idle_streams::of_captures().put_back(std::exchange(captured_, stream_id{}));
  }
  void abandon() {
    if (captured_.handle == nullptr) return;
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(handle_of(captured_), &graph) == cudaSuccess) cudaGraphDestroy(graph);
    cudaGetLastError();  // the function's exception says why it failed
    leave_stream();
  }

  stream_id captured_{};
  cudaStream_t outer_ = nullptr;
  cudaGraphExec_t replayed_ = nullptr;
};
#endif

}  // namespace detail

/// A function's statements on tensors of `Space`, and its copies between these and page-locked memory. Capturing calls
/// the function once and records them without running any. Each launch runs them all, on the same memory: tensors that
/// exist before the capture must outlive the graph; tensors that the function makes and frees belong to the graph.
/// throws    capture_error where the function does what a replay would not repeat: a loop on the host, reading a value,
///           a copy from ordinary memory, launching another graph; cuda_error; what the function throws
/// cost      a launch of the whole, and no allocation; a kernel more where layers draw random numbers
/// example   const tenon::graph step = tenon::capture([&] { w = w - rate * matmul(transpose(x), y); });
///           for (int i = 0; i < steps; ++i) step.launch();
template <class Space = cuda>
class graph {
 public:
  template <class Function>
  static graph of(Function&& function) {
    static_assert(has_devices<Space> || must_hold<Space>,
                  "tenon: graphs are of devices; for cuda compile this file with nvcc");
    graph result;
    const std::int64_t before = launch_count().count;
    {
      const capture_scope<Space> scope(*result.work_);
      result.recording_->begin();
      std::forward<Function>(function)();
      result.recording_->end();
    }
    result.check_loops(launch_count().count - before);
    auto& used = result.work_->used;
    std::sort(used.begin(), used.end());
    used.truncate(static_cast<std::size_t>(std::unique(used.begin(), used.end()) - used.begin()));
    return result;
  }

  /// Starts the work again, on the current stream.
  /// throws    error where the graph was moved from
  void launch() const {
    if (recording_ == nullptr) throw error("graph: launch: it was moved from, and has nothing to launch");
    refuse_in_capture<Space>("a graph is launched", "call its function instead");
    count_launch("graph");
    recording_->launch(*work_);
    remember_launch("graph");
  }
  /// How many kernels a launch runs; none where the graph was moved from.
  std::int64_t kernels() const { return work_ != nullptr ? work_->kernels : 0; }

 private:
  graph() = default;
  void check_loops(std::int64_t launches) const {
    if (launches == work_->kernels) return;
    throw capture_error(compose_text("capture: ", launches - work_->kernels,
                                     " loops of the host within a captured function, which a launch would not repeat; "
                                     "only statements on tensors of ",
                                     Space::name, " are captured"));
  }

  static void give_back(void* memory, std::size_t bytes) noexcept { Space::deallocate(memory, bytes); }

  std::unique_ptr<captured_work> work_ = std::make_unique<captured_work>(give_back, space_devices<Space>::stream());
  std::unique_ptr<detail::graph_recording<Space>> recording_ = std::make_unique<detail::graph_recording<Space>>();
};

/// The graph of what `function` does on tensors of `Space`.
template <class Space = cuda, class Function>
graph<Space> capture(Function&& function) {
  return graph<Space>::of(std::forward<Function>(function));
}

}  // namespace tenon
