// tests/ptx/carries.cpp: sums, differences and products with a carry, of which numbers of many words are made.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

/// What an instruction does, as bits of its `kind`.
enum : std::uint8_t { takes_carry = 1, gives_carry = 2, subtracts = 4, adds_low_product = 8, adds_high_product = 16 };

/// The carry of each lane is a register of the kernel; of differences it is what was borrowed.
template <class T>
void run_with_carry(warp& w, const instruction& in, lane_set active) {
  using bits = std::make_unsigned_t<T>;
  __extension__ typedef unsigned __int128 wide;
  __extension__ typedef __int128 product;
  constexpr unsigned width = 8 * sizeof(T);
  const T *const a = w.at<T>(in.a), *const b = w.at<T>(in.b);
  const bool multiplies = (in.kind & (adds_low_product | adds_high_product)) != 0;
  const T* const added = multiplies ? w.at<T>(in.c) : b;
  const std::uint32_t* const carry = w.at<std::uint32_t>(in.members);
  bits values[warp_lanes];
  std::uint32_t carries[warp_lanes];
  for (int i = 0; i < warp_lanes; ++i) {
    bits left = static_cast<bits>(a[i]);
    if (multiplies) {
      const wide whole = std::is_signed_v<T>
                             ? static_cast<wide>(static_cast<product>(a[i]) * static_cast<product>(b[i]))
                             : static_cast<wide>(static_cast<bits>(a[i])) * static_cast<bits>(b[i]);
      left = static_cast<bits>((in.kind & adds_high_product) != 0 ? whole >> width : whole);
    }
    const wide right = static_cast<wide>(static_cast<bits>(added[i])) + ((in.kind & takes_carry) != 0 ? carry[i] : 0);
    if ((in.kind & subtracts) != 0) {
      values[i] = static_cast<bits>(left - right), carries[i] = left < right ? 1 : 0;
    } else {
      values[i] = static_cast<bits>(left + right);
      carries[i] = static_cast<std::uint32_t>((left + right) >> width);
    }
  }
  keep(w.at<bits>(in.to), values, active);
  if ((in.kind & gives_carry) != 0) keep(w.at<std::uint32_t>(in.members), carries, active);
}

}  // namespace

bool decode_carries(decoder& d) {
  const std::string_view name = d.part(0), type = d.part(-1);
  const bool takes = name == "addc" || name == "subc" || name == "madc", gives = d.has("cc");
  const bool multiplies = name == "mad" || name == "madc", is_difference = name == "sub" || name == "subc";
  if (!takes && !(gives && (name == "add" || name == "sub" || name == "mad"))) return false;
  const int bytes = bytes_of_type(type);
  if (bytes != 4 && bytes != 8) return false;
  d.made.run = for_integer(type, []<class T>() -> handler {
    if constexpr (sizeof(T) < 4) return nullptr;
    else return run_with_carry<T>;
  });
  d.made.kind = static_cast<std::uint8_t>((takes ? takes_carry : 0) | (gives ? gives_carry : 0) |
                                          (is_difference ? subtracts : 0));
  if (multiplies) d.made.kind |= d.has("hi") ? adds_high_product : adds_low_product;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  d.made.b = d.source(2, bytes);
  if (multiplies) d.made.c = d.source(3, bytes);
  d.made.members = d.carry();
  return true;
}

}  // namespace tenon_test::ptx
