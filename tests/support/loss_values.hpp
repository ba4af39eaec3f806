// tests/support/loss_values.hpp: a loss by all reductions, and its gradients, against values of PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/grad/traced.hpp>
#include <tenon/nn/distance_loss.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace tenon_test {

/// As many numbers, each within 1e-8 of its own, or NaN as well.
inline void check_close(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    INFO(i << ": " << found[i] << ", expected " << expected[i]);
    if (std::isnan(expected[i])) CHECK(std::isnan(found[i]));
    else CHECK(std::fabs(found[i] - expected[i]) <= 1e-8 * (1 + std::fabs(expected[i])));
  }
}

/// `loss(reduction, tensors...)` of each element or row, their sum and mean, and the gradients of the sum.
template <class Loss, class... Tensors>
void check_loss(const Loss& loss, const std::vector<double>& values, const std::vector<std::vector<double>>& gradients,
                const Tensors&... tensors) {
  double total = 0;
  for (const double value : values) total += value;
  check_close(numbers_of(loss(tenon::nn::unreduced(), tensors...)), values);
  check_close(numbers_of(loss(tenon::nn::to_sum(), tensors...)), {total});
  check_close(numbers_of(loss(tenon::nn::to_mean(), tensors...)), {total / static_cast<double>(values.size())});
  REQUIRE(gradients.size() == sizeof...(Tensors));
  std::size_t next = 0;
  const auto check_gradients = [&](const auto&... variables) {
    tenon::backward(loss(tenon::nn::to_sum(), variables...));
    (check_close(numbers_of(variables.gradient()), gradients[next++]), ...);
  };
  check_gradients(tenon::variable(tensors)...);
}

}  // namespace tenon_test
