// tenon/device/caches.hpp: how large the caches of this machine are.
// Read once in a process. A size that the machine does not report is taken to be small.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace tenon {

/// Bytes of the caches that a core has for itself, and of the one that it shares.
struct cache_sizes {
  index first, second, shared;
};

namespace detail {

/// What the system says of one cache, `otherwise` where it says nothing.
inline index cache_size([[maybe_unused]] int name, index otherwise) {
#if __has_include(<unistd.h>)
  const long size = name < 0 ? 0 : sysconf(name);
  if (size > 0) return static_cast<index>(size);
#endif
  return otherwise;
}

inline cache_sizes read_cache_sizes() {
#if defined(_SC_LEVEL1_DCACHE_SIZE) && defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)
  constexpr int first = _SC_LEVEL1_DCACHE_SIZE, second = _SC_LEVEL2_CACHE_SIZE, shared = _SC_LEVEL3_CACHE_SIZE;
#else
  constexpr int first = -1, second = -1, shared = -1;
#endif
  return {cache_size(first, index{32} << 10), cache_size(second, index{256} << 10), cache_size(shared, index{4} << 20)};
}

}  // namespace detail

/// The caches of this machine.
inline const cache_sizes& caches() {
  static const cache_sizes sizes = detail::read_cache_sizes();
  return sizes;
}

}  // namespace tenon
