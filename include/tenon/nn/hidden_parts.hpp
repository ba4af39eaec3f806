// tenon/nn/hidden_parts.hpp: members of a module that hold layers where it does not look.
// Nobody would train or save these, so types are looked through, and a sentence says where layers belong.
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <tenon/nn/members.hpp>
#include <tenon/nn/state.hpp>
#include <tuple>
#include <type_traits>
#include <vector>

namespace tenon::nn::detail {

template <class Member>
inline constexpr bool is_parameter = false;
template <class T, class Shape, class Space>
inline constexpr bool is_parameter<parameter<T, Shape, Space>> = true;
/// Whether a member is several of a kind: a list of layers.
template <class Member>
inline constexpr bool is_list = false;
template <class Element>
inline constexpr bool is_list<std::vector<Element>> = true;
template <class Element, std::size_t Count>
inline constexpr bool is_list<std::array<Element, Count>> = true;
template <class Element, std::size_t Count>
inline constexpr bool is_list<Element[Count]> = true;

/// How many containers and structs are looked through: a struct may hold a list of its own kind.
inline constexpr int most_covers = 3;

/// Whether something is a layer, module or parameter, or holds some below at most `Covers` covers.
template <class Member, int Covers = most_covers>
inline constexpr bool has_parts = has_parameters<Member> || is_parameter<Member>;

/// Stands for the initialiser of what has parts.
template <int Covers>
struct any_with_parts {
  template <class Member>
    requires has_parts<Member, Covers>
  operator Member() const;
};
struct of_no_type {};

/// Whether a struct takes something with parts behind some initialisers, and there not all that there is, as a std::any
/// does.
template <class Struct, int Covers, class... Before>
consteval bool is_struct_of_parts() {
  if constexpr (!initialised_by<Struct, Before..., any_member> || sizeof...(Before) == most_initialisers) {
    return false;
  } else if constexpr (initialised_by<Struct, Before..., any_with_parts<Covers>> &&
                       !initialised_by<Struct, Before..., of_no_type>) {
    return true;
  } else {
    return is_struct_of_parts<Struct, Covers, Before..., any_member>();
  }
}
/// Whether an element of a tuple, pair or variant has parts.
template <class Member, int Covers>
inline constexpr bool is_tuple_of_parts = false;
template <template <class...> class Tuple, class... Members, int Covers>
  requires(
              requires { std::tuple_size<Tuple<Members...>>::value; } ||
              requires(const Tuple<Members...>& variant) { variant.valueless_by_exception(); })
inline constexpr bool is_tuple_of_parts<Tuple<Members...>, Covers> = (has_parts<Members, Covers> || ...);

/// Whether a container, pointer or tuple holds parts: std::optional, std::unique_ptr, std::map, std::tuple.
template <class Member, int Covers = most_covers>
concept hides_parts =
    !has_parameters<Member> && !is_parameter<Member> &&
    (has_parts<typename Member::value_type, Covers - 1> || has_parts<typename Member::element_type, Covers - 1> ||
     has_parts<typename Member::mapped_type, Covers - 1> || is_tuple_of_parts<Member, Covers - 1>);
/// Whether a struct that is no module holds parts.
template <class Member, int Covers = most_covers>
concept is_plain_struct_of_parts =
    !has_parameters<Member> && !is_parameter<Member> && !is_list<Member> && std::is_class_v<Member> &&
    std::is_aggregate_v<Member> && is_struct_of_parts<Member, Covers - 1>();

template <class Member, int Covers>
  requires(Covers > 0 && (hides_parts<Member, Covers> || is_plain_struct_of_parts<Member, Covers>))
inline constexpr bool has_parts<Member, Covers> = true;

struct named_forward {
  int forward;
};
/// Names `forward`, unless a class does, too.
template <class Class>
struct beside_named_forward : Class, named_forward {};
/// Whether a class with something to hide has a `forward`, of whatever arguments, and is no layer: what trains in it
/// nobody finds. What is copied as bytes holds no tensor.
template <class Member>
concept is_closed_layer = std::is_class_v<Member> && !std::is_final_v<Member> && !std::is_aggregate_v<Member> &&
                          !std::is_trivially_copyable_v<Member> && !has_parameters<Member> && !is_parameter<Member> &&
                          !requires { &beside_named_forward<Member>::forward; };

/// Whether a member points to a layer or parameter that a module could change: its parameters would be nobody's.
template <class Member>
concept points_to_parts =
    std::is_pointer_v<Member> && !std::is_const_v<std::remove_pointer_t<Member>> &&
    (has_parameters<std::remove_pointer_t<Member>> || is_parameter<std::remove_pointer_t<Member>>);

}  // namespace tenon::nn::detail
