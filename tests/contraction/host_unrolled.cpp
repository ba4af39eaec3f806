// tests/contraction/host_unrolled.cpp: small products in registers, of matrices and with vectors.
// Results are compared with sums in double; whatever a product may not do falls to another, with the same values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_unrolled.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::product_difference;

namespace {

template <class T, tenon::index... Extents>
using in_memory = tenon::tensor<T, shape<Extents...>, tenon::host>;

template <class T, int M, int N>
in_memory<T, M, N> random_matrix(unsigned seed) {
  in_memory<T, M, N> result;
  result = tenon::uniform<T>(shape<M, N>{}, seed, -1.0f, 1.0f);
  return result;
}

template <class T, class E>
bool runs(tenon::tensor<T, typename E::shape_type, tenon::host>& to, const E& node) {
  const tenon::host_statement<T, E> statement{{to.data(), to.view().strides()}, node};
  return tenon::run_first(statement, tenon::on_host::statements{}) != nullptr;
}

template <class T, int M, int N, int K>
void check_unrolled() {
  const auto a = random_matrix<T, M, K>(1);
  const auto b = random_matrix<T, K, N>(2);
  in_memory<T, M, N> c = random_matrix<T, M, N>(3);
  CAPTURE(M, N, K);
  const auto node = tenon::matmul(a, b);
  STATIC_REQUIRE(tenon::runs_unrolled_product<T, std::remove_const_t<decltype(node)>> ==
                 (tenon::simd::has_partial_packs || N % 4 == 0));
  if constexpr (tenon::runs_unrolled_product<T, std::remove_const_t<decltype(node)>>) {
    CHECK(runs(c, node) == (N != 1));
    if (N != 1) CHECK(product_difference<T>(numbers_of(c), a, b) == "");
  }
  in_memory<T, M> column;
  in_memory<T, K, M> across;
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

std::vector<double> multiply(const std::vector<double>& matrix, const std::vector<double>& vector) {
  std::vector<double> result;
  for (std::size_t at = 0; at < matrix.size(); at += vector.size()) {
    double sum = 0;
    for (std::size_t k = 0; k < vector.size(); ++k) sum += matrix[at + k] * vector[k];
    result.push_back(sum);
  }
  return result;
}

template <class T, int M, int K>
void check_vector_product() {
  in_memory<T, M, K> a;
  in_memory<T, K, M> across;
  in_memory<T, K> v;
  in_memory<T, M> result, bias;
  a = tenon::uniform<T>(a.shape(), 1, -1.0f, 1.0f), v = tenon::uniform<T>(v.shape(), 2, -1.0f, 1.0f);
  across = tenon::transpose(a), bias = tenon::uniform<T>(bias.shape(), 3, -1.0f, 1.0f);
  const auto expected = multiply(numbers_of(a), numbers_of(v)), biases = numbers_of(bias);
  std::vector<double> risen(expected);
  for (std::size_t i = 0; i < risen.size(); ++i) risen[i] = std::fmax(expected[i] + biases[i], 0.0);
  CAPTURE(M, K);
  const tenon::launch_counter counter;
  result = tenon::matmul(a, v);
  CHECK(counter.count() == 1);
  CHECK(std::string(counter.last_kind()) == "contract");
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
  result = tenon::matmul(v, across);
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
  result = tenon::matmul(v, tenon::transpose(a));
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
  result = tenon::matmul(tenon::transpose(across), v);
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
  result = tenon::relu(tenon::matmul(a, v) + bias);
  CHECK(difference(numbers_of(result), risen, 1e-5) == "");
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
  const in_memory<float, 4, 33> wide;
  const in_memory<float, 5, 4, 4> batch;
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
  in_memory<float, 4, 4> turned;
  in_memory<float, 9, 9> wide;
  wide = 7.0f;
  tenon::transpose(turned) = tenon::matmul(a, b);
  CHECK(numbers_of(tenon::transpose(turned)) == expected);
  auto part = tenon::slice(wide, tenon::range(2, 6), tenon::range(3, 7));
  part = tenon::matmul(a, b);
  CHECK(numbers_of(part) == expected);
  CHECK(numbers_of(tenon::sum(wide == 7.0f)) == std::vector<double>{81 - 16});
}
#endif

TEST_CASE("small matrices times vectors in memory", "[unrolled]") {
  check_vector_product<float, 1, 1>(), check_vector_product<float, 2, 3>(), check_vector_product<float, 3, 3>();
  check_vector_product<float, 4, 4>(), check_vector_product<float, 6, 5>(), check_vector_product<float, 8, 17>();
  check_vector_product<float, 19, 8>(), check_vector_product<float, 32, 32>();
  check_vector_product<double, 3, 3>(), check_vector_product<double, 7, 2>();
}

TEST_CASE("a vector may be replaced by its product, and lie apart", "[unrolled]") {
  const in_memory<float, 3, 3> turn = {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}};
  in_memory<float, 3> v{1, 2, 3};
  v = tenon::matmul(turn, v);
  CHECK(numbers_of(v) == std::vector<double>{-2, 1, 3});
  in_memory<float, 3, 4> points;
  points = 5;
  tenon::select(points, tenon::axis<1>, 2) = tenon::matmul(turn, v);
  CHECK(numbers_of(points) == std::vector<double>{5, 5, -1, 5, 5, 5, -2, 5, 5, 5, 3, 5});
  tenon::select(points, tenon::axis<1>, 0) = tenon::matmul(turn, tenon::select(points, tenon::axis<1>, 2));
  CHECK(points(0, 0) == 2);
  CHECK(points(1, 0) == -1);
  CHECK(points(2, 0) == 3);
}

TEST_CASE("matrices whose elements lie apart along both axes", "[unrolled]") {
  in_memory<float, 5, 6, 2> pairs;
  in_memory<float, 6> v;
  in_memory<float, 5> w, result;
  pairs = tenon::uniform<float>(pairs.shape(), 4, -1.0f, 1.0f);
  v = tenon::uniform<float>(v.shape(), 5, -1.0f, 1.0f), w = tenon::uniform<float>(w.shape(), 6, -1.0f, 1.0f);
  const auto second = tenon::select(pairs, tenon::axis<2>, 1);
  result = tenon::matmul(second, v);
  CHECK(difference(numbers_of(result), multiply(numbers_of(second), numbers_of(v)), 1e-5) == "");
  in_memory<float, 6> across;
  across = tenon::matmul(w, second);
  CHECK(difference(numbers_of(across), multiply(numbers_of(tenon::transpose(second)), numbers_of(w)), 1e-5) == "");
}

TEST_CASE("NaN and infinities come through products with vectors", "[unrolled]") {
  const float infinity = std::numeric_limits<float>::infinity();
  in_memory<float, 2, 2> a = {{1, 0}, {0, 1}};
  const in_memory<float, 2> v{infinity, 1};
  in_memory<float, 2> result;
  result = tenon::matmul(a, v);
  CHECK(result(0) == infinity);
  CHECK(std::isnan(result(1)));
}
