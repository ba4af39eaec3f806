// tests/contraction/host_unrolled_vector.cpp: small matrices times vectors, and which statements are none of them.
// Results are compared with sums in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_unrolled_vector.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class T, class E>
constexpr bool runs_in_registers(const E&) {
  return tenon::runs_unrolled_vector_product<T, E>;
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
  tenon::tensor<T, shape<M, K>> a;
  tenon::tensor<T, shape<K, M>> across;
  tenon::tensor<T, shape<K>> v;
  tenon::tensor<T, shape<M>> result, bias;
  a = tenon::uniform<T>(a.shape(), 1, -1.0f, 1.0f), v = tenon::uniform<T>(v.shape(), 2, -1.0f, 1.0f);
  across = tenon::transpose(a), bias = tenon::uniform<T>(bias.shape(), 3, -1.0f, 1.0f);
  const auto expected = multiply(numbers_of(a), numbers_of(v)), biases = numbers_of(bias);
  std::vector<double> risen(expected);
  for (std::size_t i = 0; i < risen.size(); ++i) risen[i] = std::fmax(expected[i] + biases[i], 0.0);
  CAPTURE(M, K);
  CHECK(runs_in_registers<T>(tenon::matmul(a, v)));
  CHECK(runs_in_registers<T>(tenon::matmul(v, across)));
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

TEST_CASE("small matrices times vectors stay in registers", "[unrolled_vector]") {
  check_vector_product<float, 1, 1>(), check_vector_product<float, 2, 3>(), check_vector_product<float, 3, 3>();
  check_vector_product<float, 4, 4>(), check_vector_product<float, 6, 5>(), check_vector_product<float, 8, 17>();
  check_vector_product<float, 19, 8>(), check_vector_product<float, 32, 32>();
  check_vector_product<double, 3, 3>(), check_vector_product<double, 7, 2>();
}

TEST_CASE("a vector may be replaced by its product, and lie apart", "[unrolled_vector]") {
  const tenon::tensor<float, shape<3, 3>> turn = {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}};
  tenon::tensor<float, shape<3>> v{1, 2, 3};
  v = tenon::matmul(turn, v);
  CHECK(numbers_of(v) == std::vector<double>{-2, 1, 3});
  tenon::tensor<float, shape<3, 4>> points;
  points = 5;
  tenon::select(points, tenon::axis<1>, 2) = tenon::matmul(turn, v);
  CHECK(numbers_of(points) == std::vector<double>{5, 5, -1, 5, 5, 5, -2, 5, 5, 5, 3, 5});
  tenon::select(points, tenon::axis<1>, 0) = tenon::matmul(turn, tenon::select(points, tenon::axis<1>, 2));
  CHECK(points(0, 0) == 2);
  CHECK(points(1, 0) == -1);
  CHECK(points(2, 0) == 3);
}

TEST_CASE("matrices whose elements lie apart along both axes", "[unrolled_vector]") {
  tenon::tensor<float, shape<5, 6, 2>> pairs;
  tenon::tensor<float, shape<6>> v;
  tenon::tensor<float, shape<5>> w, result;
  pairs = tenon::uniform<float>(pairs.shape(), 4, -1.0f, 1.0f);
  v = tenon::uniform<float>(v.shape(), 5, -1.0f, 1.0f), w = tenon::uniform<float>(w.shape(), 6, -1.0f, 1.0f);
  const auto second = tenon::select(pairs, tenon::axis<2>, 1);
  CHECK(runs_in_registers<float>(tenon::matmul(second, v)));
  result = tenon::matmul(second, v);
  CHECK(difference(numbers_of(result), multiply(numbers_of(second), numbers_of(v)), 1e-5) == "");
  tenon::tensor<float, shape<6>> across;
  across = tenon::matmul(w, second);
  CHECK(difference(numbers_of(across), multiply(numbers_of(tenon::transpose(second)), numbers_of(w)), 1e-5) == "");
}

TEST_CASE("NaN and infinities come through products with vectors", "[unrolled_vector]") {
  const float infinity = std::numeric_limits<float>::infinity();
  tenon::tensor<float, shape<2, 2>> a = {{1, 0}, {0, 1}};
  const tenon::tensor<float, shape<2>> v{infinity, 1};
  tenon::tensor<float, shape<2>> result;
  result = tenon::matmul(a, v);
  CHECK(result(0) == infinity);
  CHECK(std::isnan(result(1)));
}

TEST_CASE("other statements are no small products with vectors", "[unrolled_vector]") {
  const tenon::tensor<float, tenon::rank<2>> dynamic({4, 4});
  const tenon::tensor<float, shape<4, 33>> deep;
  const tenon::tensor<float, shape<4, 4>> square;
  const tenon::tensor<int, shape<4, 4>> whole;
  const tenon::tensor<float, shape<4>> v;
  const tenon::tensor<int, shape<4>> whole_vector;
  const tenon::tensor<float, shape<33>> deep_vector;
  CHECK(!runs_in_registers<float>(tenon::matmul(dynamic, v)));
  CHECK(!runs_in_registers<float>(tenon::matmul(deep, deep_vector)));
  CHECK(!runs_in_registers<float>(tenon::matmul(square, square)));
  CHECK(!runs_in_registers<int>(tenon::matmul(whole, whole_vector)));
  CHECK(!runs_in_registers<double>(tenon::matmul(square, v)));
}
