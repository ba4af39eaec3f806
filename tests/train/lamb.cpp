// tests/train/lamb.cpp: LAMB against its definition in double precision.
// Norms are those of whole parameters, so the definition goes over one after another.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/lamb.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::train::lamb_options;

struct lamb_reference {
  lamb_options options;
  std::vector<double> mean, square;

  /// One step of parameters of these sizes, which lie one after another.
  void step(const std::vector<tenon::index>& sizes, std::vector<double>& values, const std::vector<double>& gradients,
            int number) {
    mean.resize(values.size()), square.resize(values.size());
    std::size_t first = 0;
    for (const auto size : sizes) {
      const std::size_t end = first + static_cast<std::size_t>(size);
      double of_values = 0, of_moved = 0;
      std::vector<double> moved(values.size());
      for (std::size_t i = first; i < end; ++i) {
        mean[i] = options.betas[0] * mean[i] + (1 - options.betas[0]) * gradients[i];
        square[i] = options.betas[1] * square[i] + (1 - options.betas[1]) * gradients[i] * gradients[i];
        const double root = std::sqrt(square[i] / (1 - std::pow(options.betas[1], number)));
        moved[i] = mean[i] / (1 - std::pow(options.betas[0], number)) / (root + options.eps);
        moved[i] += options.weight_decay * values[i];
        of_values += values[i] * values[i], of_moved += moved[i] * moved[i];
      }
      const double ratio = of_values == 0 || of_moved == 0 ? 1 : std::sqrt(of_values / of_moved);
      for (std::size_t i = first; i < end; ++i) values[i] -= options.lr * ratio * moved[i];
      first = end;
    }
  }
};

template <class Space, class T = float>
std::string lamb_difference(const lamb_options& options, double bound) {
  const std::vector<tenon::index> sizes = {3, 0, 9001, 1, 4096, 130};
  tenon_test::loose_parameters<Space, T> net(sizes);
  net.all[0].value = T{0};  // a norm of zero
  lamb_reference reference{options, {}, {}};
  tenon::train::lamb<Space, T> optimizer(options);
  auto expected = net.values();
  for (int step = 1; step <= 4; ++step) {
    const auto gradients = net.draw_gradients(step);
    const tenon::launch_counter counter;
    optimizer.step(net);
    if (step != 1 && counter.count() != 2) return tenon::compose_text(counter.count(), " launches");
    reference.step(sizes, expected, gradients, step);
    const auto text = tenon_test::difference(net.values(), expected, bound);
    if (!text.empty()) return tenon::compose_text("step ", step, ": ", text);
  }
  return "";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("lamb follows its definition", "[lamb]", tenon_test::spaces) {
  using space = TestType;
  CHECK(lamb_difference<space>({}, 2e-6) == "");
  CHECK(lamb_difference<space>({.lr = 0.1, .betas = {{0.5, 0.7}}, .eps = 1e-2, .weight_decay = 0.5}, 4e-6) == "");
  CHECK(lamb_difference<space, double>({.lr = 0.1, .weight_decay = 0}, 1e-12) == "");
}

TEST_CASE("lamb refuses options that make no sense", "[lamb]") {
  const auto text = tenon_test::text_of<tenon::error>([] { tenon::train::lamb<>({.weight_decay = -1}); });
  CHECK(text == "lamb: weight_decay: -1, expected at least 0");
}
