// tests/expr/packet.cpp: what cursors read before anything is computed, and the values of it.
// Each value must be the one that the cursor gives without a packet.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;

namespace {

/// Whether the first four values of a node of one axis are the same by packet and one by one.
template <class Node>
bool gives_the_same(const Node& node) {
  const auto cursor = node.template lower<0>(tenon::identity_map<1>()).at(tenon::array<tenon::index, 1>{{4}});
  const auto fetched = tenon::fetch<4>(cursor);
  bool same = true;
  for (int k = 0; k < 4; ++k) {
    same = same && tenon::value_from(cursor, fetched, k) == cursor.value(k, tenon::no_slots{});
  }
  return same;
}

}  // namespace

TEST_CASE("a packet is aligned to its size and moves as one", "[packet]") {
  STATIC_REQUIRE(alignof(tenon::packet<float, 4>) == 16);
  STATIC_REQUIRE(sizeof(tenon::packet<tenon::half, 8>) == 16);
  alignas(16) float memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto upper = tenon::load_packet<4>(memory + 4);
  tenon::store_packet(memory, upper);
  CHECK(memory[0] == 5);
  CHECK(memory[3] == 8);
  CHECK(memory[4] == 5);
}

TEST_CASE("packets of elements shorter than a word hold words", "[packet]") {
  STATIC_REQUIRE(tenon::lies_in_words<tenon::bfloat16, 8>);
  STATIC_REQUIRE(tenon::lies_in_words<std::int8_t, 4>);
  STATIC_REQUIRE_FALSE(tenon::lies_in_words<std::int8_t, 2>);
  STATIC_REQUIRE_FALSE(tenon::lies_in_words<float, 4>);
  alignas(8) std::int8_t memory[8] = {-1, 2, -3, 4, -5, 6, -7, 127};
  auto bytes = tenon::load_packet<8>(memory);
  for (int k = 0; k < 8; ++k) CHECK(tenon::element_of(bytes, k) == memory[k]);
  tenon::set_element(bytes, 5, std::int8_t{-128});
  tenon::store_packet(memory, bytes);
  CHECK(memory[4] == -5);
  CHECK(memory[5] == -128);
  CHECK(memory[6] == -7);
  tenon::packet<tenon::half, 2> halves{};
  tenon::set_element(halves, 1, tenon::half(1.5f));
  CHECK(tenon::element_of(halves, 0) == tenon::half(0.0f));
  CHECK(tenon::element_of(halves, 1) == tenon::half(1.5f));
}

TEST_CASE("values of packets are those of cursors", "[packet]") {
  const auto x = tenon_test::counting<float>(rank<1>(16)), y = tenon_test::counting<float>(rank<1>(16), 3);
  const auto narrow = tenon::full<tenon::bfloat16>(rank<1>(16), tenon::bfloat16(0.5f));
  const tenon::tensor<float, rank<1>> single({1}, {7});
  CHECK(gives_the_same(tenon::as_node(x)));
  CHECK(gives_the_same(tenon::as_node(x * y + narrow)));
  CHECK(gives_the_same(tenon::as_node(x - single)));  // one element for the whole row
  CHECK(gives_the_same(tenon::as_node(tenon::where(x > 6.0f, x, 2) + tenon::arange<float>(16))));
}
