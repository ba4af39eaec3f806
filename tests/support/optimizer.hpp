// tests/support/optimizer.hpp: parameters without layers, and steps of an optimizer compared with its definition.
// The definition is one element in double precision; sizes are odd, zero, and longer than a chunk.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/layer.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace tenon_test {

/// What an optimizer sees of a network.
template <class Space, class T = float>
struct loose_parameters {
  std::vector<tenon::nn::parameter<T, tenon::rank<1>, Space>> all;

  explicit loose_parameters(const std::vector<tenon::index>& sizes = {3, 0, 9001, 1, 4096, 130}) {
    tenon::index first = 0;
    for (const auto size : sizes) {
      const auto drawn = made_tensor<T, Space>(tenon::rank<1>(size), [&](auto i) { return scattered(first + i); });
      all.push_back({drawn, tenon::zeros<T, Space>(tenon::rank<1>(size))});
      first += size + 17;
    }
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      visitor(std::to_string(i / 2) + (i % 2 == 0 ? ".weight" : ".bias"), all[i]);
    }
  }
  /// Gradients of step `step`, some of them zero; the same numbers are the result.
  std::vector<double> draw_gradients(int step) {
    std::vector<double> drawn;
    tenon::index first = 31 * step;
    for (auto& each : all) {
      const auto number = [&](tenon::index i) { return i % 7 == 3 ? 0 : static_cast<T>(3 * scattered(first + 5 * i)); };
      each.gradient = made_tensor<T, Space>(each.value.shape(), number);
      for (tenon::index i = 0; i < each.value.size(); ++i) drawn.push_back(static_cast<double>(number(i)));
      first += each.value.size();
    }
    return drawn;
  }
  std::vector<double> values() const {
    std::vector<double> found;
    for (const auto& each : all) {
      const auto own = numbers_of<Space>(each.value);
      found.insert(found.end(), own.begin(), own.end());
    }
    return found;
  }
};

/// Steps of `optimizer` next to those of `definition(value, gradient, state, step)`, whose state begins at `initial`:
/// the first difference. Each step but the first allocates nothing, and is `launches` launches.
template <class Space, class T = float, class Optimizer, class Definition>
std::string step_difference(Optimizer&& optimizer, Definition definition, double bound, double initial = 0,
                            int launches = 1) {
  loose_parameters<Space, T> net;
  std::vector<double> expected = net.values();
  std::vector<std::array<double, 3>> state(expected.size(), {initial, initial, initial});
  for (int step = 1; step <= 4; ++step) {
    const auto gradients = net.draw_gradients(step);
    const tenon::launch_counter counter;
    const auto allocated = tenon::blocks_of<Space>().added();
    optimizer.step(net);
    if (step != 1 && counter.count() != launches)
      return tenon::compose_text("step ", step, ": ", counter.count(), " launches");
    if (step != 1 && tenon::blocks_of<Space>().added() != allocated) return "a step allocates";
    for (std::size_t i = 0; i < expected.size(); ++i) definition(expected[i], gradients[i], state[i], step);
    const auto text = difference(net.values(), expected, bound);
    if (!text.empty()) return tenon::compose_text("step ", step, ": ", text);
  }
  return "";
}

}  // namespace tenon_test
