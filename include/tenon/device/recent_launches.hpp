// tenon/device/recent_launches.hpp: the kernels that a thread has started last, and the statements that they belong to.
// A failing kernel is reported by a later, unrelated call. These are the kernels to suspect then.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tenon/base/error.hpp>

namespace tenon {

/// What a statement is, in few words: its outermost operation, and the extents of its destination.
struct statement_note {
  static constexpr int capacity = 8;
  const char* operation = nullptr;  ///< null: the kernel belongs to no statement
  int rank = 0;
  long long extents[capacity] = {};
};

namespace detail {

struct launch_note {
  const char* kernel = nullptr;
  statement_note statement;
};

/// The latest launches of a thread, in a ring.
struct launch_ring {
  static constexpr int capacity = 4;
  launch_note latest[capacity];
  int next = 0;
  statement_note statement;  ///< that of the launches to come
};

inline launch_ring& thread_launch_ring() {
  thread_local launch_ring ring;
  return ring;
}

inline void append_note(std::string& text, const launch_note& note) {
  text += note.kernel;
  if (note.statement.operation == nullptr) return;
  text += std::string(" of ") + note.statement.operation + " [";
  for (int axis = 0; axis < note.statement.rank && axis < statement_note::capacity; ++axis) {
    if (axis != 0) text += ", ";
    text += std::to_string(note.statement.extents[axis]);
  }
  text += ']';
}

}  // namespace detail

/// Says which statement the launches of the calling thread belong to, while it lives.
class statement_note_scope {
 public:
  statement_note_scope(const char* operation, const std::int64_t* extents, int rank)
      : outer_(detail::thread_launch_ring().statement) {
    statement_note& note = detail::thread_launch_ring().statement;
    note.operation = operation;
    note.rank = rank;
    for (int axis = 0; axis < rank && axis < statement_note::capacity; ++axis) note.extents[axis] = extents[axis];
  }
  statement_note_scope(const statement_note_scope&) = delete;
  statement_note_scope& operator=(const statement_note_scope&) = delete;
  ~statement_note_scope() { detail::thread_launch_ring().statement = outer_; }

 private:
  statement_note outer_;
};

/// Remembers a kernel that the calling thread has started; `kernel` must outlive the thread (a literal).
inline void remember_launch(const char* kernel) {
  detail::launch_ring& ring = detail::thread_launch_ring();
  ring.latest[ring.next] = {kernel, ring.statement};
  ring.next = (ring.next + 1) % detail::launch_ring::capacity;
}

/// The kernels that the calling thread has started last, the latest first: `reduce of sum [3], rows of add [3, 4]`.
inline std::string recent_launches() {
  const detail::launch_ring& ring = detail::thread_launch_ring();
  std::string text;
  for (int back = 1; back <= detail::launch_ring::capacity; ++back) {
    const auto& note = ring.latest[(ring.next + detail::launch_ring::capacity - back) % detail::launch_ring::capacity];
    if (note.kernel == nullptr) break;
    if (!text.empty()) text += ", ";
    detail::append_note(text, note);
  }
  return text;
}

/// What a text says of a kernel that has failed while it ran. The first call in the process that hears of it decides:
/// nothing runs after such a failure, and kernels started since are innocent.
inline const std::string& suspects_of_failure() {
  static const std::string suspects =
      compose_text("; a kernel started earlier failed, this thread's latest were: ", recent_launches(),
                   "; with CUDA_LAUNCH_BLOCKING=1 in the environment the failing launch itself throws");
  return suspects;
}

}  // namespace tenon
