// tests/conformance/array.cpp: arrays of integers to and from lists.
// What does not depend on the element type.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/array.hpp"

#include <cstring>

namespace conformance {

std::vector<index> integers_of(const array& numbers) {
  return with_type<std::int64_t, std::int32_t>(numbers.dtype, [&]<class T>() {
    return std::vector<index>(numbers.elements<T>(), numbers.elements<T>() + numbers.size());
  });
}

array array_of(const std::vector<index>& numbers) {
  array result{"int64", {static_cast<index>(numbers.size())}, {}};
  result.bytes.resize(numbers.size() * sizeof(index));
  if (!numbers.empty()) std::memcpy(result.bytes.data(), numbers.data(), result.bytes.size());
  return result;
}

}  // namespace conformance
