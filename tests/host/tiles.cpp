// tests/host/tiles.cpp: statements whose operands lie across the loop, along it with steps, or both.
// Each is compared with its definition, element by element, over shapes around the tiles.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/tiles.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;

using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

template <class T>
tenon::tensor<T, rank<2>> numbered(tenon::index rows, tenon::index columns) {
  tenon::tensor<T, rank<2>> result({rows, columns});
  for (tenon::index i = 0; i < rows * columns; ++i) result.data()[i] = static_cast<T>(static_cast<float>(i % 251));
  return result;
}

template <class Left, class Right>
bool holds_everywhere(tenon::index rows, tenon::index columns, const Left& left, const Right& right) {
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      if (!(left(i, j) == right(i, j))) return false;
    }
  }
  return true;
}

constexpr tenon::index row_counts[] = {1, 7, 15, 16, 33, 255, 256, 257, 530};
constexpr tenon::index column_counts[] = {1, 8, 31, 32, 33, 70, 130};

}  // namespace

TEMPLATE_TEST_CASE("transposed copies of elements of every size", "[tiles]", bool, std::uint8_t, tenon::half, float,
                   std::int32_t, double, std::int64_t) {
  for (const tenon::index rows : row_counts) {
    for (const tenon::index columns : column_counts) {
      const auto x = numbered<TestType>(columns, rows);
      tenon::tensor<TestType, rank<2>> y({rows, columns});
      y = tenon::transpose(x);
      CAPTURE(rows, columns);
      CHECK(holds_everywhere(rows, columns, y, [&](tenon::index i, tenon::index j) { return x(j, i); }));
    }
  }
}

TEST_CASE("a copied operand that is written twice, and one like it", "[tiles]") {
  const auto x = numbered<float>(40, 300), other = numbered<float>(41, 300);
  const auto like_it = tenon::slice(other, range(1, 41), range());
  tenon::tensor<float, rank<2>> y({300, 40});
  y = tenon::transpose(x) * tenon::transpose(like_it) - tenon::transpose(x) + tenon::transpose(like_it);
  CHECK(holds_everywhere(300, 40, y, [&](tenon::index i, tenon::index j) {
    return x(j, i) * other(j + 1, i) - x(j, i) + other(j + 1, i);
  }));
}

TEST_CASE("transposed copies too large for caches", "[tiles]") {
  for (const tenon::index columns : {2000, 2048, 2003}) {  // rows in whole lines, which are streamed, and others
    const auto x = numbered<float>(columns, 1999);
    tenon::tensor<float, rank<2>> y({1999, columns});
    y = tenon::transpose(x);
    CAPTURE(columns);
    CHECK(holds_everywhere(1999, columns, y, [&](tenon::index i, tenon::index j) { return x(j, i); }));
  }
}

TEST_CASE("operands along, across and with steps in one statement", "[tiles]") {
  for (const tenon::index rows : row_counts) {
    for (const tenon::index columns : column_counts) {
      const auto along = numbered<float>(rows, columns), across = numbered<float>(columns, rows),
                 wide = numbered<float>(2 * rows, 3 * columns), column = numbered<float>(rows, 1);
      tenon::tensor<float, rank<2>> y({rows, columns});
      y = along * 2 + tenon::transpose(across) - tenon::slice(wide, range(0, 2 * rows, 2), range(0, 3 * columns, 3)) +
          column;
      CAPTURE(rows, columns);
      CHECK(holds_everywhere(rows, columns, y, [&](tenon::index i, tenon::index j) {
        return along(i, j) * 2 + across(j, i) - wide(2 * i, 3 * j) + column(i, 0);
      }));
    }
  }
}

TEST_CASE("destinations across, with steps and backwards", "[tiles]") {
  for (const tenon::index rows : row_counts) {
    for (const tenon::index columns : column_counts) {
      const auto x = numbered<float>(columns, rows);
      tenon::tensor<float, rank<2>> across({rows, columns}), backwards({rows, columns}), spread({rows, 2 * columns});
      spread = -1.0f;
      auto transposed = tenon::transpose(across);
      transposed = x + 1;
      auto flipped = tenon::slice(backwards, range(open_end, open_end, -1), range(open_end, open_end, -1));
      flipped = tenon::transpose(x);
      auto every_second = tenon::slice(spread, range(0, rows), range(0, 2 * columns, 2));
      every_second = tenon::transpose(x);
      CAPTURE(rows, columns);
      CHECK(holds_everywhere(rows, columns, across, [&](tenon::index i, tenon::index j) { return x(j, i) + 1; }));
      CHECK(holds_everywhere(rows, columns, backwards,
                             [&](tenon::index i, tenon::index j) { return x(columns - 1 - j, rows - 1 - i); }));
      CHECK(holds_everywhere(rows, 2 * columns, spread,
                             [&](tenon::index i, tenon::index j) { return j % 2 == 0 ? x(j / 2, i) : -1.0f; }));
    }
  }
}

TEST_CASE("every permutation of four axes, read and written", "[tiles]") {
  const auto x = numbered<float>(12 * 17, 40 * 9);
  const auto source = tenon::reshape(x, rank<4>(12, 17, 40, 9));
  const auto check = [&](auto axes, const auto& permuted_at) {
    const auto read = tenon::evaluated_tensor(tenon::permute(source, axes) * 1);
    tenon::tensor<float, rank<4>> written({12, 17, 40, 9});
    auto into = tenon::permute(written, axes);
    into = read;
    bool right = numbers_of(written) == numbers_of(x);
    const auto shape = read.shape();
    for (tenon::index i = 0; i < read.size(); ++i) {
      const tenon::index d = i % shape.extent(3), c = i / shape.extent(3) % shape.extent(2),
                         b = i / (shape.extent(3) * shape.extent(2)) % shape.extent(1),
                         a = i / (shape.extent(3) * shape.extent(2) * shape.extent(1));
      right = right && read.data()[i] == permuted_at(a, b, c, d);
    }
    return right;
  };
  const auto at = [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) {
    return x.data()[((a * 17 + b) * 40 + c) * 9 + d];
  };
  CHECK(check(axis<0, 2, 3, 1>,
              [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) { return at(a, d, b, c); }));
  CHECK(check(axis<0, 3, 1, 2>,
              [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) { return at(a, c, d, b); }));
  CHECK(check(axis<3, 2, 1, 0>,
              [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) { return at(d, c, b, a); }));
  CHECK(check(axis<1, 0, 2, 3>,
              [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) { return at(b, a, c, d); }));
  CHECK(check(axis<2, 0, 3, 1>,
              [&](tenon::index a, tenon::index b, tenon::index c, tenon::index d) { return at(b, d, a, c); }));
}

TEST_CASE("a statement that reads what it writes is staged tile by tile", "[tiles]") {
  auto x = numbered<float>(300, 130);
  const auto before = x;
  auto part = tenon::slice(x, range(0, 300), range(0, 130, 2));
  part = part * 2 + 1;
  CHECK(holds_everywhere(300, 130, x, [&](tenon::index i, tenon::index j) {
    return before(i, j) * (j % 2 == 0 ? 2.0f : 1.0f) + (j % 2 == 0 ? 1.0f : 0.0f);
  }));
}

TEST_CASE("several outputs whose operands lie across", "[tiles]") {
  const auto x = numbered<float>(70, 300);
  tenon::tensor<float, rank<2>> first({300, 70});
  tenon::tensor<double, rank<2>> second({300, 70});
  tenon::evaluate(tenon::assign(first, tenon::transpose(x) + 1), tenon::assign(second, tenon::transpose(x) * 2));
  CHECK(holds_everywhere(300, 70, first, [&](tenon::index i, tenon::index j) { return x(j, i) + 1; }));
  CHECK(holds_everywhere(300, 70, second,
                         [&](tenon::index i, tenon::index j) { return static_cast<double>(x(j, i)) * 2; }));
}

TEST_CASE("tiles do not depend on threads", "[tiles]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(700, 301), 3));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::exp(tenon::transpose(x)) + 1); }));
}

TEST_CASE("one element for a whole row, of every size", "[tiles]") {
  for (const tenon::index columns : {1, 7, 16, 33, 300, 5000}) {
    const auto x = numbered<float>(9, columns), column = numbered<float>(9, 1), row = numbered<float>(1, columns);
    const auto bytes = numbered<std::uint8_t>(9, 1);
    const auto halves = numbered<tenon::half>(9, 1);
    const auto doubles = numbered<double>(9, 1);
    tenon::tensor<double, rank<2>> y({9, columns});
    y = x + column * 2 + row + bytes * 3 + halves * 5 + doubles;
    CAPTURE(columns);
    CHECK(holds_everywhere(9, columns, y, [&](tenon::index i, tenon::index j) {
      return static_cast<double>(x(i, j) + row(0, j)) + static_cast<double>(11 * i);
    }));
  }
}

TEST_CASE("positions move as elements do", "[tiles]") {
  const auto x = numbered<float>(70, 40);
  const auto counted = tenon::reshape(tenon::arange<float>(2800), rank<2>(40, 70));
  tenon::tensor<float, rank<2>> y({40, 70}), across({70, 40});
  y = tenon::transpose(x) + counted;
  CHECK(holds_everywhere(40, 70, y,
                         [&](tenon::index i, tenon::index j) { return x(j, i) + static_cast<float>(i * 70 + j); }));
  auto into = tenon::transpose(across);
  into = tenon::roll(tenon::transpose(x), 3, axis<1>) + tenon::flip(counted, axis<0>) +
         tenon::concatenate(axis<0>, tenon::transpose(tenon::slice(x, range(0, 70), range(0, 15))),
                            tenon::transpose(tenon::slice(x, range(0, 70), range(15, 40))));
  CHECK(holds_everywhere(70, 40, across, [&](tenon::index j, tenon::index i) {
    return x((j + 67) % 70, i) + static_cast<float>((39 - i) * 70 + j) + x(j, i);
  }));
}

TEST_CASE("statements of more operands than a list merges", "[tiles]") {
  const auto x = numbered<float>(7, 33), y = numbered<float>(33, 7);
  const auto four = (x + tenon::transpose(y)) + (x - tenon::transpose(y));
  const auto many = ((four + four) + (four + four)) + ((four + four) + (four + four));
  const auto most = (many + many) + (many + many);
  tenon::tensor<float, rank<2>> z({7, 33});
  z = most;
  CHECK(holds_everywhere(7, 33, z, [&](tenon::index i, tenon::index j) { return 64 * x(i, j); }));
}

TEST_CASE("what is read elsewhere than it is written goes through a temporary", "[tiles]") {
  auto x = numbered<float>(30, 30);
  const auto before = x;
  x = tenon::transpose(x) + x;
  CHECK(holds_everywhere(30, 30, x, [&](tenon::index i, tenon::index j) { return before(j, i) + before(i, j); }));
  auto v = numbered<float>(1, 100);
  const auto old = v;
  tenon::launch_counter launches;
  tenon::slice(v, range(0, 1), range(1, 100)) = tenon::slice(v, range(0, 1), range(0, 99)) * 2;
  CHECK(launches.count() == 2);
  CHECK(v(0, 0) == old(0, 0));
  CHECK(holds_everywhere(1, 99, v, [&](tenon::index, tenon::index j) { return j == 0 ? 0.0f : 2 * old(0, j - 1); }));
}

TEST_CASE("an element that is read where it is written needs none, whatever its axes", "[tiles]") {
  auto x = numbered<float>(30, 1);
  tenon::launch_counter launches;
  tenon::slice(x, range(0, 30, 2)) = tenon::slice(x, range(0, 30, 2)) * 2 + 1;
  CHECK(launches.count() == 1);
  CHECK(holds_everywhere(30, 1, x, [&](tenon::index i, tenon::index) {
    return static_cast<float>(i) * (i % 2 == 0 ? 2.0f : 1.0f) + (i % 2 == 0 ? 1.0f : 0.0f);
  }));
}

TEST_CASE("a part that repeats over its destination is evaluated once", "[tiles]") {
  const auto row = numbered<float>(1, 33);
  tenon::tensor<float, rank<2>> y({20, 33});
  tenon::launch_counter launches;
  y = tenon::exp(row);
  CHECK(launches.count() == 2);
  CHECK(y(0, 0) == 1);
  CHECK(holds_everywhere(20, 33, y, [&](tenon::index, tenon::index j) { return y(0, j); }));
}

TEMPLATE_TEST_CASE("statements of few rows, with operands that repeat, lie across or are written", "[tiles]", float,
                   double) {
  using index = tenon::index;
  for (const index rows : {1, 2, 4, 7, 8, 9}) {
    for (const index columns : {1, 3, 4, 16, 17, 65}) {
      const auto x = numbered<TestType>(rows, columns), row = numbered<TestType>(1, columns),
                 column = numbered<TestType>(rows, 1), lying = numbered<TestType>(columns, rows);
      const auto scale = numbered<std::int32_t>(1, columns);
      const auto value = [&](index i, index j) { return (x(i, j) - row(0, j)) / TestType(scale(0, j) + 1); };
      tenon::tensor<TestType, rank<2>> y({rows, columns}), wide({rows, columns + 5});
      CAPTURE(rows, columns);
      y = (x - row) / (scale + 1);
      CHECK(holds_everywhere(rows, columns, y, value));
      wide = TestType(-1);
      tenon::slice(wide, range(), range(2, columns + 2)) = (x - row) / (scale + 1);
      CHECK(holds_everywhere(rows, columns, tenon::slice(wide, range(), range(2, columns + 2)), value));
      for (index i = 0; i < rows; ++i) {
        CHECK(wide(i, 1) == TestType(-1));
        CHECK(wide(i, columns + 2) == TestType(-1));
      }
      y = x * row + column;
      CHECK(holds_everywhere(rows, columns, y, [&](index i, index j) { return x(i, j) * row(0, j) + column(i, 0); }));
      y = tenon::transpose(lying) - row;
      CHECK(holds_everywhere(rows, columns, y, [&](index i, index j) { return lying(j, i) - row(0, j); }));
      y = x;
      y = y - tenon::slice(y, range(0, 1), range());
      CHECK(holds_everywhere(rows, columns, y, [&](index i, index j) { return x(i, j) - x(0, j); }));
      y = row + tenon::index_grid<TestType>(rank<2>(rows, columns), axis<0>);
      CHECK(holds_everywhere(rows, columns, y, [&](index i, index j) { return row(0, j) + TestType(i); }));
    }
  }
}
