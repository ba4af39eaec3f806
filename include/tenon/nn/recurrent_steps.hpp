// tenon/nn/recurrent_steps.hpp: in which order a recurrence goes over the rows of its sequences.
// Rows are packed time step by time step; none has more than the one before it, as sequences end.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>
#include <vector>

namespace tenon::nn {

/// `count` rows from `row` on that follow as many rows from `previous` on: of the sequence, or of the initial states.
struct recurrent_step {
  index row, count, previous;
  bool starts;  ///< `previous` counts initial states

  bool operator==(const recurrent_step&) const = default;
};

/// `count` rows from `row` on that are the last of their sequences, and the place of the first of these in the batch.
struct recurrent_end {
  index row, place, count;
};

/// The steps of one direction.
class recurrent_steps {
 public:
  /// From the number of rows of each time step.
  TENON_IF_CALLED void set(const std::vector<index>& batch_sizes, bool is_reversed) {
    steps_.clear(), ends_.clear(), runs_.clear();
    if (batch_sizes.empty() || batch_sizes[0] == 0) return;
    is_reversed ? set_reversed(batch_sizes) : set_forward(batch_sizes);
    for (std::size_t i = 0; i < steps_.size(); ++i) add_to_runs(steps_[is_reversed ? steps_.size() - 1 - i : i]);
  }

  /// In the order of time, or against it.
  const std::vector<recurrent_step>& steps() const { return steps_; }
  const std::vector<recurrent_end>& ends() const { return ends_; }
  /// The steps in the order of their rows, those put together that can be seen as one.
  const std::vector<recurrent_step>& runs() const { return runs_; }
  /// How many sequences there are.
  TENON_IF_CALLED index sequences() const {
    index count = 0;
    for (const recurrent_step& step : steps_) count = std::max(count, step.count + (step.starts ? step.previous : 0));
    return count;
  }

 private:
  TENON_IF_CALLED void set_forward(const std::vector<index>& batch_sizes) {
    index row = 0, previous = 0;
    for (std::size_t time = 0; time < batch_sizes.size(); ++time) {
      const index count = batch_sizes[time], next = time + 1 < batch_sizes.size() ? batch_sizes[time + 1] : 0;
      steps_.push_back({row, count, previous, time == 0});
      if (next < count) ends_.push_back({row + next, next, count - next});
      previous = row;
      row += count;
    }
  }
  TENON_IF_CALLED void set_reversed(const std::vector<index>& batch_sizes) {
    index row = 0, next = 0;
    for (const index count : batch_sizes) row += count;
    for (std::size_t time = batch_sizes.size(); time-- > 0;) {
      const index count = batch_sizes[time], previous = row;
      row -= count;
      if (next < count) steps_.push_back({row + next, count - next, next, true});
      if (next > 0) steps_.push_back({row, next, previous, false});
      next = count;
    }
    if (next > 0) ends_.push_back({0, 0, next});
  }
  TENON_IF_CALLED void add_to_runs(const recurrent_step& step) {
    if (!runs_.empty()) {
      recurrent_step& last = runs_.back();
      const bool is_next = last.row + last.count == step.row && last.previous + last.count == step.previous;
      if (is_next && last.starts == step.starts) return static_cast<void>(last.count += step.count);
    }
    runs_.push_back(step);
  }

  std::vector<recurrent_step> steps_, runs_;
  std::vector<recurrent_end> ends_;
};

}  // namespace tenon::nn
