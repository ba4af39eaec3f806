// tests/conformance/array.cpp: arrays of integers to and from lists.
// What does not depend on the element type.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/array.hpp"

#include <cstring>
#include <map>

namespace conformance {

std::vector<index> integers_of(const array& numbers) {
  return with_type<std::int64_t, std::int32_t>(numbers.dtype, [&]<class T>() {
    return std::vector<index>(numbers.elements<T>(), numbers.elements<T>() + numbers.size());
  });
}

std::string name_of_type(index onnx_type) {
  const std::map<index, std::string> names{
      {1, "float32"}, {2, "uint8"},    {3, "int8"},     {4, "uint16"},  {5, "int16"},   {6, "int32"},    {7, "int64"},
      {9, "bool"},    {10, "float16"}, {11, "float64"}, {12, "uint32"}, {13, "uint64"}, {16, "bfloat16"}};
  return names.at(onnx_type);
}

std::string bits_name(const std::string& dtype) {
  return with_type(all_types, dtype, []<class T>() {
    constexpr const char* names[] = {"uint8", "uint16", "", "uint32", "", "", "", "uint64"};
    return std::string(names[sizeof(T) - 1]);
  });
}

array array_of(const std::vector<index>& numbers) {
  array result{"int64", {static_cast<index>(numbers.size())}, {}};
  result.bytes.resize(numbers.size() * sizeof(index));
  if (!numbers.empty()) std::memcpy(result.bytes.data(), numbers.data(), result.bytes.size());
  return result;
}

}  // namespace conformance
