// tests/host/pointwise.cpp: the loop of pointwise statements.
// Sizes around packs, chunks and grains, and destinations with strides; nothing beside them may change.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/pointwise.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

TEST_CASE("every size around packs, chunks and grains", "[pointwise]") {
  for (const tenon::index count : {1, 15, 16, 17, 4095, 4096, 4097, 16385, 70000}) {
    const auto x = counting<float>(rank<1>(count));
    tenon::tensor<float, rank<1>> y({count + 2});
    y = -1.0f;
    tenon::slice(y, range(1, count + 1)) = x * 2 + 1;
    const auto found = numbers_of(y);
    bool right = found.front() == -1 && found.back() == -1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      right = right && found[i + 1] == 2 * static_cast<double>(i) + 1;
    }
    CAPTURE(count);
    CHECK(right);
  }
}

TEST_CASE("destinations with strides keep what lies between", "[pointwise]") {
  tenon::tensor<float, rank<2>> y({37, 41});
  y = -1.0f;
  const auto part = tenon::slice(y, range(0, 37, 3), range(40, tenon::open_end, -2));
  part = counting<float>(rank<2>(13, 21));
  for (tenon::index i = 0; i < 37; ++i) {
    for (tenon::index j = 0; j < 41; ++j) {
      const bool written = i % 3 == 0 && j % 2 == 0;
      CHECK(y(i, j) == (written ? static_cast<float>(i / 3 * 21 + (40 - j) / 2) : -1.0f));
    }
  }
}

TEST_CASE("permuted operands of rank four", "[pointwise]") {
  const auto x = counting<float>(rank<4>(3, 4, 5, 6));
  const auto moved = tenon::evaluated_tensor(tenon::permute(x, tenon::axis<2, 0, 3, 1>) + 0);
  bool right = true;
  for (tenon::index i = 0; i < moved.size(); ++i) {
    const tenon::index d = i % 4, c = i / 4 % 6, b = i / 24 % 3, a = i / 72;
    right = right && moved.data()[i] == x(b, d, a, c);
  }
  CHECK(right);
}

TEST_CASE("several outputs of different strides and types", "[pointwise]") {
  const auto x = counting<float>(rank<1>(100));
  tenon::tensor<double, rank<1>> doubles({100});
  tenon::tensor<float, rank<1>> spread({200});
  spread = 0.0f;
  auto every_other = tenon::slice(spread, range(0, 200, 2));
  tenon::evaluate(tenon::assign(doubles, x + 0.5), tenon::assign(every_other, x * 2));
  CHECK(doubles(99) == 99.5);
  CHECK(spread(198) == 198.0f);
  CHECK(spread(199) == 0.0f);
}

TEST_CASE("threads do not change what is computed", "[pointwise]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(300, 301), 3));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::exp(x) * tenon::tanh(x) + x); }));
}

TEMPLATE_TEST_CASE("rows that are taken are copied, whatever lies around them", "[pointwise]", float, double,
                   std::uint8_t, std::int16_t) {
  const auto value = [](tenon::index row, tenon::index column) {
    return static_cast<TestType>((row * 31 + column * 7) % 113);
  };
  for (const tenon::index length : {1, 2, 3, 15, 16, 17, 64, 1100}) {
    tenon::tensor<TestType, rank<2>> wide({23, length + 2}), doubled({23, 2 * length});
    for (tenon::index row = 0; row < 23; ++row) {
      for (tenon::index column = 0; column < length; ++column) {
        wide(row, column + 1) = doubled(row, 2 * column) = value(row, column);
      }
    }
    const auto rows = tenon::slice(wide, tenon::all_of, range(1, length + 1));
    const auto apart = tenon::slice(doubled, tenon::all_of, range(0, 2 * length, 2));
    for (const tenon::index count : {1, 2, 300}) {
      tenon::tensor<std::int32_t, rank<1>> chosen({count});
      for (tenon::index i = 0; i < count; ++i) chosen(i) = static_cast<std::int32_t>((i * 17 + 5) % 46 - 23);
      const auto right = [&](const auto& taken) {
        bool result = taken.shape() == rank<2>(count, length);
        for (tenon::index i = 0; i < count; ++i) {
          const tenon::index row = (chosen(i) + 23) % 23;
          for (tenon::index k = 0; k < length; ++k) result = result && taken(i, k) == value(row, k);
        }
        return result;
      };
      CAPTURE(length, count);
      CHECK(right(tenon::evaluated_tensor(tenon::take(rows, chosen, tenon::axis<0>))));
      CHECK(right(tenon::evaluated_tensor(tenon::take(apart, chosen, tenon::axis<0>))));
      tenon::tensor<TestType, rank<2>> gaps({count, length + 2}), turned({length, count});
      gaps = TestType{117};
      const auto inside = tenon::slice(gaps, tenon::all_of, range(1, length + 1));
      inside = tenon::take(rows, chosen, tenon::axis<0>);
      CHECK(right(inside));
      const auto edges = tenon::slice(gaps, tenon::all_of, range(0, length + 2, length + 1));
      CHECK(tenon::all(edges == TestType{117}));
      tenon::transpose(turned.write_view()) = tenon::take(rows, chosen, tenon::axis<0>);
      CHECK(right(tenon::evaluated_tensor(tenon::transpose(turned))));
    }
  }
}

TEST_CASE("copies of runs along several axes", "[pointwise]") {
  const auto x = counting<float>(rank<3>(4, 9, 21));
  const tenon::tensor<std::int64_t, rank<1>> chosen = {8, 0, -2, 3};
  const auto taken = tenon::evaluated_tensor(tenon::take(x, chosen, tenon::axis<1>));
  const auto rolled = tenon::evaluated_tensor(tenon::roll(x, 5, tenon::axis<2>));
  const auto moved =
      tenon::evaluated_tensor(tenon::permute(tenon::take(x, chosen, tenon::axis<1>), tenon::axis<1, 0, 2>));
  bool right = true;
  for (tenon::index i = 0; i < 4; ++i) {
    for (tenon::index k = 0; k < 21; ++k) {
      for (tenon::index j = 0; j < 4; ++j) {
        right = right && taken(i, j, k) == x(i, (chosen(j) + 9) % 9, k) && moved(j, i, k) == taken(i, j, k);
      }
      for (tenon::index j = 0; j < 9; ++j) right = right && rolled(i, j, (k + 5) % 21) == x(i, j, k);
    }
  }
  CHECK(right);
}

TEMPLATE_TEST_CASE("short rows that statements take from elsewhere", "[pointwise]", float, double, std::int16_t) {
  const auto chosen = tenon::evaluated_tensor(tenon::randint<std::int32_t>(rank<1>(301), 1, -23, 23));
  for (tenon::index length = 1; length < 70; length += length < 20 ? 1 : 9) {
    CAPTURE(length);
    const auto x = counting<TestType>(rank<2>(23, length)), y = counting<TestType>(rank<2>(301, length));
    const auto across = counting<TestType>(rank<2>(length, 301));
    const auto weight = counting<TestType>(rank<1>(301));
    tenon::tensor<TestType, rank<2>> gaps({301, length + 2}), turned({length, 301});
    gaps = TestType{117};
    const auto inside = tenon::slice(gaps, tenon::all_of, range(1, length + 1));
    const auto taken = tenon::take(x, chosen, tenon::axis<0>);
    const auto statement = taken * tenon::new_axis<1>(weight) - y + tenon::transpose(across);
    inside = statement;
    tenon::transpose(turned.write_view()) = statement;
    auto own = y;  // the destination is an operand, too
    own = tenon::roll(taken, 2, tenon::axis<1>) + own;
    bool right = true;
    for (tenon::index i = 0; i < 301; ++i) {
      const tenon::index row = (chosen(i) + 23) % 23;
      for (tenon::index k = 0; k < length; ++k) {
        const auto expected = static_cast<TestType>(x(row, k) * weight(i) - y(i, k) + across(k, i));
        right = right && inside(i, k) == expected && turned(k, i) == expected;
        right = right && own(i, (k + 2) % length) == static_cast<TestType>(x(row, k) + y(i, (k + 2) % length));
      }
    }
    CHECK(right);
    const auto edges = tenon::slice(gaps, tenon::all_of, range(0, length + 2, length + 1));
    CHECK(tenon::all(edges == TestType{117}));
  }
  const auto wide = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(40, 3, 7), 2));
  const auto many = tenon::evaluated_tensor(tenon::randint<std::int64_t>(rank<1>(5000), 3, 0, 40));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::take(wide, many, tenon::axis<0>) * 3); }));
}
