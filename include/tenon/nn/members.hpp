// tenon/nn/members.hpp: the members of a struct, and their names, from its type alone.
// Networks are structs whose members are layers: nobody lists them a second time.
// Floor 7: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <tenon/base/error.hpp>
#include <tenon/base/tuple.hpp>
#include <type_traits>
#include <utility>

namespace tenon::nn {

namespace detail {

/// Stands for the initialiser of any member.
struct any_member {
  constexpr explicit any_member(int = 0) {}
  template <class Member>
  operator Member() const;
};
template <class Struct, class... Members>
concept initialised_by = requires { Struct{Members{}...}; };

/// The greatest number of members that are found, and of their initialisers: each element of a C array has one.
inline constexpr int most_members = 16, most_initialisers = 128;

/// How many initialisers a struct takes at most: one for its base, and one for each member.
template <class Struct, class... Members>
consteval int initialiser_count() {
  constexpr int count = static_cast<int>(sizeof...(Members));
  if constexpr (count < most_initialisers && initialised_by<Struct, Members..., any_member>) {
    return initialiser_count<Struct, Members..., any_member>();
  } else {
    return count;
  }
}
/// Whether a struct takes braces behind some initialisers and before others. They stand for a whole array.
template <class Struct, int... Before, int... Behind>
consteval bool takes_braces(std::integer_sequence<int, Before...>, std::integer_sequence<int, Behind...>) {
  return requires { Struct{any_member{Before}..., {}, any_member{Behind}...}; };
}
/// How many initialisers a member takes that has the one at `At` of `All`, when `Own` are too few.
template <class Struct, int All, int At, int Own = 1>
consteval int initialisers_of_member() {
  if constexpr (At + Own > All) {
    return 1;  // a member that takes no braces is no array
  } else if constexpr (takes_braces<Struct>(std::make_integer_sequence<int, At>{},
                                            std::make_integer_sequence<int, All - At - Own>{})) {
    return Own;
  } else {
    return initialisers_of_member<Struct, All, At, Own + 1>();
  }
}
/// How many members the initialisers from `At` on belong to.
template <class Struct, int All, int At = 0>
consteval int members_from() {
  if constexpr (At >= All) return 0;
  else return 1 + members_from<Struct, All, At + initialisers_of_member<Struct, All, At>()>();
}
/// How many members a struct with one empty base has.
template <class Struct>
inline constexpr int member_count = members_from<Struct, initialiser_count<Struct>()>() - 1;

}  // namespace detail

/// Pointers to all members of a struct with one empty base: `member_pointers(net)`.
/// source    Polukhin 2016 (Boost.PFR): initialisers are counted, then a structured binding names the members
template <class Struct>
constexpr auto member_pointers(Struct& all) {
  using plain = std::remove_const_t<Struct>;
  static_assert(std::is_aggregate_v<plain> || must_hold<plain>,
                "tenon: a module is a struct without constructors whose layers are public members");
  constexpr int count = detail::member_count<plain>;
  static_assert(count >= 0 || must_hold<plain>,
                "tenon: a member of this module cannot be made from {}; give it a value where it is declared");
  static_assert(
      count <= detail::most_members || must_hold<plain, constant<count>>,
      "tenon: a module has at most 16 members; put some of them into a module of their own, and long C arrays "
      "into a std::array");
  const auto pointers = [](auto&... member) { return make_tuple_of(&member...); };
  if constexpr (count == 1) {
    auto& [a] = all;
    return pointers(a);
  } else if constexpr (count == 2) {
    auto& [a, b] = all;
    return pointers(a, b);
  } else if constexpr (count == 3) {
    auto& [a, b, c] = all;
    return pointers(a, b, c);
  } else if constexpr (count == 4) {
    auto& [a, b, c, d] = all;
    return pointers(a, b, c, d);
  } else if constexpr (count == 5) {
    auto& [a, b, c, d, e] = all;
    return pointers(a, b, c, d, e);
  } else if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = all;
    return pointers(a, b, c, d, e, f);
  } else if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = all;
    return pointers(a, b, c, d, e, f, g);
  } else if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = all;
    return pointers(a, b, c, d, e, f, g, h);
  } else if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = all;
    return pointers(a, b, c, d, e, f, g, h, i);
  } else if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = all;
    return pointers(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else {
    return tuple<>{};
  }
}

namespace detail {

/// An object that is never made: pointers to its members carry their names.
template <class Struct>
union unmade {
  char nothing;
  Struct value;
  constexpr unmade() : nothing() {}
  constexpr ~unmade() {}
};
template <class Struct>
inline unmade<Struct> unmade_object;

// consteval: of constexpr functions nvcc makes device ones, where it is told to, and gives two of these one name.
template <auto Pointer>
consteval std::string_view text_of_pointer() {
  return __PRETTY_FUNCTION__;
}
/// The last identifier of a text that stands before a bracket or a semicolon: "... = (& x.net::head)]".
constexpr std::string_view last_identifier(std::string_view text) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  text = text.substr(0, text.find(';'));
  while (!text.empty() && !is_letter(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 && is_letter(text[begin - 1])) --begin;
  return text.substr(begin);
}

}  // namespace detail

/// The name of member `I` of a struct with one empty base.
template <class Struct, int I>
constexpr std::string_view member_name() {
  constexpr auto pointer = get<I>(member_pointers(detail::unmade_object<Struct>.value));
  return detail::last_identifier(detail::text_of_pointer<pointer>());
}

}  // namespace tenon::nn
