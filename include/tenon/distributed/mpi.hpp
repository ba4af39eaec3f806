// tenon/distributed/mpi.hpp: ranks that are processes which MPI connects, on one host or many.
// Included on its own: it needs <mpi.h> and, to link, the library that CMake's find_package(MPI) names MPI::MPI_CXX.
// Floor 8: may include base, core, distributed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <tenon/distributed/communicator.hpp>
#include <thread>

namespace tenon::distributed {

namespace detail {

/// throws    communication_error with what MPI says of a failed call
inline void check_mpi(const char* call, int code) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw communication_error(compose_text(call, ": ", static_cast<const char*>(text)));
}

template <class T>
MPI_Datatype mpi_type() {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>, "tenon: MPI sums up float or double");
  if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  else return MPI_DOUBLE;
}

}  // namespace detail

/// A rank that is a process. Sums are MPI's, whose order may differ between numbers of ranks, not between runs alike.
class mpi_communicator {
 public:
  using space = host;
  struct request {
    MPI_Request handle = MPI_REQUEST_NULL;
  };

  /// Ranks of `world`, by messages of its own. MPI must be initialised, and stay so.
  explicit mpi_communicator(MPI_Comm world, const communicator_options& options = {}) : options_(options) {
    detail::check_mpi("MPI_Comm_dup", MPI_Comm_dup(world, &own_));
    MPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
    detail::check_mpi("MPI_Comm_rank", MPI_Comm_rank(own_, &rank_));
    detail::check_mpi("MPI_Comm_size", MPI_Comm_size(own_, &size_));
  }
  mpi_communicator(const mpi_communicator&) = delete;
  mpi_communicator& operator=(const mpi_communicator&) = delete;
  ~mpi_communicator() { MPI_Comm_free(&own_); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return own_; }

  void broadcast(void* bytes, std::size_t count) {
    constexpr std::size_t most = 1 << 30;  // MPI counts in int
    for (std::size_t first = 0; first < count; first += most) {
      const auto part = static_cast<int>(std::min(most, count - first));
      request sent;
      detail::check_mpi("MPI_Ibcast",
                        MPI_Ibcast(static_cast<std::byte*>(bytes) + first, part, MPI_BYTE, 0, own_, &sent.handle));
      wait_for("broadcast", sent);
    }
  }
  template <class T>
  request start_sum(T* values, std::size_t count) {
    if (count > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw error(compose_text("start_sum: ", count, " numbers, expected fewer than 2^31; take smaller buckets"));
    }
    request sum;
    detail::check_mpi("MPI_Iallreduce", MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count),
                                                       detail::mpi_type<T>(), MPI_SUM, own_, &sum.handle));
    return sum;
  }
  void advance(request& sum) { is_done(sum); }
  void wait(request& sum) { wait_for("sum", sum); }

 private:
  static bool is_done(request& each) {
    int done = 0;
    detail::check_mpi("MPI_Test", MPI_Test(&each.handle, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  /// Asks again and again, as a rank that is lost never answers.
  void wait_for(const char* operation, request& each) {
    const auto start = std::chrono::steady_clock::now();
    while (!is_done(each)) {
      if (std::chrono::steady_clock::now() - start > options_.timeout) {
        throw communication_error(compose_text(operation, ": rank ", rank_, " of ", size_, " waited ",
                                               options_.timeout.count(), " ms for the others; is one lost?"));
      }
      std::this_thread::yield();
    }
  }

  communicator_options options_;
  MPI_Comm own_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

/// Calls `body(communicator)` between MPI's beginning and end; the result is the exit code of the program. When a rank
/// throws, its text is printed and all ranks end, as they do when one is killed: mpirun sees to that.
/// example   int main(int count, char** arguments) {
///             return distributed::run_with_mpi(count, arguments, [](auto& all) { return train(all); });
///           }
template <class Body>
int run_with_mpi(int count, char** arguments, const Body& body, const communicator_options& options = {}) {
  int support = 0, result = 0;
  detail::check_mpi("MPI_Init_thread", MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &support));
  try {
    mpi_communicator all(MPI_COMM_WORLD, options);
    try {
      result = body(all);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "rank %d of %d: %s\n", all.rank(), all.size(), failure.what());
      std::fflush(nullptr);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  } catch (const communication_error& failure) {
    std::fprintf(stderr, "run_with_mpi: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return result;
}

}  // namespace tenon::distributed
