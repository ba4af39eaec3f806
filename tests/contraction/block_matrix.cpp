// tests/contraction/block_matrix.cpp: matrices of weights in blocks: extents, bytes, statements and misuse.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/block_matrix.hpp>
#include <tenon/contraction/execute.hpp>

#include "contraction/products.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::shape;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::random_matrix;
using tenon_test::text_of;

namespace {

/// Weights of three rows, which lie in `Space`.
template <class Space>
auto weights_of_three_rows() {
  return tenon::evaluated_tensor<Space>(tenon::uniform<float>(rank<2>(3, 64), 4, -1.0f, 1.0f));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("weights are quantised where they lie", "[block_matrix]", tenon_test::spaces) {
  const auto small = tenon::block_quantise<tenon::q8_0>(weights_of_three_rows<TestType>());
  static_assert(std::is_same_v<typename decltype(small)::space, TestType>);
  CHECK(tenon_test::extents_of(small) == std::vector<tenon::index>{3, 64});
  CHECK(tenon_test::extents_of(small.bytes) == std::vector<tenon::index>{3, 68});
  const tenon::tensor<float, rank<2>, TestType> back = tenon::dequantise(small);
  CHECK(tenon_test::difference(numbers_of<TestType>(back), numbers_of<TestType>(weights_of_three_rows<TestType>()),
                               0.005) == "");
  CHECK(numbers_of<TestType>(small) == numbers_of<TestType>(back));
  CHECK(numbers_of(small.template to<tenon::host>()) == numbers_of<TestType>(back));
}

TEMPLATE_LIST_TEST_CASE("products with weights in blocks run wherever they lie", "[block_matrix]", tenon_test::spaces) {
  const auto small = tenon::block_quantise<tenon::q4_0>(weights_of_three_rows<TestType>());
  const auto turned = tenon::evaluated_tensor(tenon::transpose(small.template to<tenon::host>()));
  for (const tenon::index rows : {1, 20}) {
    const auto x = random_matrix<float>(rows, 64, 7);
    const auto there = x.template to<TestType>();
    tenon::tensor<float, rank<2>, TestType> y(rank<2>(rows, 3));
    y = tenon::matmul(there, tenon::transpose(small));
    CHECK(tenon_test::product_difference<float>(numbers_of<TestType>(y), x, turned) == "");
  }
}

TEST_CASE("weights in blocks keep what types know of their extents", "[block_matrix]") {
  const tenon::tensor<float, shape<2, 32>> weights = tenon::uniform<float>(shape<2, 32>{}, 1);
  const auto small = tenon::block_quantise<tenon::q4_0>(weights);
  static_assert(std::is_same_v<decltype(small.shape()), shape<2, 32>>);
  static_assert(std::is_same_v<decltype(small.bytes.shape()), const shape<2, 18>&>);
  CHECK(numbers_of(tenon::block_matrix<tenon::q4_0, shape<2, 32>>(small.bytes)) == numbers_of(small));
}

TEST_CASE("a temporary matrix of blocks lives as long as its statement", "[block_matrix]") {
  const auto weights = weights_of_three_rows<tenon::host>();
  const auto statement = tenon::transpose(tenon::block_quantise<tenon::q8_0>(weights * 2.0f)) + 1.0f;
  const auto small = tenon::block_quantise<tenon::q8_0>(weights * 2.0f);
  CHECK(numbers_of(statement) == numbers_of(tenon::transpose(small) + 1.0f));
}

TEST_CASE("what blocks cannot hold is refused", "[block_matrix]") {
  auto weights = weights_of_three_rows<tenon::host>();
  CHECK(text_of<tenon::shape_error>([&] { tenon::block_quantise<tenon::q4_0>(random_matrix<float>(2, 40, 1)); }) ==
        "block_matrix: q4_0: axis 1: extent 40, expected a multiple of 32");
  CHECK(text_of<tenon::shape_error>([&] { tenon::block_matrix<tenon::q8_0>(tenon::zeros<std::uint8_t>({2, 36})); }) ==
        "block_matrix: q8_0: axis 1: 36 bytes, expected a multiple of 34");
  weights(1, 33) = std::numeric_limits<float>::quiet_NaN();
  CHECK(has(text_of<tenon::error>([&] { tenon::block_quantise<tenon::q8_0>(weights); }),
            "block_quantise: q8_0: row 1, column 33: nan, expected finite numbers of at most"));
  weights(1, 33) = -1e6f;
  CHECK(text_of<tenon::error>([&] { tenon::block_quantise<tenon::q4_0>(weights); }) ==
        "block_quantise: q4_0: row 1, column 33: -1e+06, expected finite numbers of at most 524032");
  CHECK(numbers_of(tenon::block_quantise<tenon::q8_0>(weights)).size() == 192);
  const auto small = tenon::block_quantise<tenon::q8_0>(weights);
  tenon::tensor<float, rank<2>> y = tenon::zeros<float>({2, 3});
  CHECK(has(
      text_of<tenon::shape_error>([&] { y = tenon::matmul(random_matrix<float>(2, 32, 1), tenon::transpose(small)); }),
      "matmul: inner extents 32 and 64 differ"));
  CHECK(numbers_of(y) == std::vector<double>(6, 0));
}
