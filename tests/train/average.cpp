// tests/train/average.cpp: the moving average of weights against its definition.
// The first update copies; parameters stay as they are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/average.hpp>
#include <tenon/train/sgd.hpp>

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
    net.all[2].gradient.reset();  // frozen weights are averaged too
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

namespace {

/// What an optimizer or an average keeps of a network, by the end of its names.
template <class Space, class Kept, class Network>
std::vector<double> kept_numbers(Kept& kept, Network& net, const std::string& end) {
  std::vector<double> found;
  kept.visit_state(net, [&](const std::string& name, auto& each) {
    if constexpr (requires { each.elements; }) {
      if (!name.ends_with(end)) return;
      const auto own = tenon_test::numbers_of<Space>(each.elements);
      found.insert(found.end(), own.begin(), own.end());
    }
  });
  return found;
}

/// Averages of parameters that move by less than they can show.
template <class Space, class Weight>
void check_average_of_masters() {
  tenon_test::loose_parameters<Space, Weight> net, used;
  tenon::train::sgd<Space, float, Weight> optimizer({.lr = 0x1p-16});
  tenon::train::average<Space, float, Weight> average({.decay = 0.75});
  std::vector<double> expected;
  for (int step = 1; step <= 4; ++step) {
    const auto slope = [&](tenon::index i) { return tenon_test::scattered(5 * i + step); };
    for (auto& each : net.all) each.gradient = tenon_test::made_tensor<Weight, Space>(each.value.shape(), slope);
    optimizer.step(net);
    const auto masters = kept_numbers<Space>(optimizer, net, ".master");
    if (step == 1) expected = masters;
    for (std::size_t i = 0; i < masters.size(); ++i) expected[i] = 0.75 * expected[i] + 0.25 * masters[i];
    const tenon::launch_counter counter;
    const auto allocated = tenon::blocks_of<Space>().added();
    average.update(net, optimizer);
    CHECK((step == 1 || counter.count() == 1));
    CHECK((step == 1 || tenon::blocks_of<Space>().added() == allocated));
    CHECK(kept_numbers<Space>(optimizer, net, ".master") == masters);
    CHECK(tenon_test::difference(kept_numbers<Space>(average, net, ".average"), expected, 2e-7) == "");
    CHECK(kept_numbers<Space>(average, net, ".master").empty());
  }
  average.copy_to(used);
  auto rounded = kept_numbers<Space>(average, net, ".average");
  for (double& each : rounded) each = static_cast<double>(static_cast<Weight>(static_cast<float>(each)));
  CHECK(used.values() == rounded);
  CHECK(average.updates() == 4);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("averages of short floats are of what the optimizer keeps", "[average]", tenon_test::spaces) {
  check_average_of_masters<TestType, tenon::half>();
  check_average_of_masters<TestType, tenon::bfloat16>();
}

TEST_CASE("an average with an optimizer of its own type is of the parameters", "[average]") {
  tenon_test::loose_parameters<tenon::host> net, used;
  tenon::train::sgd<> optimizer({.lr = 0.5});
  tenon::train::average<> average;
  average.update(net, optimizer);
  const auto values = net.values();
  for (auto& each : used.all) each.value = 0.0f;
  average.copy_to(used);
  CHECK(used.values() == values);
}

TEST_CASE("an average refuses an optimizer of another network", "[average]") {
  tenon_test::loose_parameters<tenon::host, tenon::half> net, other({3, 5});
  tenon::train::sgd<tenon::host, float, tenon::half> optimizer;
  optimizer.step(other);
  tenon::train::average<tenon::host, float, tenon::half> average;
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { average.update(net, optimizer); }) ==
        "optimizer: parameter 1 of 0 elements is followed, but is not of the network that it moves");
}

TEST_CASE("an average refuses another network than before", "[average]") {
  tenon_test::loose_parameters<tenon::host> net, other({3, 5});
  tenon::train::average<> average;
  average.update(net);
  const auto refusal = tenon_test::text_of<tenon::shape_error>([&] { average.update(other); });
  CHECK(refusal.starts_with("average: 2 parameters of other sizes than the "));
  CHECK(refusal.ends_with(" of its first step; an average belongs to one network"));
}

TEST_CASE("an average of nothing is not copied", "[average]") {
  tenon_test::loose_parameters<tenon::host> net;
  const auto before = net.values();
  tenon::train::average<> average;
  const auto copy = [&] { average.copy_to(net); };
  const char* const refusal = "average: copy_to: 0 updates, expected at least 1; call update(net) first";
  CHECK(tenon_test::text_of<tenon::error>(copy) == refusal);
  average.visit_state(net, [](const std::string&, auto&) {});  // as a checkpoint does
  CHECK(tenon_test::text_of<tenon::error>(copy) == refusal);
  CHECK(net.values() == before);
}

TEST_CASE("an average refuses a decay outside of 0 to 1", "[average]") {
  const auto text = tenon_test::text_of<tenon::error>([] { tenon::train::average<>({.decay = 1.5}); });
  CHECK(text == "average: decay: 1.5, expected at least 0 and at most 1");
}
