// tenon/core/space.hpp: what a memory space is, and the host's.
// A space names where bytes live; the destination's space chooses the executor of a statement.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <tenon/base/aligned_memory.hpp>
#include <tenon/base/error.hpp>
#include <type_traits>

namespace tenon {

/// A memory space: allocation (64-byte aligned or better), release, and copies within it and to and from the host.
/// `host_accessible` says whether the host may dereference its pointers.
template <class Space>
concept memory_space = requires(void* target, const void* source, std::size_t bytes) {
  { Space::name } -> std::convertible_to<const char*>;
  { Space::host_accessible } -> std::convertible_to<bool>;
  { Space::allocate(bytes) } -> std::same_as<void*>;
  { Space::deallocate(target, bytes) } noexcept;
  Space::copy(target, source, bytes);
  Space::copy_from_host(target, source, bytes);
  Space::copy_to_host(target, source, bytes);
};

/// Ordinary memory; statements run as SIMD loops over threads.
struct host {
  static constexpr const char* name = "host";
  static constexpr bool host_accessible = true;
  static constexpr std::size_t alignment = 64;

  static void* allocate(std::size_t bytes) { return detail::allocate_aligned<alignment>(bytes); }
  static void deallocate(void* memory, std::size_t) noexcept { detail::free_aligned(memory); }
  static void copy(void* target, const void* source, std::size_t bytes) {
    if (bytes != 0) std::memmove(target, source, bytes);
  }
  static void copy_from_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
  static void copy_to_host(void* target, const void* source, std::size_t bytes) { copy(target, source, bytes); }
};

namespace detail {

template <class Space>
struct statement_space_of {
  using type = Space;
};
template <class Space>
  requires requires { typename Space::statement_space; }
struct statement_space_of<Space> {
  using type = typename Space::statement_space;
};

/// Copies bytes between spaces. Where the device copies by itself, from or to page-locked memory, it returns at once.
template <class Target, class Source>
void copy_between_spaces(void* target, const void* source, std::size_t bytes) {
  constexpr bool is_locked = requires { Target::is_page_locked; } || requires { Source::is_page_locked; };
  constexpr bool from_device = requires { Source::start_copy_to_host(target, source, bytes); };
  if constexpr (std::is_same_v<Target, Source>) {
    Source::copy(target, source, bytes);
  } else if constexpr (is_locked && requires { Target::start_copy_from_host(target, source, bytes); }) {
    Target::start_copy_from_host(target, source, bytes);
  } else if constexpr (is_locked && requires { Source::start_copy_to_host(target, source, bytes); }) {
    Source::start_copy_to_host(target, source, bytes);
  } else if constexpr (Source::host_accessible && !(from_device && Target::host_accessible)) {
    Target::copy_from_host(target, source, bytes);
  } else {
    static_assert(Target::host_accessible || must_hold<Target, Source>,
                  "tenon: between two devices a tensor is copied by way of the host");
    Source::copy_to_host(target, source, bytes);
  }
}

}  // namespace detail

/// The space whose statements take elements of `Space`: most often itself. `pinned` names the host's.
template <class Space>
using statement_space = typename detail::statement_space_of<Space>::type;

/// The space of numbers and generators: it fits any other.
struct any_space {};

/// The first of the spaces that is a particular one.
template <class First, class... Rest>
struct first_space {
  using type = First;
};
template <class Second, class... Rest>
struct first_space<any_space, Second, Rest...> : first_space<Second, Rest...> {};

/// Whether the operands of one statement lie in one space.
template <class... Spaces>
inline constexpr bool spaces_agree =
    ((std::is_same_v<Spaces, any_space> || std::is_same_v<Spaces, typename first_space<Spaces...>::type>) && ...);

}  // namespace tenon
