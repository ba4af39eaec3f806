// tests/nn/host_recurrence.cpp: steps on the host's vectors give what kernels give, on any number of threads.
// Layers of the same weights on the host and on the emulation, forward and back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/host_recurrence.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>
#include <tenon/run_log.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

std::vector<double> output_of(auto& layer, tenon::index time, tenon::index batch) {
  using space = typename std::remove_reference_t<decltype(layer)>::space;
  const tenon::tensor<float, rank<3>, space> x = tenon::uniform<float>(rank<3>(time, batch, 20), 1, -1.0f, 1.0f);
  return numbers_of<space>(layer.forward(x).sequence * 1);
}

/// Of all parameters and of the input, after a pass forward and back.
template <class Layer>
std::vector<double> gradients_of(Layer& layer, tenon::index time, tenon::index batch) {
  using space = typename Layer::space;
  std::vector<double> result = output_of(layer, time, batch);
  const rank<3> sequence(time, batch, static_cast<tenon::index>(result.size()) / (time * batch));
  const tenon::tensor<float, rank<3>, space> seed = tenon::uniform<float>(sequence, 2, -1.0f, 1.0f);
  const auto append = [&](const std::vector<double>& more) { result.insert(result.end(), more.begin(), more.end()); };
  append(numbers_of<space>(layer.backward(seed).sequence * 1));
  layer.visit_parameters([&](const auto&, auto& parameter) { append(numbers_of<space>(parameter.gradient * 1)); });
  return result;
}

}  // namespace

TEST_CASE("host and statements give the same states", "[host_recurrence]") {
  STATIC_REQUIRE(!nn::has_host_steps<float, tenon::emulated>);
  STATIC_REQUIRE(!nn::has_host_steps<tenon::half, tenon::host>);
  nn::lstm<> layer(20, 37);
  layer.initialise(0);
  auto emulated = layer.to<tenon::emulated>();
  for (const tenon::index batch : {1, 3, 9}) {  // nine rows have their inputs multiplied within the steps
    CAPTURE(batch);
    CHECK(tenon_test::difference(output_of(layer, 4, batch), output_of(emulated, 4, batch), 2e-6) == "");
  }
}

TEMPLATE_TEST_CASE("host and statements give the same gradients", "[host_recurrence]", nn::lstm<>, nn::gru<>,
                   nn::rnn<>) {
  TestType layer(20, 37);
  layer.initialise(0);
  auto emulated = layer.template to<tenon::emulated>();
  for (const tenon::index batch : {1, 3, 9}) {
    CAPTURE(batch);
    CHECK(tenon_test::difference(gradients_of(layer, 4, batch), gradients_of(emulated, 4, batch), 4e-6) == "");
  }
}

TEMPLATE_TEST_CASE("one step of the host gives what kernels give, with and without packed weights", "[host_recurrence]",
                   nn::lstm<>, nn::gru<>, nn::rnn<>) {
  TestType layer(20, 37);
  layer.initialise(0);
  auto emulated = layer.template to<tenon::emulated>();
  for (const tenon::index batch : {1, 3, 4, 5}) {
    CAPTURE(batch);
    CHECK(tenon_test::difference(gradients_of(layer, 1, batch), gradients_of(emulated, 1, batch), 4e-6) == "");
  }
}

TEST_CASE("one step of few rows packs no weights", "[host_recurrence]") {
  const auto runs_steps = [](tenon::index time, tenon::index batch) {
    nn::gru<> layer(20, 37);
    layer.initialise(0);
    const tenon::tensor<float, rank<3>> x = tenon::zeros<float>({time, batch, 20});
    const tenon::run_log log;
    (void)layer.forward(x);
    return log.text().find("recurrent_steps") != std::string::npos;
  };
  CHECK(!runs_steps(1, nn::rows_without_packing));
  CHECK(runs_steps(1, nn::rows_without_packing + 1));
  CHECK(runs_steps(2, 1));
}

TEST_CASE("all steps of the host are one loop, forward and back", "[host_recurrence]") {
  const auto loops = [](tenon::index time) {
    nn::gru<> layer(20, 37);
    layer.initialise(0);
    const tenon::launch_counter counter;
    gradients_of(layer, time, 3);
    return counter.count();
  };
  CHECK(loops(9) == loops(2));
}

TEST_CASE("gradients of the host are the same on any number of threads", "[host_recurrence]") {
  nn::lstm<> layer(20, 250);
  layer.initialise(0);
  for (const tenon::index batch : {1, 12, 200}) {
    CAPTURE(batch);
    CHECK(tenon_test::is_same_on_any_threads([&] { return gradients_of(layer, 5, batch); }));
  }
}

TEST_CASE("states of the host are the same on any number of threads", "[host_recurrence]") {
  nn::lstm<> layer(20, 250);
  layer.initialise(0);
  for (const tenon::index batch : {1, 12}) {
    CAPTURE(batch);
    CHECK(tenon_test::is_same_on_any_threads([&] { return output_of(layer, 5, batch); }));
  }
}
