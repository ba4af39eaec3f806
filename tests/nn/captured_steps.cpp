// tests/nn/captured_steps.cpp: steps that are captured do what they did before, on whatever memory holds now.
// Recurrent layers that find no room for one kernel, again and again, within a captured function and copied.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/captured_steps.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;

namespace {

/// Runs `y = y + 1` as the statements of a pass.
struct counting_pass {
  nn::captured_steps<tenon::emulated> steps;
  tenon::tensor<float, rank<1>, tenon::emulated> y = tenon::zeros<float, tenon::emulated>(rank<1>(5));

  void run(const std::vector<nn::recurrent_step>& of, const void* memory) {
    steps.run(of, {memory}, [&] { y = y + 1; });
  }
  double count() const { return tenon_test::numbers_of<tenon::emulated>(y * 1)[4]; }
};

/// Output and all gradients of a pass over numbers drawn with `seed`.
template <class Layer>
std::vector<double> pass_in_numbers(Layer& layer, tenon::index time, std::uint64_t seed) {
  using place = typename Layer::space;
  const tenon::tensor<float, rank<3>, place> x = tenon::uniform<float>(rank<3>(time, 2, 3), seed, -1.0f, 1.0f);
  std::vector<double> result = tenon_test::numbers_of<place>(layer.forward(x).sequence * 1);
  const auto append = [&](const std::vector<double>& more) { result.insert(result.end(), more.begin(), more.end()); };
  const rank<3> sequence(time, 2, static_cast<tenon::index>(result.size()) / (2 * time));
  const tenon::tensor<float, rank<3>, place> seen = tenon::uniform<float>(sequence, seed + 1, -1.0f, 1.0f);
  append(tenon_test::numbers_of<place>(layer.backward(seen).sequence * 1));
  layer.visit_parameters([&](const auto&, auto& parameter) {
    append(tenon_test::numbers_of<place>(parameter.gradient * 1));
    parameter.value = parameter.value - 0.01f * parameter.gradient;  // in the same memory
  });
  return result;
}

/// Passes of a layer in memory of the emulation and on the host, of sequences as long as before and of others.
template <class Layer>
void learn_in_both_spaces(Layer layer) {
  const tenon::emulation_scope without_room({.resident_blocks = 0});
  layer.initialise(0);
  auto emulated = layer.template to<tenon::emulated>();
  const auto compare = [](auto& left, auto& right, tenon::index time, std::uint64_t seed) {
    CHECK(tenon_test::difference(pass_in_numbers(left, time, seed), pass_in_numbers(right, time, seed), 1e-5) == "");
  };
  for (const tenon::index time : {4, 4, 4, 4, 2, 2, 2, 4}) compare(emulated, layer, time, 10);
  auto copied = emulated;
  auto copied_on_host = layer;
  for (int i = 0; i < 3; ++i) compare(copied, copied_on_host, 2, 20);
  for (int i = 0; i < 3; ++i) compare(emulated, layer, 4, 30);
}

}  // namespace

TEST_CASE("what is run twice in a row is captured, and replayed from then on", "[captured_steps]") {
  const std::vector<nn::recurrent_step> once{{0, 2, 0, true}}, twice{{0, 2, 0, true}, {2, 2, 0, false}};
  counting_pass pass;
  const auto launches_of = [&](const auto& steps, const void* memory) {
    const tenon::launch_counter launches;
    pass.run(steps, memory);
    return launches.count();
  };
  CHECK(launches_of(once, nullptr) == 1);
  CHECK(launches_of(once, nullptr) == 2);  // captured, and launched
  CHECK(launches_of(once, nullptr) == 1);
  CHECK(launches_of(twice, nullptr) == 1);
  CHECK(launches_of(twice, &pass) == 1);
  CHECK(launches_of(twice, &pass) == 2);
  CHECK(launches_of(once, nullptr) == 1);
  CHECK(pass.count() == 7);
}

TEST_CASE("steps within a captured function are part of it", "[captured_steps]") {
  counting_pass pass;
  for (int i = 0; i < 2; ++i) pass.run({}, nullptr);
  const auto graph = tenon::capture<tenon::emulated>([&] { pass.run({}, nullptr); });
  CHECK(pass.count() == 2);
  for (int i = 0; i < 3; ++i) graph.launch();
  CHECK(pass.count() == 5);
}

TEST_CASE("layers without room for one kernel learn as those of the host", "[captured_steps]") {
  learn_in_both_spaces(nn::lstm<>(3, 5, {.layers = 2, .bidirectional = true}));
  learn_in_both_spaces(nn::lstm<>(3, 5, {.projection = 2}));
  learn_in_both_spaces(nn::gru<>(3, 5));
}
