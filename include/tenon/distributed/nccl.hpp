// tenon/distributed/nccl.hpp: ranks whose gradients lie on GPUs, one each, which NCCL connects.
// Included on its own, in files that nvcc compiles: it needs <nccl.h> and the library nccl. Not yet run on a device.
// Floor 8: may include base, core, device, distributed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nccl.h>

#include <tenon/device/cuda_memory.hpp>
#include <tenon/device/stream.hpp>
#include <tenon/distributed/communicator.hpp>
#include <thread>

namespace tenon::distributed {

namespace detail {

/// throws    communication_error with what NCCL says of a failed call
inline void check_nccl(const char* call, ncclResult_t code) {
  if (code == ncclSuccess) return;
  throw communication_error(compose_text(call, ": ", ncclGetErrorString(code)));
}

template <class T>
constexpr ncclDataType_t nccl_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "tenon: NCCL sums up float or double");
  return std::is_same_v<T, float> ? ncclFloat32 : ncclFloat64;
}

}  // namespace detail

/// A rank with the device that is current when it is made. Sums run on a stream of their own, after what the caller's
/// stream has been given and beside what it is given next. `hosts` connects the same ranks before there is NCCL, and
/// goes on to broadcast bytes of the host; it must outlive this.
/// example   distributed::nccl_communicator all(hosts);  // hosts: a distributed::mpi_communicator
template <communicator Hosts>
class nccl_communicator {
 public:
  using space = cuda;
  struct request {
    event done;
  };

  /// Waits for all ranks, however long they take.
  explicit nccl_communicator(Hosts& hosts, const communicator_options& options = {})
      : hosts_(&hosts), options_(options) {
    ncclUniqueId name{};
    if (hosts.rank() == 0) detail::check_nccl("ncclGetUniqueId", ncclGetUniqueId(&name));
    hosts.broadcast(&name, sizeof(name));
    detail::check_nccl("ncclCommInitRank", ncclCommInitRank(&own_, hosts.size(), name, hosts.rank()));
  }
  nccl_communicator(const nccl_communicator&) = delete;
  nccl_communicator& operator=(const nccl_communicator&) = delete;
  ~nccl_communicator() {
    if (own_ != nullptr) ncclCommDestroy(own_);
  }

  int rank() const { return hosts_->rank(); }
  int size() const { return hosts_->size(); }
  void broadcast(void* bytes, std::size_t count) { hosts_->broadcast(bytes, count); }
  template <class T>
  request start_sum(T* values, std::size_t count) {
    event ready;
    ready.record();
    ready.hold(sums_.handle());
    detail::check_nccl("ncclAllReduce",
                       ncclAllReduce(values, values, count, detail::nccl_type<T>(), ncclSum, own_, sums_.handle()));
    request sum;
    sum.done.record(sums_.handle());
    return sum;
  }
  void advance(request&) const {}  // the device sees to it
  void wait(request& sum) {
    const auto start = std::chrono::steady_clock::now();
    while (!sum.done.is_done()) {
      check_ranks();
      if (std::chrono::steady_clock::now() - start > options_.timeout) {
        give_up(compose_text("sum: rank ", rank(), " of ", size(), " waited ", options_.timeout.count(),
                             " ms for the others; is one lost?"));
      }
      std::this_thread::yield();
    }
    sum.done.hold();
  }

 private:
  void check_ranks() {
    ncclResult_t status = ncclSuccess;
    detail::check_nccl("ncclCommGetAsyncError", ncclCommGetAsyncError(own_, &status));
    if (status != ncclSuccess && status != ncclInProgress) {
      give_up(compose_text("sum: rank ", rank(), " of ", size(), ": ", ncclGetErrorString(status)));
    }
  }
  /// Ends the sums that wait for a lost rank, without which the device would wait for ever.
  [[noreturn]] void give_up(const std::string& why) {
    ncclCommAbort(own_);
    own_ = nullptr;
    throw communication_error(why);
  }

  Hosts* hosts_;
  communicator_options options_;
  ncclComm_t own_ = nullptr;
  stream sums_;
};

}  // namespace tenon::distributed
