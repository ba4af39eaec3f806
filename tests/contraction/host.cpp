// tests/contraction/host.cpp: the packed product on the host.
// Sizes around tiles and blocks, against sums in double; threads must not change a bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class T>
auto random_matrix(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::uniform<T>(rank<2>(rows, columns), seed, -1.0f, 1.0f));
}

template <class T>
std::vector<double> by_definition(const tenon::tensor<T, rank<2>>& a, const tenon::tensor<T, rank<2>>& b) {
  std::vector<double> result;
  for (tenon::index i = 0; i < a.extent(0); ++i) {
    for (tenon::index j = 0; j < b.extent(1); ++j) {
      double total = 0;
      for (tenon::index k = 0; k < a.extent(1); ++k)
        total += static_cast<double>(a(i, k)) * static_cast<double>(b(k, j));
      result.push_back(total);
    }
  }
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("products of every size around tiles and blocks", "[host]", float, double) {
  const double bound = std::is_same_v<TestType, float> ? 2e-5 : 1e-13;
  const tenon::index sizes[][3] = {{1, 1, 1},     {1, 33, 7},    {12, 32, 5}, {13, 31, 320},
                                   {11, 65, 321}, {481, 33, 17}, {5, 257, 9}, {100, 100, 700},
                                   {0, 5, 3},     {5, 0, 3},     {3, 4, 0}};
  for (const auto& [m, n, k] : sizes) {
    const auto a = random_matrix<TestType>(m, k, 1), b = random_matrix<TestType>(k, n, 2);
    CAPTURE(m, n, k);
    CHECK(difference(numbers_of(tenon::matmul(a, b)), by_definition(a, b), bound) == "");
  }
}

TEST_CASE("a tile fits the registers", "[host]") {
  CHECK(tenon::host_tile<float>::width == 2 * tenon::simd::native_width<float>);
  CHECK(tenon::host_tile<float>::height >= 1);
  CHECK(tenon::detail::product_rows % tenon::host_tile<float>::height == 0);
  CHECK(tenon::detail::product_rows % tenon::host_tile<double>::height == 0);
}

TEST_CASE("the epilogue sees the whole sum, also of several blocks of depth", "[host]") {
  const auto a = random_matrix<float>(40, 1000, 1), b = random_matrix<float>(1000, 40, 2);
  const auto clipped = numbers_of(tenon::relu(tenon::matmul(a, b)));
  auto expected = by_definition(a, b);
  for (double& each : expected) each = std::fmax(each, 0.0);
  CHECK(difference(clipped, expected, 5e-5) == "");
}

TEST_CASE("threads do not change products and convolutions", "[host]") {
  const auto a = random_matrix<float>(500, 400, 1), b = random_matrix<float>(400, 600, 2);
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::matmul(a, b)); }));
  const auto image = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(4, 8, 20, 20), 3));
  const auto weight = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(16, 8, 3, 3), 4));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::convolve(image, weight)); }));
  const auto gradient = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(4, 16, 18, 18), 5));
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, {})); }));
}
