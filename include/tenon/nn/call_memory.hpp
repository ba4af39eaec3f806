// tenon/nn/call_memory.hpp: the memory of a call, which a layer finds in place of its own while the call runs.
// A thread knows what is lent to it; the layer is not written to, so that several threads may call one in evaluation.
// Floor 7: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>

namespace tenon::nn {

namespace detail {

/// What a layer keeps of one call for its way back, so that each call has its own: `Layer::call_memory`, which
/// `lend_memory` lends to the layer. Most layers keep nothing.
struct no_call_memory {};
template <class Layer>
struct call_memory_of {
  using type = no_call_memory;
};
template <class Layer>
  requires requires { typename Layer::call_memory; }
struct call_memory_of<Layer> {
  using type = typename Layer::call_memory;
};

/// While one lives, this thread finds `lent` where a layer keeps `own`.
class lent_memory {
 public:
  template <class Memory>
  lent_memory(const Memory& own, Memory& lent) : own_(&own), lent_(&lent), outer_(innermost_) {
    innermost_ = this;
  }
  ~lent_memory() { innermost_ = outer_; }
  lent_memory(const lent_memory&) = delete;
  lent_memory& operator=(const lent_memory&) = delete;

  template <class Memory>
  static Memory* in_place_of(const Memory& own) {
    for (const lent_memory* each = innermost_; each != nullptr; each = each->outer_) {
      if (each->own_ == &own) return static_cast<Memory*>(each->lent_);
    }
    return nullptr;
  }

 private:
  const void* own_;
  void* lent_;
  const lent_memory* outer_;
  inline static constinit thread_local const lent_memory* innermost_ = nullptr;
};

/// The memory in use: what a call lent, or a layer's own.
template <class Memory>
Memory& memory_in_use(Memory& own) {
  Memory* const lent = lent_memory::in_place_of(own);
  return lent != nullptr ? *lent : own;
}
template <class Memory>
const Memory& memory_in_use(const Memory& own) {
  const Memory* const lent = lent_memory::in_place_of(own);
  return lent != nullptr ? *lent : own;
}

/// Lends a layer the memory of a call while the result lives.
template <class Layer>
auto lend_memory(Layer& layer, typename call_memory_of<Layer>::type& memory) {
  if constexpr (requires { layer.lend(memory); }) return layer.lend(memory);
  else return no_call_memory{};
}

}  // namespace detail

}  // namespace tenon::nn
