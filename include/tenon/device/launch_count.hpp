// tenon/device/launch_count.hpp: how many kernels or loops a thread has started, and the observer of each.
// Fusion is promised in numbers of launches, so every executor counts here, on the host as on a device.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon {

struct any_block;
struct node_words;
struct launch_shape;
struct launch_clock;

/// What a kernel chose for a launch: `value` elements, threads or blocks, as `name` says.
struct launch_choice {
  const char* name;
  std::int64_t value;
};

inline constexpr int max_launch_choices = 10;  // as many as a kernel may name

/// A launch, as an observer sees it.
struct launch_facts {
  const char* kernel;                              ///< what it names itself
  const launch_shape* shape = nullptr;             ///< null for a loop of the host
  const launch_clock* clock = nullptr;             ///< how its space tells time; null where that is the host's clock
  launch_choice choices[max_launch_choices] = {};  ///< the first `choice_count` are set
  int choice_count = 0;

  void add_choice(const char* name, std::int64_t value) { choices[choice_count++] = {name, value}; }
};

/// Elements that a statement reads: where they start, and how many bytes of them there are.
struct read_elements {
  std::uintptr_t start;
  std::int64_t bytes;
};

/// A statement, as an observer sees it.
struct statement_facts {
  const char* dtype;  ///< of the elements that it writes
  const std::int64_t* extents;
  int rank;
  std::int64_t bytes_read;  ///< from distinct tensors, each counted once
  std::int64_t bytes_written;
  const node_words* words;  ///< of its expression
  const read_elements* reads;
  std::size_t read_count;
};

/// A statement whose launches have all been started, as an observer sees it.
struct statement_result {
  const char* dtype;
  const node_words* words;
  const any_block* elements;                                                  ///< that it wrote
  void (*copy_to_host)(void* target, const void* source, std::size_t bytes);  ///< of the space in which they lie
};

/// Base of observers: its functions are called for the statements and launches of a thread.
class launch_observer {
 public:
  launch_observer() = default;
  launch_observer(const launch_observer&) = delete;
  launch_observer& operator=(const launch_observer&) = delete;
  virtual ~launch_observer() = default;

  /// The next launch evaluates a statement.
  virtual void statement(const statement_facts& facts) = 0;
  /// A launch begins; it does not run where this returns false.
  virtual bool begin(const launch_facts& facts) = 0;
  /// The launch that began last is under way on a device, or done on the host.
  virtual void end() noexcept = 0;
  /// The last launch of a statement is under way on a device, or done on the host. The statement throws what this does.
  virtual void wrote(const statement_result&) {}
};

/// What the calling thread has started so far.
struct launch_tally {
  std::int64_t count;     ///< kernels and loops
  const char* last_kind;  ///< what the latest one named itself
};

class observer_scope;

namespace detail {

struct observed_launches {
  launch_tally tally;
  launch_observer* observer;  // of the innermost scope
  observer_scope* innermost;
};

inline observed_launches& thread_launches() {
  thread_local observed_launches launches{{0, ""}, nullptr, nullptr};
  return launches;
}

}  // namespace detail

/// The observer of the calling thread's launches; null where there is none.
inline launch_observer* current_launch_observer() { return detail::thread_launches().observer; }

/// Makes `observer` the calling thread's while it lives. Scopes of a thread may end in any order, but on that thread.
class observer_scope {
 public:
  explicit observer_scope(launch_observer* observer)
      : observer_(observer), outer_(detail::thread_launches().innermost) {
    set_innermost(this);
  }
  observer_scope(const observer_scope&) = delete;
  observer_scope& operator=(const observer_scope&) = delete;
  ~observer_scope() {
    observer_scope* inner = detail::thread_launches().innermost;
    if (inner == this) set_innermost(outer_);
    else {
      while (inner != nullptr && inner->outer_ != this) inner = inner->outer_;
      if (inner != nullptr) inner->outer_ = outer_;
    }
  }
  /// The observer around this one; null where there is none.
  launch_observer* outer() const { return outer_ != nullptr ? outer_->observer_ : nullptr; }

 private:
  static void set_innermost(observer_scope* scope) {
    detail::thread_launches().innermost = scope;
    detail::thread_launches().observer = scope != nullptr ? scope->observer_ : nullptr;
  }

  launch_observer* observer_;
  observer_scope* outer_;
};

/// Counts a short launch that nobody observes.
inline void count_launch(const char* kind) {
  launch_tally& tally = detail::thread_launches().tally;
  ++tally.count;
  tally.last_kind = kind;
}

/// One kernel or loop of the calling thread, counted as it begins; it lives as long as what it counts.
/// `kind` must outlive the thread (a literal).
class counted_launch {
 public:
  explicit counted_launch(const char* kind) {
    if (current_launch_observer() != nullptr) [[unlikely]]
      tell_begin(kind);
    count_launch(kind);
  }
  explicit counted_launch(const launch_facts& facts) {
    if (current_launch_observer() != nullptr) [[unlikely]]
      runs_ = tell_begin(facts);
    if (runs_) count_launch(facts.kernel);
  }
  counted_launch(const counted_launch&) = delete;
  counted_launch& operator=(const counted_launch&) = delete;
  ~counted_launch() {
    if (current_launch_observer() != nullptr) [[unlikely]]
      tell_end();
  }

  /// False where the observer wants only to know of the launch.
  bool runs() const { return runs_; }

 private:
  [[gnu::noinline, gnu::cold]] static bool tell_begin(const launch_facts& facts) {
    return current_launch_observer()->begin(facts);
  }
  [[gnu::noinline, gnu::cold]] static void tell_begin(const char* kind) { tell_begin(launch_facts{.kernel = kind}); }
  [[gnu::noinline, gnu::cold]] static void tell_end() noexcept { current_launch_observer()->end(); }

  bool runs_ = true;
};

/// Kernels and loops that the calling thread has started so far.
inline launch_tally launch_count() { return detail::thread_launches().tally; }

/// Counts the launches of the calling thread from its construction on.
class launch_counter {
 public:
  launch_counter() : start_(launch_count().count) {}

  int count() const { return static_cast<int>(launch_count().count - start_); }
  const char* last_kind() const { return launch_count().last_kind; }

 private:
  std::int64_t start_;
};

}  // namespace tenon
