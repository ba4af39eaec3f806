// tests/nn/head_rows.cpp: features of heads that lie side by side, and masks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/head_rows.hpp>

#include <cmath>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::numbers_of;

TEST_CASE("heads are parts of rows, whichever axis comes first", "[head_rows]") {
  const auto x = tenon::evaluated_tensor(tenon::arange<float>(3 * 2 * 4));  // [3, 2, 4]
  auto memory = x;
  const tenon::nn::detail::head_rows<float> lengths_first{memory.data(), 2, 3, 4, 8};
  const auto heads = lengths_first.heads<tenon::host>(2, 2);
  CHECK(heads.shape() == rank<4>(2, 2, 3, 2));
  CHECK(heads(1, 0, 2, 1) == 2 * 8 + 4 + 1);
  CHECK(heads(0, 1, 1, 0) == 8 + 2);
}

TEST_CASE("a true mask keeps a score out, numbers are added", "[head_rows]") {
  const tenon::tensor<bool, rank<1>> mask(tenon::arange<int>(3) > 1);
  const auto out = numbers_of(tenon::nn::detail::bias_of_blocks(tenon::as_node(mask)));
  CHECK(out[0] == 0);
  CHECK(std::isinf(out[2]));
  const auto bias = tenon::evaluated_tensor(tenon::arange<float>(3));
  CHECK(numbers_of(tenon::nn::detail::bias_of_blocks(tenon::as_node(bias))) == std::vector<double>{0, 1, 2});
}
