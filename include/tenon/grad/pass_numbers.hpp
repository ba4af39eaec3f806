// tenon/grad/pass_numbers.hpp: passes of layers that draw random numbers, and the same numbers when a pass is repeated.
// A checkpoint notes the number of each pass in its function, and gives them out when the function runs again.
// Floor 6: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/error.hpp>
#include <tenon/base/thread_kept.hpp>
#include <utility>
#include <vector>

namespace tenon::detail {

/// While one lives, the numbers of passes of this thread are noted.
class noted_passes {
 public:
  noted_passes() : first_(noted().size()), is_outermost_(!std::exchange(is_noting_, true)) {}
  ~noted_passes() {
    if (!is_outermost_) return;  // the others note them, too
    noted().resize(first_);
    is_noting_ = false;
    thread_kept<kept_numbers>::put_back();
  }
  noted_passes(const noted_passes&) = delete;
  noted_passes& operator=(const noted_passes&) = delete;

  /// Those noted since it lives, in their order.
  void copy_to(std::vector<std::uint64_t>& numbers) const {
    numbers.assign(noted().begin() + static_cast<std::ptrdiff_t>(first_), noted().end());
  }

 private:
  friend class repeated_passes;
  friend std::uint64_t next_pass(std::uint64_t& count);

  struct kept_numbers {
    std::vector<std::uint64_t> all;
  };
  static std::vector<std::uint64_t>& noted() { return thread_kept<kept_numbers>::get().all; }

  std::size_t first_;
  bool is_outermost_;
  inline static thread_local bool is_noting_ = false;
};

/// While one lives, passes of this thread are those of before: they take their numbers, and nobody outside notes them.
class repeated_passes {
 public:
  explicit repeated_passes(const std::vector<std::uint64_t>& numbers)
      : numbers_(numbers),
        outer_(std::exchange(innermost_, this)),
        was_noting_(std::exchange(noted_passes::is_noting_, false)) {}
  ~repeated_passes() { innermost_ = outer_, noted_passes::is_noting_ = was_noting_; }
  repeated_passes(const repeated_passes&) = delete;
  repeated_passes& operator=(const repeated_passes&) = delete;

  static repeated_passes* innermost() { return innermost_; }
  std::uint64_t next() {
    if (at_ == numbers_.size()) refuse();
    return numbers_[at_++];
  }
  /// throws    error where fewer passes were repeated than there were before
  void must_be_complete() const {
    if (at_ != numbers_.size()) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw error("checkpoint: the function calls other layers than before, expected the same whenever it runs");
  }

  const std::vector<std::uint64_t>& numbers_;
  std::size_t at_ = 0;
  repeated_passes* outer_;
  bool was_noting_;
  inline static thread_local repeated_passes* innermost_ = nullptr;
};

/// Whether the passes of this thread repeat earlier ones. Then layers leave what they gather, such as running
/// statistics, as it is.
inline bool are_passes_repeated() { return repeated_passes::innermost() != nullptr; }

/// The number of a layer's next pass, by which it draws random numbers. It is how many passes there were so far, and
/// one more is counted; a repeated pass has the number of the first time, and is not counted.
inline std::uint64_t next_pass(std::uint64_t& count) {
  const std::uint64_t number = are_passes_repeated() ? repeated_passes::innermost()->next() : count++;
  if (noted_passes::is_noting_) noted_passes::noted().push_back(number);
  return number;
}

/// Counts as many passes as before. Where there were none since, nothing is written: threads may share the layer.
inline void take_back_passes(std::uint64_t& count, std::uint64_t before) {
  if (count != before) count = before;
}

}  // namespace tenon::detail
