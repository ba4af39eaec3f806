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

TEST_CASE("tiles of accumulators, and where they may be written as they are", "[epilogue]") {
  const auto a = counting<float>(rank<2>(3, 2)), b = counting<float>(rank<2>(2, 40));
  const auto node = tenon::relu(tenon::matmul(a, b) - 5);
  const auto bare = tenon::matmul(a, b);
  using product_type = std::remove_const_t<decltype(bare)>;
  tenon::tensor<float, rank<2>> result({3, 40});
  result = -1.0f;
  const tenon::strided_target<float, 2> target{result.data(), {{40, 1}}};
  const auto epilogue = tenon::make_epilogue<product_type>(target, node);
  std::vector<float> accumulators;
  for (int i = 0; i < 100; ++i) accumulators.push_back(static_cast<float>(i) * 0.5f);
  epilogue.store_tile(1, 3, {{2, 35}}, accumulators.data(), 50);
  for (tenon::index i = 0; i < 3; ++i) {
    for (tenon::index j = 0; j < 40; ++j) {
      const bool inside = i >= 1 && j >= 3 && j < 38;
      const float number = inside ? accumulators[static_cast<std::size_t>((i - 1) * 50 + j - 3)] : 0.0f;
      CHECK(result(i, j) == (inside ? std::fmax(number - 5, 0.0f) : -1.0f));
    }
  }
  CHECK(epilogue.plain_rows<float>(0, 0, 16).data == nullptr);
  const auto plain = tenon::make_epilogue<product_type>(target, bare);
  CHECK(plain.plain_rows<float>(1, 8, 32).data == &result(1, 8));
  CHECK(plain.plain_rows<float>(1, 8, 32).pitch == 40);
  CHECK(plain.plain_rows<float>(1, 8, 33).data == nullptr);
  CHECK(plain.plain_rows<double>(0, 0, 16).data == nullptr);
  const auto apart = tenon::make_epilogue<product_type>(tenon::strided_target<float, 2>{result.data(), {{1, 3}}}, bare);
  CHECK(apart.plain_rows<float>(0, 0, 16).data == nullptr);
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
