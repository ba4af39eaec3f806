// tenon/expr/packet.hpp: packets, what kernels move in one access, and how cursors read them.
// Reading is apart from computing, so that a kernel can have all its reads under way before it needs the first.
// Floor 2: may include base, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/array.hpp>
#include <tenon/base/dtype.hpp>
#include <tenon/base/tuple.hpp>
#include <type_traits>

namespace tenon {

/// Nothing comes from the executor.
struct no_slots {};

/// Whether packets of these elements hold words. Elements shorter than a word would take a register each where a kernel
/// chooses between packets.
template <class T, int Size>
inline constexpr bool lies_in_words = sizeof(T) < 4 && sizeof(T) * Size % 4 == 0 && std::is_trivially_copyable_v<T>;

/// `Size` elements that lie side by side, read and written in one access: their size is a power of two up to 16 bytes.
template <class T, int Size>
struct alignas(sizeof(T) * Size) packet {
  T elements[Size];
};
template <class T, int Size>
  requires(lies_in_words<T, Size>)
struct alignas(sizeof(T) * Size) packet<T, Size> {
  std::uint32_t words[sizeof(T) * Size / 4];
};

namespace detail {
/// How elements of a packet of words lie in each of them.
template <class T>
struct word_part {
  using bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>;
  static constexpr int count = 4 / static_cast<int>(sizeof(T)), width = 32 / count;
};
}  // namespace detail

/// Element `k` of a packet.
template <class T, int Size>
TENON_HOST_DEVICE TENON_INLINE constexpr T element_of(const packet<T, Size>& lanes, index k) {
  if constexpr (lies_in_words<T, Size>) {
    using part = detail::word_part<T>;
    const auto bits = static_cast<typename part::bits>(lanes.words[k / part::count] >> k % part::count * part::width);
    T result;
    __builtin_memcpy(&result, &bits, sizeof(bits));
    return result;
  } else {
    return lanes.elements[k];
  }
}
/// Makes `element` number `k` of a packet.
template <class T, int Size>
TENON_HOST_DEVICE TENON_INLINE constexpr void set_element(packet<T, Size>& lanes, index k, T element) {
  if constexpr (lies_in_words<T, Size>) {
    using part = detail::word_part<T>;
    typename part::bits bits{};
    __builtin_memcpy(&bits, &element, sizeof(bits));
    const std::uint32_t mask = (1u << part::width) - 1;
    const auto shift = k % part::count * part::width;
    lanes.words[k / part::count] = (lanes.words[k / part::count] & ~(mask << shift)) | std::uint32_t{bits} << shift;
  } else {
    lanes.elements[k] = element;
  }
}

namespace detail {
/// Ends a program that uses an address askew, as a device does.
template <class Packet>
TENON_HOST_DEVICE TENON_INLINE constexpr void check_packet_address([[maybe_unused]] const void* address) {
#if !defined(__CUDA_ARCH__)
  if (reinterpret_cast<std::uintptr_t>(address) % sizeof(Packet) != 0) __builtin_trap();
#endif
}
}  // namespace detail

/// One access of a device; the address is a multiple of the packet's size.
template <int Size, class T>
TENON_HOST_DEVICE TENON_INLINE constexpr packet<T, Size> load_packet(const T* from) {
#if defined(__CUDA_ARCH__)
  return *reinterpret_cast<const packet<T, Size>*>(from);
#else
  detail::check_packet_address<packet<T, Size>>(from);
  packet<T, Size> result{};
  for (int k = 0; k < Size; ++k) set_element(result, k, from[k]);
  return result;
#endif
}
template <int Size, class T>
TENON_HOST_DEVICE TENON_INLINE constexpr void store_packet(T* to, const packet<T, Size>& lanes) {
#if defined(__CUDA_ARCH__)
  *reinterpret_cast<packet<T, Size>*>(to) = lanes;
#else
  detail::check_packet_address<packet<T, Size>>(to);
  for (int k = 0; k < Size; ++k) to[k] = element_of(lanes, k);
#endif
}

/// What a cursor that reads no memory fetches.
struct nothing_fetched {};

/// Reads elements that lie side by side, or one that is the same for the whole row, where they are.
struct direct_reader {
  template <int Size, class T>
  TENON_HOST_DEVICE TENON_INLINE constexpr packet<T, Size> read(const T* data, index stride) const {
    if (stride != 0) [[likely]]
      return load_packet<Size>(data);
#if defined(__CUDA_ARCH__)
    detail::keep_device_branch();
#endif
    packet<T, Size> result{};
    const T element = *data;
    for (int k = 0; k < Size; ++k) set_element(result, k, element);
    return result;
  }
};

/// What a cursor reads of memory for its positions 0 to `Size` - 1, before anything is computed of it. It calls
/// `reader.read<Size>(data, stride)` for each of its sources in memory, in the order of `visit`.
template <int Size, class Cursor, class Reader>
TENON_HOST_DEVICE TENON_INLINE constexpr auto fetch(const Cursor& cursor, Reader& reader) {
  if constexpr (requires { cursor.template fetch<Size>(reader); }) return cursor.template fetch<Size>(reader);
  else return nothing_fetched{};
}
template <int Size, class Cursor>
TENON_HOST_DEVICE TENON_INLINE constexpr auto fetch(const Cursor& cursor) {
  direct_reader reader;
  return fetch<Size>(cursor, reader);
}

/// The value at position k of what was fetched.
template <class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE constexpr auto value_from(const Cursor& cursor, const Fetched& fetched, index k) {
  if constexpr (std::is_same_v<Fetched, nothing_fetched>) return cursor.value(k, no_slots{});
  else return cursor.value_from(fetched, k);
}

namespace detail {
template <class Parts, class Use, int... I>
TENON_HOST_DEVICE TENON_INLINE constexpr void for_each_part(const Parts& parts, Use& use,
                                                            std::integer_sequence<int, I...>) {
  (for_each_packet(get<I>(parts), use), ...);
}
}  // namespace detail

/// Calls `use(packet)` for the packets of what was fetched, in the order in which they were read.
template <class Use>
TENON_HOST_DEVICE TENON_INLINE constexpr void for_each_packet(nothing_fetched, Use&) {}
template <class T, int Size, class Use>
TENON_HOST_DEVICE TENON_INLINE constexpr void for_each_packet(const packet<T, Size>& fetched, Use& use) {
  use(fetched);
}
template <class... Parts, class Use>
TENON_HOST_DEVICE TENON_INLINE constexpr void for_each_packet(const tuple<Parts...>& fetched, Use& use) {
  detail::for_each_part(fetched, use, std::make_integer_sequence<int, static_cast<int>(sizeof...(Parts))>{});
}

/// Writes the values of what was fetched. A device makes two of bfloat16 at once.
template <int Size, class T, class Cursor, class Fetched>
TENON_HOST_DEVICE TENON_INLINE constexpr void write_packet(T* to, const Cursor& cursor, const Fetched& fetched) {
  packet<T, Size> result{};
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<decltype(value_from(cursor, fetched, 0)), float> &&
                Size % 2 == 0) {
    for (int k = 0; k < Size; k += 2) {
      result.words[k / 2] =
          detail::device_bfloat16_pair(value_from(cursor, fetched, k), value_from(cursor, fetched, k + 1));
    }
  } else
#endif
  {
    for (int k = 0; k < Size; ++k) set_element(result, k, static_cast<T>(value_from(cursor, fetched, k)));
  }
  store_packet(to, result);
}

}  // namespace tenon
