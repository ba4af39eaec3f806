// tenon/base/error.hpp: the exceptions, the composition of their texts, and the compile-time counterpart.
// Texts read `operation: argument or axis: what is, what was expected; hint`, the same in every build type.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tenon/base/config.hpp>
#include <type_traits>

namespace tenon {

/// Base of every exception that Tenon throws.
struct error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct shape_error : error {  ///< Thrown where extents or ranks do not fit each other.
  using error::error;
};
struct index_error : error {  ///< Thrown for an index or axis outside its range.
  using error::error;
};
struct dtype_error : error {  ///< Thrown for an element type that the operation does not take, or a number it lacks.
  using error::error;
};
struct space_error : error {  ///< Thrown where memory spaces do not fit, or a space is absent.
  using error::error;
};
struct storage_error : error {  ///< Thrown for elements that were freed, or are overwritten before they are read.
  using error::error;
};
struct file_error : error {  ///< Thrown for a file that is missing, truncated or not what it claims to be.
  using error::error;
};
struct thread_error : error {  ///< Thrown where the system cannot start a thread.
  using error::error;
};
struct cuda_error : error {  ///< Thrown where a CUDA call fails.
  using error::error;
};
struct out_of_memory : error {  ///< Thrown where a device has too little memory, or the host too little to lock.
  using error::error;
};
struct device_error : error {  ///< Thrown where operands lie on different devices, or a device is absent.
  using error::error;
};
struct capture_error : error {  ///< Thrown where a captured function does what a graph cannot repeat.
  using error::error;
};

namespace detail {

[[gnu::cold]] inline void append_characters(std::string& text, const void* characters) {
  text += static_cast<const char*>(characters);
}

/// In six digits: 0.001, 1e-09.
[[gnu::cold]] inline void append_number(std::string& text, double number) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%g", number);
  text += digits;
}

template <class T>
[[gnu::cold]] void append_part(std::string& text, const void* untyped) {
  const T& part = *static_cast<const T*>(untyped);
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_floating_point_v<T>) {
    append_number(text, static_cast<double>(part));
  } else if constexpr (std::is_arithmetic_v<T>) {
    text += std::to_string(part);
  } else {  // anything with extents: [2, 3]
    text += '[';
    for (decltype(part.size()) axis = 0; axis < part.size(); ++axis) {
      if (axis != 0) text += ", ";
      text += std::to_string(part[axis]);
    }
    text += ']';
  }
}

/// A part of a text, and how it is written. Texts of all kinds are joined by one function: programs have many.
struct text_part {
  const void* part;
  void (*append)(std::string& text, const void* part);
};

template <class T>
text_part text_part_of(const T& part) {
  if constexpr (std::is_convertible_v<const T&, const char*>)
    return {static_cast<const char*>(part), append_characters};
  else return {&part, append_part<T>};
}

[[gnu::cold, gnu::noinline]] inline std::string join_parts(const text_part* parts, int count) {
  std::string text;
  for (int k = 0; k < count; ++k) parts[k].append(text, parts[k].part);
  return text;
}

}  // namespace detail

/// The text of an error from its parts: strings as they are, numbers in decimal, arrays of extents as `[2, 3]`.
template <class... Parts>
TENON_INLINE std::string compose_text(const Parts&... parts) {
  const detail::text_part list[] = {detail::text_part_of(parts)..., {}};
  return detail::join_parts(list, static_cast<int>(sizeof...(Parts)));
}

/// False for every `Facts`, but only known so at instantiation: compilers print the facts with the failed assertion,
/// `static_assert(condition || must_hold<Facts...>, ...)`. It stands in what the user calls or names, since each
/// instantiation between, and each header on the way to the file, is a line before the sentence.
template <class... Facts>
inline constexpr bool must_hold = false;

}  // namespace tenon
