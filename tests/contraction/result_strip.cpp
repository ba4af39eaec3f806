// tests/contraction/result_strip.cpp: results on their way through shared memory.
// That they are stored right is seen by the tests of the product; here are places, banks and which epilogues take runs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/result_strip.hpp>

#include <set>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
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

namespace {

template <class T, class E>
bool takes_runs(T* target, const tenon::array<tenon::index, 2>& stride, const E& statement) {
  const auto& product = tenon::contraction_of(statement);
  using product_type = std::remove_cvref_t<decltype(product)>;
  const auto epilogue = tenon::make_epilogue<product_type>(tenon::strided_target<T, 2>{target, stride}, statement);
  return tenon::takes_runs<result_strip::run>(epilogue, product.shape().to_array()[1]);
}

}  // namespace

TEST_CASE("epilogues take runs where all they read and write is aligned", "[strip]") {
  const auto x = tenon_test::counting<tenon::half>(rank<2>(4, 16)),
             w = tenon_test::counting<tenon::half>(rank<2>(16, 16));
  const auto residual = tenon_test::counting<tenon::half>(rank<2>(4, 16));
  const auto wide = tenon_test::counting<tenon::half>(rank<2>(4, 20));
  const auto bias = tenon_test::counting<tenon::half>(rank<1>(17));
  const auto each_row = tenon_test::counting<tenon::half>(rank<2>(4, 1));
  alignas(64) static tenon::half memory[4 * 16 + 1];
  const tenon::array<tenon::index, 2> stride{{16, 1}};
  CHECK(takes_runs(memory, stride, tenon::matmul(x, w)));
  CHECK(takes_runs(memory, stride, tenon::relu(tenon::matmul(x, w) + residual)));
  CHECK(takes_runs(memory, stride, tenon::matmul(x, w) * each_row + 1));
  CHECK_FALSE(takes_runs(memory + 1, stride, tenon::matmul(x, w)));
  CHECK_FALSE(takes_runs(memory, {{20, 1}}, tenon::matmul(x, w)));
  CHECK_FALSE(takes_runs(memory, {{1, 4}}, tenon::matmul(x, w)));
  const auto part = tenon::slice(wide, tenon::all_of, tenon::range(0, 16));
  CHECK_FALSE(takes_runs(memory, stride, tenon::matmul(x, w) + part));
  CHECK_FALSE(takes_runs(memory, stride, tenon::matmul(x, w) + tenon::slice(bias, tenon::range(1, 17))));
}
