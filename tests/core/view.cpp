// tests/core/view.cpp: the non-owning window.
// Reading through strides of every sign, checked access, and assignment that writes elements.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/view.hpp>

#include <array>
#include <span>
#include <tenon/core/tensor.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::text_of;

template <class T, class Shape>
tenon::view<T, Shape> view_of(T* data, const Shape& shape) {
  return {data, shape};
}

}  // namespace

TEST_CASE("a view is cheap to copy and reads through its strides", "[view]") {
  STATIC_REQUIRE(std::is_trivially_copy_constructible_v<tenon::view<float, rank<2>>>);
  float memory[12];
  for (int i = 0; i < 12; ++i) memory[i] = static_cast<float>(i);
  const auto rows = view_of(memory, rank<2>(3, 4));
  CHECK(rows(2, 1) == 9.0f);
  CHECK(rows.size() == 12);
  CHECK(rows.extent(1) == 4);
  const tenon::view<float, rank<2>> flipped(memory + 11, rank<2>(4, 3), {{-1, -4}});
  CHECK(flipped(0, 0) == 11.0f);
  CHECK(flipped(3, 2) == 0.0f);
  CHECK(flipped.offset({{1, 1}}) == -5);
  const tenon::view<float, rank<1>> repeated(memory + 5, rank<1>(100), {{0}});
  CHECK(repeated(99) == 5.0f);
}

TEST_CASE("a view without axes has one element", "[view]") {
  int number = 7;
  const auto one = view_of(&number, tenon::shape<>{});
  CHECK(one() == 7);
  CHECK(one.size() == 1);
}

TEST_CASE("elements are written through a view, not through a view of const elements", "[view]") {
  float memory[3] = {1, 2, 3};
  const auto writable = view_of(memory, rank<1>(3));
  writable(1) = 20;
  CHECK(memory[1] == 20.0f);
  const tenon::view<const float, rank<1>> readable = writable;
  CHECK(readable(1) == 20.0f);
  STATIC_REQUIRE(std::is_same_v<decltype(readable(0)), const float&>);
  STATIC_REQUIRE(!std::is_constructible_v<tenon::view<float, rank<1>>, tenon::view<const float, rank<1>>>);
}

TEST_CASE("at names axis, index and extents of what is outside", "[view]") {
  float memory[6] = {};
  const auto matrix = view_of(memory, rank<2>(2, 3));
  CHECK(&matrix.at(1, 2) == memory + 5);
  const auto text = text_of<tenon::index_error>([&] { matrix.at(1, 3); });
  CHECK(text.find("axis 1: index 3") != std::string::npos);
  CHECK(text.find("[2, 3]") != std::string::npos);
  CHECK_THROWS_AS(matrix.at(-1, 0), tenon::index_error);
  CHECK_THROWS_AS(matrix.at(2, 0), tenon::index_error);
  CHECK_THROWS_AS(view_of(memory, rank<1>(0)).at(0), tenon::index_error);
}

TEST_CASE("assigning to a view writes its elements and leaves the window", "[view]") {
  float memory[6] = {0, 1, 2, 3, 4, 5}, source[3] = {10, 20, 30};
  const tenon::view<float, rank<1>> odd(memory + 1, rank<1>(3), {{2}});
  odd = view_of(source, rank<1>(3));
  CHECK(memory[0] == 0.0f);
  CHECK(memory[1] == 10.0f);
  CHECK(memory[3] == 20.0f);
  CHECK(memory[5] == 30.0f);
  odd = 7.0f;
  CHECK(memory[5] == 7.0f);
  CHECK(memory[4] == 4.0f);
  CHECK(odd.data() == memory + 1);
}

TEST_CASE("views of equal type assign elements too", "[view]") {
  float left[2] = {1, 2}, right[2] = {3, 4};
  auto a = view_of(left, rank<1>(2)), b = view_of(right, rank<1>(2));
  a = b;
  CHECK(left[1] == 4.0f);
  CHECK(a.data() == left);
  CHECK_THROWS_AS((a = view_of(right, rank<1>(0))), tenon::shape_error);
  CHECK(left[0] == 3.0f);
}

TEST_CASE("brackets give elements of one axis", "[view]") {
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const tenon::view<float, rank<1>> odd(memory + 1, rank<1>(3), {{2}});
  CHECK(&odd[1] == memory + 3);
  CHECK(&odd[-1] == memory + 5);
  odd[0] = 9.0f;
  CHECK(memory[1] == 9.0f);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::view<const float, rank<1>>(odd)[0]), const float&>);
}

namespace {

using images = tenon::shape<tenon::dyn, 1, 2, 3>;
float last_of(const tenon::view<const float, images>& x) { return x(x.extent(0) - 1, 0, 1, 2); }

}  // namespace

TEST_CASE("tensors and views of other shapes are taken where a view is asked for", "[view]") {
  tenon::tensor<float, rank<4>> x({2, 1, 2, 3});
  x(1, 0, 1, 2) = 7.0f;
  const auto& fixed = x;
  CHECK(last_of(x) == 7.0f);
  CHECK(last_of(fixed) == 7.0f);
  CHECK(last_of(x.view()) == 7.0f);
  CHECK(last_of(tenon::tensor<float, rank<4>>(x)) == 7.0f);
  CHECK(tenon_test::text_of<tenon::shape_error>([] { last_of(tenon::tensor<float, rank<4>>({2, 1, 2, 4})); }) ==
        "shape: axis 3: extent 4, expected 3 (extents [2, 1, 2, 4])");
  const tenon::view<float, images> writable = x;
  writable(0, 0, 0, 0) = 5.0f;
  CHECK(x(0, 0, 0, 0) == 5.0f);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype((fixed)), tenon::view<float, images>>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<tenon::view<const float, rank<4>>, tenon::view<float, images>>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<tenon::tensor<float, rank<3>>, tenon::view<const float, images>>);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<tenon::tensor<double, rank<4>>, tenon::view<const float, images>>);
}

TEST_CASE("views of vectors and arrays", "[view]") {
  std::vector<float> values = {1, 2, 3};
  const tenon::view x(values);
  STATIC_REQUIRE(std::is_same_v<decltype(x), const tenon::view<float, rank<1>>>);
  x(1) = 9.0f;
  CHECK(values[1] == 9.0f);
  CHECK(x.extent(0) == 3);
  CHECK(tenon::view(std::span(values).last(2))(1) == 3.0f);
  const std::array<double, 2> fixed = {1, 2};
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::view(fixed)), tenon::view<const double, rank<1>>>);
  CHECK_THROWS_AS((tenon::view<const float, tenon::shape<2>>(values)), tenon::shape_error);
}

TEST_CASE("views of vectors of blocks", "[view]") {
  std::vector<std::array<float, 3>> arrays = {{{1, 2, 3}}, {{4, 5, 6}}};
  const tenon::view x(arrays);
  STATIC_REQUIRE(std::is_same_v<decltype(x), const tenon::view<float, tenon::shape<tenon::dyn, 3>>>);
  CHECK(x.shape() == rank<2>(2, 3));
  x(1, 0) = 9;
  CHECK(arrays[1][0] == 9);
  CHECK(tenon::view<const float, rank<2>>(arrays)(0, 2) == 3);
  CHECK_THROWS_AS((tenon::view<float, tenon::shape<3, 3>>(arrays)), tenon::shape_error);
  const std::vector<tenon::tensor<double, tenon::shape<2, 2>>> matrices = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
  const tenon::view y(matrices);
  STATIC_REQUIRE(std::is_same_v<decltype(y), const tenon::view<const double, tenon::shape<tenon::dyn, 2, 2>>>);
  CHECK(y.data() == matrices[0].data());
  CHECK(y(1, 1, 0) == 7);
  CHECK(tenon::view(std::span(arrays).last(1))(0, 1) == 5);
  STATIC_REQUIRE(!std::is_constructible_v<tenon::view<float, rank<1>>, std::vector<std::array<float, 3>>&>);
}

TEST_CASE("a view wraps a built-in array", "[view]") {
  int numbers[3] = {1, 2, 3};
  tenon::view y(numbers);
  STATIC_REQUIRE(std::is_same_v<decltype(y), tenon::view<int, tenon::rank<1>>>);
  y(1) = 5;
  CHECK(numbers[1] == 5);
  const float fixed[2] = {1, 2};
  const tenon::view z(fixed);
  STATIC_REQUIRE(std::is_same_v<decltype(z), const tenon::view<const float, tenon::rank<1>>>);
  CHECK(z(1) == 2);
  CHECK(tenon::view<const int, tenon::rank<1>>(numbers).extent(0) == 3);
  STATIC_REQUIRE(!std::is_constructible_v<tenon::view<float, tenon::rank<1>>, const float(&)[2]>);
}
