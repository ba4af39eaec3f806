// examples/onnx/elements.hpp: the C++ type of an element type of ONNX, and elements as bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/dtype.hpp>

#include "graph.hpp"

namespace onnx_in {

/// Calls `body(T{})` with the C++ type of an element type.
template <class Body>
void with_type(int number, const Body& body) {
  switch (number) {
    case 1:
      return body(float{});
    case 2:
      return body(std::uint8_t{});
    case 3:
      return body(std::int8_t{});
    case 4:
      return body(std::uint16_t{});
    case 5:
      return body(std::int16_t{});
    case 6:
      return body(std::int32_t{});
    case 7:
      return body(std::int64_t{});
    case 9:
      return body(bool{});
    case 10:
      return body(tenon::half(0.0f));
    case 11:
      return body(double{});
    case 12:
      return body(std::uint32_t{});
    case 13:
      return body(std::uint64_t{});
    default:
      static_cast<void>(type_of(number));
  }
}

/// Adds the bytes of elements.
template <class T, class Elements>
void append(constant& made, const Elements& elements) {
  for (const auto each : elements) {
    const T element = static_cast<T>(each);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&element);
    made.bytes.insert(made.bytes.end(), bytes, bytes + sizeof(T));
  }
}

}  // namespace onnx_in
