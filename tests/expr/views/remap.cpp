// tests/expr/views/remap.cpp: operands read at computed positions.
// Maps of the test's own, with and without parameters and elements outside, in every kind of statement.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/remap.hpp>

#include <functional>
#include <random>
#include <tenon/expr/views/concatenate.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/repeat.hpp>
#include <tenon/expr/views/roll.hpp>
#include <tenon/expr/views/take.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::array;
using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

/// Element (i, j) of a matrix read from position i * columns + j of a vector, 9 places later; -1 beyond its end.
struct shifted_map {
  tenon::index columns, count;
  float outside = -1;

  TENON_HOST_DEVICE array<tenon::index, 1> operator()(const array<tenon::index, 2>& position) const {
    return {{position[0] * columns + position[1] + 9}};
  }
  TENON_HOST_DEVICE bool contains(const array<tenon::index, 2>& position) const { return (*this)(position)[0] < count; }
};

/// Row i of the result starts `offset` later.
struct offset_map {
  TENON_HOST_DEVICE array<tenon::index, 2> operator()(const array<tenon::index, 2>& position,
                                                      tenon::index offset) const {
    return {{position[0], position[1] + offset}};
  }
};

using place_of = std::function<double(tenon::index, tenon::index)>;

/// Element (i, j) as `expected` says, in a statement, across it, in every second column from the back and in sums.
template <class Seen>
void check_elements(const Seen& seen, const place_of& expected) {
  using element = typename Seen::element;
  const auto extents = seen.shape().to_array();
  numbers all, turned, every_second, rows(static_cast<std::size_t>(extents[0])), plus_one;
  for (tenon::index i = 0; i < extents[0]; ++i) {
    for (tenon::index j = 0; j < extents[1]; ++j) {
      all.push_back(expected(i, j)), plus_one.push_back(expected(i, j) + 1);
      rows[static_cast<std::size_t>(i)] += expected(i, j);
    }
    for (tenon::index j = extents[1] - 1; j >= 0; j -= 2) every_second.push_back(expected(i, j));
  }
  for (tenon::index j = 0; j < extents[1]; ++j) {
    for (tenon::index i = 0; i < extents[0]; ++i) turned.push_back(expected(i, j));
  }
  CHECK(numbers_of(seen) == all);
  CHECK(numbers_of(seen + element(1.0f)) == plus_one);
  CHECK(numbers_of(tenon::transpose(seen)) == turned);
  CHECK(numbers_of(tenon::slice(tenon::flip(seen, axis<1>), tenon::all_of, tenon::range(0, extents[1], 2))) ==
        every_second);
  CHECK(numbers_of(tenon::sum(tenon::cast<double>(seen), axis<1>)) == rows);
}

/// All maps of two axes that move in runs, over a matrix whose element (i, j) is `value(i, j)`.
template <class Operand>
void check_maps(const Operand& x, std::mt19937& random, const place_of& value) {
  const tenon::index m = x.shape().extent(0), n = x.shape().extent(1);
  const auto draw = [&](tenon::index most) { return static_cast<tenon::index>(random()) % (most + 1); };
  const tenon::index down = draw(2 * m), right = draw(2 * n), above = draw(m - 1), left = draw(n - 1);
  CAPTURE(m, n, down, right, above, left);
  check_elements(tenon::roll(x, {down, right}, axis<0, 1>), [&](tenon::index i, tenon::index j) {
    return value((i + 2 * m - down) % m, (j + 2 * n - right) % n);
  });
  check_elements(tenon::tile(x, {{2, 3}}), [&](tenon::index i, tenon::index j) { return value(i % m, j % n); });
  check_elements(tenon::repeat(x, 3, axis<0>), [&](tenon::index i, tenon::index j) { return value(i / 3, j); });
  check_elements(tenon::repeat(x, 3, axis<1>), [&](tenon::index i, tenon::index j) { return value(i, j / 3); });
  check_elements(tenon::reshape(x + typename Operand::element(0.0f), tenon::rank<2>(n, m)),
                 [&](tenon::index i, tenon::index j) { return value((i * m + j) / n, (i * m + j) % n); });
  check_elements(tenon::pad(x, {{above, {left, right}}}, 7), [&](tenon::index i, tenon::index j) {
    const bool inside = i >= above && i - above < m && j >= left && j - left < n;
    return inside ? value(i - above, j - left) : 7.0;
  });
  const auto mirrored = [](tenon::index place, tenon::index extent) {
    place = place < 0 ? -place : place;
    return place < extent ? place : 2 * (extent - 1) - place;
  };
  check_elements(tenon::pad(x, {{above, left}}, tenon::reflect),
                 [&](tenon::index i, tenon::index j) { return value(mirrored(i - above, m), mirrored(j - left, n)); });
  const auto nearest = [](tenon::index place, tenon::index extent) {
    return place < 0 ? 0 : place < extent ? place : extent - 1;
  };
  check_elements(tenon::pad(x, {{above, left}}, tenon::replicate),
                 [&](tenon::index i, tenon::index j) { return value(nearest(i - above, m), nearest(j - left, n)); });
  std::vector<std::int32_t> chosen;
  for (int k = 0; k < 5; ++k) chosen.push_back(static_cast<std::int32_t>(draw(2 * m - 1) - m));
  const auto places = tenon_test::tensor_of<tenon::host>(rank<1>(5), chosen);
  check_elements(tenon::take(x, places, axis<0>), [&](tenon::index i, tenon::index j) {
    const std::int32_t at = chosen[static_cast<std::size_t>(i)];
    return value(at < 0 ? at + m : at, j);
  });
  const auto behind = tenon::concatenate(axis<1>, x, tenon::flip(x, axis<1>), x);
  check_elements(behind, [&](tenon::index i, tenon::index j) {
    return value(i, j < n ? j : j < 2 * n ? 2 * n - 1 - j : j - 2 * n);
  });
  check_elements(tenon::concatenate(axis<0>, x, x), [&](tenon::index i, tenon::index j) { return value(i % m, j); });
}

}  // namespace

TEMPLATE_TEST_CASE("places that move in runs are read in packs", "[remap]", float, double, std::int8_t, tenon::half) {
  std::mt19937 random(53);
  for (int round = 0; round < 6; ++round) {
    const auto extent = [&](unsigned most) { return static_cast<tenon::index>(1 + random() % most); };
    const tenon::index m = extent(7), n = extent(round % 2 == 0 ? 70 : 12);
    const auto of_place = [&](tenon::index i, tenon::index j) { return static_cast<float>((13 * i + 3 * j) % 61); };
    tenon::tensor<TestType, rank<2>> x({m, n}), turned({n, m});
    for (tenon::index i = 0; i < m; ++i) {
      for (tenon::index j = 0; j < n; ++j) x(i, j) = turned(j, i) = static_cast<TestType>(of_place(i, j));
    }
    check_maps(x.view(), random, of_place);
    check_maps(tenon::transpose(turned), random, of_place);
    check_maps(x + TestType(1.0f), random, [&](tenon::index i, tenon::index j) { return of_place(i, j) + 1; });
  }
}

TEMPLATE_LIST_TEST_CASE("a map computes positions and may leave the operand", "[remap]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<1>(40));
  const auto seen = tenon::make_remap(shifted_map{7, 40}, rank<2>(5, 7), tenon::as_node(x));
  numbers expected, turned, squares;
  for (int i = 0; i < 35; ++i) expected.push_back(i + 9 < 40 ? i + 9 : -1);
  for (std::size_t j = 0; j < 7; ++j) {
    for (std::size_t i = 0; i < 5; ++i) turned.push_back(expected[i * 7 + j]);
  }
  for (std::size_t i = 0; i < 5; ++i) {
    double total = 0;
    for (std::size_t j = 0; j < 7; ++j) total += expected[i * 7 + j] * expected[i * 7 + j];
    squares.push_back(total);
  }
  CHECK(numbers_of(seen) == expected);
  CHECK(numbers_of(tenon::transpose(seen)) == turned);
  CHECK(numbers_of(tenon::sum(seen * seen, axis<1>)) == squares);
  CHECK(tenon_test::difference(numbers_of(tenon::sum(tenon::softmax(seen, axis<1>), axis<1>)), numbers(5, 1.0), 1e-6) ==
        "");
}

TEMPLATE_LIST_TEST_CASE("parameters are expressions of their own", "[remap]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 40));
  const auto offsets = tenon_test::tensor_of<TestType>(rank<2>(3, 1), std::vector<std::int32_t>{0, 2, 1});
  const auto seen = tenon::make_remap(offset_map{}, rank<2>(3, 33), tenon::as_node(x * 2), tenon::as_node(offsets + 1));
  numbers expected;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 33; ++j) expected.push_back(2 * (40 * i + j + 1 + (i == 0 ? 0 : i == 1 ? 2 : 1)));
  }
  CHECK(numbers_of(seen) == expected);
  STATIC_REQUIRE(tenon::kernel_count<decltype(seen)> == 1);
}

TEMPLATE_LIST_TEST_CASE("reductions below a map, in operand or parameter, are evaluated first", "[remap]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 4));
  const auto row_totals = tenon::make_remap(offset_map{}, rank<2>(3, 1), tenon::as_node(tenon::sum(x, axis<1>)),
                                            tenon::as_node(tenon::cast<std::int32_t>(x * 0)));
  CHECK(numbers_of(tenon::slice(row_totals, tenon::all_of, tenon::only(0))) == numbers{6, 22, 38});
  const auto last = tenon::make_remap(offset_map{}, rank<2>(3, 1), tenon::as_node(x), tenon::argmax(x, axis<1>));
  CHECK(numbers_of(last - tenon::max(x, axis<1>)) == numbers{0, 0, 0});
}

TEST_CASE("a position follows every axis of the iteration", "[remap]") {
  const tenon::axis_map<2, 3> map{{{5, 6}}, {{1, -1, 0}}, {{2, 0, -1}}};
  const tenon::affine_positions<2, 3> positions(map);
  CHECK(positions.at({{1, 7, 3}}) == array<tenon::index, 2>{{2, 8}});
  CHECK(positions.last_step() == array<tenon::index, 2>{{-1, 0}});
  STATIC_REQUIRE(std::is_trivially_copyable_v<tenon::affine_positions<2, 3>>);
}
