// tests/nn/members.cpp: members of structs and their names.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/members.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace nn = tenon::nn;

namespace {

template <class Derived>
struct base {};

/// Made in several ways, as layers are.
struct part {
  int size;
  part(int given = 7) : size(given) {}
  part(int left, int right) : size(left * right) {}
};
struct empty : base<empty> {};
struct three : base<three> {
  part first{2, 3};
  double second_2 = 0.5;
  std::vector<int> third;
};
struct of_arrays : base<of_arrays> {
  part first[3];
  double table[1];
  int second[2][2] = {{1, 2}, {3, 4}};
  part third{2, 3};
  part fourth[2] = {part{4}, part{5}};
};
struct sixteen : base<sixteen> {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, last_of_16;
};

/// The names of all members, with spaces between.
template <class Struct>
std::string names_of() {
  std::string text;
  tenon::for_each_index<nn::detail::member_count<Struct>>(
      [&](auto i) { text += std::string(nn::member_name<Struct, i.value>()) + " "; });
  return text;
}

}  // namespace

TEST_CASE("members are found with their names and places", "[members]") {
  three all;
  const auto pointers = nn::member_pointers(all);
  STATIC_REQUIRE(decltype(pointers)::count == 3);
  CHECK(tenon::get<0>(pointers) == &all.first);
  CHECK(tenon::get<1>(pointers) == &all.second_2);
  CHECK(tenon::get<2>(pointers) == &all.third);
  CHECK(tenon::get<0>(pointers)->size == 6);
  CHECK(names_of<three>() == "first second_2 third ");
  const three fixed;
  const part* const pointer = tenon::get<0>(nn::member_pointers(fixed));
  CHECK(pointer == &fixed.first);
}

TEST_CASE("a C array is one member", "[members]") {
  of_arrays all;
  const auto pointers = nn::member_pointers(all);
  STATIC_REQUIRE(decltype(pointers)::count == 5);
  CHECK(tenon::get<0>(pointers) == &all.first);
  CHECK(tenon::get<2>(pointers) == &all.second);
  CHECK((*tenon::get<4>(pointers))[1].size == 5);
  CHECK(names_of<of_arrays>() == "first table second third fourth ");
}

TEST_CASE("structs have no member, or sixteen", "[members]") {
  empty none;
  STATIC_REQUIRE(decltype(nn::member_pointers(none))::count == 0);
  sixteen all{};
  const auto pointers = nn::member_pointers(all);
  STATIC_REQUIRE(decltype(pointers)::count == 16);
  CHECK(tenon::get<0>(pointers) == &all.a);
  CHECK(tenon::get<15>(pointers) == &all.last_of_16);
  CHECK(nn::member_name<sixteen, 15>() == "last_of_16");
}
