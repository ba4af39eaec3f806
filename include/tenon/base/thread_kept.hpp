// tenon/base/thread_kept.hpp: objects that a thread keeps between uses, and that its last destructors may use, too.
// Objects of a thread are destroyed before static ones, and before those of the thread that were made earlier.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace tenon::detail {

/// The T of the calling thread. It is destroyed with the thread's other objects. Where a destructor that runs later
/// asks for it, a new one is made, which `put_back` destroys.
/// example   auto& memory = thread_kept<scratch_memory>::get(); ... thread_kept<scratch_memory>::put_back();
template <class T>
class thread_kept {
 public:
  static T& get() {
    if (kept_ == nullptr) make();
    return *kept_;
  }
  /// Says that the thread does not use its T now.
  static void put_back() {
    if (is_over_) delete std::exchange(kept_, nullptr);
  }

 private:
  struct owner {
    ~owner() {
      is_over_ = true;
      put_back();
    }
  };
  [[gnu::noinline, gnu::cold]] static void make() {
    static thread_local owner own;
    static_cast<void>(own);
    kept_ = new T;
  }

  inline static constinit thread_local T* kept_ = nullptr;
  inline static constinit thread_local bool is_over_ = false;
};

}  // namespace tenon::detail
