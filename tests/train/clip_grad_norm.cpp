// tests/train/clip_grad_norm.cpp: gradients clipped by their norm, against its definition.
// Those that are not finite, and those that no backward pass reached, belong to it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/clip_grad_norm.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace {

template <class Network>
std::vector<double> gradients_of(Network& net) {
  std::vector<double> found;
  for (const auto& each : net.all) {
    const auto own = tenon_test::numbers_of(each.gradient);
    found.insert(found.end(), own.begin(), own.end());
  }
  return found;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("gradients are made no longer than the norm", "[clip_grad_norm]", tenon_test::spaces) {
  tenon_test::loose_parameters<TestType> net;
  auto expected = net.draw_gradients(1);
  double squares = 0;
  for (const double each : expected) squares += each * each;
  const double norm = std::sqrt(squares);
  CHECK(std::abs(tenon::train::clip_grad_norm(net, 2 * norm) - norm) < 1e-9 * norm);
  CHECK(gradients_of(net) == expected);
  CHECK(std::abs(tenon::train::clip_grad_norm(net, 0.25) - norm) < 1e-9 * norm);
  for (double& each : expected) each *= 0.25 / (norm + 1e-6);
  CHECK(tenon_test::difference(gradients_of(net), expected, 1e-6) == "");
}

TEST_CASE("gradients that no backward pass reached are left out", "[clip_grad_norm]") {
  tenon_test::loose_parameters<tenon::host> net({2, 1, 2});
  net.all[0].gradient = 3.0f;
  net.all[1].gradient = 4.0f;
  net.all[2].gradient.reset();
  CHECK(tenon::train::clip_grad_norm(net, 100) == std::sqrt(34.0));
  net.all[1].has_gradient = true;
  CHECK(tenon::train::clip_grad_norm(net, 2) == 4.0);
  CHECK(net.all[0].gradient(0) == 3.0f);
  CHECK(std::abs(net.all[1].gradient(0) - 2.0f) < 1e-5f);
}

TEST_CASE("norms that are not finite", "[clip_grad_norm]") {
  tenon_test::loose_parameters<tenon::host> net({2, 1});
  const float infinity = std::numeric_limits<float>::infinity();
  net.all[0].gradient = 3.0f;
  net.all[1].gradient = infinity;
  CHECK(tenon_test::text_of<tenon::error>([&] { tenon::train::clip_grad_norm(net, 1, true); }) ==
        "clip_grad_norm: the norm of all gradients is inf, expected a finite one");
  CHECK(net.all[0].gradient(1) == 3.0f);
  CHECK(std::isinf(tenon::train::clip_grad_norm(net, 1)));
  CHECK(net.all[0].gradient(1) == 0.0f);
  CHECK(std::isnan(net.all[1].gradient(0)));
  CHECK(std::isnan(tenon::train::clip_grad_norm(net, 1)));
  CHECK(std::isnan(net.all[0].gradient(1)));
  CHECK_THROWS_AS(tenon::train::clip_grad_norm(net, -1), tenon::error);
}
