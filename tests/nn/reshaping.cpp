// tests/nn/reshaping.cpp: layers that change the shape alone, forward and backward.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/reshaping.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

/// Checks that a layer keeps the elements of both passes.
template <class Space, class Shape, class Layer, class Output>
void compare_reshaping(const Shape& extents, Layer layer, const Output& expected) {
  const auto x = tenon_test::counting<float, Space>(extents);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  CHECK(y.shape().to_array() == expected.to_array());
  CHECK(numbers_of(y) == numbers_of(x));
  tenon::tensor<float, Shape, Space> dx(extents);
  layer.backward(x, y, y, dx.write_view());
  CHECK(numbers_of(dx) == numbers_of(x));
  layer.backward(x, y, y, nn::not_wanted{});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("flatten joins axes", "[reshaping]", tenon_test::spaces) {
  compare_reshaping<TestType>(rank<3>(2, 3, 4), nn::flatten{}, rank<2>(2, 12));
  compare_reshaping<TestType>(rank<4>(2, 3, 4, 5), nn::flatten_axes<1, 2>{}, rank<3>(2, 12, 5));
  compare_reshaping<TestType>(rank<3>(2, 3, 4), nn::flatten_axes<0>{}, rank<1>(24));
  compare_reshaping<TestType>(rank<3>(2, 0, 4), nn::flatten_axes<-2, -1>{}, rank<2>(2, 0));
  compare_reshaping<TestType>(rank<2>(2, 3), nn::flatten{}, rank<2>(2, 3));
}

TEMPLATE_LIST_TEST_CASE("unflatten divides an axis", "[reshaping]", tenon_test::spaces) {
  compare_reshaping<TestType>(rank<3>(2, 12, 5), nn::unflatten<1, 3, 4>{}, rank<4>(2, 3, 4, 5));
  compare_reshaping<TestType>(rank<2>(2, 12), nn::unflatten<-1, 2, 3, 2>{}, rank<4>(2, 2, 3, 2));
  compare_reshaping<TestType>(rank<2>(2, 12), nn::unflatten<0, 2>{}, rank<2>(2, 12));
}

TEMPLATE_LIST_TEST_CASE("identity does nothing", "[reshaping]", tenon_test::spaces) {
  compare_reshaping<TestType>(rank<3>(2, 3, 4), nn::identity{}, rank<3>(2, 3, 4));
}

TEST_CASE("types know the extents of other shapes", "[reshaping]") {
  STATIC_REQUIRE(std::is_same_v<decltype(nn::flatten::output_shape(shape<dyn, 64, 7, 7>{})), shape<dyn, 64 * 7 * 7>>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::flatten::output_shape(shape<3, dyn, 2>{})), shape<3, dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::flatten_axes<0, 1>::output_shape(shape<3, 5, dyn>{})), shape<15, dyn>>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::unflatten<1, 3, 4>::output_shape(shape<dyn, 12, 7>{})), shape<dyn, 3, 4, 7>>);
}

TEST_CASE("an axis that is not the product is refused", "[reshaping]") {
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::unflatten<1, 3, 4>::output_shape(rank<2>(2, 13)); }) ==
        "unflatten: axis 1: extent 13, expected 12 (input [2, 13])");
}
