// tenon/io/read_double.hpp: the number that a text starts with.
// std::from_chars where the standard library has it for floating numbers, as libc++ has from version 20 on.
// Floor 2: may include io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>
#include <version>
#if !defined(__cpp_lib_to_chars)
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <string>
#endif

namespace tenon::detail {

#if defined(__cpp_lib_to_chars)

inline std::from_chars_result read_double(std::string_view text, double& value) {
  return std::from_chars(text.data(), text.data() + text.size(), value);
}

#else

/// As std::from_chars: no space, plus sign or hexadecimal digits, and a point in any locale.
inline std::from_chars_result read_double(std::string_view text, double& value) {
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  std::string copy(text.substr(0, text.find_first_not_of("+-.0123456789aefintyAEFINTY")));
  for (char& each : copy) each = each == '.' ? *std::localeconv()->decimal_point : each;
  char* end = nullptr;
  const double read = std::strtod(copy.c_str(), &end);
  copy.resize(static_cast<std::size_t>(end - copy.c_str()));
  if (copy.empty() || digits.find_first_of("+-") == 0) return {text.data(), std::errc::invalid_argument};
  const bool has_value = copy.find_first_of("123456789") < copy.find_first_of("eE");  // neither 0 nor a name
  const bool fits = !has_value || (read != 0 && !std::isinf(read));
  if (fits) value = read;
  return {text.data() + copy.size(), fits ? std::errc{} : std::errc::result_out_of_range};
}

#endif

}  // namespace tenon::detail
