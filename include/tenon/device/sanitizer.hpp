// tenon/device/sanitizer.hpp: what AddressSanitizer and ThreadSanitizer must be told about fibers.
// Each call is empty unless that sanitizer is on, so callers tell them always and never ask.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <tenon/base/aligned_memory.hpp>
#include <tenon/base/config.hpp>

extern "C" {
void __sanitizer_start_switch_fiber(void** fake_stack, const void* bottom, std::size_t size);
void __sanitizer_finish_switch_fiber(void* fake_stack, const void** old_bottom, std::size_t* old_size);
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace tenon::detail {

#if defined(__has_feature)
inline constexpr bool thread_sanitized = __has_feature(thread_sanitizer);
#elif defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitized = true;
#else
inline constexpr bool thread_sanitized = false;
#endif

/// Everything the calling fiber did so far happens before what follows an `acquire_from` of the same place.
inline void release_to([[maybe_unused]] void* place) {
  if constexpr (thread_sanitized) __tsan_release(place);
}
inline void acquire_from([[maybe_unused]] void* place) {
  if constexpr (thread_sanitized) __tsan_acquire(place);
}

/// A fiber as a thread of its own in ThreadSanitizer's eyes.
inline void* make_logical_thread() {
  if constexpr (thread_sanitized) return __tsan_create_fiber(0);
  return nullptr;
}
inline void end_logical_thread([[maybe_unused]] void* logical_thread) {
  if constexpr (thread_sanitized) __tsan_destroy_fiber(logical_thread);
}
inline void* current_logical_thread() {
  if constexpr (thread_sanitized) return __tsan_get_current_fiber();
  return nullptr;
}
/// The switch itself orders nothing: a barrier must.
inline void switch_logical_thread([[maybe_unused]] void* logical_thread) {
  constexpr unsigned without_order = 1;
  if constexpr (thread_sanitized) __tsan_switch_to_fiber(logical_thread, without_order);
}

/// While it lives, ThreadSanitizer does not see the memory accesses of the calling fiber:
/// the emulator's own state passes between fibers in a fixed order, and would hide or fake a kernel's races.
class unobserved {
 public:
  TENON_HOST_DEVICE unobserved() {
    if constexpr (thread_sanitized) {
      AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
      AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    }
  }
  unobserved(const unobserved&) = delete;
  unobserved& operator=(const unobserved&) = delete;
  TENON_HOST_DEVICE ~unobserved() {
    if constexpr (thread_sanitized) {
      AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
      AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
  }
};

/// `value`, read without ThreadSanitizer's notice.
template <class T>
T unobserved_value(const T& value) {
  const unobserved quiet;
  return value;
}

}  // namespace tenon::detail
