// tests/nn/per_axis.cpp: one number for each axis, in a type and at run time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/per_axis.hpp>

#include "support/catch.hpp"

namespace nn = tenon::nn;

namespace {

template <nn::per_axis<2> Each>
struct of_type {
  static constexpr tenon::index sum = Each[0] + Each[1];
};

struct squares {
  static constexpr tenon::index at(int axis) { return axis * axis; }
};

}  // namespace

TEST_CASE("one number stands for all axes", "[per_axis]") {
  const nn::per_axis<3> all = 4, each{1, 2, 3};
  CHECK((all[0] == 4 && all[1] == 4 && all[2] == 4));
  CHECK((each[0] == 1 && each[1] == 2 && each[2] == 3));
  CHECK(all == nn::per_axis<3>(4, 4, 4));
  CHECK(!(all == each));
  STATIC_REQUIRE(of_type<3>::sum == 6);
  STATIC_REQUIRE(of_type<nn::per_axis<2>(3, 4)>::sum == 7);
}

TEST_CASE("shapes are made of the extents that a type says", "[per_axis]") {
  STATIC_REQUIRE(std::is_same_v<nn::shape_of<squares, 3>, tenon::shape<0, 1, 4>>);
}
