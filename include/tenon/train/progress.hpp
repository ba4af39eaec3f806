// tenon/train/progress.hpp: what a training shows while it runs.
// A bar that redraws itself on a terminal, about ten plain lines an epoch elsewhere.
// Floor 8: may include base, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <string>
#include <tenon/base/array.hpp>

namespace tenon::train {

/// A measure beside the loss, such as accuracy: its name, and its mean over the examples of a step.
struct measure {
  const char* name;
  double value;
};

/// Counts examples towards `total` and shows a bar, the average loss, that of a measure where there is one, examples
/// per second and the time left. `Clock` and the output are parameters so that tests can give their own; `unit` is what
/// the examples are.
template <class Clock = std::chrono::steady_clock>
class progress_of {
 public:
  progress_of(std::string title, index total, std::FILE* output = stdout, std::string unit = "images")
      : title_(std::move(title)),
        unit_(std::move(unit)),
        total_(total),
        output_(output),
        is_terminal_(isatty(fileno(output)) != 0),
        start_(Clock::now()) {}
  progress_of(const progress_of&) = delete;
  progress_of& operator=(const progress_of&) = delete;
  ~progress_of() {
    if (is_terminal_ && done_ != 0) std::fputc('\n', output_), std::fflush(output_);
  }

  /// `count` examples were done before: a training goes on. Neither loss nor speed are of them.
  void skip(index count) { done_ += count, skipped_ += count; }
  /// `count` more examples are done, with `loss` on average, and `extra`.
  void advance(index count, float loss, const measure& extra = {nullptr, 0}) {
    done_ += count;
    loss_ += static_cast<double>(loss) * static_cast<double>(count);
    extra_name_ = extra.name;
    extra_ += extra.value * static_cast<double>(count);
    const index share = part_of(is_terminal_ ? columns * 8 : lines);
    if (share == shown_) return;
    shown_ = share;
    std::fputs((is_terminal_ ? '\r' + line() : line() + '\n').c_str(), output_);
    std::fflush(output_);
  }

 private:
  static constexpr index lines = 10, columns = 24;

  /// How many of `parts` are done. Examples beyond the total count for none.
  index part_of(index parts) const { return total_ > 0 ? std::clamp<index>(done_, 0, total_) * parts / total_ : parts; }
  std::string line() const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    const auto counted = static_cast<double>(std::max<index>(done_ - skipped_, 1));
    const double rate = seconds > 0 && done_ > skipped_ ? counted / seconds : 0;
    const double left = rate > 0 ? static_cast<double>(std::max<index>(total_ - done_, 0)) / rate : 0;
    const double share = static_cast<double>(part_of(1000)) / 10;
    std::string text = title_ + ' ' + bar() + printed(" %5.1f %%  loss %.4f  ", share, loss_ / counted);
    if (extra_name_ != nullptr) text += extra_name_ + printed(" %.4f  ", extra_ / counted);
    return text + printed("%.0f ", rate) + unit_ + printed("/s  %.0f s left  ", left);
  }
  template <class... Numbers>
  static std::string printed(const char* format, Numbers... numbers) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), format, numbers...);
    return text.data();
  }
  std::string bar() const {
    const auto filled = static_cast<std::size_t>(part_of(columns));
    return '[' + std::string(filled, '=') + std::string(static_cast<std::size_t>(columns) - filled, ' ') + ']';
  }

  std::string title_, unit_;
  index total_;
  std::FILE* output_;
  bool is_terminal_;
  typename Clock::time_point start_;
  index done_ = 0, skipped_ = 0, shown_ = 0;
  const char* extra_name_ = nullptr;
  double loss_ = 0, extra_ = 0;
};

/// Progress on standard output: a bar, the average loss, examples per second and the time left.
/// example   train::progress bar("epoch 1", images); ... bar.advance(batch, loss, {"accuracy", 0.9});
using progress = progress_of<>;

}  // namespace tenon::train
