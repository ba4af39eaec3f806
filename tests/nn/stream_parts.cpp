// tests/nn/stream_parts.cpp: products of a row with weights that were laid out before, of any extents.
// What layers keep of a stream is tested with the streams.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream_parts.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

template <class T, int Lanes>
void check_row_products() {
  for (const tenon::index inputs : {0, 1, 7, 8, 9, 30}) {
    for (const tenon::index packs : {1, 2, 3, 5, 8, 15, 17}) {
      const tenon::index columns = packs * Lanes;
      tenon::nn::detail::row_product<T, Lanes> product(inputs, columns);
      std::vector<T> x(static_cast<std::size_t>(inputs)), y(static_cast<std::size_t>(columns));
      std::vector<double> expected(y.size());
      for (tenon::index i = 0; i < inputs; ++i)
        x[static_cast<std::size_t>(i)] = static_cast<T>(tenon_test::scattered(i));
      for (tenon::index column = 0; column < columns; ++column) {
        double& sum = expected[static_cast<std::size_t>(column)];
        product.bias(column) = static_cast<T>(tenon_test::scattered(column + 5));
        sum = static_cast<double>(product.bias(column));
        for (tenon::index i = 0; i < inputs; ++i) {
          const T weight = static_cast<T>(tenon_test::scattered(i * columns + column + 11));
          product.weight(i, column) = weight;
          sum += static_cast<double>(weight) * static_cast<double>(x[static_cast<std::size_t>(i)]);
        }
      }
      product.run(x.data(), y.data());
      CAPTURE(inputs, packs);
      CHECK(tenon_test::difference(std::vector<double>(y.begin(), y.end()), expected, 1e-5) == "");
    }
  }
}

}  // namespace

TEST_CASE("a row times weights is the sums of products", "[stream_parts]") {
  check_row_products<float, 4>();
  check_row_products<float, tenon::simd::native_width<float>>();
  check_row_products<double, tenon::simd::native_width<double>>();
}

TEST_CASE("lanes are few where results are", "[stream_parts]") {
  using tenon::nn::detail::lanes_of_row;
  constexpr int native = tenon::simd::native_width<float>;
  CHECK(lanes_of_row<float>(1) == 4);
  CHECK(lanes_of_row<float>(tenon::dyn) == native);
  CHECK(lanes_of_row<float>(1000) == native);
  CHECK(lanes_of_row<float>(5) == std::min(8, native));
}
