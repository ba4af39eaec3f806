// tests/nn/recurrent_steps.cpp: in which order recurrences go over packed rows.
// Written out for sequences of lengths 3, 1, 1 and of equal lengths, in both directions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_steps.hpp>

#include "support/catch.hpp"

namespace nn = tenon::nn;

namespace {

using lines = std::vector<std::vector<tenon::index>>;

lines steps_of(const std::vector<nn::recurrent_step>& steps) {
  lines result;
  for (const auto& each : steps) result.push_back({each.row, each.count, each.previous, each.starts ? 1 : 0});
  return result;
}
lines ends_of(const nn::recurrent_steps& steps) {
  lines result;
  for (const auto& each : steps.ends()) result.push_back({each.row, each.place, each.count});
  return result;
}

}  // namespace

TEST_CASE("steps in the order of time stop with their sequences", "[recurrent_steps]") {
  nn::recurrent_steps steps;
  steps.set({3, 1, 1}, false);
  CHECK(steps_of(steps.steps()) == lines{{0, 3, 0, 1}, {3, 1, 0, 0}, {4, 1, 3, 0}});
  CHECK(ends_of(steps) == lines{{1, 1, 2}, {4, 0, 1}});
  CHECK(steps_of(steps.runs()) == steps_of(steps.steps()));
}

TEST_CASE("steps against time start where their sequences end", "[recurrent_steps]") {
  nn::recurrent_steps steps;
  steps.set({3, 1, 1}, true);
  CHECK(steps_of(steps.steps()) == lines{{4, 1, 0, 1}, {3, 1, 4, 0}, {1, 2, 1, 1}, {0, 1, 3, 0}});
  CHECK(ends_of(steps) == lines{{0, 0, 3}});
}

TEST_CASE("steps of equal lengths are one run beside the first", "[recurrent_steps]") {
  nn::recurrent_steps steps;
  steps.set({2, 2, 2}, false);
  CHECK(steps_of(steps.runs()) == lines{{0, 2, 0, 1}, {2, 4, 0, 0}});
  CHECK(ends_of(steps) == lines{{4, 0, 2}});
  steps.set({2, 2, 2}, true);
  CHECK(steps_of(steps.runs()) == lines{{0, 4, 2, 0}, {4, 2, 0, 1}});
  CHECK(ends_of(steps) == lines{{0, 0, 2}});
}

TEST_CASE("nothing has no steps", "[recurrent_steps]") {
  nn::recurrent_steps steps;
  for (const bool is_reversed : {false, true}) {
    steps.set({0, 0}, is_reversed);
    CHECK(steps.steps().empty());
    CHECK(steps.ends().empty());
  }
}
