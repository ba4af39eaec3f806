// tests/ptx/integers.cpp: arithmetic and bits of integers.
// Every operation has a result for all operands, since inactive lanes compute too.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <type_traits>

#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

__extension__ typedef __int128 signed_quad;
__extension__ typedef unsigned __int128 unsigned_quad;

/// The integer of twice the bits.
template <class T>
using wider = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, signed_quad, unsigned_quad>>>;

template <class T>
using bits_of = std::make_unsigned_t<T>;

/// Sums and products wrap, so they are taken of unsigned numbers of at least 32 bits.
template <class T>
using wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, bits_of<T>>;

template <class T>
T low_product(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) * static_cast<wrapping<T>>(b));
}
template <class T>
T high_product(T a, T b) {
  return static_cast<T>((static_cast<wider<T>>(a) * static_cast<wider<T>>(b)) >> (8 * sizeof(T)));
}
template <class T>
T sum(T a, T b) {
  return static_cast<T>(static_cast<wrapping<T>>(a) + static_cast<wrapping<T>>(b));
}
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(-1);
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return static_cast<T>(0 - static_cast<wrapping<T>>(a));
  }
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  return static_cast<T>(a % b);
}
template <class T>
T shifted_right(T a, std::uint32_t by) {
  constexpr std::uint32_t bits = 8 * sizeof(T);
  if (by >= bits) return static_cast<T>(std::is_signed_v<T> && a < 0 ? -1 : 0);
  return static_cast<T>(a >> by);
}
template <class T>
T shifted_left(T a, std::uint32_t by) {
  return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(static_cast<wrapping<T>>(a) << by);
}

template <class T>
handler of_two_equal(std::string_view name) {
  if (name == "add") return binary<T, T>([](T a, T b) { return sum(a, b); });
  if (name == "sub")
    return binary<T, T>([](T a, T b) { return sum(a, static_cast<T>(0 - static_cast<wrapping<T>>(b))); });
  if (name == "div") return binary<T, T>([](T a, T b) { return quotient(a, b); });
  if (name == "rem") return binary<T, T>([](T a, T b) { return remainder(a, b); });
  if (name == "min") return binary<T, T>([](T a, T b) { return std::min(a, b); });
  if (name == "max") return binary<T, T>([](T a, T b) { return std::max(a, b); });
  if (name == "and") return binary<T, T>([](T a, T b) { return static_cast<T>(a & b); });
  if (name == "or") return binary<T, T>([](T a, T b) { return static_cast<T>(a | b); });
  if (name == "xor") return binary<T, T>([](T a, T b) { return static_cast<T>(a ^ b); });
  return nullptr;
}

template <class T>
handler of_one(std::string_view name) {
  if (name == "not") return unary<T, T>([](T a) { return static_cast<T>(~a); });
  if (name == "cnot") return unary<T, T>([](T a) { return static_cast<T>(a == 0 ? 1 : 0); });
  if (name == "neg") return unary<T, T>([](T a) { return static_cast<T>(0 - static_cast<wrapping<T>>(a)); });
  if (name == "abs")
    return unary<T, T>([](T a) { return a < 0 ? static_cast<T>(0 - static_cast<wrapping<T>>(a)) : a; });
  return nullptr;
}

template <class T>
handler of_one_counting(std::string_view name) {
  using bits = bits_of<T>;
  if (name == "popc") return unary<std::uint32_t, bits>([](bits a) { return std::popcount(a); });
  if (name == "clz") return unary<std::uint32_t, bits>([](bits a) { return std::countl_zero(a); });
  if (name == "brev") {
    return unary<bits, bits>([](bits a) {
      bits result = 0;
      for (unsigned i = 0; i < 8 * sizeof(bits); ++i)
        result |= static_cast<bits>(((a >> i) & 1) << (8 * sizeof(bits) - 1 - i));
      return result;
    });
  }
  if (name == "bfind" || name == "bfind.shiftamt") {
    return unary<std::uint32_t, T>([](T a) {
      const auto flipped = static_cast<bits>(a < 0 ? ~a : a);
      return flipped == 0
                 ? ~0u
                 : static_cast<std::uint32_t>(8 * sizeof(T) - 1 - static_cast<unsigned>(std::countl_zero(flipped)));
    });
  }
  return nullptr;
}

/// Wide products; sums with a product.
bool decode_products(decoder& d, std::string_view name, std::string_view type) {
  const int bytes = bytes_of_type(type);
  const bool is_wide = d.has("wide"), is_high = d.has("hi"), adds = name == "mad";
  d.made.run = for_integer(type, [&]<class T>() -> handler {
    using twice = wider<T>;
    if constexpr (sizeof(T) < 8) {
      if (is_wide && adds) {
        return ternary<twice, T, twice>(
            [](T a, T b, twice c) { return sum(static_cast<twice>(static_cast<twice>(a) * b), c); });
      }
      if (is_wide) return binary<twice, T>([](T a, T b) { return static_cast<twice>(static_cast<twice>(a) * b); });
    }
    if (is_high && adds) return ternary<T, T, T>([](T a, T b, T c) { return sum(high_product(a, b), c); });
    if (is_high) return binary<T, T>([](T a, T b) { return high_product(a, b); });
    if (adds) return ternary<T, T, T>([](T a, T b, T c) { return sum(low_product(a, b), c); });
    return binary<T, T>([](T a, T b) { return low_product(a, b); });
  });
  if (d.made.run == nullptr) return false;
  d.made.to = d.target(0, is_wide ? 2 * bytes : bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, bytes);
  if (adds) d.made.c = d.source(3, is_wide ? 2 * bytes : bytes);
  return true;
}

bool decode_shifts(decoder& d, std::string_view name, std::string_view type) {
  const int bytes = bytes_of_type(type);
  d.made.run = for_integer(type, [&]<class T>() -> handler {
    if (name == "shl")
      return binary_of_two<T, T, std::uint32_t>([](T a, std::uint32_t b) { return shifted_left(a, b); });
    return binary_of_two<T, T, std::uint32_t>([](T a, std::uint32_t b) { return shifted_right(a, b); });
  });
  if (d.made.run == nullptr) return false;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, 4);
  return true;
}

/// bfe and bfi: fields of bits, whose place and length are numbers of 8 bits.
bool decode_fields(decoder& d, std::string_view name, std::string_view type) {
  const int bytes = bytes_of_type(type);
  const bool inserts = name == "bfi";
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, inserts ? bytes : 4);
  d.made.c = d.source(3, 4);
  if (inserts) d.made.members = d.source(4, 4);
  d.made.run = for_integer(type, [&]<class T>() -> handler {
    using bits = bits_of<T>;
    if (!inserts) {
      return [](warp& w, const instruction& in, lane_set active) {
        alignas(64) T values[warp_lanes];
        for (int i = 0; i < warp_lanes; ++i) {
          constexpr unsigned all = 8 * sizeof(T);
          const unsigned place = w.at<std::uint32_t>(in.b)[i] & 0xff, length = w.at<std::uint32_t>(in.c)[i] & 0xff;
          const T a = w.at<T>(in.a)[i];
          const unsigned top = std::min(place + length, all) - 1;
          const bool is_negative =
              std::is_signed_v<T> && length != 0 && (static_cast<bits>(a) >> std::min(top, all - 1) & 1) != 0;
          const bits mask = length >= all ? static_cast<bits>(~bits{0}) : static_cast<bits>((bits{1} << length) - 1);
          const bits field = place >= all ? bits{0} : static_cast<bits>((static_cast<bits>(a) >> place) & mask);
          const unsigned kept = place >= all ? 0 : std::min(length, all - place);
          const bits sign = kept >= all ? bits{0} : static_cast<bits>(~bits{0} << kept);
          values[i] = static_cast<T>(is_negative ? field | sign : field);
        }
        keep(w.at<T>(in.to), values, active);
      };
    }
    return [](warp& w, const instruction& in, lane_set active) {
      alignas(64) bits values[warp_lanes];
      for (int i = 0; i < warp_lanes; ++i) {
        constexpr unsigned all = 8 * sizeof(T);
        const unsigned place = w.at<std::uint32_t>(in.c)[i] & 0xff, length = w.at<std::uint32_t>(in.members)[i] & 0xff;
        const bits mask = length >= all ? static_cast<bits>(~bits{0}) : static_cast<bits>((bits{1} << length) - 1);
        const bits moved = place >= all ? bits{0} : static_cast<bits>(mask << place);
        const bits value = place >= all ? bits{0} : static_cast<bits>(w.at<bits>(in.a)[i] << place);
        values[i] = static_cast<bits>((w.at<bits>(in.b)[i] & ~moved) | (value & moved));
      }
      keep(w.at<bits>(in.to), values, active);
    };
  });
  return d.made.run != nullptr;
}

std::uint32_t selected_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t choice = selector >> (4 * i) & 0xf;
    std::uint32_t byte = static_cast<std::uint32_t>(both >> (8 * (choice & 7))) & 0xff;
    if ((choice & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// Two products: of halves of a with the lower or the upper bytes of b.
template <class First, class Second, bool IsUpper>
std::uint32_t dot_of_halves(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  using wide = std::conditional_t<std::is_signed_v<First>, std::int16_t, std::uint16_t>;
  for (int i = 0; i < 2; ++i) {
    c += static_cast<std::uint32_t>(static_cast<int>(static_cast<wide>(a >> (16 * i)))) *
         static_cast<std::uint32_t>(static_cast<int>(static_cast<Second>(b >> (8 * i + (IsUpper ? 16 : 0)))));
  }
  return c;
}

template <class First, class Second>
std::uint32_t dot_of_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i) {
    c += static_cast<std::uint32_t>(static_cast<int>(static_cast<First>(a >> (8 * i))) *
                                    static_cast<int>(static_cast<Second>(b >> (8 * i))));
  }
  return c;
}

template <class First, class Second>
handler dot_handler(const decoder& d) {
  using word = std::uint32_t;
  if (d.part(0) == "dp4a")
    return ternary<word, word, word>([](word a, word b, word c) { return dot_of_bytes<First, Second>(a, b, c); });
  if (d.part(1) == "hi")
    return ternary<word, word, word>(
        [](word a, word b, word c) { return dot_of_halves<First, Second, true>(a, b, c); });
  return ternary<word, word, word>([](word a, word b, word c) { return dot_of_halves<First, Second, false>(a, b, c); });
}

/// Three operands of 32 bits: prmt, dp4a, funnel shifts, lop3, sad.
bool decode_words(decoder& d, std::string_view name) {
  using word = std::uint32_t;
  if (name == "prmt") {
    if (d.part(-1) != "b32") return false;
    d.made.run = ternary<word, word, word>([](word a, word b, word c) { return selected_bytes(a, b, c); });
  } else if (name == "dp4a" || name == "dp2a") {
    const bool first = d.part(-2) == "s32", second = d.part(-1) == "s32";
    using s = std::int8_t;
    using u = std::uint8_t;
    if (first) d.made.run = second ? dot_handler<s, s>(d) : dot_handler<s, u>(d);
    else d.made.run = second ? dot_handler<u, s>(d) : dot_handler<u, u>(d);
  } else if (name == "shf") {
    const bool clamps = d.has("clamp");
    if (d.has("l") && clamps)
      d.made.run = ternary<word, word, word>([](word a, word b, word c) {
        const word n = std::min(c, 32u);
        return static_cast<word>((std::uint64_t{b} << 32 | a) << n >> 32);
      });
    else if (d.has("l"))
      d.made.run = ternary<word, word, word>(
          [](word a, word b, word c) { return static_cast<word>((std::uint64_t{b} << 32 | a) << (c & 31) >> 32); });
    else if (clamps)
      d.made.run = ternary<word, word, word>(
          [](word a, word b, word c) { return static_cast<word>((std::uint64_t{b} << 32 | a) >> std::min(c, 32u)); });
    else
      d.made.run = ternary<word, word, word>(
          [](word a, word b, word c) { return static_cast<word>((std::uint64_t{b} << 32 | a) >> (c & 31)); });
  } else {
    return false;
  }
  d.made.to = d.target(0, 4);
  d.made.a = d.source(1, 4);
  d.made.b = d.source(2, 4);
  d.made.c = d.source(3, 4);
  return true;
}

/// bmsk: ones from a place on, of a number that is clamped to 32 or wraps at it.
bool decode_mask(decoder& d) {
  using word = std::uint32_t;
  const auto ones = [](word place, word count) {
    return place >= 32 ? word{0} : static_cast<word>(((std::uint64_t{1} << std::min(count, 32u)) - 1) << place);
  };
  if (d.has("clamp")) d.made.run = binary<word, word>(ones);
  else
    d.made.run =
        binary<word, word>([](word a, word b) { return static_cast<word>(((1ull << (b & 31)) - 1) << (a & 31)); });
  d.made.to = d.target(0, 4);
  d.made.a = d.source(1, 4);
  d.made.b = d.source(2, 4);
  return true;
}

/// lop3: the result bit for each of the eight cases stands in a number.
bool decode_logic_of_three(decoder& d) {
  d.made.to = d.target(0, 4);
  d.made.a = d.source(1, 4);
  d.made.b = d.source(2, 4);
  d.made.c = d.source(3, 4);
  d.made.kind = static_cast<std::uint8_t>(d.at(4).bits);
  d.made.run = [](warp& w, const instruction& in, lane_set active) {
    alignas(64) std::uint32_t values[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) {
      const std::uint32_t a = w.at<std::uint32_t>(in.a)[i], b = w.at<std::uint32_t>(in.b)[i],
                          c = w.at<std::uint32_t>(in.c)[i];
      std::uint32_t result = 0;
      for (unsigned row = 0; row < 8; ++row) {
        const std::uint32_t here = ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
        result |= (in.kind >> row & 1) != 0 ? here : 0;
      }
      values[i] = result;
    }
    keep(w.at<std::uint32_t>(in.to), values, active);
  };
  return true;
}

}  // namespace

bool decode_integers(decoder& d) {
  const std::string_view name = d.part(0), type = d.part(-1);
  const int bytes = bytes_of_type(type);
  if (d.has("cc") || d.has("sat")) return false;
  if (name == "prmt" || name == "dp4a" || name == "dp2a" || name == "shf") return decode_words(d, name);
  if (name == "lop3") return decode_logic_of_three(d);
  if (name == "bmsk") return decode_mask(d);
  if (bytes == 0 || type[0] == 'f' || type.substr(0, 2) == "bf") return false;
  if (name == "mul" || name == "mad") return decode_products(d, name, type);
  if (name == "shl" || name == "shr") return decode_shifts(d, name, type);
  if (name == "bfe" || name == "bfi") return decode_fields(d, name, type);
  if (handler run = for_integer(type, [&]<class T>() { return of_two_equal<T>(name); })) {
    d.made.run = run;
    d.made.to = d.target(0, bytes);
    d.made.a = d.source(1, bytes);
    d.made.b = d.source(2, bytes);
    return true;
  }
  if (handler run = for_integer(type, [&]<class T>() { return of_one<T>(name); })) {
    d.made.run = run;
    d.made.to = d.target(0, bytes);
    d.made.a = d.source(1, bytes);
    return true;
  }
  if (handler run = for_integer(type, [&]<class T>() { return of_one_counting<T>(name); })) {
    d.made.run = run;
    d.made.to = d.target(0, name == "brev" ? bytes : 4);
    d.made.a = d.source(1, bytes);
    return true;
  }
  return false;
}

}  // namespace tenon_test::ptx
