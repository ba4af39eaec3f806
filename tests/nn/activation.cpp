// tests/nn/activation.cpp: relu forward and backward, and the extents of glu.
// Against PyTorch's values where they are there.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>

#include "support/golden.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("relu keeps what is positive and passes its gradient", "[activation]", tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<1>(5), {-2, -0.0f, 0, 1.5f, 3});
  const auto g = tenon_test::tensor_of<TestType, float>(rank<1>(5), {1, 2, 3, 4, 5});
  nn::relu layer;
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<1>, TestType> dx({5});
  layer.backward(x, y, g, dx.write_view());
  CHECK(numbers_of(y) == std::vector<double>{0, 0, 0, 1.5, 3});
  CHECK(numbers_of(dx) == std::vector<double>{0, 0, 0, 4, 5});
}

TEMPLATE_LIST_TEST_CASE("relu agrees with PyTorch", "[activation]", tenon_test::spaces) {
  const tenon_test::golden_case golden("activation_relu");
  if (!golden) return;
  const auto x = golden.read<float, 2, TestType>("input_input");
  const auto g = golden.read<float, 2, TestType>("grad_output_output");
  nn::relu layer;
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<2>, TestType> dx(x.shape());
  layer.backward(x, y, g, dx.write_view());
  CHECK(tenon_test::golden_difference(y, golden.read<float, 2>("output_output")) == "");
  CHECK(tenon_test::golden_difference(dx, golden.read<float, 2>("gradient_input")) == "");
}

TEST_CASE("glu halves its axis", "[activation]") {
  STATIC_REQUIRE(std::is_same_v<decltype(nn::glu<1>::output_shape(shape<3, 8, 5>{})), shape<3, 4, 5>>);
  CHECK(nn::glu<>::output_shape(rank<2>(3, 6)) == rank<2>(3, 3));
}

TEMPLATE_LIST_TEST_CASE("one slope of prelu serves inputs whose extents are known at run time", "[activation]",
                        tenon_test::spaces) {
  const auto x = tenon_test::tensor_of<TestType, float>(rank<2>(2, 2), {-4, 1, -8, 2});
  const auto g = tenon_test::tensor_of<TestType, float>(rank<2>(2, 2), {1, 2, 3, 4});
  nn::prelu<1, TestType> layer;
  layer.initialise(0);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<2>, TestType> dx({2, 2});
  layer.backward(x, y, g, dx.write_view());
  CHECK(numbers_of(y) == std::vector<double>{-1, 1, -2, 2});
  CHECK(numbers_of(dx) == std::vector<double>{0.25, 2, 0.75, 4});
  CHECK(numbers_of(layer.weight.gradient) == std::vector<double>{-4 - 24});
}
