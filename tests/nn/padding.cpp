// tests/nn/padding.cpp: padding layers against plain loops, forward and backward, and their shapes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/module.hpp>
#include <tenon/nn/padding.hpp>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;
using tenon_test::text_of;

namespace {

/// The element along an axis that lies at `place` of the padded one, or -1.
using padded_element = tenon::index (*)(tenon::index place, tenon::index extent);

tenon::index beside_constant(tenon::index place, tenon::index extent) {
  return place >= 0 && place < extent ? place : -1;
}
tenon::index beside_reflection(tenon::index place, tenon::index extent) {
  while (place < 0 || place >= extent) place = place < 0 ? -place : 2 * (extent - 1) - place;
  return place;
}
tenon::index beside_replication(tenon::index place, tenon::index extent) {
  return std::min(std::max(place, tenon::index{0}), extent - 1);
}
tenon::index beside_circular(tenon::index place, tenon::index extent) { return (place + extent) % extent; }

struct padded_reference {
  std::vector<double> values, gradients;
};

/// Pads by definition; `widths` are PyTorch's, the last axis first, and `gradient` is that of the result.
template <int Rank>
padded_reference pad_by_definition(const std::vector<double>& x, const tenon::array<tenon::index, Rank>& extents,
                                   const std::vector<tenon::index>& widths, double value, padded_element element,
                                   const std::vector<double>& gradient) {
  padded_reference result{{}, std::vector<double>(x.size(), 0.0)};
  tenon::array<tenon::index, Rank> padded = extents, before{};
  for (std::size_t end = 0; end < widths.size(); ++end) {
    const int axis = Rank - 1 - static_cast<int>(end / 2);
    padded[axis] += widths[end];
    if (end % 2 == 0) before[axis] = widths[end];
  }
  tenon::index count = 1;
  for (const tenon::index extent : padded) count *= extent;
  for (tenon::index i = 0; i < count; ++i) {
    tenon::index from = 0, rest = i, step = 1;
    bool is_inside = true;
    for (int axis = Rank - 1; axis >= 0; --axis) {
      const tenon::index place = element(rest % padded[axis] - before[axis], extents[axis]);
      is_inside = is_inside && place >= 0;
      from += place * step;
      rest /= padded[axis], step *= extents[axis];
    }
    result.values.push_back(is_inside ? x[static_cast<std::size_t>(from)] : value);
    if (is_inside) result.gradients[static_cast<std::size_t>(from)] += gradient[static_cast<std::size_t>(i)];
  }
  return result;
}

/// Compares both passes of a layer with the definition.
template <class Space, class Shape, class Layer>
void compare_padding(const Shape& extents, Layer layer, const std::vector<tenon::index>& widths, padded_element element,
                     double value = 0) {
  const auto x = tenon_test::counting<float, Space>(extents, 1);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  const Shape output(layer.output_shape(extents).to_array());
  CHECK(y.shape().to_array() == output.to_array());
  const auto g =
      tenon_test::made_tensor<float, Space>(output, [](tenon::index i) { return static_cast<double>(i * 7 % 11) - 4; });
  tenon::tensor<float, Shape, Space> dx(extents);
  layer.backward(x, y, g, dx.write_view());
  const auto expected =
      pad_by_definition<Shape::rank>(numbers_of(x), extents.to_array(), widths, value, element, numbers_of(g));
  CHECK(numbers_of(y) == expected.values);
  CHECK(numbers_of(dx) == expected.gradients);
}

/// Members without values of their own, but for the number.
struct bordered_members : nn::module<bordered_members> {
  nn::zero_pad1d<1> zeros;
  nn::constant_pad1d<1, 0> constant{2};
  nn::circular_pad1d<1> around;
  nn::replication_pad1d<1> ends;
  nn::reflection_pad1d<1> mirror;
  auto forward(const auto& x) { return mirror(ends(around(constant(zeros(x))))); }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a border of one number", "[padding]", tenon_test::spaces) {
  compare_padding<TestType>(rank<3>(2, 3, 4), nn::zero_pad1d<2, 1>{}, {2, 1}, beside_constant);
  compare_padding<TestType>(rank<4>(2, 1, 3, 5), nn::constant_pad2d<>({1, 0, 2, 3}, nn::constant_border{3.5}),
                            {1, 0, 2, 3}, beside_constant, 3.5);
  compare_padding<TestType>(rank<5>(1, 2, 2, 3, 3), nn::constant_pad3d<1>{-1}, {1, 1, 1, 1, 1, 1}, beside_constant, -1);
  compare_padding<TestType>(rank<4>(2, 0, 3, 5), nn::zero_pad2d<1>{}, {1, 1, 1, 1}, beside_constant);
  compare_padding<TestType>(rank<3>(1, 1, 0), nn::zero_pad1d<2, 1>{}, {2, 1}, beside_constant);
}

TEMPLATE_LIST_TEST_CASE("a mirrored border", "[padding]", tenon_test::spaces) {
  compare_padding<TestType>(rank<3>(2, 3, 4), nn::reflection_pad1d<3, 2>{}, {3, 2}, beside_reflection);
  compare_padding<TestType>(rank<4>(2, 1, 4, 5), nn::reflection_pad2d<>({1, 2, 3, 0}), {1, 2, 3, 0}, beside_reflection);
  compare_padding<TestType>(rank<5>(1, 2, 3, 3, 4), nn::reflection_pad3d<1, 2, 0, 1, 2, 1>{}, {1, 2, 0, 1, 2, 1},
                            beside_reflection);
}

TEMPLATE_LIST_TEST_CASE("a border that repeats the edge", "[padding]", tenon_test::spaces) {
  compare_padding<TestType>(rank<3>(2, 3, 4), nn::replication_pad1d<5>{}, {5, 5}, beside_replication);
  compare_padding<TestType>(rank<4>(2, 1, 3, 1), nn::replication_pad2d<2>{}, {2, 2, 2, 2}, beside_replication);
  compare_padding<TestType>(rank<5>(1, 2, 2, 3, 3), nn::replication_pad3d<>(1), {1, 1, 1, 1, 1, 1}, beside_replication);
}

TEMPLATE_LIST_TEST_CASE("a border of the other end", "[padding]", tenon_test::spaces) {
  compare_padding<TestType>(rank<3>(2, 3, 4), nn::circular_pad1d<4, 3>{}, {4, 3}, beside_circular);
  compare_padding<TestType>(rank<4>(2, 1, 3, 5), nn::circular_pad2d<0, 2, 3, 1>{}, {0, 2, 3, 1}, beside_circular);
  compare_padding<TestType>(rank<5>(1, 2, 2, 3, 3), nn::circular_pad3d<1, 2, 3, 0, 0, 1>{}, {1, 2, 3, 0, 0, 1},
                            beside_circular);
}

TEST_CASE("padding layers are members of a module", "[padding]") {
  bordered_members net;
  CHECK(nn::parameter_count(net) == 0);
  const tenon::tensor<float, rank<3>> x = 1.0f + tenon::iota<float>(rank<3>(1, 1, 3));
  const tenon::no_grad in_use;
  CHECK(numbers_of(tenon::tensor<float, rank<3>>(net(x))) == std::vector<double>{0, 0, 0, 2, 0, 1, 2, 3, 0, 2, 2, 2});
}

TEST_CASE("types know padded extents", "[padding]") {
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::zero_pad2d<1, 0, 2, 3>{}.output_shape(shape<dyn, 3, 5, 6>{})), shape<dyn, 3, 10, 7>>);
  STATIC_REQUIRE(
      std::is_same_v<decltype(nn::reflection_pad1d<2>{}.output_shape(shape<4, 3, dyn>{})), shape<4, 3, dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::zero_pad1d<>(1).output_shape(shape<4, 3, 8>{})), shape<4, 3, dyn>>);
  CHECK(nn::circular_pad1d<>({1, 2}).output_shape(rank<2>(3, 5)) == rank<2>(3, 8));
}

TEST_CASE("borders that the input has no elements for are refused", "[padding]") {
  const tenon::tensor<float, rank<3>> x({1, 1, 3});
  CHECK(
      text_of<tenon::shape_error>([&] { nn::reflection_pad1d<3>{}.forward(x); }) ==
      "pad: axis 2: 3 before and 3 after, expected at least 0 and at most 2 for mode reflect of extent 3 (operand [1, "
      "1, 3])");
  CHECK(text_of<tenon::shape_error>([&] { nn::zero_pad1d<>({1, -1}).forward(x); }) ==
        "pad: axis 2: 1 before and -1 after, expected at least 0 for mode constant of extent 3 (operand [1, 1, 3])");
}
