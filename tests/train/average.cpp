// tests/train/average.cpp: the moving average of weights against its definition.
// The first update copies; parameters stay as they are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/average.hpp>

#include "support/catch.hpp"
#include "support/optimizer.hpp"
#include "support/text_of.hpp"

TEMPLATE_LIST_TEST_CASE("weights are averaged in one launch", "[average]", tenon_test::spaces) {
  tenon_test::loose_parameters<TestType> net, used;
  tenon::train::average<TestType> average({.decay = 0.75});
  std::vector<double> expected;
  for (int step = 1; step <= 4; ++step) {
    net.draw_gradients(step);
    for (auto& each : net.all) each.value = each.gradient;
    net.all[2].gradient.give_up_elements();  // frozen weights are averaged too
    const auto values = net.values();
    if (step == 1) expected = values;
    for (std::size_t i = 0; i < values.size(); ++i) expected[i] = 0.75 * expected[i] + 0.25 * values[i];
    const tenon::launch_counter counter;
    const auto allocated = tenon::blocks_of<TestType>().added();
    average.update(net);
    CHECK((step == 1 || counter.count() == 1));
    CHECK((step == 1 || tenon::blocks_of<TestType>().added() == allocated));
    CHECK(net.values() == values);
    average.copy_to(used);
    CHECK(tenon_test::difference(used.values(), expected, 1e-6) == "");
  }
  CHECK(average.updates() == 4);
}

TEST_CASE("an average refuses a decay outside of 0 to 1", "[average]") {
  const auto text = tenon_test::text_of<tenon::error>([] { tenon::train::average<>({.decay = 1.5}); });
  CHECK(text == "average: 1 - decay: -0.500000, expected at least 0.000000");
}
