// tenon/train/interruption.hpp: Ctrl-C ends a training after its step, not within it.
// The first signal is a wish that the loop asks for; a second one ends the program at once.
// Floor 8: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <tenon/base/array.hpp>
#include <tenon/base/error.hpp>

namespace tenon::train {

namespace detail {
inline std::atomic<int> interrupting_signal = 0;  // of the process, as signals are
static_assert(std::atomic<int>::is_always_lock_free);

inline void note_signal(int number) { interrupting_signal = number; }
}  // namespace detail

/// While it lives, SIGINT (Ctrl-C) and SIGTERM are noted instead of ending the program, each once.
/// throws    error where another one lives
/// example   const train::interruption stop; while (...) { step(); if (stop.requested()) break; } save();
class interruption {
 public:
  interruption() {
    if (is_taken().exchange(true)) throw error("interruption: another one lives, expected one at a time in a process");
    detail::interrupting_signal = 0;
    struct sigaction action{};
    action.sa_handler = &detail::note_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    for (int i = 0; i < signals.size(); ++i) sigaction(signals[i], &action, &before_[i]);
  }
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption() {
    for (int i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
    is_taken() = false;
  }

  bool requested() const { return signal() != 0; }
  /// The signal that came; 0 where none has. Programs that end for it return 128 more.
  int signal() const { return detail::interrupting_signal; }

 private:
  static constexpr array<int, 2> signals{{SIGINT, SIGTERM}};

  static std::atomic<bool>& is_taken() {
    static std::atomic<bool> taken = false;
    return taken;
  }
  array<struct sigaction, 2> before_{};
};

}  // namespace tenon::train
