// tests/fault_injection/system.cpp: the calls of the system that fail where a test says so.
// They stand in this program before those of the libraries; sanitizers keep the calls that they watch.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <new>

#include "support/faults.hpp"

#if defined(__has_feature)
#define TENON_TEST_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENON_TEST_SANITIZED 1
#else
#define TENON_TEST_SANITIZED 0
#endif

namespace {

std::atomic<long> calls_left = 0;  // until one fails; 0 where none will
std::atomic<tenon_test::fault_calls> counted_calls = tenon_test::fault_calls::every;
std::atomic<bool> counts_all = false, has_failed_call = false, has_failed_call_elsewhere = false;
thread_local bool counts_own = false;

/// Whether this call, of this kind, is the one that fails.
bool fails_here(tenon_test::fault_calls kind = tenon_test::fault_calls::every) {
  const auto counted = counted_calls.load();
  if (counted != tenon_test::fault_calls::every && counted != kind) return false;
  if (calls_left.load(std::memory_order_relaxed) <= 0 || !(counts_own || counts_all)) return false;
  if (calls_left.fetch_sub(1) != 1) return false;
  has_failed_call_elsewhere = !counts_own;
  has_failed_call = true;
  return true;
}
int refused(int reason) {
  errno = reason;
  return -1;
}

void* allocated(std::size_t bytes, std::size_t alignment) {
  if (fails_here(tenon_test::fault_calls::memory)) throw std::bad_alloc();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded)) return memory;
  throw std::bad_alloc();
}

}  // namespace

namespace tenon_test {

fault_scope::fault_scope(long place, fault_threads whose, fault_calls calls) {
  has_failed_call = has_failed_call_elsewhere = false;
  counted_calls = calls;
  counts_own = true, counts_all = whose == fault_threads::all;
  calls_left = place;
}
fault_scope::~fault_scope() { calls_left = 0, counts_own = false, counts_all = false; }
bool fault_scope::has_failed() const { return has_failed_call; }
bool fault_scope::has_failed_elsewhere() const { return has_failed_call_elsewhere; }
bool refuses_threads() { return TENON_TEST_SANITIZED == 0; }

}  // namespace tenon_test

void* operator new(std::size_t bytes) { return allocated(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocated(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

extern "C" {

ssize_t write(int file, const void* bytes, std::size_t count) {
  if (fails_here()) return refused(ENOSPC);
  return syscall(SYS_write, file, bytes, count);
}
int fsync(int file) noexcept(noexcept(::fsync(file))) {
  if (fails_here()) return refused(EIO);
  return static_cast<int>(syscall(SYS_fsync, file));
}
int fchmod(int file, mode_t mode) noexcept(noexcept(::fchmod(file, mode))) {
  if (fails_here()) return refused(EPERM);
  return static_cast<int>(syscall(SYS_fchmod, file, mode));
}
int rename(const char* from, const char* to) noexcept(noexcept(::rename(from, to))) {
  if (fails_here()) return refused(EACCES);
  return static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int open(const char* path, int flags, ...) {
  if (fails_here()) return refused(EMFILE);
  va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

#if !TENON_TEST_SANITIZED
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) noexcept(noexcept(::pthread_create(thread, attributes, start, argument))) {
  using create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto system_create = reinterpret_cast<create>(dlsym(RTLD_NEXT, "pthread_create"));
  return fails_here(tenon_test::fault_calls::threads) ? EAGAIN : system_create(thread, attributes, start, argument);
}
#endif

}  // extern "C"
