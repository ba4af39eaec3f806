// examples/onnx/elements.cpp: elements that are known when the model is converted: as numbers, as other types.
// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace onnx_in {

const element_type& type_of(int number) {
  static constexpr element_type all[] = {
      {1, "float", "F32", 4, true},           {2, "std::uint8_t", "U8", 1, false},
      {3, "std::int8_t", "I8", 1, false},     {4, "std::uint16_t", "U16", 2, false},
      {5, "std::int16_t", "I16", 2, false},   {6, "std::int32_t", "I32", 4, false},
      {7, "std::int64_t", "I64", 8, false},   {9, "bool", "BOOL", 1, false},
      {10, "tn::half", "F16", 2, true},       {11, "double", "F64", 8, true},
      {12, "std::uint32_t", "U32", 4, false}, {13, "std::uint64_t", "U64", 8, false}};
  for (const element_type& each : all) {
    if (each.number == number) return each;
  }
  throw tenon::error("element type " + std::to_string(number) + " of ONNX is not supported");
}

std::int64_t size_of(const std::vector<std::int64_t>& all, std::int64_t most) {
  std::int64_t count = 1;
  bool fits = true;
  for (const std::int64_t each : all) {
    fits = fits && each >= 0 && each <= most && (each == 0 || count <= most / each);
    count = fits ? count * each : 0;
  }
  if (fits) return count;
  std::string text;
  for (const std::int64_t each : all) text += (text.empty() ? "" : ", ") + std::to_string(each);
  const bool is_negative = std::any_of(all.begin(), all.end(), [](std::int64_t each) { return each < 0; });
  throw tenon::error("has a tensor [" + text + "], expected " +
                     (is_negative ? "extents of at least 0" : "at most " + std::to_string(most) + " elements"));
}

namespace {

/// A number as an element; what is beyond integers becomes their nearest.
template <class T>
T converted(double number) {
  if constexpr (std::is_same_v<T, bool>) {
    return number != 0;
  } else if constexpr (std::is_same_v<T, tenon::half>) {
    return tenon::half(static_cast<float>(number));
  } else if constexpr (!std::is_integral_v<T>) {
    return static_cast<T>(number);
  } else {
    const auto least = std::numeric_limits<T>::lowest(), most = std::numeric_limits<T>::max();
    if (!(number > static_cast<double>(least))) return least;
    return number >= static_cast<double>(most) ? most : static_cast<T>(number);
  }
}

template <class T>
double wide(T element) {
  if constexpr (std::is_same_v<T, tenon::half>) return static_cast<double>(static_cast<float>(element));
  else return static_cast<double>(element);
}

/// Calls `body(element)` for each element of a constant.
template <class Body>
void for_each_element(const constant& from, const Body& body) {
  with_type(from.element, [&]<class T>(T each) {
    for (std::size_t at = 0; at < from.bytes.size(); at += sizeof(T)) {
      std::memcpy(&each, from.bytes.data() + at, sizeof(T));
      body(each);
    }
  });
}

/// Elements of a type, each made by `make(T{}, number)`.
template <class Number, class Make>
constant made_of(int element, std::vector<std::int64_t> extents, const std::vector<Number>& numbers, const Make& make) {
  constant made{element, std::move(extents), {}};
  with_type(element, [&]<class T>(T) {
    std::vector<T> elements(numbers.size());
    made.bytes.reserve(numbers.size() * sizeof(T));
    for (std::size_t i = 0; i < numbers.size(); ++i) elements[i] = make(T{}, numbers[i]);
    append<T>(made, elements);
  });
  return made;
}

}  // namespace

std::vector<double> constant::numbers() const {
  std::vector<double> made;
  for_each_element(*this, [&](auto each) { made.push_back(wide(each)); });
  return made;
}

std::vector<std::int64_t> constant::integers() const {
  std::vector<std::int64_t> made;
  for_each_element(*this, [&]<class T>(T each) {
    if constexpr (std::is_integral_v<T>) made.push_back(static_cast<std::int64_t>(each));
    else made.push_back(converted<std::int64_t>(wide(each)));
  });
  return made;
}

constant constant::of(int element, std::vector<std::int64_t> all, const std::vector<double>& numbers) {
  return made_of(element, std::move(all), numbers, []<class T>(T, double number) { return converted<T>(number); });
}

constant constant::of_integers(int element, std::vector<std::int64_t> all, const std::vector<std::int64_t>& numbers) {
  return made_of(element, std::move(all), numbers, []<class T>(T, std::int64_t number) {
    if constexpr (std::is_same_v<T, tenon::half>) return tenon::half(static_cast<float>(number));
    else return static_cast<T>(number);
  });
}

constant constant::as(int to) const {
  const bool is_unsigned = element == uint64 && type_of(to).is_floating;  // the one type that integers() may wrap
  if (type_of(element).is_floating || is_unsigned) return of(to, extents, numbers());
  return of_integers(to, extents, integers());
}

constant constant::one(std::size_t i) const {
  if (i >= size()) throw std::out_of_range("constant::one");
  const auto width = static_cast<std::ptrdiff_t>(type_of(element).bytes);
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(i) * width;
  return {element, {}, {begin, begin + width}};
}

}  // namespace onnx_in
