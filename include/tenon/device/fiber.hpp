// tenon/device/fiber.hpp: functions that can stop in the middle and go on later, on a stack of their own.
// The switch is a dozen instructions where we have them: ucontext makes a system call and costs ten times as much.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <tenon/device/sanitizer.hpp>
#include <vector>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

namespace tenon::detail {

/// Sanitizers widen frames, so their stacks are larger; untouched pages cost nothing.
inline constexpr std::size_t fiber_stack_bytes = std::size_t{address_sanitized || thread_sanitized ? 512 : 128} << 10;

/// Memory of one stack, with a page below it that stops an overflow.
class fiber_stack {
 public:
  fiber_stack() : guard_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    memory_ = mmap(nullptr, guard_ + fiber_stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, guard_, PROT_NONE);
  }
  fiber_stack(const fiber_stack&) = delete;
  fiber_stack& operator=(const fiber_stack&) = delete;
  ~fiber_stack() { munmap(memory_, guard_ + fiber_stack_bytes); }

  unsigned char* bottom() const { return static_cast<unsigned char*>(memory_) + guard_; }
  unsigned char* top() const { return bottom() + fiber_stack_bytes; }

 private:
  std::size_t guard_;
  void* memory_;
};

#if defined(__x86_64__)

/// Leaves the running stack at `*save` and goes on where the stack `load` was left.
[[gnu::noinline]] inline void switch_stack(void** save, void* load) {
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"  // keeps clear of the red zone
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rax\n\t"
      "pushq %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %1, %%rsp\n\t"
      "popq %%rax\n\t"
      "jmpq *%%rax\n"
      "1:\n\t"
      "endbr64\n\t"
      "popq %%rbp\n\t"
      "leaq 128(%%rsp), %%rsp\n\t"
      : "+D"(save), "+S"(load)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc");
}

/// The stack pointer of a stack on which `entry` has not started; it must never return.
inline void* fresh_stack(unsigned char* top, void (*entry)()) {
  auto* frame = reinterpret_cast<void**>(top) - 2;
  frame[0] = reinterpret_cast<void*>(entry);
  frame[1] = nullptr;  // where a caller's address would be: ends a backtrace
  return frame;
}

#elif defined(__aarch64__)

/// Leaves the running stack at `*save` and goes on where the stack `load` was left.
[[gnu::noinline]] inline void switch_stack(void** save, void* load) {
  asm volatile(
      "adr x16, 1f\n\t"
      "stp x29, x16, [sp, #-16]!\n\t"
      "mov x17, sp\n\t"
      "str x17, [%0]\n\t"
      "mov sp, %1\n\t"
      "ldp x29, x16, [sp], #16\n\t"
      "br x16\n"
      "1:\n\t"
      "hint #38\n\t"  // a landing pad where branch targets are checked, else nothing
      : "+r"(save), "+r"(load)
      :
      : "x9", "x10", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30",
        "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15", "memory", "cc");
}

/// The stack pointer of a stack on which `entry` has not started; it must never return.
inline void* fresh_stack(unsigned char* top, void (*entry)()) {
  auto* frame = reinterpret_cast<void**>(top) - 2;
  frame[0] = nullptr;
  frame[1] = reinterpret_cast<void*>(entry);
  return frame;
}

#endif

#if defined(__x86_64__) || defined(__aarch64__)

/// Where a stack was left.
class machine_context {
 public:
  void prepare(const fiber_stack& stack, void (*entry)()) { pointer_ = fresh_stack(stack.top(), entry); }
  void switch_to(machine_context& other, void* logical_thread) {
    auto jump = &switch_stack;
    asm volatile("" : "+r"(jump));  // the compiler must not look into it: it would keep registers that are lost there
    void* target = unobserved_value(other.pointer_);
    switch_logical_thread(logical_thread);
    jump(&pointer_, target);
  }

 private:
  void* pointer_ = nullptr;
};

#else

/// Where a stack was left.
class machine_context {
 public:
  void prepare(const fiber_stack& stack, void (*entry)()) {
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack.bottom();
    context_.uc_stack.ss_size = fiber_stack_bytes;
    context_.uc_link = nullptr;
    makecontext(&context_, entry, 0);
  }
  void switch_to(machine_context& other, void* logical_thread) {
    switch_logical_thread(logical_thread);
    swapcontext(&context_, &other.context_);
  }

 private:
  ucontext_t context_;
};

#endif

/// A function that `suspend` stops and `resume` lets go on. Used and destroyed by the thread that made it.
class fiber {
 public:
  fiber() {
    inside_.prepare(stack_, &fiber::enter);
    logical_thread_ = make_logical_thread();
  }
  fiber(const fiber&) = delete;
  fiber& operator=(const fiber&) = delete;
  ~fiber() {
    closing_ = true;
    if (address_sanitized && entered_) resume();  // releases what AddressSanitizer keeps for the stack
    end_logical_thread(logical_thread_);
  }

  /// What the next `resume` starts; the fiber must be idle.
  void set_body(void (*body)(void*), void* argument) {
    body_ = body;
    argument_ = argument;
  }
  bool is_idle() const { return idle_; }

  /// Runs the fiber until it suspends or its body returns.
  void resume();
  /// Returns to the caller of `resume`; called inside the fiber.
  void suspend();

 private:
  static fiber*& entering() {
    thread_local fiber* starting = nullptr;
    return starting;
  }
  static void enter();

  fiber_stack stack_;
  machine_context inside_, outside_;
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool idle_ = true, entered_ = false, closing_ = false;
  void* logical_thread_ = nullptr;
  void* outer_thread_ = nullptr;
  const void* outer_bottom_ = nullptr;
  std::size_t outer_size_ = 0;
};

inline void fiber::resume() {
  idle_ = false;
  entered_ = true;
  entering() = this;
  outer_thread_ = current_logical_thread();
  [[maybe_unused]] void* fake_stack = nullptr;
  if constexpr (address_sanitized) __sanitizer_start_switch_fiber(&fake_stack, stack_.bottom(), fiber_stack_bytes);
  outside_.switch_to(inside_, logical_thread_);
  if constexpr (address_sanitized) __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

inline void fiber::suspend() {
  void* outer_thread = unobserved_value(outer_thread_);
  [[maybe_unused]] void* fake_stack = nullptr;
  if constexpr (address_sanitized) __sanitizer_start_switch_fiber(&fake_stack, outer_bottom_, outer_size_);
  inside_.switch_to(outside_, outer_thread);
  if constexpr (address_sanitized) __sanitizer_finish_switch_fiber(fake_stack, &outer_bottom_, &outer_size_);
}

inline void fiber::enter() {
  fiber* self = unobserved_value(entering());
  if constexpr (address_sanitized) {
    __sanitizer_finish_switch_fiber(nullptr, &self->outer_bottom_, &self->outer_size_);
  }
  while (!unobserved_value(self->closing_)) {
    unobserved_value(self->body_)(unobserved_value(self->argument_));
    {
      const unobserved quiet;
      self->idle_ = true;
    }
    self->suspend();
  }
  if constexpr (address_sanitized) __sanitizer_start_switch_fiber(nullptr, self->outer_bottom_, self->outer_size_);
  self->inside_.switch_to(self->outside_, unobserved_value(self->outer_thread_));
}

/// Idle fibers of the calling thread, kept because making one costs two system calls.
class fiber_pool {
 public:
  fiber_pool() = default;
  fiber_pool(const fiber_pool&) = delete;
  fiber_pool& operator=(const fiber_pool&) = delete;
  ~fiber_pool() {
    const unobserved quiet;
    for (fiber* idle : idle_) delete idle;
  }

  fiber* take() {
    if (idle_.empty()) return new fiber;
    fiber* result = idle_.back();
    idle_.pop_back();
    return result;
  }
  void give_back(fiber* idle) { idle_.push_back(idle); }

  static fiber_pool& of_thread() {
    thread_local fiber_pool pool;
    return pool;
  }

 private:
  std::vector<fiber*> idle_;
};

}  // namespace tenon::detail
