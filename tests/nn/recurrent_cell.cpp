// tests/nn/recurrent_cell.cpp: cells are layers of one step.
// Compared with a layer over one time step, forward and backward.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_cell.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/recurrent_cases.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::numbers_in;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("a cell is a layer of one step", "[recurrent_cell]", tenon_test::spaces) {
  nn::rnn_cell<3, 5, TestType> cell({.function = nn::nonlinearity::with_relu});
  nn::rnn<3, 5, TestType> layer({.function = nn::nonlinearity::with_relu});
  cell.initialise(4), layer.initialise(4);
  const tenon::tensor<float, rank<2>, TestType> x = tenon::uniform<float>(rank<2>(2, 3), 1, -1.0f, 1.0f),
                                                before = tenon::uniform<float>(rank<2>(2, 5), 2, -1.0f, 1.0f),
                                                gradient = tenon::uniform<float>(rank<2>(2, 5), 3, -1.0f, 1.0f);
  const auto seen = [](const auto& matrix) { return tenon::reshape(matrix, rank<3>(1, 2, matrix.extent(1))); };
  const auto expected = layer.forward(seen(x), seen(before));
  const auto [hidden] = cell.forward(x, before);
  CHECK(numbers_in(hidden) == numbers_in(expected.hidden));
  const auto of_layer = layer.backward(seen(gradient));
  const auto of_cell = cell.backward(gradient);
  CHECK(numbers_in(of_cell.input) == numbers_in(of_layer.sequence));
  CHECK(numbers_in(of_cell.hidden) == numbers_in(of_layer.hidden));
  std::vector<std::string> names;
  cell.visit_parameters([&](const std::string& name, auto& parameter) {
    names.push_back(name);
    layer.visit_parameters([&](const std::string& other, auto& same) {
      if constexpr (std::is_same_v<decltype(same), decltype(parameter)>) {
        if (other == name + "_l0") CHECK(numbers_of(parameter.gradient) == numbers_of(same.gradient));
      }
    });
  });
  CHECK(names == std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"});
}

TEMPLATE_LIST_TEST_CASE("a cell takes one vector, and states of zero", "[recurrent_cell]", tenon_test::spaces) {
  nn::rnn_cell<dyn, dyn, TestType> cell(3, 5);
  cell.initialise(0);
  const tenon::tensor<float, rank<1>, TestType> x = tenon::uniform<float>(rank<1>(3), 1);
  const auto expected = numbers_in(cell.forward(tenon::reshape(x, rank<2>(1, 3))).hidden);
  const auto [hidden] = cell.forward(x);
  CHECK(hidden.shape() == rank<1>(5));
  CHECK(numbers_in(hidden) == expected);
  CHECK(cell.backward(hidden).input.shape() == x.shape());
  auto moved = cell.template to<tenon::host>();
  CHECK(numbers_in(moved.forward(x.template to<tenon::host>()).hidden).size() == 5);
}

TEST_CASE("what does not fit a cell is refused", "[recurrent_cell]") {
  nn::rnn_cell<> cell(3, 5);
  const tenon::tensor<float, rank<2>> x = tenon::zeros<float>(rank<2>(2, 4));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { cell.forward(x); }) ==
        "rnn_cell: axis 1: extent 4, expected 3 (input [2, 4])");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::rnn_cell<3, 5>({.layers = 2}); }) ==
        "rnn_cell: a cell has one layer in one direction, without projection");
}
