// tests/ptx/compares.cpp: predicates: setp, set, selp, slct, and what combines predicates.
// A predicate is one word, a bit a lane.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/small_floats.hpp"

namespace tenon_test::ptx {

namespace {

void keep_predicate(warp& w, slot to, lane_set value, lane_set active) {
  lane_set& old = *w.at<lane_set>(to);
  old = (old & ~active) | (value & active);
}

enum combination : std::uint8_t { alone, with_and, with_or, with_xor };

/// `to | to_other = (a OP b) BOOL c`.
template <class T, class Function>
handler compare(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    const T *const a = w.at<T>(in.a), *const b = w.at<T>(in.b);
    lane_set found = 0;
    for (int i = 0; i < warp_lanes; ++i) found |= lane_set{Function{}(a[i], b[i])} << i;
    lane_set other = ~found;
    if ((in.kind & 3) != alone) {
      const lane_set third = w.predicate(in.c) ^ ((in.kind & 4) != 0 ? all_lanes : 0);
      const auto combine = [&](lane_set left) {
        return (in.kind & 3) == with_and ? left & third : (in.kind & 3) == with_or ? left | third : left ^ third;
      };
      found = combine(found), other = combine(other);
    }
    keep_predicate(w, in.to, found, active);
    if (in.to_other.is_there != 0) keep_predicate(w, in.to_other, other, active);
  };
}

template <class T>
handler compare_of(std::string_view name) {
  if (name == "eq") return compare<T>([](T a, T b) { return a == b; });
  if (name == "lt" || name == "lo") return compare<T>([](T a, T b) { return a < b; });
  if (name == "le" || name == "ls") return compare<T>([](T a, T b) { return a <= b; });
  if (name == "gt" || name == "hi") return compare<T>([](T a, T b) { return a > b; });
  if (name == "ge" || name == "hs") return compare<T>([](T a, T b) { return a >= b; });
  if constexpr (std::is_floating_point_v<T>) {
    if (name == "ne") return compare<T>([](T a, T b) { return a < b || a > b; });
    if (name == "equ") return compare<T>([](T a, T b) { return !(a < b || a > b); });
    if (name == "neu") return compare<T>([](T a, T b) { return !(a == b); });
    if (name == "ltu") return compare<T>([](T a, T b) { return !(a >= b); });
    if (name == "leu") return compare<T>([](T a, T b) { return !(a > b); });
    if (name == "gtu") return compare<T>([](T a, T b) { return !(a <= b); });
    if (name == "geu") return compare<T>([](T a, T b) { return !(a < b); });
    if (name == "num") return compare<T>([](T a, T b) { return a == a && b == b; });
    if (name == "nan") return compare<T>([](T a, T b) { return a != a || b != b; });
  } else if (name == "ne") {
    return compare<T>([](T a, T b) { return a != b; });
  }
  return nullptr;
}

/// A half or bfloat16 that compares as the number it is.
template <bool IsHalf>
struct small_number {
  std::uint16_t bits;
  operator float() const { return IsHalf ? half_to_float(bits) : bfloat_to_float(bits); }
};
template <bool IsHalf>
handler compare_small(std::string_view name) {
  using T = small_number<IsHalf>;
  if (name == "eq") return compare<T>([](float a, float b) { return a == b; });
  if (name == "neu") return compare<T>([](float a, float b) { return !(a == b); });
  if (name == "ne") return compare<T>([](float a, float b) { return a < b || a > b; });
  if (name == "lt") return compare<T>([](float a, float b) { return a < b; });
  if (name == "le") return compare<T>([](float a, float b) { return a <= b; });
  if (name == "gt") return compare<T>([](float a, float b) { return a > b; });
  if (name == "ge") return compare<T>([](float a, float b) { return a >= b; });
  if (name == "nan") return compare<T>([](float a, float b) { return a != a || b != b; });
  if (name == "num") return compare<T>([](float a, float b) { return a == a && b == b; });
  return nullptr;
}

bool decode_setp(decoder& d) {
  const std::string_view type = d.part(-1);
  const int bytes = bytes_of_type(type);
  d.made.run = for_integer(type, [&]<class T>() { return compare_of<T>(d.part(1)); });
  if (d.made.run == nullptr) d.made.run = for_float(type, [&]<class T>() { return compare_of<T>(d.part(1)); });
  if (type == "f16") d.made.run = compare_small<true>(d.part(1));
  if (type == "bf16") d.made.run = compare_small<false>(d.part(1));
  if (d.made.run == nullptr || d.has("ftz")) return false;
  d.made.to = d.target(0, 0);
  if (!d.at(0).parts.empty()) d.made.to_other = d.target(d.at(0).parts[0], 0);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, bytes);
  if (d.operands() > 3) {
    d.made.c = d.source(3, 0);
    d.made.kind = d.part(2) == "and" ? with_and : d.part(2) == "or" ? with_or : with_xor;
    if (d.at(3).is_negated) d.made.kind |= 4;
  }
  return true;
}

bool decode_selp(decoder& d) {
  const int bytes = bytes_of_type(d.part(-1));
  d.made.run = for_bits(bytes, []<class T>() -> handler {
    return [](warp& w, const instruction& in, lane_set active) {
      alignas(64) T values[warp_lanes];
      const T *const a = w.at<T>(in.a), *const b = w.at<T>(in.b);
      const lane_set chosen = w.predicate(in.c);
      for (int i = 0; i < warp_lanes; ++i) values[i] = ((chosen >> i) & 1) != 0 ? a[i] : b[i];
      keep(w.at<T>(in.to), values, active);
    };
  });
  if (d.made.run == nullptr) return false;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, bytes);
  d.made.c = d.source(3, 0);
  return true;
}

template <class Function>
handler of_predicates(Function) {
  return [](warp& w, const instruction& in, lane_set active) {
    const lane_set b = in.b.is_there != 0 ? w.predicate(in.b) : 0;
    keep_predicate(w, in.to, Function{}(w.predicate(in.a), b), active);
  };
}

bool decode_logic(decoder& d, std::string_view name) {
  if (name == "mov") d.made.run = of_predicates([](lane_set a, lane_set) { return a; });
  else if (name == "not") d.made.run = of_predicates([](lane_set a, lane_set) { return ~a; });
  else if (name == "and") d.made.run = of_predicates([](lane_set a, lane_set b) { return a & b; });
  else if (name == "or") d.made.run = of_predicates([](lane_set a, lane_set b) { return a | b; });
  else if (name == "xor") d.made.run = of_predicates([](lane_set a, lane_set b) { return a ^ b; });
  else return false;
  d.made.to = d.target(0, 0);
  d.made.a = d.source(1, 0);
  if (d.operands() > 2) d.made.b = d.source(2, 0);
  return true;
}

}  // namespace

bool decode_compares(decoder& d) {
  const std::string_view name = d.part(0);
  if (name == "setp") return decode_setp(d);
  if (name == "selp") return decode_selp(d);
  if (d.part(1) == "pred") return decode_logic(d, name);
  return false;
}

}  // namespace tenon_test::ptx
