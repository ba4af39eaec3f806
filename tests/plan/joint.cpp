// tests/plan/joint.cpp: several statements as one node, one program and one target.
// Forms by type; what a target stores, and where; reductions that two outputs share.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/joint.hpp>
#include <tenon/plan/sharing.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon::stage;

namespace {

const tenon::tensor<float, rank<2>> table = tenon_test::counting<float>(rank<2>(3, 4));

template <class... Nodes>
auto joined(const Nodes&... nodes) {
  using node = tenon::joint<Nodes...>;
  return node{tenon::make_tuple_of(nodes...),
              typename node::shape_type(tenon::broadcast_all<tenon::sum_monoid>(nodes.shape()...).to_array())};
}
/// 100 in slot 0 and 200 in the other.
struct two_slots {
  template <int Slot>
  float value(tenon::index) const {
    return Slot == 0 ? 100.0f : 200.0f;
  }
};

template <class... Nodes>
constexpr stage form_of(const Nodes&...) {
  return tenon::stage_of<tenon::joint<Nodes...>>();
}

}  // namespace

TEST_CASE("the form of joined statements follows from all of them", "[joint]") {
  CHECK(form_of(table + 1, table * 2) == stage::pointwise);
  CHECK(form_of(tenon::sum(table, axis<0>), tenon::variance(table, axis<0>)) == stage::reduce);
  CHECK(form_of(tenon::sum(table), tenon::max(table) + 1) == stage::reduce);
  CHECK(form_of(tenon::sum(table, axis<1>), table * 2) == stage::rows);
  CHECK(form_of(tenon::softmax(table, axis<1>), tenon::logsumexp(table, axis<1>)) == stage::rows);
  CHECK(form_of(tenon::sum(table, axis<0>), table * 2) == stage::split);
  CHECK(form_of(tenon::sum(table, axis<0>), tenon::sum(table, axis<1>)) == stage::split);
  CHECK(form_of(tenon::matmul(table, tenon::transpose(table)), tenon::sum(table, axis<1>)) == stage::split);
}

TEST_CASE("a reduction in two outputs is one", "[joint]") {
  const auto node =
      joined(table - tenon::mean(table, axis<1>), tenon::mean(table, axis<1>) * 2, tenon::max(table, axis<1>));
  CHECK(tenon::first_equal_reductions(node) == tenon::array<int, 3>{{0, 0, 2}});
}

TEST_CASE("a value is the tuple of all values, and slots are numbered through", "[joint]") {
  const auto program = joined(table * 2, table - tenon::mean(table, axis<1>), tenon::max(table, axis<1>))
                           .lower<0>(tenon::identity_map<2>());
  const two_slots slots;
  const auto values = program.at(tenon::array<tenon::index, 2>{{1, 2}}).value(0, slots);
  CHECK(get<0>(values) == 12);
  CHECK(get<1>(values) == -94);
  CHECK(get<2>(values) == 200);
}

TEST_CASE("an output without an axis is stored at its first position", "[joint]") {
  float whole[6] = {}, rows[4] = {};
  const tenon::joint_target<2, float, float> target{
      {{{tenon::strided_target<float, 2>{whole, {{3, 1}}}}, {tenon::strided_target<float, 2>{rows, {{2, 0}}}}}}};
  const auto values = [](float number) { return tenon::make_tuple_of(number, 10 * number); };
  target.store(tenon::array<tenon::index, 2>{{1, 2}}, values(1));
  CHECK(whole[5] == 1);
  CHECK(rows[2] == 0);
  target.store(tenon::array<tenon::index, 2>{{1, 0}}, values(2));
  CHECK(whole[3] == 2);
  CHECK(rows[2] == 20);
  CHECK(get<1>(target.run_along({{0, 1}}, 0).runs).data == nullptr);
  CHECK(get<1>(target.run_along({{0, 0}}, 0).runs).step == 2);
}

TEST_CASE("runs are stored in packs, with steps and once", "[joint]") {
  std::vector<double> beside(40, -1.0), spread(120, -1.0), once(2, -1.0);
  const tenon::joint_run<double, double, double> run{tenon::make_tuple_of(
      tenon::target_run{beside.data()}, tenon::target_run{spread.data(), 3}, tenon::target_run{once.data(), 0})};
  const auto line = tenon_test::counting<float>(rank<1>(40));
  const auto program = joined(line * 1, line * 2, line + 7).lower<0>(tenon::identity_map<1>());
  tenon::write_run<tenon::reading::strided>(run, {{0, 37}}, program.at(tenon::array<tenon::index, 1>{}),
                                            tenon::no_slots{});
  for (std::size_t i = 0; i < 40; ++i) {
    CHECK(beside[i] == (i < 37 ? static_cast<double>(i) : -1.0));
    CHECK(spread[3 * i] == (i < 37 ? 2 * static_cast<double>(i) : -1.0));
    CHECK(spread[3 * i + 1] == -1.0);
  }
  CHECK(once == std::vector<double>{7, -1});
}

TEST_CASE("the extents of outputs agree, but that rows may have one element", "[joint]") {
  using extents = tenon::array<tenon::index, 2>;
  using outputs = tenon::array<extents, 2>;
  CHECK(tenon::detail::joint_extents<2, 2>(outputs{{{{4, 1}}, {{4, 5}}}}, 1) == extents{{4, 5}});
  CHECK(tenon::detail::joint_extents<2, 2>(outputs{{{{4, 0}}, {{4, 1}}}}, 1) == extents{{4, 0}});
  CHECK(tenon_test::text_of<tenon::shape_error>([] {
          (void)tenon::detail::joint_extents<2, 2>(outputs{{{{4, 1}}, {{4, 5}}}}, 2);
        }) == "evaluate: axis 1: extent 1, expected 5 as of another output ([4, 1] with [4, 5])");
}
