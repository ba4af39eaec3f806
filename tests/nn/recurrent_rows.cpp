// tests/nn/recurrent_rows.cpp: gates as columns of a step's rows, and the functions they are made of.
// The functions of packs and of statements are the same.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_rows.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

TEST_CASE("gates are blocks of columns", "[recurrent_rows]") {
  auto gates = tenon_test::counting<float>(rank<2>(2, 6)), products = tenon_test::counting<float>(rank<2>(2, 6), 50);
  auto hidden = tenon_test::counting<float>(rank<2>(2, 3));
  const auto none = nn::no_matrix<float, tenon::host>();
  const nn::recurrent_rows<float, tenon::host> at{
      gates.write_view(), products.write_view(), none, none, hidden.write_view(), none};
  CHECK(numbers_of(at.gate(1) * 1) == std::vector<double>{3, 4, 5, 9, 10, 11});
  CHECK(numbers_of(at.product(0) * 1) == std::vector<double>{50, 51, 52, 56, 57, 58});
}

TEST_CASE("functions of gates are the same for packs and statements", "[recurrent_rows]") {
  const auto x = tenon_test::counting<double>(rank<1>(41), -10, 0.5);
  const auto squashed = numbers_of(nn::functions_of_statements::sigmoid(x)),
             bent = numbers_of(nn::functions_of_statements::tanh(x)),
             cut = numbers_of(nn::functions_of_statements::relu(x));
  for (tenon::index i = 0; i < x.size(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    CHECK(tenon_test::is_close(nn::functions_of_packs::sigmoid(x(i)), squashed[at], 1e-15));
    CHECK(tenon_test::is_close(squashed[at], 1 / (1 + std::exp(-x(i))), 1e-15));
    CHECK(tenon_test::is_close(nn::functions_of_packs::tanh(x(i)), bent[at], 1e-15));
    CHECK(nn::functions_of_packs::relu(x(i)) == cut[at]);
  }
}
