// tests/contraction/host.cpp: products on the host, of every type and layout.
// Sizes around tiles and blocks, against sums in double; threads must not change a bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host.hpp>
#include <tenon/expr/operations/complex.hpp>
#include <tenon/tenon.hpp>

#include "contraction/products.hpp"
#include "support/catch.hpp"
#include "support/threads.hpp"

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::product_difference;
using tenon_test::random_matrix;

namespace {

const tenon::index sizes[][3] = {{1, 1, 1},   {2, 3, 2},      {4, 16, 5},  {5, 17, 33},   {7, 47, 33},  {8, 48, 16},
                                 {9, 49, 17}, {12, 64, 31},   {13, 65, 4}, {33, 95, 7},   {64, 97, 65}, {3, 5, 1030},
                                 {5, 2, 900}, {24, 48, 1025}, {130, 1, 3}, {200, 100, 70}};

/// All four layouts of two matrices.
template <class Accumulator, class Left, class Right>
void check_layouts(const Left& a, const Right& b) {
  const auto across = tenon::evaluated_tensor(tenon::transpose(a));
  const auto along = tenon::evaluated_tensor(tenon::transpose(b));
  const auto wide = [](const auto& x) {
    if constexpr (std::is_integral_v<Accumulator>) return tenon::cast<Accumulator>(x);
    else return tenon::as_node(x);
  };
  const auto check = [&](const auto& product) {
    const auto result = tenon::evaluated_tensor(tenon::cast<Accumulator>(product));
    CHECK(product_difference<Accumulator>(numbers_of(result), a, b) == "");
  };
  check(tenon::matmul(wide(a), wide(b)));
  check(tenon::matmul(wide(tenon::transpose(across)), wide(b)));
  check(tenon::matmul(wide(a), wide(tenon::transpose(along))));
  check(tenon::matmul(wide(tenon::transpose(across)), wide(tenon::transpose(along))));
}

}  // namespace

TEMPLATE_TEST_CASE("products of every size and layout around tiles and blocks", "[host]", float, double) {
  for (const auto& [m, n, k] : sizes) {
    check_layouts<TestType>(random_matrix<TestType>(m, k, 1), random_matrix<TestType>(k, n, 2));
  }
}

TEMPLATE_TEST_CASE("short floats are accumulated in float", "[host]", tenon::half, tenon::bfloat16) {
  for (const auto& [m, n, k] : sizes) {
    const auto a = random_matrix<TestType>(m, k, 1), b = random_matrix<TestType>(k, n, 2);
    tenon::tensor<float, rank<2>> result({m, n});
    result = tenon::matmul(a, b);
    CHECK(product_difference<float>(numbers_of(result), a, b) == "");
    result = tenon::matmul(a, tenon::transpose(tenon::evaluated_tensor(tenon::transpose(b))));
    CHECK(product_difference<float>(numbers_of(result), a, b) == "");
  }
}

TEMPLATE_TEST_CASE("integers are exact", "[host]", std::int8_t, std::uint8_t, std::int16_t, int, std::int64_t) {
  const double low = std::is_signed_v<TestType> ? -128 : 0, high = std::is_signed_v<TestType> ? 127.9 : 255.9;
  for (const auto& [m, n, k] : sizes) {
    const auto a = random_matrix<TestType>(m, k, 1, low, high), b = random_matrix<TestType>(k, n, 2, low, high);
    check_layouts<int>(a, b);
    check_layouts<std::int64_t>(a, b);
  }
}

TEST_CASE("unsigned by signed bytes are exact", "[host]") {
  for (const auto& [m, n, k] : sizes) {
    check_layouts<int>(random_matrix<std::uint8_t>(m, k, 1, 0, 255.9),
                       random_matrix<std::int8_t>(k, n, 2, -128, 127.9));
    check_layouts<int>(random_matrix<std::int8_t>(m, k, 1, -128, 127.9),
                       random_matrix<std::uint8_t>(k, n, 2, 0, 255.9));
  }
}

TEST_CASE("bytes wrap as their type does", "[host]") {
  const auto a = random_matrix<std::int8_t>(9, 70, 1, -128, 127), b = random_matrix<std::int8_t>(70, 50, 2, -128, 127);
  const auto exact = tenon::evaluated_tensor(tenon::matmul(tenon::cast<int>(a), tenon::cast<int>(b)));
  CHECK(numbers_of(tenon::matmul(a, b)) == numbers_of(tenon::cast<std::int8_t>(exact)));
}

TEST_CASE("complex numbers and truth values", "[host]") {
  using complex = std::complex<float>;
  tenon::tensor<complex, rank<2>> a({2, 3});
  for (tenon::index i = 0; i < 6; ++i) a.data()[i] = complex(static_cast<float>(i), 1);
  const auto squares = tenon::evaluated_tensor(tenon::matmul(a, tenon::transpose(a)));
  CHECK(squares(0, 0) == complex(2, 6));
  const auto yes = tenon_test::made_tensor<bool>(rank<2>(2, 2), [](tenon::index i) { return i == 0; });
  CHECK(numbers_of(tenon::matmul(yes, yes)) == std::vector<double>{1, 0, 0, 0});
}

TEST_CASE("long sums of complex numbers keep their digits", "[host]") {
  using number = std::complex<float>;
  constexpr tenon::index depth = 1000003;  // one tenth, added up a million times, would be 1 % off
  const auto row = tenon::full<number>({1, depth}, number(0.1f, 0)), columns = tenon::ones<number>({depth, 2});
  const auto product = tenon::evaluated_tensor(tenon::matmul(row, columns));
  CHECK(std::abs(static_cast<double>(product(0, 1).real()) / (static_cast<double>(0.1f) * depth) - 1) < 1e-4);
}

TEST_CASE("products without rows, columns or depth", "[host]") {
  const auto shape_of = [](tenon::index m, tenon::index n, tenon::index k) {
    return numbers_of(tenon::matmul(random_matrix<float>(m, k, 1), random_matrix<float>(k, n, 2)));
  };
  CHECK(shape_of(0, 5, 3).empty());
  CHECK(shape_of(5, 0, 3).empty());
  CHECK(shape_of(3, 4, 0) == std::vector<double>(12, 0.0));
  CHECK(shape_of(9, 60, 0) == std::vector<double>(540, 0.0));
}

TEST_CASE("slices with steps, and operands that are computed", "[host]") {
  const auto a = random_matrix<float>(60, 80, 1), b = random_matrix<float>(80, 120, 2);
  const auto every = tenon::range(tenon::open_end, tenon::open_end, 2);
  const auto some = tenon::evaluated_tensor(tenon::slice(a, every, every)),
             others = tenon::evaluated_tensor(tenon::slice(b, every, every));
  CHECK(product_difference<float>(
            numbers_of(tenon::matmul(tenon::slice(a, every, every), tenon::slice(b, every, every))), some, others) ==
        "");
  const auto twice = tenon::evaluated_tensor(a * 2), less = tenon::evaluated_tensor(b - 1);
  CHECK(product_difference<float>(numbers_of(tenon::matmul(a * 2, b - 1)), twice, less) == "");
}

TEST_CASE("NaN and infinities reach the results that they belong to, and no others", "[host]") {
  auto a = random_matrix<float>(13, 40, 1), b = random_matrix<float>(40, 53, 2);
  a(5, 7) = std::numeric_limits<float>::quiet_NaN();
  b(3, 50) = std::numeric_limits<float>::infinity();
  const auto c = tenon::evaluated_tensor(tenon::matmul(a, b));
  for (tenon::index i = 0; i < 13; ++i) {
    for (tenon::index j = 0; j < 53; ++j) CHECK(std::isfinite(c(i, j)) == (i != 5 && j != 50));
  }
  CHECK(std::isnan(c(5, 0)));
  CHECK(std::isinf(c(0, 50)));
}

TEST_CASE("the epilogue sees the whole sum, also of several blocks of depth", "[host]") {
  const auto a = random_matrix<float>(41, 3000, 1), b = random_matrix<float>(3000, 50, 2);
  const auto bare = tenon::evaluated_tensor(tenon::matmul(a, b));
  CHECK(product_difference<float>(numbers_of(bare), a, b) == "");
  CHECK(numbers_of(tenon::relu(tenon::matmul(a, b) + 1)) == numbers_of(tenon::relu(bare + 1)));
}

TEST_CASE("threads do not change products and convolutions", "[host]") {
  const auto same = [](tenon::index m, tenon::index n, tenon::index k) {
    const auto a = random_matrix<float>(m, k, 1), b = random_matrix<float>(k, n, 2);
    const bool along = tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::matmul(a, b)); });
    return along && tenon_test::is_same_on_any_threads([&] {
             return numbers_of(tenon::matmul(a, tenon::transpose(tenon::reshape(b, rank<2>(n, k)))));
           });
  };
  CHECK(same(500, 600, 400));
  CHECK(same(1, 700, 500));
  CHECK(same(700, 1, 500));
  CHECK(same(150, 100, 3000));
  const auto many = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(40, 30, 70), 1));
  const auto batch = [&] { return numbers_of(tenon::matmul(many, tenon::permute(many, tenon::axis<0, 2, 1>))); };
  CHECK(tenon_test::is_same_on_any_threads(batch));
  const auto image = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(4, 8, 20, 20), 3));
  const auto weight = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(16, 8, 3, 3), 4));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::convolve(image, weight)); }));
  const auto gradient = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(4, 16, 18, 18), 5));
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, {})); }));
}
