// tests/nn/fused_layers.cpp: products with a bias, scaled and shifted channels, where a fused network is.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/conv.hpp>
#include <tenon/nn/fused_layers.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/norm.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("products add the bias beside their layer's own", "[fused_layers]", tenon_test::spaces) {
  using layer = nn::linear<2, 3, nn::linear_options{}, TestType>;
  nn::fused_product<layer> product;
  product.layer.weight.value = tenon_test::counting<float, TestType>(shape<3, 2>{}, 1);
  product.layer.bias.value = tenon_test::counting<float, TestType>(shape<3>{}, 100);
  product.bias = tenon_test::counting<float, TestType>(shape<3>{}, 10);
  const auto x = tenon_test::counting<float, TestType>(rank<2>(1, 2), 1);
  CHECK(numbers_of<TestType>(product.forward(x)) == std::vector<double>{15, 22, 29});

  using maps = nn::conv2d<1, 2, 1, nn::conv2d_options{.bias = false}, TestType>;
  nn::fused_product<maps> filters;
  filters.layer.weight.value = tenon_test::counting<float, TestType>(shape<2, 1, 1, 1>{}, 2);
  filters.bias = tenon_test::counting<float, TestType>(shape<2>{}, 10);
  const auto image = tenon_test::counting<float, TestType>(rank<4>(1, 1, 1, 2), 1);
  CHECK(numbers_of<TestType>(filters.forward(image)) == std::vector<double>{12, 14, 14, 17});
}

TEST_CASE("the norm behind a linear layer is one of features", "[fused_layers]") {
  nn::fused_product<nn::linear<2, 2>> product;
  product.layer.initialise(0);
  product.bias = tenon::constants(shape<2>{}, 0.0f);
  const auto rows = tenon_test::counting<float>(rank<3>(1, 2, 2));
  CHECK(tenon_test::extents_of(product.forward(rows)) == std::vector<tenon::index>{1, 2, 2});
  product.has_norm = true;
  CHECK(
      tenon_test::text_of<tenon::shape_error>([&] { product.forward(rows); }) ==
      "fuse: batch_norm behind linear: an input of 3 axes, expected [batch, features]: else features are no channels");
}

TEST_CASE("what fused networks keep is named by place", "[fused_layers]") {
  using norm = nn::fused_norm<tenon::tensor<float, shape<2>>>;
  using product = nn::fused_product<nn::linear<2, 2>>;
  nn::fused_network<product, nn::fused_residual<nn::fused_network<norm>>,
                    nn::fused_branches<nn::fused_network<>, nn::fused_network<product, nn::layer_norm<shape<4>>>>>
      net;
  std::string names;
  net.visit_buffers([&](const std::string& name, auto&) { names += name + " "; });
  net.visit_parameters([&](const std::string& name, auto&) { names += name; });
  CHECK(names == "0.weight 0.bias 1.0.scale 1.0.shift 2.1.0.weight 2.1.0.bias 2.1.1.weight 2.1.1.bias ");
}

TEMPLATE_LIST_TEST_CASE("norms scale and shift channels", "[fused_layers]", tenon_test::spaces) {
  using row = tenon::tensor<float, shape<2>, TestType>;
  const nn::fused_norm<row> norm{row(tenon_test::counting<float, TestType>(shape<2>{}, 2)),
                                 row(tenon_test::counting<float, TestType>(shape<2>{}, 10))};
  const auto x = tenon_test::counting<float, TestType>(rank<3>(1, 2, 2), 1);
  CHECK(numbers_of<TestType>(norm.forward(x)) == std::vector<double>{12, 14, 20, 23});
}

TEMPLATE_LIST_TEST_CASE("a network is where its first rows are", "[fused_layers]", tenon_test::spaces) {
  using row = tenon::tensor<double, shape<2>, TestType>;
  using inner = nn::fused_network<nn::fused_norm<row>>;
  CHECK(std::is_same_v<typename nn::fused_network<int, nn::fused_residual<inner>>::row, row>);
  CHECK(std::is_same_v<typename nn::fused_branches<inner, nn::fused_network<>>::row, row>);
  CHECK(std::is_same_v<nn::fused_network<int>::row::space, tenon::host>);
}
