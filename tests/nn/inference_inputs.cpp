// tests/nn/inference_inputs.cpp: how inputs of a network in use are given.
// What runs of networks with several inputs and results make is in tests/nn/inference.cpp and docs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/inference_inputs.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/reshaping.hpp>
#include <tenon/nn/sequential.hpp>

#include "support/catch.hpp"

namespace nn = tenon::nn;
using tenon::shape;

TEST_CASE("extents alone stand for elements of the network's type, tensors for their own", "[inference_inputs]") {
  using input = shape<tenon::dyn, 4>;
  using network = decltype(nn::sequential(nn::linear<4, 2, nn::linear_options{}, tenon::host, double>{}));
  STATIC_REQUIRE(std::is_same_v<nn::detail::input_view<network, input>::type, tenon::view<const double, input>>);
  using given = tenon::tensor<std::int64_t, tenon::rank<1>>;
  STATIC_REQUIRE(std::is_same_v<nn::detail::input_view<network, given>::type,
                                tenon::view<const std::int64_t, tenon::rank<1>, tenon::host>>);
  STATIC_REQUIRE(std::is_same_v<nn::detail::input_view<nn::flatten, input>::type, tenon::view<const float, input>>);
  const nn::detail::given_extents<tenon::rank<1>> extents(given({3}));
  CHECK(extents.extents == tenon::rank<1>(3));
}

TEST_CASE("results are what a pass made, in tuples where there are several", "[inference_inputs]") {
  const auto not_called = [](const auto& value) { return value; };
  CHECK(nn::detail::each_value(7, not_called) == 7);
  CHECK(nn::detail::each_value(std::pair(1, 2.5), not_called) == std::tuple(1, 2.5));
  CHECK(nn::detail::each_value(std::tuple(1, std::pair(2, 3)), not_called) == std::tuple(1, std::tuple(2, 3)));
}
