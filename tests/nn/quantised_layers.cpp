// tests/nn/quantised_layers.cpp: values as bytes, products of bytes, and what is seen of values.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/quantised_layers.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

template <class Space, class Shape>
auto values_in(const Shape& extents, std::initializer_list<float> values) {
  return tenon::tensor<float, Shape>(extents, values).template to<Space>();
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("values become the nearest byte, the even one of two", "[quantised_layers]",
                        tenon_test::spaces) {
  const auto x = values_in<TestType>(rank<1>(7), {0.2f, 0.25f, 0.75f, -1.0f, 100.0f, -100.0f, 0.0f});
  const auto bytes = nn::quantiser{0.5f}.forward(x);
  STATIC_REQUIRE(std::is_same_v<typename decltype(bytes)::element, std::int8_t>);
  CHECK(numbers_of<TestType>(bytes) == std::vector<double>{0, 0, 2, -2, 127, -128, 0});
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::quantiser{}.forward(x); }) ==
        "quantised: no scale of its inputs, expected that of a calibration or a saved state");
}

TEMPLATE_LIST_TEST_CASE("sums of bytes are scaled and shifted by output", "[quantised_layers]", tenon_test::spaces) {
  using layer = nn::linear<2, 2, nn::linear_options{}, TestType>;
  nn::quantised_product<layer> product;
  product.weight = tenon::cast<std::int8_t>(values_in<TestType>(shape<2, 2>{}, {100, 127, -128, 3}));
  product.scale = values_in<TestType>(shape<2>{}, {0.5f, 2.0f});
  product.product.bias = values_in<TestType>(shape<2>{}, {1.0f, -1.0f});
  const tenon::tensor<std::int8_t, rank<2>, TestType> x(
      tenon::cast<std::int8_t>(values_in<TestType>(rank<2>(1, 2), {-128, 127})));
  CHECK(numbers_of<TestType>(product.forward(x)) ==
        std::vector<double>{(-12800 + 16129) * 0.5 + 1, (16384 + 381) * 2.0 - 1});
}

TEMPLATE_LIST_TEST_CASE("an observer keeps the greatest magnitude", "[quantised_layers]", tenon_test::spaces) {
  float greatest = 2;
  const nn::range_observer observer{&greatest};
  observer.see(values_in<TestType>(rank<1>(2), {1.0f, -1.5f}));
  CHECK(greatest == 2);
  observer.see(values_in<TestType>(rank<1>(2), {1.0f, -3.5f}));
  observer.see(values_in<TestType>(rank<1>(0), {}));
  CHECK(greatest == 3.5f);
  const float infinite = std::numeric_limits<float>::infinity();
  CHECK(tenon_test::text_of<tenon::error>([&] { observer.see(values_in<TestType>(rank<1>(1), {-infinite})); }) ==
        "calibration: a value of inf, expected finite numbers as inputs of products");
}
