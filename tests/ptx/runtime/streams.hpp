// tests/ptx/runtime/streams.hpp: what comes before what: streams, events, graphs and the host carry clocks.
// Work is done at once when it is asked for; the clocks tell which of it a device might have done in another order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ptx/grid.hpp"

namespace tenon_test::ptx {

/// For each stream, how much of its work is known to be done.
using moments = std::map<const void*, long>;
void join(moments& known, const moments& more);
/// Whether who knows `known` knows that all of `work` is done.
bool covers(const moments& known, const moments& work);

/// A piece of work, which a graph repeats on whatever stream.
struct graph_node {
  cudaGraphNodeType kind;
  std::function<cudaError_t(cudaStream_t)> run;
};

/// What streams do that are captured.
struct recording {
  const void* origin = nullptr;
  std::set<const void*> members;   ///< streams; those that wait for an event of a member join
  std::set<const void*> unjoined;  ///< members whose latest work nobody waits for
  std::vector<graph_node> nodes;
  bool is_broken = false;  ///< by a call that cannot be captured
};

struct known_stream {
  int device = 0;
  moments known;
  double seconds = 0;         ///< that its work would have taken, by the model
  recording* into = nullptr;  ///< where its work goes while it is captured
};

struct known_event {
  moments known;
  double seconds = 0;
  recording* of = nullptr;  ///< recorded in a capture
  const void* stream = nullptr;
  int queries = 0;
};

/// What is known of an allocation.
struct history {
  int device = 0;
  moments made, written, read;
};

/// A copy from or to page-locked memory that the host has not waited for.
struct pending_copy {
  const void* stream;
  long time;
  unsigned char* memory;  ///< of the host
  std::vector<unsigned char> bytes;
  bool arrives;  ///< else the memory must stay as it is
};

/// The kernels that ran, by the numbers of their blocks.
class launch_order : public order_of_launches {
 public:
  void add(const void* stream, long time, std::uint32_t first_block);
  /// The least number of a block that is not known to have run.
  std::uint32_t first_unordered(const moments& done) const;
  bool is_before(std::uint32_t block) const override;
  const moments* known = nullptr;  ///< to the launch under way

 private:
  struct entry {
    const void* stream;
    long time;
    std::uint32_t first_block;
  };
  std::vector<entry> all_;
  std::map<const void*, std::vector<entry>> by_stream_;
};

/// All streams of a process.
struct stream_state {
  static stream_state& of_process();

  static constexpr int most_devices = 16;
  char defaults[most_devices] = {};  ///< whose addresses name the default streams
  std::map<const void*, known_stream> streams;
  std::map<std::uintptr_t, history> histories;        ///< by the first byte of an allocation
  std::map<unsigned char*, std::size_t> page_locked;  ///< memory of the host
  std::vector<pending_copy> copies;
  moments host;  ///< what the host has waited for
  launch_order order;
  std::vector<std::string> faults;  ///< what a device would leave undefined
  int waits = 0;                    ///< of the host

  const void* key(cudaStream_t handle) const;
  known_stream& at(cudaStream_t handle) { return streams[key(handle)]; }
  /// Does the work, or puts it to the graph that captures the stream.
  cudaError_t work(cudaStream_t handle, graph_node node);
  /// The time of the work that the stream does now.
  long now(cudaStream_t handle) { return at(handle).known[key(handle)]; }
  /// The host waits for work.
  void wait(const moments& done);
  /// Work of a stream that reads or writes an allocation, or both.
  void note(cudaStream_t handle, const void* memory, bool reads, bool writes, bool is_kernel);
  /// Work of a stream that copies or sets bytes; `source` may be nullptr.
  void note_copy(cudaStream_t handle, void* target, const void* source, std::size_t bytes);
  /// Brings bytes to page-locked memory of which someone who knows `known` sees that they have arrived.
  void deliver(const moments& known);
  void add_fault(const std::string& what);
};

/// The number of this thread's device.
int& current_device();

/// Whether the call, which a capture does not allow, is refused; the capture is broken then.
bool is_refused_in_capture(const char* call);

}  // namespace tenon_test::ptx
