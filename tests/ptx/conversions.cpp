// tests/ptx/conversions.cpp: cvt between integers, floats and short floats.
// Integers pass through 64 bits, floats through doubles, which hold every number exactly; the result is rounded once.
// SPDX-License-Identifier: Apache-2.0
#include <cfenv>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/small_floats.hpp"

namespace tenon_test::ptx {

namespace {

enum number : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f16, bf16, f32, f64, none };

number number_of(std::string_view name) {
  static constexpr const char* names[] = {"u8",  "s8",  "u16", "s16",  "u32", "s32",
                                          "u64", "s64", "f16", "bf16", "f32", "f64"};
  for (std::uint8_t i = 0; i < std::size(names); ++i) {
    if (name == names[i]) return static_cast<number>(i);
  }
  return none;
}
bool is_float(number type) { return type >= f16; }

/// What a conversion is asked to do, bits of `conversion::flags`.
constexpr std::uint32_t to_whole = 1, saturates = 2, flushes = 4, is_relu = 8, finite = 16;

/// What a conversion is asked to do; kept in the instruction's numbers.
struct conversion {
  number from, to;
  std::uint8_t from_bytes, to_bytes;  ///< of the registers
  rounding how;
  std::uint32_t flags;

  static conversion of(const instruction& in) {
    return {static_cast<number>(in.kind),
            static_cast<number>(in.bytes),
            static_cast<std::uint8_t>(in.count & 0xff),
            static_cast<std::uint8_t>(in.count >> 8),
            static_cast<rounding>(in.target),
            static_cast<std::uint32_t>(in.offset)};
  }
};

template <class Register, class Value>
void read_as(const warp& w, slot from, std::int64_t* values) {
  const Register* const a = w.at<Register>(from);
  for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<std::int64_t>(static_cast<Value>(a[i]));
}
template <class Register>
void read_of(const warp& w, slot from, number type, std::int64_t* values) {
  switch (type) {
    case u8:
      return read_as<Register, std::uint8_t>(w, from, values);
    case s8:
      return read_as<Register, std::int8_t>(w, from, values);
    case u16:
      return read_as<Register, std::uint16_t>(w, from, values);
    case s16:
      return read_as<Register, std::int16_t>(w, from, values);
    case u32:
      return read_as<Register, std::uint32_t>(w, from, values);
    case s32:
      return read_as<Register, std::int32_t>(w, from, values);
    default:
      return read_as<Register, std::int64_t>(w, from, values);
  }
}
void read_integers(const warp& w, slot from, const conversion& c, std::int64_t* values) {
  if (c.from_bytes == 2) read_of<std::uint16_t>(w, from, c.from, values);
  else if (c.from_bytes == 4) read_of<std::uint32_t>(w, from, c.from, values);
  else read_of<std::uint64_t>(w, from, c.from, values);
}

/// Cuts to the type, then extends to the register as the type's sign says.
template <class Register, class Value>
void write_as(const warp& w, slot to, const std::int64_t* values, lane_set active) {
  alignas(64) Register cut[warp_lanes];
  for (int i = 0; i < warp_lanes; ++i) cut[i] = static_cast<Register>(static_cast<Value>(values[i]));
  keep(w.at<Register>(to), cut, active);
}
template <class Register>
void write_of(const warp& w, slot to, number type, const std::int64_t* values, lane_set active) {
  switch (type) {
    case u8:
      return write_as<Register, std::uint8_t>(w, to, values, active);
    case s8:
      return write_as<Register, std::int8_t>(w, to, values, active);
    case u16:
      return write_as<Register, std::uint16_t>(w, to, values, active);
    case s16:
      return write_as<Register, std::int16_t>(w, to, values, active);
    case u32:
      return write_as<Register, std::uint32_t>(w, to, values, active);
    case s32:
      return write_as<Register, std::int32_t>(w, to, values, active);
    default:
      return write_as<Register, std::int64_t>(w, to, values, active);
  }
}
void write_integers(const warp& w, slot to, const conversion& c, const std::int64_t* values, lane_set active) {
  if (c.to_bytes == 2) write_of<std::uint16_t>(w, to, c.to, values, active);
  else if (c.to_bytes == 4) write_of<std::uint32_t>(w, to, c.to, values, active);
  else write_of<std::uint64_t>(w, to, c.to, values, active);
}

void read_floats(const warp& w, slot from, const conversion& c, double* values) {
  for (int i = 0; i < warp_lanes; ++i) {
    if (c.from == f32) values[i] = w.at<float>(from)[i];
    else if (c.from == f64) values[i] = w.at<double>(from)[i];
    else if (c.from == f16) values[i] = half_to_float(w.at<std::uint16_t>(from)[i]);
    else values[i] = bfloat_to_float(w.at<std::uint16_t>(from)[i]);
    if ((c.flags & flushes) != 0 && c.from == f32 && std::fabs(values[i]) < 0x1p-126)
      values[i] = std::copysign(0.0, values[i]);
  }
}

float rounded_to_float(double value, rounding how) {
  const float nearest = static_cast<float>(value);
  const bool is_above = nearest > value, is_below = nearest < value;
  const bool goes_down = is_above && (how == rounding::down || (how == rounding::zero && value > 0));
  const bool goes_up = is_below && (how == rounding::up || (how == rounding::zero && value < 0));
  return goes_down ? std::nextafter(nearest, -INFINITY) : goes_up ? std::nextafter(nearest, INFINITY) : nearest;
}

void write_floats(const warp& w, slot to, const conversion& c, const double* values, lane_set active) {
  for (int i = 0; i < warp_lanes; ++i) {
    if ((active >> i & 1) == 0) continue;
    double value = values[i];
    if ((c.flags & to_whole) != 0) value = rounded(value, c.how);
    if ((c.flags & saturates) != 0) value = value > 0 ? std::fmin(value, 1) : 0;
    if ((c.flags & is_relu) != 0 && value <= 0) value = 0;
    if (c.to == f64) {
      w.at<double>(to)[i] = value;
    } else if (c.to == f32) {
      float result = one_nan(rounded_to_float(value, c.how));
      if ((c.flags & flushes) != 0 && std::fabs(result) < 0x1p-126f) result = std::copysign(0.0f, result);
      w.at<float>(to)[i] = result;
    } else if (c.from == f32 && c.how == rounding::nearest && (c.flags & finite) == 0) {
      const auto single = static_cast<float>(value);
      w.at<std::uint16_t>(to)[i] = c.to == f16 ? float_to_half(single) : float_to_bfloat(single);
    } else {
      w.at<std::uint16_t>(to)[i] = static_cast<std::uint16_t>(
          encode(value, c.to == f16 ? half_format : bfloat_format, c.how, (c.flags & finite) != 0));
    }
  }
}

struct integer_range {
  double least, beyond;
  std::int64_t lowest, highest;
};
integer_range range_of(number type) {
  static constexpr std::int64_t longest = 0x7fffffffffffffff;
  switch (type) {
    case u8:
      return {0, 0x1p8, 0, 0xff};
    case s8:
      return {-0x1p7, 0x1p7, -0x80, 0x7f};
    case u16:
      return {0, 0x1p16, 0, 0xffff};
    case s16:
      return {-0x1p15, 0x1p15, -0x8000, 0x7fff};
    case u32:
      return {0, 0x1p32, 0, 0xffffffff};
    case s32:
      return {-0x1p31, 0x1p31, -0x80000000ll, 0x7fffffff};
    case u64:
      return {0, 0x1p64, 0, -1};
    default:
      return {-0x1p63, 0x1p63, -longest - 1, longest};
  }
}

void integers_to_integers(warp& w, const instruction& in, lane_set active) {
  const conversion c = conversion::of(in);
  alignas(64) std::int64_t values[warp_lanes];
  read_integers(w, in.a, c, values);
  if ((c.flags & saturates) != 0) {
    const integer_range range = range_of(c.to);
    const bool is_unsigned = c.from == u64;
    for (std::int64_t& value : values) {
      if (!is_unsigned && value < range.lowest) value = range.lowest;
      else if (c.to != u64 && (value > range.highest || (is_unsigned && value < 0))) value = range.highest;
    }
  }
  write_integers(w, in.to, c, values, active);
}

void floats_to_integers(warp& w, const instruction& in, lane_set active) {
  const conversion c = conversion::of(in);
  alignas(64) double values[warp_lanes];
  alignas(64) std::int64_t results[warp_lanes];
  read_floats(w, in.a, c, values);
  const integer_range range = range_of(c.to);
  for (int i = 0; i < warp_lanes; ++i) {
    const double value = rounded(values[i], c.how);
    if (!(value >= range.least)) results[i] = value < range.least ? range.lowest : 0;
    else if (value >= range.beyond) results[i] = range.highest;
    else
      results[i] =
          c.to == u64 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(value)) : static_cast<std::int64_t>(value);
  }
  write_integers(w, in.to, c, results, active);
}

int host_mode(rounding how) {
  return how == rounding::zero   ? FE_TOWARDZERO
         : how == rounding::down ? FE_DOWNWARD
         : how == rounding::up   ? FE_UPWARD
                                 : FE_TONEAREST;
}

template <class To>
void whole_to_float(const std::int64_t* values, bool is_unsigned, To* results) {
  for (int i = 0; i < warp_lanes; ++i)
    results[i] = is_unsigned ? static_cast<To>(static_cast<std::uint64_t>(values[i])) : static_cast<To>(values[i]);
}

void integers_to_floats(warp& w, const instruction& in, lane_set active) {
  const conversion c = conversion::of(in);
  alignas(64) std::int64_t values[warp_lanes];
  alignas(64) float singles[warp_lanes];
  alignas(64) double doubles[warp_lanes];
  read_integers(w, in.a, c, values);
  std::fesetround(host_mode(c.how));
  if (c.to == f32) whole_to_float(values, c.from == u64, singles);
  else whole_to_float(values, c.from == u64, doubles);
  std::fesetround(FE_TONEAREST);
  if (c.to == f32) keep(w.at<float>(in.to), singles, active);
  else write_floats(w, in.to, c, doubles, active);
}

void floats_to_floats(warp& w, const instruction& in, lane_set active) {
  const conversion c = conversion::of(in);
  alignas(64) double values[warp_lanes];
  read_floats(w, in.a, c, values);
  write_floats(w, in.to, c, values, active);
}

rounding rounding_of(const decoder& d) {
  if (d.has("rz") || d.has("rzi")) return rounding::zero;
  if (d.has("rm") || d.has("rmi")) return rounding::down;
  if (d.has("rp") || d.has("rpi")) return rounding::up;
  if (d.has("rna")) return rounding::nearest_away;
  return rounding::nearest;
}

bool short_format(std::string_view name, float_format& format) {
  if (name == "f16x2") format = half_format;
  else if (name == "bf16x2") format = bfloat_format;
  else if (name == "e4m3x2") format = e4m3_format;
  else if (name == "e5m2x2") format = e5m2_format;
  else return false;
  return true;
}

float_format format_of(std::uint32_t number) {
  static constexpr float_format formats[] = {half_format, bfloat_format, e4m3_format, e5m2_format};
  return formats[number];
}
std::uint8_t format_number(std::string_view name) {
  return name == "f16x2" ? 0 : name == "bf16x2" ? 1 : name == "e4m3x2" ? 2 : 3;
}

/// Two floats become a pair of short ones; the first is the upper.
template <class Word>
void floats_to_pair(warp& w, const instruction& in, lane_set active) {
  alignas(64) Word values[warp_lanes];
  const float_format format = format_of(in.kind);
  const auto how = static_cast<rounding>(in.target);
  const auto narrow = [&](float value) {
    if ((in.offset & is_relu) != 0 && value <= 0) value = 0;
    if (in.kind == 0 && how == rounding::nearest && (in.offset & finite) == 0)
      return std::uint32_t{float_to_half(value)};
    return encode(static_cast<double>(value), format, how, (in.offset & finite) != 0);
  };
  for (int i = 0; i < warp_lanes; ++i)
    values[i] = static_cast<Word>(narrow(w.at<float>(in.a)[i]) << (4 * sizeof(Word)) | narrow(w.at<float>(in.b)[i]));
  keep(w.at<Word>(in.to), values, active);
}

/// A pair of one format becomes one of another.
template <class To, class From>
void pair_to_pair(warp& w, const instruction& in, lane_set active) {
  alignas(64) To values[warp_lanes];
  const float_format to = format_of(in.kind), from = format_of(in.bytes);
  for (int i = 0; i < warp_lanes; ++i) {
    const std::uint32_t both = w.at<From>(in.a)[i], low_bits = (1u << (4 * sizeof(From))) - 1;
    const auto convert = [&](std::uint32_t bits) {
      return encode(static_cast<double>(decode(bits, from)), to, rounding::nearest, (in.offset & finite) != 0);
    };
    values[i] = static_cast<To>(convert(both >> (4 * sizeof(From))) << (4 * sizeof(To)) | convert(both & low_bits));
  }
  keep(w.at<To>(in.to), values, active);
}

bool decode_pairs(decoder& d, std::string_view to, std::string_view from) {
  float_format ignored{};
  if (!short_format(to, ignored)) return false;
  const int to_bytes = to[0] == 'e' ? 2 : 4, from_bytes = from[0] == 'e' ? 2 : 4;
  d.made.kind = format_number(to);
  d.made.target = static_cast<std::uint32_t>(rounding_of(d));
  d.made.offset = (d.has("satfinite") ? finite : 0) | (d.has("relu") ? is_relu : 0);
  d.made.to = d.target(0, to_bytes);
  d.made.a = d.source(1, from_bytes);
  if (from == "f32") {
    d.made.b = d.source(2, 4);
    d.made.run = to_bytes == 2 ? &floats_to_pair<std::uint16_t> : &floats_to_pair<std::uint32_t>;
    return true;
  }
  if (!short_format(from, ignored) || d.has("relu")) return false;
  d.made.bytes = format_number(from);
  d.made.run =
      to_bytes == 2 ? &pair_to_pair<std::uint16_t, std::uint32_t> : &pair_to_pair<std::uint32_t, std::uint16_t>;
  return to_bytes != from_bytes;
}

bool decode_tf32(decoder& d) {
  if (!d.has("rna") && !d.has("rn")) return false;
  d.made.to = d.target(0, 4);
  d.made.a = d.source(1, 4);
  if (d.has("rna")) {
    d.made.run = unary<std::uint32_t, float>([](float a) {
      const auto bits = std::bit_cast<std::uint32_t>(a);
      return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0x1000u) & 0xffffe000u;
    });
  } else {
    d.made.run = unary<std::uint32_t, float>([](float a) {
      const auto bits = std::bit_cast<std::uint32_t>(a);
      return (bits & 0x7f800000u) == 0x7f800000u ? bits : (bits + 0xfffu + (bits >> 13 & 1)) & 0xffffe000u;
    });
  }
  return true;
}

}  // namespace

bool decode_conversions(decoder& d) {
  if (d.part(0) != "cvt") return false;
  if (d.part(-2) == "tf32") return decode_tf32(d);
  const number to = number_of(d.part(-2)), from = number_of(d.part(-1));
  if (to == none || from == none) return decode_pairs(d, d.part(-2), d.part(-1));
  const int to_bytes = d.width(d.at(0), 0), from_bytes = d.width(d.at(1), std::max(2, bytes_of_type(d.part(-1))));
  d.made.to = d.target(0, to_bytes);
  d.made.a = d.source(1, from_bytes);
  d.made.kind = from, d.made.bytes = to;
  d.made.count = static_cast<std::uint16_t>(from_bytes | to_bytes << 8);
  d.made.target = static_cast<std::uint32_t>(rounding_of(d));
  const bool rounds_to_whole = d.has("rni") || d.has("rzi") || d.has("rmi") || d.has("rpi");
  d.made.offset = (rounds_to_whole ? to_whole : 0) | (d.has("sat") ? saturates : 0) | (d.has("ftz") ? flushes : 0) |
                  (d.has("relu") ? is_relu : 0) | (d.has("satfinite") ? finite : 0);
  if (is_float(from)) d.made.run = is_float(to) ? &floats_to_floats : &floats_to_integers;
  else d.made.run = is_float(to) ? &integers_to_floats : &integers_to_integers;
  return true;
}

}  // namespace tenon_test::ptx
