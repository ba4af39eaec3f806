// tests/nn/recurrence.cpp: one layer in one direction, forward and backward.
// Against steps by definition, where some sequences end before others, and what is kept of gradients.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrence.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// Matrices that a recurrence of two features reads and writes, rows by rows.
template <class Space>
struct memory {
  using tensor = tenon::tensor<double, rank<2>, Space>;
  tensor input, output, before, after;

  nn::recurrent_flow<double, Space> flow() {
    const auto none = nn::no_matrix<double, Space>();
    return {input.write_view(), output.write_view(), before.write_view(), none, after.write_view(), none};
  }
};

template <class Space>
memory<Space> made_memory(tenon::index rows, tenon::index batch) {
  const auto make = [](tenon::index count, double first) {
    return tenon_test::counting<double, Space>(rank<2>(count, 2), first, 0.01);
  };
  return {make(rows, 0.1), make(rows, 0), make(batch, 0.5), make(batch, 0)};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a recurrence of ones sums up its sequences", "[recurrence]", tenon_test::spaces) {
  using parameters = nn::recurrent_parameters<double, TestType>;
  auto weights = parameters::drawn({.input = 2, .hidden = 2, .gates = 1}, 1);
  weights.visit("", [](const std::string& name, auto& parameter) {
    constexpr bool is_weight = std::remove_cvref_t<decltype(parameter.value)>::rank == 2;
    if constexpr (is_weight) parameter.value = tenon::tensor<double, rank<2>, TestType>(rank<2>(2, 2), {1, 0, 0, 1});
    else parameter.value = 0;
    CHECK(!name.empty());
  });
  for (const bool is_reversed : {false, true}) {
    nn::recurrent_steps steps;
    steps.set({2, 2, 1}, is_reversed);  // rows 0 2 4 and 1 3
    auto values = made_memory<TestType>(5, 2);
    const auto x = numbers_of(values.input), first = numbers_of(values.before);
    nn::recurrence<nn::rnn_gates, double, TestType> recurrence;
    recurrence.forward({nn::nonlinearity::with_relu}, weights, steps, values.flow());
    const auto y = numbers_of(values.output), last = numbers_of(values.after);
    for (std::size_t feature = 0; feature < 2; ++feature) {
      const auto in = [&](std::size_t row) { return x[2 * row + feature]; };
      const double sum = first[feature] + in(0) + in(2) + in(4);
      CHECK(tenon_test::is_close(y[(is_reversed ? 0 : 8) + feature], sum, 1e-15));
      CHECK(tenon_test::is_close(last[feature], sum, 1e-15));
      CHECK(tenon_test::is_close(last[2 + feature], first[2 + feature] + in(1) + in(3), 1e-15));
    }
    auto gradients = made_memory<TestType>(5, 2);
    gradients.input = 1, gradients.output = 0, gradients.after = 1;
    recurrence.backward({nn::nonlinearity::with_relu}, weights, steps, values.flow(), gradients.flow());
    CHECK(numbers_of(gradients.input) == std::vector<double>(10, 2));  // is added to
    CHECK(numbers_of(gradients.before) == std::vector<double>(4, 1));
    CHECK(numbers_of(weights.bias_hh.gradient) == std::vector<double>{5, 5});
  }
}
