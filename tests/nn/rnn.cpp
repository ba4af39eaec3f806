// tests/nn/rnn.cpp: rnn layers against their definition, forward and backward.
// Every option, odd sizes, one sequence and none, sizes of types and of constructors.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/rnn.hpp>

#include "support/recurrent_cases.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon_test::check_gradients;
using tenon_test::compare_with_definition;

namespace {

template <class Space, class T = float>
using rnn_of = nn::rnn<dyn, dyn, Space, T>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("rnn agrees with its definition", "[rnn]", tenon_test::spaces) {
  using layer_type = rnn_of<TestType>;
  tenon_test::compare_options<layer_type>(1);
  compare_with_definition(layer_type(4, 9, {.function = nn::nonlinearity::with_relu}), 1, 4, 9, 5, 2);
}

TEST_CASE("rnn with sizes of its type agrees with its definition", "[rnn]") {
  compare_with_definition(nn::rnn<5, 7>({.bidirectional = true}), 1, 5, 7, 4, 2);
}

TEMPLATE_LIST_TEST_CASE("rnn's gradients are finite differences", "[rnn]", tenon_test::spaces) {
  using layer_type = rnn_of<TestType, double>;
  check_gradients(layer_type(3, 5, {.layers = 2, .bidirectional = true}), 3, 5, 4, 2);
  check_gradients(layer_type(2, 4, {.function = nn::nonlinearity::with_relu}), 2, 4, 3, 1);
}

TEMPLATE_LIST_TEST_CASE("all steps of rnn are one kernel, and memory is kept", "[rnn]", tenon_test::kernel_spaces) {
  tenon_test::check_cost(rnn_of<TestType>(3, 5), 3);
}
