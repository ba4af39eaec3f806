// tenon/expr/packet.hpp: packets, what kernels move in one access, and how cursors read them.
// Reading is apart from computing, so that a kernel can have all its reads under way before it needs the first.
// Floor 2: may include base, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/array.hpp>
#include <type_traits>

namespace tenon {

/// Nothing comes from the executor.
struct no_slots {};

/// `Size` elements that lie side by side, read and written in one access: their size is a power of two up to 16 bytes.
template <class T, int Size>
struct alignas(sizeof(T) * Size) packet {
  T elements[Size];
};

/// One access of a device; the address is a multiple of the packet's size.
template <int Size, class T>
TENON_HOST_DEVICE TENON_INLINE packet<T, Size> load_packet(const T* from) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const packet<T, Size>*>(from);
#else
  packet<T, Size> result;
  for (int k = 0; k < Size; ++k) result.elements[k] = from[k];
  return result;
#endif
}
template <int Size, class T>
TENON_HOST_DEVICE TENON_INLINE void store_packet(T* to, const packet<T, Size>& lanes) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<packet<T, Size>*>(to) = lanes;
#else
  for (int k = 0; k < Size; ++k) to[k] = lanes.elements[k];
#endif
}

/// What a cursor that reads no memory fetches.
struct nothing_fetched {};

/// What a cursor reads of memory for its positions 0 to `Size` - 1, before anything is computed of it.
template <int Size, class Cursor>
TENON_HOST_DEVICE TENON_INLINE auto fetch(const Cursor& cursor) {
  if constexpr (requires { cursor.template fetch<Size>(); }) return cursor.template fetch<Size>();
  else return nothing_fetched{};
}
/// The value at position k of what was fetched.
template <class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE auto value_from(const Cursor& cursor, const Fetched& fetched, index k) {
  if constexpr (std::is_same_v<Fetched, nothing_fetched>) return cursor.value(k, no_slots{});
  else return cursor.value_from(fetched, k);
}

/// Writes the values of what was fetched.
template <int Size, class T, class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE void write_packet(T* to, const Cursor& cursor, const Fetched& fetched) {
  packet<T, Size> result;
  for (int k = 0; k < Size; ++k) result.elements[k] = static_cast<T>(value_from(cursor, fetched, k));
  store_packet(to, result);
}

}  // namespace tenon
