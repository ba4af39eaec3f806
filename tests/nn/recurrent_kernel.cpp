// tests/nn/recurrent_kernel.cpp: recurrences whose steps are one kernel.
// Against the host's steps, with one to eight hidden units for a block; where blocks have no room, the steps of before.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/recurrent_kernel.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// How many hidden features a layer has, from a parameter.
template <class Layer>
tenon::index hidden_of(Layer& layer) {
  tenon::index hidden = 0;
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    if (name == "weight_hh_l0") hidden = parameter.value.shape().extent(parameter.value.shape().rank - 1);
  });
  return hidden;
}

/// The results of a pass over packed sequences that end at different times, and all its gradients.
template <class Layer>
std::vector<double> numbers_of_pass(Layer& layer) {
  using space = typename Layer::space;
  using T = typename Layer::element;
  const tenon::index parts = layer.options().layers * layer.options().directions();
  const auto x = tenon::tensor<T, rank<3>, space>(tenon::uniform<T>(rank<3>(4, 11, 3), 1, -1.0f, 1.0f));
  const std::vector<tenon::index> lengths{4, 1, 3, 2, 4, 4, 1, 2, 3, 4, 4};
  const auto packed = nn::pack_padded_sequence(x, lengths, {.enforce_sorted = false});
  std::vector<double> result;
  const auto add = [&](const auto& values) {
    for (const double number : numbers_of(tenon::evaluated_tensor(values))) result.push_back(number);
  };
  const auto pass = [&](const auto&... states) {
    const auto values = layer.forward(packed, states...);
    add(values.sequence.rows), add(values.hidden);
    tenon::tensor<T, rank<2>, space> rows(values.sequence.rows.shape());
    rows = tenon::uniform<T>(rows.shape(), 2, -1.0f, 1.0f);
    const auto gradients = layer.backward(nn::packed_sequence<decltype(rows)>{rows, values.sequence.layout}, states...);
    add(gradients.sequence.rows), add(gradients.hidden);
    if constexpr (Layer::state_count == 2) add(gradients.cell);
  };
  const auto draw = [&](std::uint64_t seed) {
    const rank<3> extents(parts, 11, hidden_of(layer));
    return tenon::tensor<T, rank<3>, space>(tenon::uniform<T>(extents, seed, -1.0f, 1.0f));
  };
  if constexpr (Layer::state_count == 2) pass(draw(3), draw(4));
  else pass(draw(3));
  layer.visit_parameters([&](const std::string&, auto& parameter) { add(parameter.gradient); });
  return result;
}

/// How far a layer in `Space` is from the same on the host.
template <class Space, class Layer>
std::string error_in_space(Layer layer, double tolerance) {
  auto moved = layer.template to<Space>();
  const auto expected = numbers_of_pass(layer);
  return tenon_test::difference(numbers_of_pass(moved), expected, tolerance);
}

template <template <tenon::index, tenon::index, tenon::memory_space, tenon::dtype> class Layer, class Space>
void compare_kernels() {
  for (const tenon::index hidden : {1, 5, 11, 20, 41}) {  // 1, 1, 2, 4 and 8 units for a block of 6
    CAPTURE(hidden);
    CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, float>(3, hidden), 2e-5) == "");
  }
  CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, double>(3, 7, {.layers = 2, .bidirectional = true}),
                              1e-12) == "");
  CHECK(error_in_space<Space>(Layer<dyn, dyn, tenon::host, double>(3, 7, {.bias = false}), 1e-12) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("plain recurrences in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::rnn, TestType>();
  CHECK(error_in_space<TestType>(nn::rnn<>(3, 9, {.function = nn::nonlinearity::with_relu}), 2e-5) == "");
}
TEMPLATE_LIST_TEST_CASE("lstms in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::lstm, TestType>();
}
TEMPLATE_LIST_TEST_CASE("lstms of short floats in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  CHECK(error_in_space<TestType>(nn::lstm<dyn, dyn, tenon::host, tenon::half>(3, 11), 0x1p-8) == "");
  CHECK(error_in_space<TestType>(nn::lstm<dyn, dyn, tenon::host, tenon::bfloat16>(3, 11), 0x1p-5) == "");
}
TEMPLATE_LIST_TEST_CASE("grus in one kernel", "[recurrent_kernel]", tenon_test::kernel_spaces) {
  compare_kernels<nn::gru, TestType>();
}

#if !defined(__CUDACC__)
TEST_CASE("without room for all blocks each step is kernels of its own", "[recurrent_kernel]") {
  const auto launches = [](tenon::index hidden, int room) {
    const tenon::emulation_scope scope({.resident_blocks = room});
    nn::lstm<dyn, dyn, tenon::emulated> layer(3, hidden);
    const auto x = tenon::ones<float, tenon::emulated>(rank<3>(9, 2, 3));
    const tenon::launch_counter counter;
    layer.forward(x);  // a first pass: the second would capture its steps
    return counter.count();
  };
  CHECK(launches(8, 1) == launches(1, 6));
  CHECK(launches(9, 1) == launches(8, 1) - 1 + 2 * 9);
  const tenon::emulation_scope without_room({.resident_blocks = 0});
  CHECK(error_in_space<tenon::emulated>(nn::lstm<>(3, 5), 2e-5) == "");
  CHECK(error_in_space<tenon::emulated>(nn::gru<>(3, 5), 2e-5) == "");
}
#endif
