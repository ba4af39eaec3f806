// tests/nn/recurrent_parameters.cpp: shapes, names and initialisation of recurrent parameters.
// What a layer lacks is empty and not visited.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_parameters.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon_test::numbers_of;

namespace {

using parameters = nn::recurrent_parameters<float, tenon::host>;

std::string told(parameters& weights) {
  std::string text;
  weights.visit("_l1", [&](const std::string& name, auto& parameter) {
    text += tenon::compose_text(name, " ", parameter.value.shape().to_array(), " ");
  });
  return text;
}

}  // namespace

TEST_CASE("recurrent parameters have PyTorch's names and shapes", "[recurrent_parameters]") {
  auto all = parameters::drawn({.input = 3, .hidden = 5, .gates = 4, .projection = 2}, 1);
  CHECK(told(all) == "weight_ih_l1 [20, 3] weight_hh_l1 [20, 2] bias_ih_l1 [20] bias_hh_l1 [20] weight_hr_l1 [2, 5] ");
  auto few = parameters::drawn({.input = 3, .hidden = 5, .gates = 1, .has_bias = false}, 1);
  CHECK(told(few) == "weight_ih_l1 [5, 3] weight_hh_l1 [5, 5] ");
}

TEMPLATE_LIST_TEST_CASE("recurrent parameters are drawn within one over the root of hidden features",
                        "[recurrent_parameters]", tenon_test::spaces) {
  auto made = parameters::drawn({.input = 30, .hidden = 16, .gates = 3}, 4);
  auto moved = made.to<TestType>();
  double greatest = 0;
  moved.visit("", [&](const std::string&, auto& parameter) {
    for (const double each : numbers_of(parameter.value)) greatest = std::fmax(greatest, std::fabs(each));
    CHECK(numbers_of(parameter.gradient) == std::vector<double>(static_cast<std::size_t>(parameter.value.size()), 0));
  });
  CHECK(greatest <= 0.25);
  CHECK(greatest > 0.24);
  CHECK(numbers_of(moved.weight_ih.value) == numbers_of(made.weight_ih.value));
  CHECK(numbers_of(moved.bias_ih.value) != numbers_of(moved.bias_hh.value));
}
