// tests/plan/record.cpp: which values of a row are put on record, and that reading them back changes nothing.
// Results with and without a record are compared bit for bit: rows that do not fit are computed again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/record.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

const tenon::tensor<float, rank<2>> recorded({4, 4});

template <class E>
constexpr int slot_of(const E&) {
  return tenon::recorded_slot<E>;
}

}  // namespace

TEST_CASE("only costly values that are read again are recorded", "[record]") {
  const auto powers = tenon::exp(recorded - tenon::max(recorded, axis<1>));
  CHECK(slot_of(powers / tenon::sum(powers, axis<1>)) == 2);
  CHECK(slot_of(tenon::softmax(recorded, axis<1>)) == 2);
  CHECK(slot_of(recorded - tenon::mean(recorded, axis<1>)) == -1);
  CHECK(slot_of(recorded / tenon::sum(powers, axis<1>)) == -1);
  CHECK(slot_of(tenon::standardise(recorded, axis<1>)) == -1);
  CHECK(slot_of(recorded + 1) == -1);
}

TEST_CASE("a record stands for as many slots as what it replaces", "[record]") {
  const auto powers = tenon::exp(recorded - tenon::max(recorded, axis<1>));
  const auto shares = powers / tenon::sum(powers, axis<1>);
  [[maybe_unused]] const auto replaced = tenon::detail::replace_recorded<std::remove_const_t<decltype(powers)>>(shares);
  STATIC_REQUIRE(tenon::slot_count<decltype(replaced)> == tenon::slot_count<decltype(shares)>);
  CHECK(tenon::detail::occurrences_equal(powers, shares));
  [[maybe_unused]] const auto others = tenon::exp(recorded * 2 - tenon::max(recorded, axis<1>));
  CHECK_FALSE(tenon::detail::occurs<std::remove_const_t<decltype(others)>, std::remove_const_t<decltype(shares)>>());
}

TEST_CASE("recorded and computed rows agree bit for bit", "[record]") {
  for (const tenon::index length : {33, 4096, 4097}) {
    const auto source = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(3, length), 7, -3.0f, 3.0f));
    const auto copy = source;
    const auto recorded = tenon::exp(source) / tenon::sum(tenon::exp(source), axis<1>);
    const auto computed = tenon::exp(copy) / tenon::sum(tenon::exp(source), axis<1>);
    CHECK(numbers_of(recorded) == numbers_of(computed));
  }
}

TEST_CASE("rows that are read through strides are recorded in order", "[record]") {
  const auto source = tenon::evaluated_tensor(tenon::uniform<double>(rank<2>(50, 20), 7, -3.0f, 3.0f));
  const auto result = tenon::evaluated_tensor(tenon::softmax(tenon::transpose(source), axis<1>));
  for (tenon::index row = 0; row < 20; ++row) {
    double total = 0;
    for (tenon::index i = 0; i < 50; ++i) total += std::exp(source(i, row));
    for (tenon::index i = 0; i < 50; ++i) CHECK(std::fabs(result(row, i) - std::exp(source(i, row)) / total) < 1e-14);
  }
}

TEST_CASE("a shorter row that repeats over the statement's is not recorded", "[record]") {
  const auto column = tenon_test::counting<float>(rank<2>(40, 1)), wide = tenon_test::counting<float>(rank<2>(40, 30));
  const auto waves = tenon::sin(column);
  const auto result = tenon::evaluated_tensor(wide * 0 + (waves - tenon::min(waves, axis<1>) / 2));
  for (int row = 0; row < 40; ++row) {
    for (int i = 0; i < 30; ++i) CHECK(result(row, i) == Approx(std::sin(row) / 2));
  }
}
