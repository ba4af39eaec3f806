// tests/nn/gru.cpp: gru layers against their definition, forward and backward.
// Every option, odd sizes, one sequence and none, sizes of types and of constructors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/gru.hpp>

#include "support/recurrent_cases.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon_test::check_gradients;
using tenon_test::compare_with_definition;

namespace {

template <class Space, class T = float>
using gru_of = nn::gru<dyn, dyn, Space, T>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("gru agrees with its definition", "[gru]", tenon_test::spaces) {
  tenon_test::compare_options<gru_of<TestType>>(3);
}

TEST_CASE("gru with sizes of its type agrees with its definition", "[gru]") {
  compare_with_definition(nn::gru<5, 7>({.bidirectional = true}), 3, 5, 7, 4, 2);
}

TEMPLATE_LIST_TEST_CASE("gru's gradients are finite differences", "[gru]", tenon_test::spaces) {
  using layer_type = gru_of<TestType, double>;
  check_gradients(layer_type(3, 5, {.layers = 2, .bidirectional = true}), 3, 5, 4, 2);
  check_gradients(layer_type(2, 4, {.bias = false}), 2, 4, 3, 1);
}

TEMPLATE_LIST_TEST_CASE("all steps of gru are one kernel, and memory is kept", "[gru]", tenon_test::kernel_spaces) {
  tenon_test::check_cost(gru_of<TestType>(3, 5), 3);
}
