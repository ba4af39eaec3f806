// tests/host/listed.cpp: statements that read what they write, or repeat over it, for elements of every size.
// Each is compared with a loop over a copy. Destinations are whole, transposed, reversed, or steps of others.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <tenon/expr/operations/complex.hpp>
#include <tenon/host/listed.hpp>
#include <tenon/run_log.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;

namespace {

template <class T>
auto listed_matrix(tenon::index rows, tenon::index columns) {
  return tenon_test::made_tensor<T>(rank<2>(rows, columns), [](tenon::index i) { return static_cast<int>(i % 101); });
}

template <class T, class Expected>
tenon::index count_wrong(const tenon::tensor<T, rank<2>>& got, const Expected& expected) {
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < got.extent(0); ++i) {
    for (tenon::index j = 0; j < got.extent(1); ++j) wrong += got(i, j) == expected(i, j) ? 0 : 1;
  }
  return wrong;
}

}  // namespace

TEMPLATE_TEST_CASE("statements that read other elements of their destination", "[listed]", std::uint8_t, std::int16_t,
                   float, double, std::complex<double>) {
  using T = TestType;
  for (const tenon::index size : {1, 2, 7, 40, 131}) {
    CAPTURE(size);
    const auto x = listed_matrix<T>(size, size);
    auto y = x;
    y = y + tenon::transpose(y);
    CHECK(count_wrong(y, [&](auto i, auto j) { return static_cast<T>(x(i, j) + x(j, i)); }) == 0);
    y = x;
    tenon::transpose(y) = y + x;
    CHECK(count_wrong(y, [&](auto i, auto j) { return static_cast<T>(x(j, i) + x(j, i)); }) == 0);
    y = x;
    tenon::flip(y, axis<1>) = y + x;
    CHECK(count_wrong(y, [&](auto i, auto j) { return static_cast<T>(x(i, size - 1 - j) + x(i, size - 1 - j)); }) == 0);
  }
}

TEMPLATE_TEST_CASE("statements that repeat over their destination", "[listed]", std::uint8_t, std::int16_t, float,
                   double, std::complex<double>) {
  using T = TestType;
  for (const tenon::index rows : {1, 3, 70, 1030}) {
    for (const tenon::index columns : {1, 2, 5, 67, 300}) {
      CAPTURE(rows, columns);
      const auto row = listed_matrix<T>(1, columns), column = listed_matrix<T>(rows, 1);
      auto y = listed_matrix<T>(rows, columns);
      y.view() = row + row;
      CHECK(count_wrong(y, [&](auto, auto j) { return static_cast<T>(row(0, j) + row(0, j)); }) == 0);
      y.view() = column + column;
      CHECK(count_wrong(y, [&](auto i, auto) { return static_cast<T>(column(i, 0) + column(i, 0)); }) == 0);
      auto wide = listed_matrix<T>(rows, 2 * columns);
      const auto before = wide;
      tenon::slice(wide, tenon::all_of, tenon::range(0, 2 * columns, 2)) = column + column;
      CHECK(count_wrong(wide, [&](auto i, auto j) {
              return j % 2 == 0 ? static_cast<T>(column(i, 0) + column(i, 0)) : before(i, j);
            }) == 0);
    }
  }
}

TEST_CASE("observers see statements of one axis with that axis", "[listed]") {
  const tenon::tensor<float, rank<1>> x = tenon::uniform<float>({300}, 1);
  tenon::tensor<float, rank<1>> y({300});
  tenon::run_log seen;
  y = x + 1;
  CHECK(seen.text().find("pointwise  float32 [300] = add(x, c)") != std::string::npos);
}
