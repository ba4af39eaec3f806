// tests/contraction/result_strip.cpp: results on their way through shared memory.
// That they are stored right is seen by the tests of the product; here are places and banks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/result_strip.hpp>

#include <set>

#include "support/catch.hpp"

using tenon::result_strip;

TEST_CASE("each result of a strip has its place", "[strip]") {
  std::set<int> seen;
  for (int row = 0; row < result_strip::rows; ++row) {
    for (int column = 0; column < result_strip::columns; column += 4) seen.insert(result_strip::place(row, column));
  }
  CHECK(seen.size() == result_strip::size / 4);
  CHECK(*seen.begin() == 0);
  CHECK(*seen.rbegin() == result_strip::size - 4);
  for (const int place : seen) CHECK(place % 4 == 0);
}

TEST_CASE("lanes that access a strip together meet each bank once", "[strip]") {
  for (int pair = 0; pair < 16; ++pair) {  // half a warp writes two floats a lane at a time
    for (const int first : {0, 16}) {
      std::set<int> banks;
      for (int lane = first; lane < first + 16; ++lane) {
        const int row = lane / 4 + pair % 2 * 8, column = pair / 2 * 8 + lane % 4 * 2;
        banks.insert((result_strip::place(row, column / 4 * 4) + column % 4) % 32);
      }
      CHECK(banks.size() == 16);
    }
  }
  for (int row = 0; row < result_strip::rows; ++row) {  // a quarter reads four floats a lane
    for (const int half : {0, 4}) {
      std::set<int> banks;
      for (int lane = 0; lane < 8; ++lane) banks.insert(result_strip::place(row, lane * 8 + half) % 32);
      CHECK(banks.size() == 8);
    }
  }
}
