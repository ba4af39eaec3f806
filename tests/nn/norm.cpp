// tests/nn/norm.cpp: norms over rows, groups and images, against loops in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/norm.hpp>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using nn::affine;
using tenon::rank;
using tenon::shape;

TEMPLATE_LIST_TEST_CASE("layer norm makes rows standard", "[norm]", tenon_test::spaces) {
  nn::layer_norm<shape<5>, affine::both, TestType> layer;
  layer.initialise(0);
  const auto x = tenon_test::random_input<TestType>(rank<2>(4, 5));
  const auto y = tenon_test::numbers_of(layer.forward(x));
  const auto given = tenon_test::numbers_of(x);
  for (std::size_t row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < 5; ++i) sum += given[row * 5 + i], squares += given[row * 5 + i] * given[row * 5 + i];
    const double mean = sum / 5, deviation = std::sqrt(squares / 5 - mean * mean + 1e-5);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(std::fabs(y[row * 5 + i] - (given[row * 5 + i] - mean) / deviation) < 1e-5);
    }
  }
}

TEST_CASE("a norm refuses other extents", "[norm]") {
  nn::layer_norm<shape<5>> layer;
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer.output_shape(rank<2>(4, 6)); }) ==
        "layer_norm: axis 1: extent 6, expected 5 (input [4, 6])");
}

TEST_CASE("an instance norm refuses one value a channel", "[norm]") {
  nn::instance_norm<3> layer;
  const auto refusal = [&](const auto& x) {
    return tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::evaluated_tensor(layer(x)); });
  };
  CHECK(refusal(tenon::ones<float>(tenon::rank<3>(2, 3, 1))) ==
        "instance_norm: 1 value a channel of an image, expected at least 2 (input [2, 3, 1])");
  CHECK(refusal(tenon::ones<float>(tenon::rank<4>(2, 3, 1, 1))) ==
        "instance_norm: 1 value a channel of an image, expected at least 2 (input [2, 3, 1, 1])");
  CHECK_NOTHROW(tenon::evaluated_tensor(layer(tenon::ones<float>(tenon::rank<4>(1, 3, 1, 2)))));
  CHECK_NOTHROW(tenon::evaluated_tensor(layer(tenon::ones<float>(tenon::rank<3>(2, 3, 0)))));
}
