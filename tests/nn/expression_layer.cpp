// tests/nn/expression_layer.cpp: a layer of the user's says its value, and its backward pass follows.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/expression_layer.hpp>

#include "nn/passes.hpp"

namespace nn = tenon::nn;
using tenon::rank;

namespace {

/// y = x^power * weight + bias, of rows of 3.
struct power_layer : nn::expression_layer<power_layer> {
  double power = 2;
  nn::parameter<double, tenon::shape<3>, tenon::host> weight, bias;

  auto parameters() const { return tenon::make_tuple_of(&weight, &bias); }
  auto parameters() { return tenon::make_tuple_of(&weight, &bias); }
  void initialise(std::uint64_t seed) {
    weight = nn::uniform_parameter<double, tenon::host>(tenon::shape<3>{}, seed, 1);
    bias = nn::uniform_parameter<double, tenon::host>(tenon::shape<3>{}, seed + 1, 1);
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight), visitor("bias", bias);
  }
  auto expression(const auto& x, const auto& scale, const auto& shift) const {
    return tenon::pow(tenon::abs(x), power) * scale + shift;
  }
};

}  // namespace

TEST_CASE("both passes follow from one expression", "[expression_layer]") {
  CHECK(tenon_test::layer_difference(rank<2>(4, 3), power_layer{}) == "");
}

TEST_CASE("the gradient of the input is written where it is wanted", "[expression_layer]") {
  power_layer layer;
  layer.initialise(1);
  const auto x = tenon_test::drawn(rank<2>(4, 3), 1);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  layer.backward(x, y, y, nn::not_wanted{});
  CHECK(tenon_test::numbers_of(layer.bias.gradient) == tenon_test::numbers_of(tenon::sum(y, tenon::drop<0>)));
}
