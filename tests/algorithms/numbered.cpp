// tests/algorithms/numbered.cpp: elements by number, row after row and line after line, and a call for every number.
// Views of every kind are numbered by nested loops over their positions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/numbered.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"

namespace {

using tenon::index;

/// Views of a tensor of three axes: itself, permuted, with steps, flipped, broadcast.
template <class Body>
void for_each_view(const tenon::array<index, 3>& extents, const Body& body) {
  using tenon::all_of;
  const auto x = tenon_test::counting<int>(tenon::rank<3>(extents));
  body(x.view());
  body(tenon::permute(x, tenon::axis<2, 0, 1>));
  body(
      tenon::slice(x, all_of, tenon::range(0, tenon::open_end, 2), tenon::range(tenon::open_end, tenon::open_end, -1)));
  body(tenon::view<const int, tenon::rank<3>>(x.data(), tenon::rank<3>(extents), {{0, 0, 1}}));
}

template <class View>
void check_order(const View& elements) {
  const auto extents = elements.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2]);
  const auto numbered = tenon::in_order(elements);
  index number = 0, wrong = 0;
  for (index i = 0; i < extents[0]; ++i) {
    for (index j = 0; j < extents[1]; ++j) {
      for (index k = 0; k < extents[2]; ++k) wrong += &numbered[number++] != &elements(i, j, k) ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

template <class View>
void check_lines(const View& elements, int axis, bool reverse) {
  const auto extents = elements.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], axis, reverse);
  const auto numbered = tenon::line_by_line(elements, axis, reverse);
  const auto plain = tenon_test::lines_of(extents, axis);
  index number = 0, wrong = 0;
  for (auto line : plain) {
    if (reverse) line = tenon_test::line(line.rbegin(), line.rend());
    for (const std::size_t at : line) {
      const index offset = static_cast<index>(at), i = offset / extents[2] / extents[1];
      wrong += &numbered[number++] != &elements(i, offset / extents[2] % extents[1], offset % extents[2]) ? 1 : 0;
    }
  }
  CHECK(number == elements.size());
  CHECK(wrong == 0);
}

/// Writes numbers where they belong.
struct write_number {
  index* target;
  TENON_HOST_DEVICE void operator()(index number) const { target[number] += number; }
};

}  // namespace

TEST_CASE("elements are numbered in row-major order", "[numbered]") {
  for (const auto& extents : tenon_test::line_shapes)
    for_each_view(extents, [](const auto& each) { check_order(each); });
}

TEST_CASE("elements are numbered line after line", "[numbered]") {
  for (const auto& extents : tenon_test::line_shapes) {
    for_each_view(extents, [](const auto& each) {
      for (const int axis : {0, 1, 2}) check_lines(each, axis, false), check_lines(each, axis, true);
    });
  }
}

TEST_CASE("a number has one element, and a line all of its own", "[numbered]") {
  const tenon::tensor<float, tenon::shape<>> number({}, {7});
  CHECK(tenon::in_order(number.view())[0] == 7);
  const auto line = tenon_test::counting<int>(tenon::rank<1>(5));
  CHECK(tenon::line_by_line(line.view(), 0, true)[1] == 3);
}

TEMPLATE_LIST_TEST_CASE("every number has its call, once", "[numbered]", tenon_test::algorithm_spaces) {
  for (const tenon::index count : {0, 1, 255, 256, 257, 10000}) {
    auto target =
        tenon_test::made_tensor<tenon::index, TestType>(tenon::rank<1>(count), [](tenon::index i) { return i; });
    tenon::for_each_number<TestType>(count, 100, write_number{target.data()});
    const auto found = tenon_test::elements_of<TestType>(target);
    tenon::index wrong = 0;
    for (tenon::index i = 0; i < count; ++i) wrong += found[static_cast<std::size_t>(i)] != 2 * i ? 1 : 0;
    CHECK(wrong == 0);
  }
}
