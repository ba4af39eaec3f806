// tests/ptx/runtime/order.cpp: what the stand-in for CUDA's runtime says of streams, events, graphs and copies.
// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ptx/runtime/streams.hpp"
#include "support/catch.hpp"

extern "C" {
void** __cudaRegisterFatBinary(void* fatbin);
void __cudaRegisterFunction(void** handle, const char* function, char* stub, const char* name, int threads, void* a,
                            void* b, void* c, void* d, int* size);
}

namespace {

using tenon_test::ptx::stream_state;

/// Each of 32 threads adds one to its word.
const std::string add_one_text = R"(.version 9.0
.target sm_90a
.address_size 64
.visible .entry add_one(
.param .u64 p0
)
{
.reg .b32 %i, %v; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mov.u32 %i, %tid.x;
mul.wide.u32 %q, %i, 4;
add.s64 %q, %q, %p;
ld.global.u32 %v, [%q];
add.u32 %v, %v, 1;
st.global.u32 [%q], %v;
ret;
}
)";

/// The kernel as a program of nvcc would name it: a text within two headers, and a function of the host.
const void* add_one() {
  static const char function = 0;
  static std::vector<unsigned char> bytes;
  static struct {
    int magic = 0x466243b1, version = 1;
    const unsigned char* data = nullptr;
    void* others = nullptr;
  } wrapper;
  if (!bytes.empty()) return &function;
  const struct {
    std::uint32_t magic;
    std::uint16_t version, header_bytes;
    std::uint64_t bytes;
  } header{0xba55ed50, 1, 16, 16 + add_one_text.size() + 1};
  const struct {
    std::uint16_t kind, version;
    std::uint32_t header_bytes;
    std::uint64_t bytes;
  } entry{1, 0x101, 16, add_one_text.size() + 1};
  bytes.resize(sizeof(header) + sizeof(entry) + add_one_text.size() + 1);
  std::memcpy(bytes.data(), &header, sizeof(header));
  std::memcpy(bytes.data() + sizeof(header), &entry, sizeof(entry));
  std::memcpy(bytes.data() + sizeof(header) + sizeof(entry), add_one_text.c_str(), add_one_text.size() + 1);
  wrapper.data = bytes.data();
  char name[] = "add_one";
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &function, name, "add_one", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  return &function;
}

cudaError_t add_one_to(int* words, cudaStream_t stream) {
  void* arguments[] = {&words};
  return cudaLaunchKernel(add_one(), dim3(1), dim3(32), arguments, 0, stream);
}

cudaStream_t new_stream() {
  cudaStream_t stream{};
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  return stream;
}

/// `later` waits for what `earlier` has been asked for.
void order(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t event{};
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  CHECK(cudaEventRecord(event, earlier) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(later, event, 0) == cudaSuccess);
}

int* zeros(cudaStream_t stream) {
  void* memory = nullptr;
  CHECK(cudaMallocAsync(&memory, 128, stream) == cudaSuccess);
  CHECK(cudaMemsetAsync(memory, 0, 128, stream) == cudaSuccess);
  return static_cast<int*>(memory);
}

int first_of(const int* words) {
  int value = -1;
  cudaDeviceSynchronize();
  CHECK(cudaMemcpy(&value, words, sizeof(int), cudaMemcpyDeviceToHost) == cudaSuccess);
  return value;
}

/// What was found wrong since the last question.
std::vector<std::string> faults() { return std::exchange(stream_state::of_process().faults, {}); }

bool is_one_fault_of(const std::vector<std::string>& found, const std::string& part) {
  return found.size() == 1 && found[0].find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("kernels of two streams need an event between them", "[ptx]") {
  const cudaStream_t one = new_stream(), other = new_stream();
  int* const words = zeros(one);
  CHECK(add_one_to(words, one) == cudaSuccess);
  order(one, other);
  CHECK(add_one_to(words, other) == cudaSuccess);
  CHECK(add_one_to(words, one) == cudaErrorLaunchFailure);
  const std::string text = cudaGetErrorString(cudaGetLastError());
  CHECK(text.find("of an earlier kernel, on another stream, wrote without order") != std::string::npos);
  cudaDeviceSynchronize();  // the host waits, so later work is ordered
  CHECK(add_one_to(words, one) == cudaSuccess);
  CHECK(first_of(words) == 3);
  CHECK(cudaFreeAsync(words, one) == cudaSuccess);
  CHECK(faults().empty());
}

TEST_CASE("memory is made before its use, and freed behind it", "[ptx]") {
  const cudaStream_t one = new_stream(), other = new_stream();
  int* const words = zeros(one);
  CHECK(cudaMemsetAsync(words, 0, 128, other) == cudaSuccess);
  CHECK(faults().size() == 2);  // before it is made, and before the first memset
  cudaDeviceSynchronize();
  CHECK(add_one_to(words, other) == cudaSuccess);
  CHECK(cudaFreeAsync(words, one) == cudaSuccess);
  CHECK(is_one_fault_of(faults(), "freed before work on it is done"));
}

TEST_CASE("a graph does what was captured, of the streams that joined, as often as it is launched", "[ptx]") {
  const cudaStream_t one = new_stream(), other = new_stream();
  int* const words = zeros(one);
  cudaDeviceSynchronize();
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(add_one_to(words, one) == cudaSuccess);
  order(one, other);
  CHECK(add_one_to(words, other) == cudaSuccess);
  order(other, one);
  cudaGraph_t graph{};
  CHECK(cudaStreamEndCapture(one, &graph) == cudaSuccess);
  CHECK(first_of(words) == 0);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 2);
  cudaGraphExec_t made{};
  CHECK(cudaGraphInstantiateWithFlags(&made, graph, 0) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(made, other) == cudaSuccess);
  CHECK(first_of(words) == 6);
  CHECK(cudaGraphExecDestroy(made) == cudaSuccess);
  CHECK(cudaFree(words) == cudaSuccess);
  CHECK(faults().empty());
}

TEST_CASE("a capture ends broken after a wait of the host, and where a stream is not joined", "[ptx]") {
  const cudaStream_t one = new_stream(), other = new_stream();
  int* const words = zeros(one);
  cudaGraph_t graph{};
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(one, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  std::thread([] { CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported); }).join();
  CHECK(cudaStreamEndCapture(one, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  order(one, other);
  CHECK(add_one_to(words, other) == cudaSuccess);
  CHECK(cudaStreamEndCapture(one, &graph) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  CHECK(first_of(words) == 0);
  CHECK(cudaFree(words) == cudaSuccess);
}

TEST_CASE("page-locked memory has its bytes when they are waited for, and is left alone until then", "[ptx]") {
  std::vector<int> here(32, 7), there(32, 5);
  CHECK(cudaHostRegister(here.data(), 128, 0) == cudaSuccess);
  CHECK(cudaHostRegister(there.data(), 128, 0) == cudaSuccess);
  int* const words = zeros(nullptr);
  CHECK(cudaMemcpyAsync(words, there.data(), 128, cudaMemcpyHostToDevice, nullptr) == cudaSuccess);
  CHECK(cudaMemcpyAsync(here.data(), words, 128, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  CHECK(here[3] == 7);
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(here[3] == 5);
  CHECK(faults().empty());
  CHECK(cudaMemcpyAsync(words, there.data(), 128, cudaMemcpyHostToDevice, nullptr) == cudaSuccess);
  there[0] = 6;
  CHECK(cudaStreamSynchronize(nullptr) == cudaSuccess);
  CHECK(is_one_fault_of(faults(), "was written before a copy from it had been waited for"));
  CHECK(cudaMemcpyAsync(here.data(), words, 128, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  CHECK(cudaHostUnregister(here.data()) == cudaSuccess);
  CHECK(is_one_fault_of(faults(), "given back before a copy of it had been waited for"));
  CHECK(cudaHostUnregister(there.data()) == cudaSuccess);
  CHECK(cudaFree(words) == cudaSuccess);
}

TEST_CASE("events tell the time that work would have taken, the same each time", "[ptx]") {
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 2 << 20) == cudaSuccess);
  const auto milliseconds_of_copy = [&] {
    cudaEvent_t from{}, to{};
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from, nullptr);
    cudaMemcpyAsync(memory, static_cast<char*>(memory) + (1 << 20), 1 << 20, cudaMemcpyDeviceToDevice, nullptr);
    cudaEventRecord(to, nullptr);
    CHECK(cudaEventQuery(to) == cudaErrorNotReady);
    cudaEventSynchronize(to);
    CHECK(cudaEventQuery(to) == cudaSuccess);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, from, to);
    return milliseconds;
  };
  const float first = milliseconds_of_copy();
  CHECK(first > 2e3f * (1 << 20) / 1e13f);
  CHECK(std::abs(milliseconds_of_copy() - first) < 1e-6f);
  CHECK(cudaFree(memory) == cudaSuccess);
}
