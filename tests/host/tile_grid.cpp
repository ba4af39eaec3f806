// tests/host/tile_grid.cpp: the tiles that statements are cut into, and short rows that are written as one.
// Each statement is compared with its definition, element by element, over rows shorter and longer than are joined.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/tile_grid.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;
using tenon::rank;

namespace {

constexpr tenon::index short_columns[] = {2, 3, 5, 8, 16, 31, 63, 64, 65};
constexpr tenon::index few_or_many_rows[] = {1, 3, 4, 5, 100, 4099};

template <class T, class Shape>
tenon::tensor<T, Shape> counted_up(const Shape& extents, tenon::index step) {
  tenon::tensor<T, Shape> result(extents);
  for (tenon::index i = 0; i < result.size(); ++i)
    result.data()[i] = static_cast<T>(static_cast<float>((i * step) % 113));
  return result;
}

/// Whether a statement of `x` and a row that repeats is cut into tiles of a single row each.
template <class E>
bool joins_rows_of(const E& node, tenon::tensor<float, rank<2>>& to) {
  const auto extents = to.shape().to_array();
  const auto program = node.template lower<0>(tenon::identity_map<2>());
  const auto target = tenon::detail::make_target(to.write_view());
  tenon::detail::listed_statement<2, std::remove_cvref_t<decltype(target)>, std::remove_cvref_t<decltype(program)>>
      statement(extents, target, program);
  tenon::detail::simplify(*statement);
  return tenon::detail::tile_grid<2>(*statement).is_one_row;
}

/// `make(x, row, column)` of rows that repeat and columns that do, against `define(x, row, column)` of elements.
template <class T, class Make, class Define>
void check_short_rows(const Make& make, const Define& define) {
  for (const tenon::index columns : short_columns) {
    for (const tenon::index rows : few_or_many_rows) {
      const auto x = counted_up<T>(rank<2>(rows, columns), 7);
      const auto row = counted_up<T>(rank<1>(columns), 3);
      const auto column = counted_up<T>(rank<2>(rows, 1), 5);
      tenon::tensor<T, rank<2>> y({rows, columns});
      y = make(x, row, column);
      tenon::index wrong = 0;
      for (tenon::index i = 0; i < rows; ++i) {
        for (tenon::index j = 0; j < columns; ++j) wrong += y(i, j) == define(x(i, j), row(j), column(i, 0)) ? 0 : 1;
      }
      CAPTURE(rows, columns);
      CHECK(wrong == 0);
    }
  }
}

}  // namespace

#if !defined(__CUDACC__)
TEST_CASE("short rows are joined where destinations lie side by side", "[tile_grid]") {
  const auto x = counted_up<float>(rank<2>(20, 6), 1);
  const auto row = counted_up<float>(rank<1>(6), 1);
  tenon::tensor<float, rank<2>> y({20, 6}), few({3, 6}), wide({20, 65});
  CHECK(joins_rows_of(x + row, y));
  CHECK_FALSE(joins_rows_of(tenon::slice(x, tenon::range(0, 3)) + row, few));
  CHECK_FALSE(joins_rows_of(counted_up<float>(rank<2>(20, 65), 1) + counted_up<float>(rank<1>(65), 1), wide));
}
#endif

TEMPLATE_TEST_CASE("rows and columns that repeat over short rows", "[tile_grid]", std::uint8_t, std::int16_t, float,
                   double, std::int64_t) {
  using T = TestType;
  check_short_rows<T>([](const auto& x, const auto& row, const auto&) { return x + row; },
                      [](T x, T row, T) { return static_cast<T>(x + row); });
  check_short_rows<T>([](const auto& x, const auto&, const auto& column) { return column + x; },
                      [](T x, T, T column) { return static_cast<T>(column + x); });
  check_short_rows<T>([](const auto&, const auto& row, const auto& column) { return row - column; },
                      [](T, T row, T column) { return static_cast<T>(row - column); });
  check_short_rows<T>([](const auto& x, const auto& row, const auto& column) { return (x - row) + column - row; },
                      [](T x, T row, T column) { return static_cast<T>(x - row + column - row); });
}

TEST_CASE("points against points, with few coordinates", "[tile_grid]") {
  const auto x = counted_up<double>(rank<2>(37, 3), 1), y = counted_up<double>(rank<2>(50, 3), 11);
  tenon::tensor<double, rank<3>> apart({37, 50, 3});
  apart = tenon::new_axis<1>(x) - tenon::new_axis<0>(y);
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < 37; ++i) {
    for (tenon::index j = 0; j < 50; ++j) {
      for (tenon::index k = 0; k < 3; ++k) wrong += apart(i, j, k) == x(i, k) - y(j, k) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("parts of rows, rows backwards and rows across beside ones that repeat", "[tile_grid]") {
  using tenon::range;
  const tenon::index rows = 300, columns = 5;
  const auto wide = counted_up<float>(rank<2>(rows, 9), 7), across = counted_up<float>(rank<2>(columns, rows), 3);
  const auto row = counted_up<float>(rank<1>(columns), 3);
  tenon::tensor<float, rank<2>> y({rows, columns}), z({rows, 9});
  y = tenon::slice(wide, range(), range(2, 7)) * row + tenon::flip(tenon::transpose(across), axis<1>);
  z = -1.0f;
  tenon::slice(z, range(), range(2, 7)) = tenon::slice(wide, range(), range(2, 7)) + row;  // not side by side
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      wrong += y(i, j) == wide(i, j + 2) * row(j) + across(columns - 1 - j, i) ? 0 : 1;
      wrong += z(i, j + 2) == wide(i, j + 2) + row(j) ? 0 : 1;
    }
    wrong += z(i, 1) == -1 && z(i, 7) == -1 ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("positions, several destinations and statements in place over short rows", "[tile_grid]") {
  const tenon::index rows = 1000, columns = 3;
  auto x = counted_up<float>(rank<2>(rows, columns), 7);
  const auto before = x;
  const auto row = counted_up<float>(rank<1>(columns), 3);
  tenon::tensor<float, rank<2>> sum({rows, columns}), difference({rows, columns}), placed({rows, columns});
  tenon::evaluate(tenon::assign(sum, x + row), tenon::assign(difference, x - row));
  placed =
      tenon::index_grid<float>({rows, columns}, axis<1>) + row + tenon::index_grid<float>({rows, columns}, axis<0>);
  x -= row;
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      wrong += sum(i, j) == before(i, j) + row(j) && difference(i, j) == before(i, j) - row(j) ? 0 : 1;
      wrong += x(i, j) == difference(i, j) ? 0 : 1;
      wrong += placed(i, j) == static_cast<float>(j) + row(j) + static_cast<float>(i) ? 0 : 1;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("joined rows do not depend on threads", "[tile_grid]") {
  const auto x = counted_up<float>(rank<3>(40, 300, 3), 7);
  const auto row = counted_up<float>(rank<1>(3), 3);
  const auto middle = counted_up<float>(rank<3>(40, 1, 3), 5);
  CHECK(
      tenon_test::is_same_on_any_threads([&] { return tenon_test::numbers_of(tenon::exp((x - row) / 100) * middle); }));
}

#if !defined(__CUDACC__)
TEST_CASE("tiles of plain statements are equal shares of threads", "[tile_grid]") {
  const auto tiles_of = [](tenon::index count) {
    const tenon::tensor<float, rank<1>> x({count});
    tenon::tensor<float, rank<1>> y({count});
    const auto extents = y.shape().to_array();
    const auto target = tenon::detail::make_target(y.write_view());
    const auto program = tenon::as_node(x + x).template lower<0>(tenon::identity_map<1>());
    tenon::detail::listed_statement<1, std::remove_cvref_t<decltype(target)>, std::remove_cvref_t<decltype(program)>>
        statement(extents, target, program);
    const tenon::detail::tile_grid<2> grid(*statement);
    CHECK((grid.columns % 64 == 0 || grid.columns == count));
    CHECK(grid.tiles[1] * grid.columns >= count);
    CHECK((grid.tiles[1] - 1) * grid.columns < count);
    return grid.tiles[1];
  };
  CHECK(tiles_of(1) == 1);
  CHECK(tiles_of(tenon::detail::pointwise_grain) == 1);
#if defined(_OPENMP)
  omp_set_num_threads(2);
  for (const tenon::index count : {20000, 32768, 40000, 70000, 100000, 1000000}) CHECK(tiles_of(count) % 2 == 0);
  omp_set_num_threads(omp_get_num_procs());
#endif
}
#endif
