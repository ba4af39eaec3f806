// tenon/train/position.hpp: where a training stands.
// With the seed of its order it says which examples come next, so that a checkpoint can go on in mid-epoch.
// Floor 8: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tenon/base/array.hpp>
#include <tenon/core/kept_number.hpp>

namespace tenon::train {

/// A part of a `training` whose batches come from elsewhere than a loader, which remembers its own position: the batch
/// that comes next, and the seed that its order hangs on.
/// example   train::position position{.seed = 1}; train::training all(net, optimizer, position);
struct position {
  static constexpr const char* state_prefix = "position.";
  std::uint64_t seed = 0;  // of the order of examples
  std::int64_t epoch = 0;
  std::int64_t batch = 0;  // of the epoch
  std::int64_t step = 0;   // of the training: batches of all epochs

  /// A batch is done; the last of an epoch begins the next.
  void advance(index batches_in_epoch) {
    ++step;
    if (++batch >= batches_in_epoch) ++epoch, batch = 0;
  }
  /// Calls `visitor(name, number)` for all that it remembers.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    auto own_epoch = kept_within(epoch, {.least = 0}), own_batch = kept_within(batch, {.least = 0});
    auto own_step = kept_within(step, {.least = 0});
    visitor(std::string("seed"), seed), visitor(std::string("epoch"), own_epoch);
    visitor(std::string("batch"), own_batch), visitor(std::string("step"), own_step);
  }
};

}  // namespace tenon::train
