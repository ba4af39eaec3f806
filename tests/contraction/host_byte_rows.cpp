// tests/contraction/host_byte_rows.cpp: products of a few rows of bytes.
// One to five rows of signed and unsigned bytes, at their extremes too, against the definition; nothing beside is read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_byte_rows.hpp>

#include <tenon/tenon.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/guarded.hpp"

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::product_difference;

namespace {

template <class Byte>
auto drawn_bytes(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  using range = std::numeric_limits<Byte>;
  const auto numbers = tenon::randint<int>(rank<2>(rows, columns), seed, range::min(), range::max() + 1);
  tenon::tensor<Byte, rank<2>> bytes = tenon::cast<Byte>(numbers);
  if (bytes.size() != 0) bytes(0, 0) = range::min();
  return bytes;
}

}  // namespace

TEMPLATE_TEST_CASE("a few rows of bytes", "[host]", std::int8_t, std::uint8_t) {
  for (const tenon::index few : {0, 1, 2, 4, 5}) {
    for (const tenon::index many : {0, 1, 4, 67}) {
      for (const tenon::index depth : {1, 63, 64, 65, 127, 128, 200}) {
        const auto rows = drawn_bytes<TestType>(few, depth, 1);
        const auto lines = drawn_bytes<std::int8_t>(many, depth, 2);
        const auto matrix = tenon::evaluated_tensor(tenon::transpose(lines));
        const tenon_test::guarded<std::int8_t> memory(static_cast<std::size_t>(many * depth));
        const tenon::view<std::int8_t, rank<2>> weight(memory.data(), rank<2>(many, depth));
        weight = lines;
        const auto right = tenon::cast<int>(tenon::transpose(weight));
        const tenon::tensor<int, rank<2>> found = tenon::matmul(tenon::cast<int>(rows), right);
        CAPTURE(few, many, depth);
        CHECK(product_difference<int>(numbers_of(found), rows, matrix) == "");
      }
    }
  }
}

TEST_CASE("rows and lines of bytes that lie apart, and what surrounds the product", "[host]") {
  const auto wide = drawn_bytes<std::int8_t>(3, 300, 1), more = drawn_bytes<std::int8_t>(20, 170, 2);
  const auto rows = tenon::slice(wide, tenon::all_of, tenon::range(1, 300, 2));
  const auto lines = tenon::slice(more, tenon::range(1, 20, 2), tenon::range(7, 156));
  const tenon::tensor<std::int8_t, rank<2>> left = tenon::slice(rows, tenon::all_of, tenon::range(0, 149)),
                                            right = tenon::transpose(lines);
  const tenon::tensor<float, rank<2>> found =
      tenon::cast<float>(tenon::matmul(tenon::cast<int>(tenon::slice(rows, tenon::all_of, tenon::range(0, 149))),
                                       tenon::transpose(tenon::cast<int>(lines)))) *
      0.5f;
  const tenon::tensor<float, rank<2>> doubled = found * 2;
  CHECK(product_difference<int>(numbers_of(doubled), left, right) == "");
}

TEST_CASE("few rows of bytes are not packed", "[host]") {
  const auto row = drawn_bytes<std::int8_t>(1, 100, 1), lines = drawn_bytes<std::int8_t>(9, 100, 2);
  const auto text = tenon::explain(tenon::matmul(tenon::cast<int>(row), tenon::transpose(tenon::cast<int>(lines))));
  CHECK((text.find("runs as few rows of bytes") != std::string::npos) == tenon::simd::has_byte_dot);
}
