// tests/host/in_registers.cpp: values that are packs and numbers, and where folds put them.
// Every count up to a few packs, of each type; positions by counting; a matrix times a vector in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/in_registers.hpp>

#include <array>
#include <cmath>
#include <tenon/expr/random.hpp>
#include <tenon/products.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::index;
using tenon::shape;

template <class T, int Count, bool InPacks>
void check_row() {
  std::array<T, 2 * Count> from{};
  std::array<T, Count + 1> to{};
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<T>(i + 1);
  CAPTURE(Count, InPacks);
  for (const index stride : {index{1}, index{2}}) {
    tenon::detail::values_in_registers<T, Count, InPacks> row, sums;
    row.read(tenon::strided_cursor<T>{from.data(), stride});
    sums.set_product(T(3), row);
    sums.add_product(T(2), row);
    to.back() = T(-1);
    row.write(to.data());
    for (int i = 0; i < Count; ++i) CHECK(to[static_cast<std::size_t>(i)] == static_cast<T>(i * stride + 1));
    sums.write(to.data());
    for (int i = 0; i < Count; ++i) CHECK(to[static_cast<std::size_t>(i)] == static_cast<T>(5 * (i * stride + 1)));
    CHECK(to.back() == T(-1));
  }
}
template <class T, bool InPacks, int... Counts>
void check_rows(std::integer_sequence<int, Counts...>) {
  (check_row<T, Counts + 1, InPacks>(), ...);
}

template <class Axes>
using reduction_of = tenon::reduction<tenon::sum_monoid, Axes, tenon::leaf<float, shape<2, 3, 4>, tenon::host>>;
template <class Axes>
using folds_of = tenon::detail::known_folds<reduction_of<Axes>, shape<2, 3, 4>>;
using position = tenon::array<index, 3>;

static_assert(folds_of<tenon::axis_list<2>>::folds_rows && !folds_of<tenon::axis_list<0, 1>>::folds_rows);
static_assert(folds_of<tenon::axis_list<2>>::number(position{{1, 2, 3}}, false) == 5);
static_assert(folds_of<tenon::axis_list<2>>::number(position{{1, 2, 3}}, true) == 3);
static_assert(folds_of<tenon::axis_list<0>>::number(position{{1, 2, 3}}, false) == 11);
static_assert(folds_of<tenon::axis_list<0, 2>>::number(position{{1, 2, 3}}, true) == 7);
static_assert(folds_of<tenon::all_axes>::number(position{{1, 2, 3}}, true) == 23);
static_assert(folds_of<tenon::dropped_axes<1>>::number(position{{1, 2, 3}}, false) == 7);

static_assert(tenon::detail::known_rows<shape<2, 3, 4>>::count == 6);
static_assert(tenon::detail::known_rows<shape<2, 3, 4>>::position(4)[0] == 1);
static_assert(tenon::detail::known_rows<shape<2, 3, 4>>::position(4)[1] == 1);
static_assert(tenon::detail::known_rows<shape<>>::count == 1 && tenon::detail::known_rows<shape<>>::length == 1);

/// A matrix times a vector, into a vector of its own and into the one that is read.
template <class T, int Rows, int Depth>
void check_matrix_times_vector() {
  tenon::tensor<T, shape<Rows, Depth>> a;
  tenon::tensor<T, shape<Depth>> v;
  a = tenon::uniform<T>(a.shape(), 11, -1.0f, 1.0f), v = tenon::uniform<T>(v.shape(), 12, -1.0f, 1.0f);
  const tenon::tensor<T, shape<Rows>> w = tenon::matmul(a, v);
  tenon::tensor<T, shape<Depth>> same = v;
  if constexpr (Rows == Depth) same = tenon::matmul(a, same);
  CAPTURE(Rows, Depth);
  for (int i = 0; i < Rows; ++i) {
    double sum = 0;
    for (int k = 0; k < Depth; ++k) sum += double(a(i, k)) * double(v(k));
    CHECK(std::fabs(double(w(i)) - sum) <= (sizeof(T) == 4 ? 1e-6 : 1e-14) * Depth);
    if constexpr (Rows == Depth) CHECK(same(i) == w(i));
  }
}
template <class T, int Rows, int... Depths>
void check_depths(std::integer_sequence<int, Depths...>) {
  (check_matrix_times_vector<T, Rows, Depths + 1>(), ...);
}

}  // namespace

TEST_CASE("rows in registers are read, multiplied and written", "[in_registers]") {
  check_rows<float, true>(std::make_integer_sequence<int, 18>{});
  check_rows<double, true>(std::make_integer_sequence<int, 10>{});
  check_rows<int, false>(std::make_integer_sequence<int, 5>{});
}

TEST_CASE("a matrix times a vector agrees with its definition", "[in_registers]") {
  constexpr std::make_integer_sequence<int, 9> depths;
  check_depths<float, 1>(depths), check_depths<float, 3>(depths), check_depths<float, 4>(depths);
  check_depths<float, 6>(depths), check_depths<double, 3>(depths), check_depths<double, 5>(depths);
  check_matrix_times_vector<float, 4, 16>(), check_matrix_times_vector<float, 2, 32>();
}
