// tests/contraction/host_block_weights.cpp: products with weights in blocks, of one row up to strips for many.
// Against sums in double of the numbers that the blocks stand for.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/block_matrix.hpp>
#include <tenon/contraction/execute.hpp>
#include <tenon/plan/explain.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/guarded.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::product_difference;
using tenon_test::random_matrix;

namespace {

template <class Format>
struct drawn_product {
  tenon::tensor<float, rank<2>> x;
  tenon::block_matrix<Format> small;
  tenon::tensor<float, rank<2>> weights;  // what `small` stands for, turned

  drawn_product(tenon::index rows, tenon::index columns, tenon::index depth)
      : x(random_matrix<float>(rows, depth, 1)),
        small(tenon::block_quantise<Format>(random_matrix<float>(columns, depth, 2))),
        weights(tenon::transpose(tenon::dequantise(small))) {}

  auto product() const { return tenon::matmul(x, tenon::transpose(small)); }
};

template <class E>
std::string algorithm_of(const E& node) {
  tenon::tensor<float, rank<2>> result(node.shape());
  const char* const name = tenon::host_algorithm_name(tenon::detail::make_target(result.write_view()), node);
  return name == nullptr ? "" : name;
}

}  // namespace

TEMPLATE_TEST_CASE("products of any extents with weights in blocks", "[host_block_weights]", tenon::q8_0, tenon::q4_0) {
  for (const tenon::index rows : {1, 2, 4, 5, 32, 33, 70}) {
    for (const tenon::index columns : {1, 3, 4, 7, 67, 300}) {
      for (const tenon::index depth : {32, 96}) {
        const drawn_product<TestType> drawn(rows, columns, depth);
        CAPTURE(rows, columns, depth);
        CHECK(algorithm_of(drawn.product()) == "weights in blocks");
        CHECK(product_difference<float>(numbers_of(drawn.product()), drawn.x, drawn.weights) == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("products with no weights in blocks", "[host_block_weights]", tenon::q8_0, tenon::q4_0) {
  const drawn_product<TestType> no_rows(0, 4, 32), no_columns(3, 0, 32), no_depth(3, 4, 0), none_for_many(40, 4, 0);
  CHECK(numbers_of(no_rows.product()).empty());
  CHECK(numbers_of(no_columns.product()).empty());
  CHECK(numbers_of(no_depth.product()) == std::vector<double>(12, 0));
  CHECK(numbers_of(none_for_many.product()) == std::vector<double>(160, 0));
}

TEMPLATE_TEST_CASE("what surrounds a product with weights in blocks is one statement with it", "[host_block_weights]",
                   tenon::q8_0, tenon::q4_0) {
  for (const tenon::index rows : {1, 6, 40}) {
    const drawn_product<TestType> drawn(rows, 19, 64);
    const auto bias = tenon::evaluated_tensor(tenon::uniform<float>(rank<1>(19), 5));
    const tenon::tensor<float, rank<2>> plain = drawn.product();
    const tenon::tensor<float, rank<2>> doubled = drawn.x * 2.0f;
    const auto statement = tenon::relu(tenon::matmul(drawn.x * 2.0f, tenon::transpose(drawn.small)) + bias);
    const tenon::tensor<float, rank<2>> expected = tenon::matmul(doubled, tenon::transpose(drawn.small));
    CHECK(algorithm_of(statement) == "weights in blocks");
    CHECK(numbers_of(statement) == numbers_of(tenon::relu(expected + bias)));
    CHECK(numbers_of(expected) == numbers_of(plain * 2.0f));
  }
}

TEST_CASE("leading axes, vectors and short floats meet weights in blocks", "[host_block_weights]") {
  const drawn_product<tenon::q4_0> drawn(6, 21, 64);
  const auto expected = numbers_of(drawn.product());
  const auto turned = tenon::transpose(drawn.small);
  CHECK(numbers_of(tenon::matmul(tenon::reshape(drawn.x, rank<3>(2, 3, 64)), turned)) == expected);
  const auto repeated = tenon::broadcast_to(turned, rank<3>(2, 64, 21));
  CHECK(numbers_of(tenon::matmul(tenon::reshape(drawn.x, rank<3>(2, 3, 64)), repeated)) == expected);
  const auto first = numbers_of(tenon::matmul(tenon::select(drawn.x, tenon::axis<0>, 0), turned));
  CHECK(tenon_test::difference(first, {expected.begin(), expected.begin() + 21}, 1e-5) == "");
  const auto halves = tenon::evaluated_tensor(tenon::cast<tenon::half>(drawn.x));
  const auto wide = tenon::evaluated_tensor(tenon::cast<float>(halves));
  CHECK(numbers_of(tenon::matmul(halves, turned)) == numbers_of(tenon::matmul(wide, turned)));
  CHECK(product_difference<double>(numbers_of(tenon::matmul(tenon::cast<double>(drawn.x), turned)), drawn.x,
                                   drawn.weights) == "");
}

TEST_CASE("parts of weights in blocks, and products from the other side", "[host_block_weights]") {
  const drawn_product<tenon::q8_0> drawn(5, 24, 96);
  const auto whole = tenon::dequantise(drawn.small);
  const auto check = [&](tenon::index first, tenon::index depth, const char* algorithm) {
    const auto rows =
        tenon::evaluated_tensor(tenon::slice(drawn.x, tenon::range(0, 5), tenon::range(first, first + depth)));
    const auto part = tenon::transpose(tenon::slice(whole, tenon::range(3, 20), tenon::range(first, first + depth)));
    CHECK(algorithm_of(tenon::matmul(rows, part)) == algorithm);
    CHECK(product_difference<float>(numbers_of(tenon::matmul(rows, part)), rows, tenon::evaluated_tensor(part)) == "");
  };
  check(32, 64, "weights in blocks");
  check(16, 64, "packed tiles");
  check(32, 40, "packed tiles");
  const auto columns = tenon::evaluated_tensor(tenon::transpose(drawn.x));
  CHECK(product_difference<float>(numbers_of(tenon::matmul(drawn.small, columns)), tenon::evaluated_tensor(whole),
                                  columns) == "");
}

TEST_CASE("batches that begin at other weights in blocks", "[host_block_weights]") {
  const drawn_product<tenon::q4_0> drawn(3, 8, 96);
  const auto parts = tenon::windows(tenon::dequantise(drawn.small), tenon::axis<1>, {64}, {32});  // [8, 2, 64]
  const auto weights = tenon::permute(parts, tenon::axis<1, 2, 0>);                               // [2, 64, 8]
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(2, 3, 64), 4, -1.0f, 1.0f));
  const auto plain = tenon::evaluated_tensor(weights);
  CHECK(tenon_test::difference(numbers_of(tenon::matmul(x, weights)), numbers_of(tenon::matmul(x, plain)), 1e-5) == "");
}

TEST_CASE("NaN stays in its row beside weights in blocks", "[host_block_weights]") {
  for (const tenon::index rows : {1, 5, 40}) {
    drawn_product<tenon::q4_0> drawn(rows, 9, 32);
    drawn.x(rows - 1, 17) = std::numeric_limits<float>::quiet_NaN();
    const auto found = numbers_of(drawn.product());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::isnan(found[i]) == (i + 9 >= found.size()));
  }
}

TEMPLATE_TEST_CASE("nothing beside blocks is read", "[host_block_weights]", tenon::q8_0, tenon::q4_0) {
  const drawn_product<TestType> drawn(1, 5, 32);
  const auto& bytes = drawn.small.bytes;
  const tenon_test::guarded<std::uint8_t> memory(static_cast<std::size_t>(bytes.size()));
  std::copy(bytes.data(), bytes.data() + bytes.size(), memory.data());
  const auto leaf = tenon::as_node(tenon::view<const std::uint8_t, rank<2>>(memory.data(), bytes.shape()));
  const tenon::block_values<TestType, rank<2>, std::remove_const_t<decltype(leaf)>> node{{{{leaf}}}, rank<2>(5, 32)};
  CHECK(numbers_of(tenon::matmul(drawn.x, tenon::transpose(node))) == numbers_of(drawn.product()));
}

TEMPLATE_TEST_CASE("products with weights in blocks have the same bits on any threads", "[host_block_weights]",
                   tenon::q8_0, tenon::q4_0) {
  for (const tenon::index rows : {1, 7, 40}) {
    const drawn_product<TestType> drawn(rows, 517, 256);
    CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(drawn.product()); }));
  }
}
