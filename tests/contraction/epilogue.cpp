// tests/contraction/epilogue.cpp: what happens to accumulators before they are stored.
// Stored one by one or in runs, the result is the expression around the product.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/epilogue.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

TEST_CASE("accumulators pass through the expression around the product", "[epilogue]") {
  const auto a = counting<float>(rank<2>(3, 2)), b = counting<float>(rank<2>(2, 40));
  const auto bias = counting<float>(rank<1>(40));
  const auto node = tenon::matmul(a, b) * 2 + bias;
  const auto& product = tenon::contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  STATIC_REQUIRE(tenon::is_contraction<product_type>);
  tenon::tensor<float, rank<2>> one_by_one({3, 40}), in_runs({3, 40});
  const auto target_of = [](auto& tensor) { return tenon::strided_target<float, 2>{tensor.data(), {{40, 1}}}; };
  const auto single = tenon::make_epilogue<product_type>(target_of(one_by_one), node);
  const auto runs = tenon::make_epilogue<product_type>(target_of(in_runs), node);
  std::vector<float> accumulators;
  for (int i = 0; i < 40; ++i) accumulators.push_back(static_cast<float>(i) * 0.5f);
  for (tenon::index row = 0; row < 3; ++row) {
    for (tenon::index column = 0; column < 40; ++column)
      single.store(row, column, accumulators[static_cast<std::size_t>(column)]);
    runs.store_run(row, 0, 37, accumulators.data());
    runs.store_run(row, 37, 3, accumulators.data() + 37);
  }
  CHECK(numbers_of(one_by_one) == numbers_of(in_runs));
  CHECK(one_by_one(2, 39) == 39.0f + 39.0f);
}

TEST_CASE("results of a convolution unfold into channels and pixels", "[epilogue]") {
  const auto image = counting<float>(rank<4>(2, 1, 3, 3)), weight = counting<float>(rank<4>(2, 1, 2, 2));
  const auto node = tenon::convolve(image, weight);
  tenon::tensor<float, rank<4>> result({2, 2, 2, 2});
  const auto epilogue = tenon::make_epilogue<std::remove_const_t<decltype(node)>>(
      tenon::strided_target<float, 4>{result.data(), {{8, 4, 2, 1}}}, node);
  for (tenon::index channel = 0; channel < 2; ++channel) {
    for (tenon::index column = 0; column < 8; ++column) {
      epilogue.store(channel, column, static_cast<float>(channel * 10 + column));
    }
  }
  CHECK(numbers_of(result) == std::vector<double>{0, 1, 2, 3, 10, 11, 12, 13, 4, 5, 6, 7, 14, 15, 16, 17});
}
