// tests/contraction/host_panels.cpp: packed weights and products with them.
// Against sums in double: odd units and depths, one row and many, one operand and two, in both orders.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_panels.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

using tenon::rank;

template <class T>
auto drawn(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  return tenon::tensor<T, rank<2>>(tenon::uniform<T>(rank<2>(rows, columns), seed, -1.0f, 1.0f));
}

template <class T, int Gates>
std::vector<T> packed(const tenon::panel_layout<T, Gates>& layout, const tenon::tensor<T, rank<2>>& weight) {
  std::vector<T> result(static_cast<std::size_t>(layout.size()), T(7));
  layout.pack({weight.data(), weight.extent(1), 1}, result.data());
  return result;
}

/// Writes sums to [rows, gates * units], and counts what it was told to expect.
template <class T, class Layout>
struct kept_sums {
  tenon::tensor<double, rank<2>>& sums;
  tenon::index& expected;

  void prefetch(tenon::index, tenon::index) const { ++expected; }
  void operator()(tenon::index row, tenon::index first, const T* from) const {
    --expected;
    const tenon::index units = sums.extent(1) / Layout::gates;
    for (tenon::index gate = 0; gate < Layout::gates; ++gate) {
      for (tenon::index unit = first; unit < units && unit < first + Layout::panel_units; ++unit) {
        sums(row, gate * units + unit) = from[gate * Layout::panel_units + unit - first];
      }
    }
  }
};

template <class T, int Gates>
void compare(tenon::index units, tenon::index depth, tenon::index more_depth, tenon::index rows) {
  CAPTURE(Gates, units, depth, more_depth, rows);
  using layout = tenon::panel_layout<T, Gates>;
  const auto weight = drawn<T>(Gates * units, depth, 1), more = drawn<T>(Gates * units, more_depth, 2);
  const auto x = drawn<T>(rows, depth, 3), y = drawn<T>(rows, more_depth, 4);
  const layout panels{units, depth};
  const auto of_weight = packed(panels, weight), of_more = packed(layout{units, more_depth}, more);
  const tenon::panel_operand<T> first{of_weight.data(), depth, x.data(), depth},
      second{of_more.data(), more_depth, y.data(), more_depth};
  tenon::tensor<double, rank<2>> one(rank<2>(rows, Gates * units)), both(rank<2>(rows, Gates * units));
  tenon::index expected = 0;
  const auto run = [&](int count, tenon::index begin, tenon::index end, bool is_reversed, auto& sums) {
    tenon::multiply_panels<layout>(tenon::panel_operands<T>{{first, second}, count}, rows,
                                   tenon::array<tenon::index, 2>{{begin, end}}, is_reversed,
                                   kept_sums<T, layout>{sums, expected});
  };
  run(1, 0, panels.panels(), false, one);
  run(2, 0, panels.panels() / 2, true, both), run(2, panels.panels() / 2, panels.panels(), true, both);
  CHECK(expected == 0);
  using tenon::cast, tenon::matmul, tenon::transpose;
  const tenon::tensor<double, rank<2>> product = matmul(cast<double>(x), transpose(cast<double>(weight)));
  const tenon::tensor<double, rank<2>> sum = product + matmul(cast<double>(y), transpose(cast<double>(more)));
  const double bound = sizeof(T) == 8 ? 1e-13 : 1e-5;
  CHECK(tenon_test::difference(tenon_test::numbers_of(one), tenon_test::numbers_of(product), bound) == "");
  CHECK(tenon_test::difference(tenon_test::numbers_of(both), tenon_test::numbers_of(sum), bound) == "");
}

}  // namespace

TEST_CASE("products with packed weights are matrix products", "[host_panels]") {
  compare<float, 4>(7, 5, 3, 1);
  compare<float, 4>(48, 40, 1, 13);
  compare<float, 3>(33, 17, 20, 19);
  compare<float, 1>(150, 9, 33, 6);
  compare<double, 4>(19, 6, 5, 7);
  compare<double, 1>(1, 1, 1, 1);
}

TEST_CASE("products of no rows and no panels do nothing", "[host_panels]") {
  compare<float, 4>(5, 3, 2, 0);
  CHECK(tenon::panel_layout<float, 4>{0, 3}.panels() == 0);
}

TEST_CASE("units beyond the last are packed as zeros", "[host_panels]") {
  const tenon::panel_layout<float, 4> layout{1, 2};
  const auto weight = drawn<float>(4, 2, 1);
  const auto all = packed(layout, weight);
  for (tenon::index i = 0; i < layout.size(); ++i) {
    const bool is_unit = i % decltype(layout)::lanes == 0;
    CHECK((all[static_cast<std::size_t>(i)] != 0) == is_unit);
  }
}
