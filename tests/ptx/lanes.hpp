// tests/ptx/lanes.hpp: handlers as loops over 32 lanes.
// The loops have no condition, so that compilers make vectors of them; what inactive lanes compute is dropped.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "ptx/grid.hpp"

namespace tenon_test::ptx {

/// The handler of what has no effect here.
inline void do_nothing(warp&, const instruction&, lane_set) {}

/// Keeps the values of the active lanes.
template <class Value>
void keep(Value* to, const Value* values, lane_set active) {
  if (active == all_lanes) {
    std::memcpy(to, values, sizeof(Value) * warp_lanes);
  } else {
    for (int i = 0; i < warp_lanes; ++i) to[i] = ((active >> i) & 1) != 0 ? values[i] : to[i];
  }
}

/// PTX has one NaN: 0x7fffffff for floats.
template <class Value>
Value one_nan(Value value) {
  if constexpr (std::is_same_v<Value, float>) return value == value ? value : std::bit_cast<float>(0x7fffffffu);
  else return value;
}

/// The handler that gives `Function{}(a)` to each active lane.
template <class To, class From, class Function>
handler unary(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    alignas(64) To values[warp_lanes];
    const From* const a = w.at<From>(in.a);
    for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<To>(one_nan(Function{}(a[i])));
    keep(w.at<To>(in.to), values, active);
  };
}
template <class To, class From, class Function>
handler binary(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    alignas(64) To values[warp_lanes];
    const From *const a = w.at<From>(in.a), *const b = w.at<From>(in.b);
    for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<To>(one_nan(Function{}(a[i], b[i])));
    keep(w.at<To>(in.to), values, active);
  };
}
/// The second operand has a type of its own, as the distance of a shift.
template <class To, class First, class Second, class Function>
handler binary_of_two(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    alignas(64) To values[warp_lanes];
    const First* const a = w.at<First>(in.a);
    const Second* const b = w.at<Second>(in.b);
    for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<To>(Function{}(a[i], b[i]));
    keep(w.at<To>(in.to), values, active);
  };
}
template <class To, class From, class Third, class Function>
handler ternary(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    alignas(64) To values[warp_lanes];
    const From *const a = w.at<From>(in.a), *const b = w.at<From>(in.b);
    const Third* const c = w.at<Third>(in.c);
    for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<To>(one_nan(Function{}(a[i], b[i], c[i])));
    keep(w.at<To>(in.to), values, active);
  };
}

/// `make.operator()<T>()` for the integer of the type's name; nullptr for other types.
template <class Make>
handler for_integer(std::string_view type, Make make) {
  if (type == "s32") return make.template operator()<std::int32_t>();
  if (type == "u32" || type == "b32") return make.template operator()<std::uint32_t>();
  if (type == "s64") return make.template operator()<std::int64_t>();
  if (type == "u64" || type == "b64") return make.template operator()<std::uint64_t>();
  if (type == "s16") return make.template operator()<std::int16_t>();
  if (type == "u16" || type == "b16") return make.template operator()<std::uint16_t>();
  return nullptr;
}
template <class Make>
handler for_float(std::string_view type, Make make) {
  if (type == "f32") return make.template operator()<float>();
  if (type == "f64") return make.template operator()<double>();
  return nullptr;
}
/// `make(f)` of the function `f(old, b, c)` by which an atomic operation changes a value; Result{} for other names.
template <class Result, class T, class Make>
Result for_change(std::string_view name, Make make) {
  if (name == "add") return make([](T a, T b, T) { return a + b; });
  if (name == "min") return make([](T a, T b, T) { return std::min(a, b); });
  if (name == "max") return make([](T a, T b, T) { return std::max(a, b); });
  if (name == "exch") return make([](T, T b, T) { return b; });
  if (name == "cas") return make([](T a, T b, T c) { return a == b ? c : a; });
  if constexpr (std::is_unsigned_v<T>) {
    if (name == "and") return make([](T a, T b, T) { return a & b; });
    if (name == "or") return make([](T a, T b, T) { return a | b; });
    if (name == "xor") return make([](T a, T b, T) { return a ^ b; });
    if (name == "inc") return make([](T a, T b, T) { return a >= b ? T{0} : a + 1; });
    if (name == "dec") return make([](T a, T b, T) { return a == 0 || a > b ? b : a - 1; });
  }
  return {};
}
/// The unsigned integer of so many bytes.
template <class Make>
handler for_bits(int bytes, Make make) {
  if (bytes == 2) return make.template operator()<std::uint16_t>();
  if (bytes == 4) return make.template operator()<std::uint32_t>();
  if (bytes == 8) return make.template operator()<std::uint64_t>();
  return nullptr;
}

}  // namespace tenon_test::ptx
