// tests/host/joined_rows.cpp: short rows of neighbouring results, copied so that they lie behind each other.
// What is read there is what strides name.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/host/joined_rows.hpp>

#include <vector>

#include "support/catch.hpp"

using tenon::array;
using tenon::detail::staged_rows;

TEST_CASE("rows of any steps are copied behind each other", "[joined_rows]") {
  std::vector<float> memory(4000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  for (const tenon::index width : {1, 2, 3, 4, 5, 7}) {
    for (const auto steps :
         {array<tenon::index, 2>{{1, 0}}, {{-9, 0}}, {{0, 1}}, {{0, -2}}, {{11, 1}}, {{-8, -1}}, {{1, 20}}}) {
      const array<tenon::index, 3> here{{2, 0, 0}};
      array<tenon::index, 3> stride{{100, steps[0], steps[1]}};
      const float* data = memory.data() + 2000;
      const float* const origin = data + 2 * 100;
      staged_rows<3> rows(here, {{16, 75}}, width);
      rows(stride, data);
      CHECK(rows.fits());
      CHECK(tenon::detail::has_flat_rows(stride, width));
      tenon::index wrong = 0;
      for (tenon::index row = 16; row < 75; ++row) {
        for (tenon::index i = 0; i < width; ++i) {
          const float found = data[2 * stride[0] + row * stride[1] + i * stride[2]];
          wrong += found == origin[row * steps[0] + i * steps[1]] ? 0 : 1;
        }
      }
      CAPTURE(width, steps[0], steps[1]);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("rows that lie behind each other stay, and what finds no room is said", "[joined_rows]") {
  const std::vector<double> memory(64 * 1024);
  array<tenon::index, 2> flat{{3, 1}}, apart{{4, 1}}, one{{0, 0}};
  const double* data = memory.data();
  staged_rows<2> rows({}, {{0, 1024}}, 3);
  rows(flat, data), rows(one, data);
  CHECK(data == memory.data());
  for (const bool fits : {true, true, false}) {
    auto stride = apart;
    const double* from = memory.data();
    rows(stride, from);
    CHECK(rows.fits() == fits);
  }
  staged_rows<2> positions({}, {{0, 1024}}, 3);
  tenon::index first = 0;
  positions(flat, first);
  CHECK(positions.fits());
  positions(apart, first);
  CHECK_FALSE(positions.fits());
}

namespace {

template <class T>
void check_weighted_sums(tenon::index results, tenon::index rows, tenon::index width) {
  tenon::tensor<T, tenon::rank<3>> x({results, rows, width});
  tenon::tensor<T, tenon::rank<2>> w({results, rows}), shift({results, width});
  x = tenon::cast<T>(tenon::iota<int>(x.shape()) * 7 % 23),
  w = tenon::cast<T>(tenon::iota<int>(w.shape()) * 5 % 13 - 6);
  shift = tenon::cast<T>(tenon::iota<int>(shift.shape()) % 3);
  const auto parts = tenon::slice(x, tenon::all_of, tenon::all_of, tenon::range(0, width, 2));
  const tenon::tensor<T, tenon::rank<2>> sums =
      tenon::sum((x - tenon::new_axis<1>(shift)) * tenon::new_axis<2>(w), tenon::drop<1>);
  const tenon::tensor<T, tenon::rank<2>> greatest = tenon::max(x * tenon::new_axis<2>(w), tenon::drop<1>),
                                         others = tenon::sum(parts * 2, tenon::drop<1>);
  tenon::index wrong = 0;
  for (tenon::index result = 0; result < results; ++result) {
    for (tenon::index i = 0; i < width; ++i) {
      T total = 0, most = x(result, 0, i) * w(result, 0), part = 0;
      for (tenon::index row = 0; row < rows; ++row) {
        const T product = x(result, row, i) * w(result, row);
        total += (x(result, row, i) - shift(result, i)) * w(result, row);  // whole numbers: any order
        most = product > most ? product : most, part += 2 * x(result, row, i);
      }
      wrong += sums(result, i) == total && greatest(result, i) == most ? 0 : 1;
      wrong += i % 2 == 1 || others(result, i / 2) == part ? 0 : 1;
    }
  }
  CAPTURE(results, rows, width);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("short rows that read one number for each are folded as rows that lie so", "[joined_rows]") {
  for (const tenon::index rows : {1, 7, 16, 31, 300, 1500}) {
    for (const tenon::index width : {1, 2, 3, 5, 6, 9}) {
      check_weighted_sums<float>(3, rows, width);
      check_weighted_sums<double>(1, rows, width);
    }
  }
}
