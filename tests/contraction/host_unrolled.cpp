// tests/contraction/host_unrolled.cpp: small products in registers, and which statements are none of them.
// Results are compared with sums in double; whatever a product may not do falls to another, with the same values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_unrolled.hpp>
#include <tenon/tenon.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::product_difference;

namespace {

template <class T, int M, int N>
tenon::tensor<T, shape<M, N>> random_matrix(unsigned seed) {
  tenon::tensor<T, shape<M, N>> result;
  result = tenon::uniform<T>(shape<M, N>{}, seed, -1.0f, 1.0f);
  return result;
}

template <class T, class E>
bool runs(tenon::tensor<T, typename E::shape_type>& to, const E& node) {
  return tenon::run_unrolled_product(tenon::strided_target<T, 2>{to.data(), to.view().strides()}, node);
}

template <class T, int M, int N, int K>
void check_unrolled() {
  const auto a = random_matrix<T, M, K>(1);
  const auto b = random_matrix<T, K, N>(2);
  tenon::tensor<T, shape<M, N>> c = random_matrix<T, M, N>(3);
  CAPTURE(M, N, K);
  const auto node = tenon::matmul(a, b);
  STATIC_REQUIRE(tenon::runs_unrolled_product<T, std::remove_const_t<decltype(node)>> ==
                 (tenon::simd::has_partial_packs || N % 4 == 0));
  if constexpr (tenon::runs_unrolled_product<T, std::remove_const_t<decltype(node)>>) {
    CHECK(runs(c, node) == (N != 1));
    if (N != 1) CHECK(product_difference<T>(numbers_of(c), a, b) == "");
  }
  tenon::tensor<T, shape<M>> column;
  tenon::tensor<T, shape<K, M>> across;
  across = tenon::transpose(a), column = tenon::iota<T>(shape<M>{});
  const auto bias = random_matrix<T, 1, N>(4);
  const auto plain = numbers_of(tenon::matmul(a, b)), biases = numbers_of(bias);
  std::vector<double> expected(plain), risen(plain);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    expected[i] = plain[i] + biases[i % N] > 0 ? 2 * (plain[i] + biases[i % N]) : 0;
    risen[i] = plain[i] + static_cast<double>(i / N);
  }
  const tenon::launch_counter counter;
  c = tenon::relu(tenon::matmul(a, b) + bias) * 2;
  CHECK(counter.count() == 1);
  CHECK(difference(numbers_of(c), expected, 1e-5) == "");
  c = tenon::relu(tenon::matmul(tenon::transpose(across), b) + bias) * 2;
  CHECK(difference(numbers_of(c), expected, 1e-5) == "");
  c = tenon::matmul(a, b) + tenon::new_axis<1>(column);
  CHECK(difference(numbers_of(c), risen, 1e-5) == "");
}

}  // namespace

#if !defined(__CUDACC__)
TEMPLATE_TEST_CASE("small products of every size, with and without more to do", "[unrolled]", float, double) {
  check_unrolled<TestType, 1, 1, 1>();
  check_unrolled<TestType, 2, 3, 4>();
  check_unrolled<TestType, 4, 4, 4>();
  check_unrolled<TestType, 9, 17, 5>();
  check_unrolled<TestType, 8, 8, 32>();
  check_unrolled<TestType, 17, 32, 16>();
}

TEST_CASE("types say which statements are small products", "[unrolled]") {
  const auto a = random_matrix<float, 4, 4>(1);
  const tenon::tensor<float, tenon::rank<2>> any({4, 4});
  const tenon::tensor<int, shape<4, 4>> n;
  const tenon::tensor<float, shape<4, 33>> wide;
  const tenon::tensor<float, shape<5, 4, 4>> batch;
  using tenon::runs_unrolled_product;
  CHECK(runs_unrolled_product<float, decltype(tenon::matmul(a, a) + a)>);
  CHECK_FALSE(runs_unrolled_product<double, decltype(tenon::matmul(a, a))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(tenon::matmul(a, a) * 2.0 + tenon::cast<double>(a))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(tenon::matmul(a, any))>);
  CHECK_FALSE(runs_unrolled_product<int, decltype(tenon::matmul(n, n))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(tenon::matmul(a, wide))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(tenon::matmul(batch, batch))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(tenon::matmul(a + a, a))>);
  CHECK_FALSE(runs_unrolled_product<float, decltype(a + a)>);
}

TEST_CASE("products into what they read", "[unrolled]") {
  const auto a = random_matrix<float, 16, 16>(1), b = random_matrix<float, 16, 16>(2);
  const auto expected = numbers_of(tenon::matmul(a, b));
  auto c = a;
  c = tenon::matmul(c, b);
  CHECK(numbers_of(c) == expected);
  c = b;
  c = tenon::matmul(a, c);
  CHECK(numbers_of(c) == expected);

  const auto small = random_matrix<float, 4, 4>(3), other = random_matrix<float, 4, 4>(4);
  const auto product = numbers_of(tenon::matmul(small, other));
  auto d = small;
  CHECK(runs(d, tenon::matmul(d, other)));  // all sums are there before the first is written
  CHECK(numbers_of(d) == product);
  d = other;
  CHECK(runs(d, tenon::matmul(small, d) + d));
  std::vector<double> added(product);
  for (std::size_t i = 0; i < added.size(); ++i) added[i] += static_cast<double>(other.data()[i]);
  CHECK(difference(numbers_of(d), added, 1e-6) == "");
  CHECK_FALSE(runs(d, tenon::matmul(small, other) + tenon::slice(d, tenon::range(3, 4), tenon::range(0, 4))));
  CHECK_FALSE(runs(d, tenon::matmul(small, tenon::transpose(other))));
}

TEST_CASE("products to elements that lie apart", "[unrolled]") {
  const auto a = random_matrix<float, 4, 4>(1), b = random_matrix<float, 4, 4>(2);
  const auto expected = numbers_of(tenon::matmul(a, b));
  tenon::tensor<float, shape<4, 4>> turned;
  tenon::tensor<float, shape<9, 9>> wide;
  wide = 7.0f;
  tenon::transpose(turned) = tenon::matmul(a, b);
  CHECK(numbers_of(tenon::transpose(turned)) == expected);
  auto part = tenon::slice(wide, tenon::range(2, 6), tenon::range(3, 7));
  part = tenon::matmul(a, b);
  CHECK(numbers_of(part) == expected);
  CHECK(numbers_of(tenon::sum(wide == 7.0f)) == std::vector<double>{81 - 16});
}
#endif
