// tests/train/sweep.cpp: one pass over every element of every parameter.
// Memory that lies askew, sums over all and over each parameter, and rules that leave parameters as they are.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/sweep.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

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
