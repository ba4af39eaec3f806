// tests/expr/tensordot.cpp: inner, outer and tensor products in every space.
// Results are compared with loops over all positions in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/tensordot.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::text_of;
using numbers = std::vector<double>;

template <class T, class Space, class Shape>
auto scattered_tensor(const Shape& extents) {
  return tenon_test::made_tensor<T, Space>(extents, scattered);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tensordot sums over pairs of axes", "[tensordot]", tenon_test::spaces) {
  const auto a = scattered_tensor<float, TestType>(rank<4>(3, 4, 5, 2));
  const auto b = scattered_tensor<float, TestType>(rank<3>(4, 7, 3));
  const auto x = a.template to<tenon::host>();
  const auto y = b.template to<tenon::host>();
  numbers expected;
  for (tenon::index k = 0; k < 5; ++k) {
    for (tenon::index l = 0; l < 2; ++l) {
      for (tenon::index m = 0; m < 7; ++m) {
        double total = 0;
        for (tenon::index i = 0; i < 3; ++i) {
          for (tenon::index j = 0; j < 4; ++j)
            total += static_cast<double>(x(i, j, k, l)) * static_cast<double>(y(j, m, i));
        }
        expected.push_back(total);
      }
    }
  }
  const auto result = tenon::tensordot(a, b, axis<0, 1>, axis<-1, 0>);
  CHECK(extents_of(result) == std::vector<tenon::index>{5, 2, 7});
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
  CHECK(difference(numbers_of(tenon::tensordot(a, b, axis<1, -4>, axis<0, 2>)), expected, 1e-5) == "");
  CHECK(tenon::kernel_count<decltype(tenon::relu(result))> == 1);
}

TEMPLATE_LIST_TEST_CASE("tensordot of a number of axes", "[tensordot]", tenon_test::spaces) {
  const auto a = scattered_tensor<double, TestType>(rank<2>(3, 4));
  const auto b = scattered_tensor<double, TestType>(rank<2>(4, 3));
  CHECK(difference(numbers_of(tenon::tensordot<1>(a, b)), numbers_of(tenon::matmul(a, b)), 1e-13) == "");
  const auto x = numbers_of(a), y = numbers_of(scattered_tensor<double, TestType>(rank<2>(3, 4)));
  double total = 0;
  for (std::size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
  const double found = tenon::tensordot<2>(a, a);
  CHECK(tenon_test::is_close(found, total, 1e-13));
  CHECK(extents_of(tenon::tensordot<0>(a, b)) == std::vector<tenon::index>{3, 4, 4, 3});
}

TEMPLATE_LIST_TEST_CASE("dot and outer of vectors", "[tensordot]", tenon_test::spaces) {
  for (const tenon::index n : {0, 1, 5, 1000}) {
    const auto a = scattered_tensor<float, TestType>(rank<1>(n));
    const auto b = tenon_test::counting<float, TestType>(rank<1>(n), -3, 0.5);
    const auto x = numbers_of(a), y = numbers_of(b);
    double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) total += x[i] * y[i];
    const float found = tenon::dot(a, b);
    CHECK(tenon_test::is_close(static_cast<double>(found), total, 1e-4));
  }
  const auto products = tenon::outer(tenon_test::counting<int, TestType>(rank<1>(3), 1),
                                     tenon_test::counting<int, TestType>(rank<1>(2), 5));
  CHECK(numbers_of(products) == numbers{5, 6, 10, 12, 15, 18});
  CHECK(tenon::kernel_count<decltype(products + 1)> == 1);
}

TEST_CASE("operands whose axes come in order are factors as they are", "[tensordot]") {
  const tenon::tensor<float, rank<1>> a = {1, 2, 3}, b = {4, 5, 6};
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::dot(a, b)), decltype(tenon::cast<float>(tenon::sum(a * b)))>);
  CHECK(static_cast<float>(tenon::dot(a, b)) == 32);
}

TEST_CASE("static extents and element types of tensor products", "[tensordot]") {
  const tenon::tensor<tenon::half, shape<2, 3, 4>> a;
  const tenon::tensor<float, shape<4, 5>> b;
  using node = decltype(tenon::tensordot<1>(a, b));
  STATIC_REQUIRE(std::is_same_v<node::element, float>);
  STATIC_REQUIRE(std::is_same_v<node::shape_type, shape<2, 3, 5>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::outer(b, b))::shape_type, shape<4, 5, 4, 5>>);
}

TEST_CASE("pairs of extents that differ are refused", "[tensordot]") {
  const tenon::tensor<float, rank<2>> a({2, 3}), b({4, 2});
  CHECK(text_of<tenon::shape_error>([&] { tenon::tensordot<1>(a, b); }) ==
        "tensordot: axes 1 and 0: extents 3 and 4 differ (operands [2, 3] and [4, 2])");
  CHECK(text_of<tenon::shape_error>([&] {
          tenon::dot(tenon_test::counting<float>(rank<1>(2)), tenon_test::counting<float>(rank<1>(3)));
        }) == "dot: axes 0 and 0: extents 2 and 3 differ (operands [2] and [3])");
}
