// tests/plan/access.cpp: merging of axes, numbering of positions.
// Merged or not, every element must be visited once, at its own offset.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/access.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

template <int N>
using extents = tenon::array<tenon::index, N>;

/// Extents and strides of two operands after merging all axes.
struct merged {
  extents<3> shape, first, second;
};

merged merge(extents<3> shape, extents<3> first, extents<3> second) {
  tenon::strided_target<float, 3> one{nullptr, first}, other{nullptr, second};
  tenon::merge_axes(shape, 0, 3, one, other);
  return {shape, one.stride, other.stride};
}

}  // namespace

TEST_CASE("axes that are adjacent in every operand become one", "[access]") {
  const merged all = merge({{2, 3, 4}}, {{12, 4, 1}}, {{12, 4, 1}});
  CHECK(all.shape == extents<3>{{1, 1, 24}});
  CHECK(all.first[2] == 1);
  const merged last = merge({{2, 3, 4}}, {{12, 4, 1}}, {{0, 4, 1}});
  CHECK(last.shape == extents<3>{{1, 2, 12}});
  CHECK(last.second == extents<3>{{0, 0, 1}});
  const merged none = merge({{2, 3, 4}}, {{12, 4, 1}}, {{1, 2, 6}});
  CHECK(none.shape == extents<3>{{2, 3, 4}});
  CHECK(none.second == extents<3>{{1, 2, 6}});
  const merged broadcast = merge({{2, 3, 4}}, {{12, 4, 1}}, {{0, 0, 0}});
  CHECK(broadcast.shape == extents<3>{{1, 1, 24}});
  CHECK(broadcast.second[2] == 0);
}

TEST_CASE("axes of extent 1 do not stand in the way", "[access]") {
  const merged middle = merge({{2, 1, 4}}, {{4, 99, 1}}, {{4, 7, 1}});
  CHECK(middle.shape == extents<3>{{1, 1, 8}});
  const merged last = merge({{2, 4, 1}}, {{4, 1, 5}}, {{8, 2, 5}});
  CHECK(last.shape == extents<3>{{1, 1, 8}});
  CHECK(last.first[2] == 1);
  CHECK(last.second[2] == 2);
}

TEST_CASE("only the named axes are merged", "[access]") {
  extents<3> shape{{2, 3, 4}};
  tenon::strided_target<float, 3> target{nullptr, {{12, 4, 1}}};
  tenon::merge_axes(shape, 1, 3, target);
  CHECK(shape == extents<3>{{2, 1, 12}});
  CHECK(target.stride == extents<3>{{12, 0, 1}});
}

TEST_CASE("numbers are positions in row-major order", "[access]") {
  const extents<3> shape{{2, 1, 4}};
  for (tenon::index number = 0; number < 8; ++number) {
    extents<3> position{{9, 9, 9}};
    tenon::set_position(position, shape, 0, 3, number);
    CHECK(position == extents<3>{{number / 4, 0, number % 4}});
  }
  extents<3> position{{1, 9, 9}};
  tenon::set_position(position, shape, 1, 3, 3);
  CHECK(position == extents<3>{{1, 0, 3}});
  CHECK(tenon::count_between(shape, 0, 3) == 8);
  CHECK(tenon::count_between(shape, 1, 1) == 1);
}

TEST_CASE("a target finds its elements", "[access]") {
  float memory[10] = {};
  tenon::strided_target<float, 2> target{memory, {{5, 2}}};
  CHECK(target.at({{1, 2}}) == memory + 9);
  CHECK(target.step() == 2);
  CHECK(tenon::strided_target<float, 0>{memory, {}}.step() == 1);
}
