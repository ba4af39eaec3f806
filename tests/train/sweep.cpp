// tests/train/sweep.cpp: one pass over every element of every parameter.
// Memory that lies askew, sums over all and over each parameter, and rules that leave parameters as they are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/sweep.hpp>

#include <tenon/tenon.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/sgd.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace sweeps {

namespace train = tenon::train;

/// p += 2 g, counts how often, and adds up p and g.
template <bool Each>
struct counting_rule : train::sweep_rule {
  static constexpr const char* name = "counting";
  static constexpr int states = 1, sum_count = 2;
  static constexpr bool sums_each = Each;
  float factor = 2;

  TENON_HOST_DEVICE static float settle(const float* sums) { return sums[0] * 100 + sums[1]; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V gradient, V* state, V* sums) const {
    sums[0] = sums[0] + value, sums[1] = sums[1] + gradient;
    value = value + gradient * factor;
    *state = *state + 1.0f;
  }
};

/// Reads totals and writes nothing but state.
struct reading_rule : train::sweep_rule {
  static constexpr int states = 1;
  static constexpr bool writes_value = false, is_step = false;
  float total = 0;

  TENON_HOST_DEVICE void take(float found) { total = found; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V&, V, V* state) const {
    *state = *state + total;
  }
};

/// Three parameters in one tensor of ones, the gradients of the second and the values of the third askew; gradients are
/// 2, 3 and 3.
template <class Space>
struct askew_parameters {
  static constexpr tenon::index first_size = 4096 + 131, second_size = 4099, third_size = 67;
  tenon::tensor<float, tenon::rank<1>, Space> values, gradients;
  train::parameter_table<float, Space> table;

  askew_parameters()
      : values(tenon::ones<float, Space>(tenon::rank<1>(9000))),
        gradients(
            tenon_test::made_tensor<float, Space>(tenon::rank<1>(9000), [](auto i) { return i < 4480 ? 2 : 3; })) {
    table.take({{values.data(), gradients.data(), first_size, 0},
                {values.data() + 4484, gradients.data() + 4483, second_size, 1},
                {values.data() + 8601, gradients.data() + 8600, third_size, 1}},
               1);
  }
  template <class Rule>
  void run(const Rule& rule, const Rule& other) {
    constexpr float most = std::numeric_limits<float>::infinity();
    train::sweep<Rule, float> all{table.chunks(), {most, most, nullptr}, {}, {}};
    all.rules[0] = rule, all.rules[1] = other;
    train::run_sweep<Space>(all);
  }
  std::vector<float> read(const float* from, tenon::index count) {
    return tenon_test::elements_of<Space>(tenon::view<const float, tenon::rank<1>, Space>(from, tenon::rank<1>(count)));
  }
};

}  // namespace sweeps

TEMPLATE_LIST_TEST_CASE("a sweep changes what belongs to it alone", "[sweep]", tenon_test::spaces) {
  sweeps::askew_parameters<TestType> given;
  const tenon::launch_counter counter;
  sweeps::counting_rule<false> other;
  other.factor = 5;
  given.run(sweeps::counting_rule<false>{}, other);
  CHECK(counter.count() == 1);
  const auto values = given.read(given.values.data(), 9000);
  for (int i = 0; i < 9000; ++i) {
    const bool is_other = (i >= 4484 && i < 8583) || (i >= 8601 && i < 8668);
    const float expected = i < 4227 ? 5.0f : is_other ? 16.0f : 1.0f;
    if (values[static_cast<std::size_t>(i)] != expected) FAIL("element " << i);
  }
  CHECK(given.table.steps() == 1);
  CHECK(given.read(given.table.chunks().totals, 1)[0] == 8393.0f * 100 + 4227 * 2 + 4166 * 3);
}

TEMPLATE_LIST_TEST_CASE("sums of each parameter reach a later sweep", "[sweep]", tenon_test::spaces) {
  sweeps::askew_parameters<TestType> given;
  sweeps::counting_rule<true> still;
  still.factor = 0;
  for (int step = 1; step <= 2; ++step) {  // counters are zero again
    given.run(still, still);
    const auto totals = given.read(given.table.chunks().totals, 4);
    CHECK(totals == std::vector<float>{0, 4227.0f * 102, 4099.0f * 103, 67.0f * 103});
  }
  given.run(sweeps::reading_rule{}, sweeps::reading_rule{});
  CHECK(given.table.steps() == 2);
  const auto first = given.read(given.table.state_of(0, 0), 4227),
             second = given.read(given.table.state_of(1, 0), 4099);
  CHECK(first == std::vector<float>(4227, 2 + 4227.0f * 102));
  CHECK(second == std::vector<float>(4099, 2 + 4099.0f * 103));
}

namespace {

struct kept_network : tenon::nn::module<kept_network> {
  std::vector<tenon::nn::linear<3, 3>> parts = std::vector<tenon::nn::linear<3, 3>>(1);
  tenon::nn::linear<3, 2> head;
  auto forward(const auto& x) { return head(tenon::relu(parts[0](x))); }
};
struct kept_with_optimizer {
  kept_network net;
  std::unique_ptr<tenon::train::adam<>> optimizer;
};

}  // namespace

TEST_CASE("an optimizer whose network was destroyed or moved says so", "[sweep]") {
  const std::string text =
      "optimizer: its network was destroyed or moved (a std::vector that grows moves what it holds); make the "
      "optimizer where the network stays";
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(tenon::rank<2>(5, 3), 1));
  const auto refusal = [](const auto& call) { return tenon_test::text_of<tenon::error>(call); };
  const auto step = [&](auto& optimizer, auto& net) { optimizer.step([&] { return tenon::sum(net(x)); }); };

  std::vector<kept_with_optimizer> list;
  list.push_back({tenon::nn::initialised<kept_network>(1), nullptr});
  list[0].optimizer = std::make_unique<tenon::train::adam<>>(list[0].net);
  CHECK_NOTHROW(step(*list[0].optimizer, list[0].net));
  list.reserve(list.capacity() + 1);
  auto& [net, optimizer] = list[0];
  CHECK(refusal([&] { step(*optimizer, net); }) == text);
  CHECK(refusal([&] { optimizer->zero_grad(); }) == text);
  CHECK(refusal([&] { optimizer->visit_state(net, [](const std::string&, auto&) {}); }) == text);
  optimizer = std::make_unique<tenon::train::adam<>>(net);
  net = tenon::nn::initialised<kept_network>(2);  // other parameters, in the same place
  CHECK_NOTHROW(step(*optimizer, net));

  auto held = std::make_unique<kept_network>(net);
  tenon::train::sgd<> other(*held);
  held.reset();
  CHECK(refusal([&] { other.step(); }) == text);
}
