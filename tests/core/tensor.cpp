// tests/core/tensor.cpp: the owning tensor.
// Construction, copies, moves, extents and the spaces between which elements travel.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/tensor.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <ranges>
#include <span>
#include <variant>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon::tensor;
using tenon_test::text_of;

using vector_type = tensor<float, rank<1>>;
using matrix = tensor<float, rank<2>>;

struct unreachable : tenon::host {
  static constexpr bool host_accessible = false;
};

}  // namespace

TEST_CASE("tensors are made from extents", "[tensor]") {
  const matrix a({2, 3});
  CHECK(a.size() == 6);
  CHECK(a.extent(0) == 2);
  const vector_type b({5});
  CHECK(b.size() == 5);
  const tensor<int, shape<4, dyn>> c({4, 7});
  CHECK(c.size() == 28);
  const tensor<int, shape<4, dyn>> columns({7});
  CHECK(columns.shape() == rank<2>(4, 7));
  const tensor<double, shape<2, 2>> d;
  CHECK(d.size() == 4);
  const tensor<float, shape<>> e;
  CHECK(e.size() == 1);
  CHECK(e.data() != nullptr);
  CHECK(tensor<float, rank<3>>({2, 0, 3}).size() == 0);
}

TEST_CASE("tensors are made from blocks of elements", "[tensor]") {
  std::vector<tensor<float, shape<3>>> points(4);
  for (tenon::index i = 0; i < 4; ++i) points[static_cast<std::size_t>(i)] = {float(i), float(10 * i), 0.5f};
  const std::vector<float> expected = {0, 0, 0.5f, 1, 10, 0.5f, 2, 20, 0.5f, 3, 30, 0.5f};
  const matrix of_points(points);
  CHECK(of_points.shape() == rank<2>(4, 3));
  CHECK(std::ranges::equal(of_points, expected));
  const tensor same(points);
  static_assert(std::is_same_v<decltype(same), const tensor<float, shape<dyn, 3>>>);
  CHECK(std::ranges::equal(same, expected));
  const std::span all(points);
  const tensor<double, shape<4, 3>> doubles(all.first(4));
  CHECK(std::ranges::equal(doubles, expected));

  std::vector<std::array<float, 3>> arrays(4);
  for (std::size_t i = 0; i < 4; ++i)
    std::copy_n(expected.begin() + 3 * static_cast<std::ptrdiff_t>(i), 3, arrays[i].begin());
  CHECK(std::ranges::equal(matrix(arrays), expected));
  CHECK(std::ranges::equal(tensor<float, rank<3>>({2, 2, 3}, arrays), expected));
  const std::array<tensor<int, shape<2, 2>>, 2> matrices = {{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}};
  CHECK(tensor(matrices).shape() == rank<3>(2, 2, 2));
  CHECK(tensor<float, rank<3>>(matrices)(1, 0, 1) == 6);
  CHECK(matrix(std::vector<std::array<float, 3>>()).shape() == rank<2>(0, 3));
  CHECK(text_of<tenon::shape_error>([&] { (void)matrix({3, 3}, arrays); }) ==
        "tensor: values: 12 given, expected 9 (extents [3, 3])");
  CHECK(text_of<tenon::shape_error>([&] { (void)tensor<float, shape<3, 3>>(arrays); }) ==
        "shape: axis 0: extent 4, expected 3 (extents [4, 3])");
  static_assert(!std::is_constructible_v<tensor<float, shape<dyn, 2>>, std::vector<std::array<float, 3>>>);
  static_assert(!std::is_convertible_v<std::vector<std::array<float, 3>>, matrix>);
}

TEST_CASE("a tensor without memory is copied to another space as what it is", "[tensor]") {
  tensor<float, shape<2, 3>, tenon::host> x;
  x.reset();
  CHECK(x.data() == nullptr);
  CHECK(x.to<tenon::host>().size() == 6);
}

TEST_CASE("values are given in row-major order", "[tensor]") {
  const matrix a({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(a(0, 2) == 3.0f);
  CHECK(a(1, 0) == 4.0f);
  CHECK(a.at(1, 2) == 6.0f);
  CHECK_THROWS_AS(a.at(2, 0), tenon::index_error);
  const auto text = text_of<tenon::shape_error>([] { matrix({2, 3}, {1, 2}); });
  CHECK(text.find("2 given, expected 6") != std::string::npos);
  CHECK(text.find("[2, 3]") != std::string::npos);
}

TEST_CASE("extents that cannot be are refused", "[tensor]") {
  CHECK_THROWS_AS(matrix({-1, 3}), tenon::shape_error);
  CHECK_THROWS_AS((tensor<int, shape<4, dyn>>({5, 7})), tenon::shape_error);
  const tenon::index large = tenon::index{1} << 40;
  CHECK_THROWS_AS(matrix({large, large}), tenon::shape_error);  // the product does not fit 64 bits
  CHECK_THROWS_AS(matrix({large, large * 256}), tenon::shape_error);
}

TEST_CASE("a tensor assigned to one of its type replaces it", "[tensor]") {
  matrix a;
  CHECK(a.is_empty());
  a = matrix({2, 2}, {1, 2, 3, 4});
  CHECK_FALSE(a.is_empty());
  CHECK(a(1, 1) == 4.0f);
  a = matrix({1, 3}, {5, 6, 7});
  CHECK(a.shape() == rank<2>(1, 3));
  CHECK(a(0, 2) == 7.0f);
  const matrix other({3, 2}, {1, 2, 3, 4, 5, 6});
  a = other;
  CHECK(a.shape() == rank<2>(3, 2));
  CHECK(a(2, 1) == 6.0f);
  CHECK(other(2, 1) == 6.0f);
}

TEST_CASE("tensors of any extents are swapped, sorted and erased", "[tensor]") {
  std::vector<matrix> all;
  for (tenon::index rows = 1; rows < 4; ++rows) all.push_back(matrix({rows, 1}));
  all.erase(all.begin());
  CHECK(all.front().extent(0) == 2);
  std::swap(all[0], all[1]);
  CHECK(all.front().extent(0) == 3);
  STATIC_REQUIRE(std::is_nothrow_move_assignable_v<matrix>);
  STATIC_REQUIRE(std::is_nothrow_swappable_v<matrix>);
}

TEST_CASE("copies are deep and keep the memory of the destination", "[tensor]") {
  const matrix a({2, 2}, {1, 2, 3, 4});
  matrix b = a;
  b(0, 0) = 9;
  CHECK(a(0, 0) == 1.0f);
  const float* const memory = b.data();
  b = a;
  CHECK(b.data() == memory);
  CHECK(b(0, 0) == 1.0f);
  const matrix& same = b;
  b = same;
  CHECK(b(1, 1) == 4.0f);
  b = matrix({4, 1}, {1, 2, 3, 4});
  CHECK(b.extent(0) == 4);
}

TEST_CASE("a tensor is made from one of another type or shape", "[tensor]") {
  const tenon::tensor<float, tenon::shape<tenon::dyn, 2>> x({3, 2}, {1, 2, 3, 4, 5, 6});
  const tenon::tensor<float, tenon::shape<3, 2>> still = x;
  const tenon::tensor<tenon::half, tenon::rank<2>> narrow = still;
  const tenon::tensor<int, tenon::rank<2>> whole = narrow;
  CHECK(still(2, 1) == 6);
  CHECK(whole(1, 0) == 3);
  using other = tenon::tensor<float, tenon::shape<4, 2>>;
  CHECK(tenon_test::has(tenon_test::text_of<tenon::shape_error>([&] { other{x}; }), "axis 0: extent 3, expected 4"));
}

TEST_CASE("moves hand elements over and leave an empty tensor", "[tensor]") {
  matrix a({2, 2}, {1, 2, 3, 4});
  const float* const memory = a.data();
  matrix b = std::move(a);
  CHECK(b.data() == memory);
  CHECK(a.is_empty());
  a = matrix({5, 1});
  CHECK(a.extent(0) == 5);
  a = std::move(b);
  CHECK(a.data() == memory);
  CHECK(b.is_empty());
  matrix& same = a;
  a = std::move(same);
  CHECK(a(1, 1) == 4.0f);
  a = b;
  CHECK(a.is_empty());
  STATIC_REQUIRE(std::is_nothrow_move_constructible_v<matrix>);
}

TEST_CASE("a moved-from tensor of static extents can be assigned again", "[tensor]") {
  tensor<float, shape<2>> a({2}, {1, 2});
  const tensor<float, shape<2>> b = std::move(a);
  a = b;
  CHECK(a(1) == 2.0f);
  const tensor<float, shape<2>> c = std::move(a);
  a = c + 1.0f;
  CHECK(a(1) == 3.0f);
}

TEST_CASE("a tensor with an extent of zero is not asked for elements", "[tensor]") {
  vector_type none({0});
  const vector_type copy = none;
  CHECK(copy.size() == 0);
  none = copy;
  CHECK(none.extent(0) == 0);
}

TEST_CASE("views of a tensor see its elements", "[tensor]") {
  matrix a({2, 2}, {1, 2, 3, 4});
  const matrix& constant = a;
  a.view()(0, 1) = 20;
  CHECK(constant.view()(0, 1) == 20.0f);
  STATIC_REQUIRE(std::is_same_v<decltype(constant.view()), tenon::view<const float, rank<2>>>);
  STATIC_REQUIRE(std::is_same_v<decltype(a.view()), tenon::view<float, rank<2>>>);
}

TEST_CASE("numbers do not turn into tensors by themselves", "[tensor]") {
  STATIC_REQUIRE(!std::is_convertible_v<int, vector_type>);
  STATIC_REQUIRE(!std::is_convertible_v<float, matrix>);
}

TEST_CASE("a tensor without axes is a number, in every space", "[tensor]") {
  tensor<double, shape<>> scale;
  scale() = 0.75;
  const double implicit = scale;
  CHECK(implicit == 0.75);
  CHECK(static_cast<double>(scale.view()) == 0.75);
  CHECK(static_cast<int>(std::as_const(scale)) == 0);
  CHECK(static_cast<double>(scale.to<unreachable>()) == 0.75);
  CHECK(static_cast<double>(scale.to<unreachable>().view()) == 0.75);
  tensor<tenon::half, shape<>> short_scale;
  short_scale() = tenon::half(0.5f);
  const float widened = short_scale, of_view = short_scale.view();
  CHECK(widened == 0.5f);
  CHECK(of_view == 0.5f);
  STATIC_REQUIRE(std::is_convertible_v<tensor<bool, shape<>>, bool>);
  STATIC_REQUIRE(!std::is_convertible_v<vector_type, float>);
  STATIC_REQUIRE(!std::is_convertible_v<tenon::view<const float, rank<1>>, float>);
}

TEMPLATE_LIST_TEST_CASE("elements travel to every space and back", "[tensor]", tenon_test::spaces) {
  const tensor<int, shape<dyn, 3>> here({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto there = here.to<TestType>();
  STATIC_REQUIRE(std::is_same_v<typename decltype(there)::space, TestType>);
  const auto back = there.template to<TestType>().template to<tenon::host>();
  CHECK(back.shape() == here.shape());
  CHECK(std::vector<int>(back.data(), back.data() + 6) == std::vector<int>{1, 2, 3, 4, 5, 6});
  const tensor<int, shape<2>, TestType> written({2}, {7, 8});
  CHECK(written.template to<tenon::host>()(1) == 8);
}

TEMPLATE_LIST_TEST_CASE("elements are copied into a tensor that is there", "[tensor]", tenon_test::spaces) {
  const auto source = tenon_test::counting<float>(rank<2>(2, 3));
  tensor<float, shape<2, dyn>, TestType> target(shape<2, dyn>(2, 3)), fresh;
  const float* const kept = target.data();
  target.copy_from(source);
  CHECK(tenon_test::numbers_of(target) == tenon_test::numbers_of(source));
  CHECK(target.data() == kept);
  fresh.copy_from(target);
  CHECK(fresh.extent(1) == 3);
  fresh.copy_from(fresh);
  matrix back({2, 3});
  CHECK(&back.copy_from(fresh) == &back);
  CHECK(tenon_test::numbers_of(back) == tenon_test::numbers_of(source));
  CHECK(text_of<tenon::shape_error>([&] { fresh.copy_from(matrix({2, 4})); }) ==
        "copy_from: extents [2, 4] given, expected [2, 3] of the destination");
  CHECK(tenon_test::numbers_of(fresh) == tenon_test::numbers_of(source));
}

TEST_CASE("a tensor gives up its elements", "[tensor]") {
  matrix x({2, 3});
  x.reset();
  CHECK(x.is_empty());
  CHECK(x.data() == nullptr);
}

TEST_CASE("brackets give elements of a tensor of one axis", "[tensor]") {
  vector_type x = {1, 2, 3};
  x[1] = 5;
  x[-1] = 7;
  const auto& fixed = x;
  CHECK(fixed[1] == 5.0f);
  CHECK(fixed(2) == 7.0f);
  STATIC_REQUIRE(std::is_same_v<decltype(fixed[0]), const float&>);
}

TEMPLATE_LIST_TEST_CASE("tensors are made from vectors, spans and arrays", "[tensor]", tenon_test::spaces) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6.5f};
  const tensor<float, rank<1>, TestType> line(values);
  CHECK(tenon_test::numbers_of(line) == std::vector<double>{1, 2, 3, 4, 5, 6.5});
  const tensor<float, rank<2>, TestType> whole({2, 3}, values);
  CHECK(whole.shape() == rank<2>(2, 3));
  CHECK(tenon_test::numbers_of(whole) == std::vector<double>{1, 2, 3, 4, 5, 6.5});
  const tensor<int, shape<dyn, 2>, TestType> converted({2}, std::span<const float>(values).last(4));
  CHECK(tenon_test::numbers_of(converted) == std::vector<double>{3, 4, 5, 6});
  const tensor<float, shape<3>, TestType> fixed(std::array<double, 3>{1, 2, 3});
  CHECK(tenon_test::numbers_of(fixed) == std::vector<double>{1, 2, 3});
  CHECK(tensor<float, rank<1>, TestType>(std::vector<float>{}).size() == 0);
  CHECK(text_of<tenon::shape_error>([&] { tensor<float, rank<2>, TestType>({4, 2}, values); }) ==
        "tensor: values: 6 given, expected 8 (extents [4, 2])");
  CHECK_THROWS_AS((tensor<float, shape<3>, TestType>(values)), tenon::shape_error);
}

TEST_CASE("the type of a tensor follows from a vector", "[tensor]") {
  const tensor made(std::vector<double>{1, 2});
  STATIC_REQUIRE(std::is_same_v<decltype(made), const tensor<double, rank<1>>>);
  CHECK(made(1) == 2.0);
}

TEST_CASE("elements on the host are a range in row-major order", "[tensor]") {
  tensor<float, rank<2>> x = {{3, 1}, {2, 5}};
  std::vector<float> seen;
  for (const float value : x) seen.push_back(value);
  CHECK(seen == std::vector<float>{3, 1, 2, 5});
  for (float& value : x) value *= 2;
  CHECK(x(1, 1) == 10);

  const auto& constant = x;
  CHECK(std::accumulate(constant.begin(), constant.end(), 0.0f) == 22);
  CHECK(std::span<const float>(constant).size() == 4);
  std::ranges::sort(x);
  CHECK(std::vector<float>(x.begin(), x.end()) == std::vector<float>{2, 4, 6, 10});

  tensor<int, shape<3>> in_place = {1, 2, 3};
  CHECK(std::ranges::max(in_place) == 3);
  const tensor<float, rank<1>> nothing, none({0});
  CHECK(std::ranges::distance(nothing) == 0);
  CHECK(std::ranges::distance(none) == 0);
  STATIC_REQUIRE(std::ranges::contiguous_range<tensor<float, rank<3>>>);
  STATIC_REQUIRE(!std::ranges::range<tensor<float, rank<1>, unreachable>>);
}

TEST_CASE("templates for containers find the type of the values", "[tensor]") {
  STATIC_REQUIRE(std::is_same_v<tensor<float, rank<2>>::value_type, float>);
  STATIC_REQUIRE(std::is_same_v<tensor<int, shape<3>>::value_type, int>);
  STATIC_REQUIRE(std::is_same_v<tenon::view<const double, rank<1>>::value_type, double>);
}

TEST_CASE("traits say which tensors and views can be made of others", "[tensor]") {
  using vector = tensor<double, rank<1>>;
  using matrix_of_doubles = tensor<double, rank<2>>;
  using two = tensor<double, tenon::shape<2>>;
  using three = tensor<double, tenon::shape<3>>;
  using view_of_vector = tenon::view<double, rank<1>>;
  STATIC_REQUIRE(!std::is_constructible_v<matrix_of_doubles, vector>);
  STATIC_REQUIRE(!std::is_convertible_v<vector, matrix_of_doubles>);
  STATIC_REQUIRE(!std::is_constructible_v<matrix_of_doubles, view_of_vector>);
  STATIC_REQUIRE(!std::is_constructible_v<tenon::view<double, rank<2>>, vector&>);
  STATIC_REQUIRE(!std::is_constructible_v<two, three>);
  STATIC_REQUIRE(!std::is_constructible_v<tenon::view<double, tenon::shape<2>>, tenon::view<double, tenon::shape<3>>>);
  STATIC_REQUIRE(std::is_constructible_v<vector, three>);
  STATIC_REQUIRE(std::is_constructible_v<three, vector>);
  STATIC_REQUIRE(std::is_constructible_v<vector, tensor<float, rank<1>>>);
  STATIC_REQUIRE(std::is_constructible_v<vector, view_of_vector>);
  const std::variant<vector, matrix_of_doubles> either = vector(3);
  CHECK(either.index() == 0);
}
