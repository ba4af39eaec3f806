// tests/contraction/host_small.cpp: products of extents that types know.
// Every path gives the result of the definition; extents that are not small take another.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_small.hpp>
#include <tenon/tenon.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"

using tenon::shape;
using tenon_test::numbers_of;
using tenon_test::product_difference;

namespace {

template <class T, int M, int N, int K>
void check_product() {
  tenon::tensor<T, shape<M, K>> a;
  tenon::tensor<T, shape<K, N>> b;
  tenon::tensor<T, shape<K, M>> across;
  tenon::tensor<T, shape<N, K>> along;
  a = tenon::cast<T>(tenon::uniform<float>(tenon::rank<2>(M, K), 1, -9.0f, 9.0f));
  b = tenon::cast<T>(tenon::uniform<float>(tenon::rank<2>(K, N), 2, -9.0f, 9.0f));
  across = tenon::transpose(a), along = tenon::transpose(b);
  STATIC_REQUIRE(tenon::static_extents_of<decltype(tenon::matmul(a, b))>.are_small());
  CHECK(product_difference<T>(numbers_of(tenon::matmul(a, b)), a, b) == "");
  CHECK(product_difference<T>(numbers_of(tenon::matmul(tenon::transpose(across), b)), a, b) == "");
  CHECK(product_difference<T>(numbers_of(tenon::matmul(a, tenon::transpose(along))), a, b) == "");
  const auto doubled = tenon::evaluated_tensor(a + a);
  CHECK(product_difference<T>(numbers_of(tenon::matmul(a + a, b)), doubled, b) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("small products of static extents", "[host]", float, double, int) {
  check_product<TestType, 1, 1, 1>();
  check_product<TestType, 2, 3, 4>();
  check_product<TestType, 4, 4, 4>();
  check_product<TestType, 9, 17, 5>();
  check_product<TestType, 16, 16, 16>();
  check_product<TestType, 32, 31, 32>();
}

TEST_CASE("static extents are read off the operands", "[host]") {
  const tenon::tensor<float, shape<3, 40>> wide;
  const tenon::tensor<float, shape<40, 5>> tall;
  const tenon::tensor<float, tenon::rank<2>> any({40, 5});
  constexpr auto known = tenon::static_extents_of<decltype(tenon::matmul(wide, tall))>;
  STATIC_REQUIRE((known.rows == 3 && known.columns == 5 && known.depth == 40));
  STATIC_REQUIRE(!known.are_small());
  STATIC_REQUIRE(!tenon::static_extents_of<decltype(tenon::matmul(wide, any))>.are_small());
}

TEST_CASE("small products with an epilogue and in batches", "[host]") {
  tenon::tensor<float, shape<6, 3, 4>> a;
  tenon::tensor<float, shape<6, 4, 5>> b;
  a = tenon::uniform<float>(tenon::rank<3>(6, 3, 4), 1);
  b = tenon::uniform<float>(tenon::rank<3>(6, 4, 5), 2);
  tenon::tensor<float, tenon::rank<3>> x({6, 3, 4}), y({6, 4, 5});
  x = a, y = b;
  const auto small = numbers_of(tenon::relu(tenon::matmul(a, b) - 1));
  CHECK(tenon_test::difference(small, numbers_of(tenon::relu(tenon::matmul(x, y) - 1)), 1e-6) == "");
}
