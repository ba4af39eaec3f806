// tenon/nn/captured_steps.hpp: the time steps of a recurrence as one graph of a device, where they are not one kernel.
// Steps are many short kernels, and a graph starts them without the host between.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <tenon/device/graph.hpp>
#include <tenon/nn/recurrent_steps.hpp>

namespace tenon::nn {

/// Runs the statements of a pass over `steps`. They depend on the steps and on `memory`, which is all that they read or
/// write: when both come a second time in a row, the statements are captured, and from then on they are replayed.
/// Within a function that is captured they are part of it; on the host they just run.
template <class Space>
class captured_steps {
 public:
  captured_steps() = default;
  captured_steps(const captured_steps&) {}  // a copied layer has memory of its own
  captured_steps& operator=(const captured_steps&) { return forget(), *this; }
  captured_steps(captured_steps&&) = default;
  captured_steps& operator=(captured_steps&&) = default;

  template <class Statements>
  void run(const std::vector<recurrent_step>& steps, std::initializer_list<const void*> memory,
           const Statements& statements) {
    if constexpr (has_devices<Space>) {
      if (thread_capture<Space>() == nullptr) {
        const bool is_here = std::equal(memory.begin(), memory.end(), memory_.begin(), memory_.end());
        const bool is_again = is_here && steps == steps_;
        if (!is_again) forget(), steps_ = steps, memory_ = memory;
        if (is_again && !replayed_) replayed_.emplace(capture<Space>(statements));
        if (replayed_) return replayed_->launch();
      }
    }
    statements();
  }

 private:
  struct nothing {};
  void forget() { steps_.clear(), memory_.clear(), replayed_.reset(); }

  std::vector<recurrent_step> steps_;
  std::vector<const void*> memory_;
  std::optional<std::conditional_t<has_devices<Space>, graph<Space>, nothing>> replayed_;
};

}  // namespace tenon::nn
