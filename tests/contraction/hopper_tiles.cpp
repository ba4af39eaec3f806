// tests/contraction/hopper_tiles.cpp: the order of tiles, and the ring of stages.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper_tiles.hpp>

#include <set>
#include <tuple>

#include "support/catch.hpp"

TEST_CASE("every tile of every batch comes once, in groups of eight rows", "[hopper]") {
  for (const int row_tiles : {1, 7, 8, 9, 20}) {
    for (const int column_tiles : {1, 3}) {
      const auto order =
          tenon::order_of_tiles<tenon::hopper_tile<128, 64, 2>>(row_tiles * 128 - 5, column_tiles * 64, 2);
      CHECK(order.count == 2 * row_tiles * column_tiles);
      std::set<std::tuple<int, int, int>> seen;
      int group = 0;
      for (int number = 0; number < order.count; ++number) {
        const auto place = order.place(number);
        CHECK(place.row % 128 == 0);
        CHECK(place.column % 64 == 0);
        CHECK(place.row < row_tiles * 128);
        CHECK(place.column < column_tiles * 64);
        const int of = place.batch * row_tiles + place.row / 128 / 8;
        CHECK(of >= group);
        group = of;
        seen.insert({place.batch, place.row, place.column});
      }
      CHECK(seen.size() == static_cast<std::size_t>(order.count));
    }
  }
}

TEST_CASE("neighbours in the order share their columns", "[hopper]") {
  const auto order = tenon::order_of_tiles<tenon::wide_hopper_tile>(128 * 16, 256 * 4, 1);
  for (int number = 0; number < 8; ++number) {
    CHECK(order.place(number).column == 0);
    CHECK(order.place(number).row == number * 128);
  }
  CHECK(order.place(8).column == 256);
  CHECK(order.place(32).row == 8 * 128);
}

TEST_CASE("the parity of a stage changes each time round the ring", "[hopper]") {
  tenon::ring_position<3> at;
  for (int step = 0; step < 14; ++step, at.advance()) {
    CHECK(at.stage == step % 3);
    CHECK(at.parity == step / 3 % 2);
  }
}

TEST_CASE("operands in a stage", "[hopper]") {
  using depth_adjacent = tenon::hopper_layout<tenon::half, 256, false>;
  using lines_adjacent = tenon::hopper_layout<tenon::half, 256, true>;
  CHECK(depth_adjacent::copies == 1);
  CHECK(depth_adjacent::copy_rows == 256);
  CHECK(depth_adjacent::step_bytes == 32);
  CHECK(lines_adjacent::copies == 4);
  CHECK(lines_adjacent::copy_rows == 64);
  CHECK(lines_adjacent::leading_bytes == 8192);
  CHECK(lines_adjacent::step_bytes == 2048);
  using bytes = tenon::hopper_layout<tenon::float8_e4m3, 128, false>;
  CHECK(bytes::width == 128);
  CHECK(bytes::copy_size == 128 * 128);
  CHECK(bytes::step_bytes == 32);
}

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

TEST_CASE("shares of the depth are steps of a tile, the last one what is left", "[hopper]") {
  const tenon::depth_shares<float> shares{.parts = 3, .steps = 4};
  CHECK(shares.tile(7) == 2);
  CHECK(shares.first(7) == 4);
  CHECK(shares.end(7, 10) == 8);
  CHECK(shares.end(8, 10) == 10);
  CHECK(tenon::depth_shares<float>{.parts = 1, .steps = 10}.end(7, 10) == 10);
}
