// tenon/distributed/communicator.hpp: what ranks that train together say to each other.
// Two operations are enough: one rank's bytes to all, and the sum of everybody's numbers, which may take its time.
// Floor 8: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <concepts>
#include <tenon/base/error.hpp>
#include <tenon/core/space.hpp>

namespace tenon::distributed {

/// A rank that is lost, or a failed call of the library that connects them.
struct communication_error : error {
  using error::error;
};

/// One of `size()` ranks, numbered from 0. All ranks call the same operations in the same order.
///   broadcast(bytes, count)     bytes of the host: those of rank 0 to every rank
///   start_sum(values, count)    replaces values in `space` by their sums over all ranks, which are there after `wait`;
///                               until then they must stay where they are. Every rank gets the same bits.
///   advance(request)            lets a sum get on where that takes the caller's time; does not wait
///   wait(request)               until a sum is there, as the space's statements see it
/// throws    communication_error when a rank is lost: nobody waits for it longer than the communicator's timeout
template <class Communicator>
concept communicator = requires(Communicator& all, void* bytes, float* values, std::size_t count,
                                typename Communicator::request& request) {
  requires memory_space<typename Communicator::space>;
  { all.rank() } -> std::convertible_to<int>;
  { all.size() } -> std::convertible_to<int>;
  all.broadcast(bytes, count);
  { all.start_sum(values, count) } -> std::same_as<typename Communicator::request>;
  all.advance(request);
  all.wait(request);
};

/// How long a rank waits for others before it calls them lost; longer than any of them may take for a step.
struct communicator_options {
  std::chrono::milliseconds timeout = std::chrono::minutes(5);
};

/// One rank alone: a program that can be distributed, and is not.
struct alone {
  using space = host;
  struct request {};

  int rank() const { return 0; }
  int size() const { return 1; }
  void broadcast(void*, std::size_t) const {}
  template <class T>
  request start_sum(T*, std::size_t) const {
    return {};
  }
  void advance(request&) const {}
  void wait(request&) const {}
};

}  // namespace tenon::distributed
