// tests/nn/lstm.cpp: lstm layers against their definition, forward and backward.
// Every option, odd sizes, one sequence and none, sizes of types and of constructors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/lstm.hpp>

#include "support/recurrent_cases.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon_test::check_gradients;
using tenon_test::compare_with_definition;

namespace {

template <class Space, class T = float>
using lstm_of = nn::lstm<dyn, dyn, Space, T>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("lstm agrees with its definition", "[lstm]", tenon_test::spaces) {
  using layer_type = lstm_of<TestType>;
  tenon_test::compare_options<layer_type>(4);
  compare_with_definition(layer_type(4, 9, {.layers = 2, .bidirectional = true, .projection = 3}), 4, 4, 9, 3, 2);
}

TEST_CASE("lstm with sizes of its type agrees with its definition", "[lstm]") {
  compare_with_definition(nn::lstm<5, 7>({.bidirectional = true}), 4, 5, 7, 4, 2);
}

TEMPLATE_LIST_TEST_CASE("lstm's gradients are finite differences", "[lstm]", tenon_test::spaces) {
  using layer_type = lstm_of<TestType, double>;
  check_gradients(layer_type(3, 5, {.layers = 2, .bidirectional = true}), 3, 5, 4, 2);
  check_gradients(layer_type(2, 4, {.bias = false, .projection = 3}), 2, 4, 3, 1);
}

TEMPLATE_LIST_TEST_CASE("all steps of lstm are one kernel, and memory is kept", "[lstm]", tenon_test::kernel_spaces) {
  tenon_test::check_cost(lstm_of<TestType>(3, 5), 3);
}
