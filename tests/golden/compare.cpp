// tests/golden/compare.cpp: element by element, the first difference in words.
// Floating elements are compared as double, which holds all of them.
// SPDX-License-Identifier: Apache-2.0
#include "golden/compare.hpp"

#include <cmath>

namespace golden {

namespace {

template <class T>
bool agree(T actual, T expected, const tolerance& allowed) {
  if constexpr (tn::is_floating<T>) {
    const double x = actual, y = expected;
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (std::isinf(x) || std::isinf(y)) return x == y;
    return std::abs(x - y) <= allowed.absolute + allowed.relative * std::abs(y);
  } else {
    return actual == expected;
  }
}

template <class T>
std::string first_difference(const array& actual, const array& expected, const tolerance& allowed) {
  for (index i = 0; i < expected.size(); ++i) {
    const T is = actual.elements<T>()[i], should_be = expected.elements<T>()[i];
    if (agree(is, should_be, allowed)) continue;
    using number = std::conditional_t<tn::is_floating<T>, double, T>;
    return tn::compose_text("element ", i, " is ", static_cast<number>(is), ", expected ",
                            static_cast<number>(should_be), " (extents ", expected.extents, ")");
  }
  return {};
}

}  // namespace

std::string difference(const array& actual, const array& expected, const tolerance_table& tolerances) {
  if (actual.dtype != expected.dtype) {
    return tn::compose_text("elements ", actual.dtype, ", expected ", expected.dtype);
  }
  if (actual.extents != expected.extents) {
    return tn::compose_text("extents ", actual.extents, ", expected ", expected.extents);
  }
  const auto found = tolerances.find(expected.dtype);
  const tolerance allowed = found == tolerances.end() ? tolerance{0, 0} : found->second;
  return with_type(all_types, expected.dtype,
                   [&]<class T>() { return first_difference<T>(actual, expected, allowed); });
}

}  // namespace golden
