// tests/plan/boxes.cpp: which statements run box by box.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/boxes.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"

using tenon::axis;
using tenon::drop;
using tenon::dyn;
using tenon::shape;
using tenon::tensor;

namespace {

template <class E>
constexpr bool in_boxes(const E&) {
  return tenon::runs_in_boxes<tenon::host, E>;
}
inline constexpr bool has_boxes = !tenon::compiled_by_nvcc && TENON_CHECKED == 0 && tenon::fuses_operations;

}  // namespace

TEST_CASE("statements over many small boxes", "[plan][box]") {
  tensor<float, shape<dyn, 3>> p, q;
  tensor<float, shape<dyn, 1>> w;
  tensor<float, shape<dyn, 3, 3>> r;
  CHECK(in_boxes(tenon::matmul(r, r)) == has_boxes);
  CHECK(in_boxes(tenon::matmul(tenon::matmul(r, r), r)) == has_boxes);
  CHECK(in_boxes(tenon::cross(p, q)) == has_boxes);
  CHECK(in_boxes(p / tenon::norm_l2(p, axis<-1>)) == has_boxes);
  CHECK(in_boxes(p * w) == has_boxes);
  CHECK(in_boxes(tenon::argmax(p, drop<-1>)) == has_boxes);
  CHECK(in_boxes(tenon::sum(tenon::square(tenon::new_axis<1>(p) - tenon::new_axis<0>(q)), drop<-1>)) == has_boxes);
}

TEST_CASE("statements that other loops run", "[plan][box]") {
  tensor<float, shape<dyn, 3>> p, q;
  tensor<float, tenon::rank<2>> x({2, 2});
  tensor<float, shape<dyn, 64>> wide;
  tensor<float, shape<3, 3>> m;
  tensor<float, shape<5, 4, 4>> few;
  CHECK_FALSE(in_boxes(p + q));                        // elements as they lie
  CHECK_FALSE(in_boxes(tenon::sum(p * q, drop<-1>)));  // rows as they lie
  CHECK_FALSE(in_boxes(tenon::sum(p, drop<0>)));       // over all boxes
  CHECK_FALSE(in_boxes(p - tenon::mean(p, axis<0>)));  // the same
  CHECK_FALSE(in_boxes(tenon::softmax(x, axis<-1>)));  // extents of the run
  CHECK_FALSE(in_boxes(tenon::softmax(wide, axis<-1>)));
  CHECK_FALSE(in_boxes(tenon::roll(x, 1, axis<-1>)));
  CHECK_FALSE(in_boxes(tenon::matmul(m, m)));      // one box alone
  CHECK_FALSE(in_boxes(tenon::matmul(few, few)));  // few boxes, as types know
  CHECK_FALSE(in_boxes(tenon::argmax(x, drop<-1>)));
}

TEST_CASE("operands that repeat from row to row of boxes", "[plan][box]") {
  using tenon::detail::boxes_of;
  tensor<float, shape<dyn, 3>> p({4, 3}), q({5, 3});
  tensor<float, shape<dyn, dyn, 3>> grid({4, 5, 3});
  const auto pairs = tenon::new_axis<1>(p) - tenon::new_axis<0>(q);
  const auto distances = tenon::sum(tenon::square(pairs) * 2, drop<-1>);
  STATIC_REQUIRE(boxes_of<std::remove_const_t<decltype(pairs)>, 2>::shares_operands(0));
  STATIC_REQUIRE(boxes_of<std::remove_const_t<decltype(distances)>, 2>::shares_operands(0));
  STATIC_REQUIRE(boxes_of<decltype(grid * q), 2>::shares_operands(0));  // q has one axis less
  STATIC_REQUIRE(boxes_of<decltype(tenon::einsum<"nk,ck->nc">(p, q)), 2>::shares_operands(0));
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::einsum<"nck,ck->nc">(grid, q)), 2>::repeats(0));
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::square(grid) * 2), 2>::shares_operands(0));  // a number is no operand
  STATIC_REQUIRE_FALSE(boxes_of<decltype(tenon::cross(grid, grid)), 2>::shares_operands(0));
}
