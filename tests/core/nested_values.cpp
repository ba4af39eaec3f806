// tests/core/nested_values.cpp: tensors written as values in braces.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/nested_values.hpp>

#include <tenon/core/tensor.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon::tensor;
using tenon_test::numbers_of;
using tenon_test::text_of;

using line = tensor<float, rank<1>>;
using matrix = tensor<float, rank<2>>;
using numbers = std::vector<double>;

struct block {
  matrix weight{{1, 2}, {3, 4}};
  line bias = {5, 6};
};

}  // namespace

TEST_CASE("a matrix is written as its rows", "[nested_values]") {
  const matrix w = {{1, 2}, {3, 4}};
  CHECK(w.shape() == rank<2>(2, 2));
  CHECK(numbers_of(w) == numbers{1, 2, 3, 4});
  const matrix row{{1, 2, 3}}, rows({{1, 2}, {3, 4}, {5, 6}});
  CHECK(row.shape() == rank<2>(1, 3));
  CHECK(rows.shape() == rank<2>(3, 2));
  CHECK(numbers_of(block{}.weight) == numbers{1, 2, 3, 4});
  CHECK(numbers_of(block{}.bias) == numbers{5, 6});
}

TEST_CASE("one axis takes two values and more", "[nested_values]") {
  line v = {1, 2.5, 3};
  CHECK(numbers_of(v) == numbers{1, 2.5, 3});
  v = {4, 5};
  CHECK(numbers_of(v) == numbers{4, 5});
  STATIC_REQUIRE(!std::is_convertible_v<int, line>);
}

TEST_CASE("parentheses hold extents", "[nested_values]") {
  const tenon::index count = 9;
  CHECK(line({5}).size() == 5);
  CHECK(line({count}).size() == 9);
  CHECK(line(count).size() == 9);
  CHECK(line({1}, {5}).size() == 1);
  CHECK(matrix({512, 1024}).shape() == rank<2>(512, 1024));
  CHECK(numbers_of(matrix({2, 2}, {1, 2, 3, 4})) == numbers{1, 2, 3, 4});
}

TEST_CASE("three and four axes, static and dynamic extents, nest as deep", "[nested_values]") {
  const tensor<int, rank<3>> cube = {{{1, 2}, {3, 4}, {5, 6}}};
  CHECK(cube.shape() == rank<3>(1, 3, 2));
  CHECK(cube(0, 2, 0) == 5);
  const tensor<double, shape<2, tenon::dyn, 1, 2>> four = {{{{1, 2}}}, {{{3, 4}}}};
  CHECK(four.extent(1) == 1);
  CHECK(four(1, 0, 0, 0) == 3);
  const tensor<int, shape<2, 3>> known = {{1, 2, 3}, {4, 5, 6}};
  CHECK(known(1, 2) == 6);
  const tensor<bool, rank<2>> mask = {{true, false}};
  CHECK_FALSE(mask(0, 1));
  const tensor<tenon::half, rank<1>> narrow = {1, 0.5};
  CHECK(static_cast<float>(narrow(1)) == 0.5f);
  CHECK(matrix({{}, {}}).shape() == rank<2>(2, 0));
}

TEMPLATE_LIST_TEST_CASE("values reach every space", "[nested_values]", tenon_test::spaces) {
  const tensor<float, rank<2>, TestType> w = {{1, 2}, {3, 4}};
  CHECK(numbers_of(w) == numbers{1, 2, 3, 4});
}

TEST_CASE("lists of different lengths are refused", "[nested_values]") {
  CHECK(text_of<tenon::shape_error>([] { matrix{{1, 2}, {3}}; }) ==
        "tensor: values: axis 1: lists of 2 and of 1, expected equally long ones; extents stand in parentheses");
  CHECK(text_of<tenon::shape_error>([] { tensor<int, rank<3>>{{{1}, {2}}, {{3}}}; }) ==
        "tensor: values: axis 1: lists of 2 and of 1, expected equally long ones; extents stand in parentheses");
  CHECK(text_of<tenon::shape_error>([] { tensor<int, shape<2, 3>>{{1, 2, 3}}; }).find("extent 1, expected 2") !=
        std::string::npos);
  CHECK_THROWS_AS((tensor<int, shape<2>>{1, 2, 3}), tenon::shape_error);
}

TEST_CASE("integers in braces are those that the elements hold", "[nested_values]") {
  using bytes = tensor<std::uint8_t, rank<1>>;
  CHECK(numbers_of(bytes{0, 255}) == numbers{0, 255});
  CHECK(text_of<tenon::dtype_error>([] { bytes{1, 300}; }) ==
        "tensor: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(text_of<tenon::dtype_error>([] { bytes{-1, 3}; }) ==
        "tensor: number -1, expected 0 to 255 (elements of uint8)");
  const auto make = [](std::int64_t value) { return tensor<int, rank<2>>{{1, value}, {2, 3}}; };
  CHECK(numbers_of(make(-5)) == numbers{1, -5, 2, 3});
  CHECK(text_of<tenon::dtype_error>([&] { make(std::int64_t{1} << 31); }) ==
        "tensor: number 2147483648, expected -2147483648 to 2147483647 (elements of int32)");
  CHECK(text_of<tenon::dtype_error>([] { tensor<std::uint64_t, rank<1>>{1, -1}; }) ==
        "tensor: number -1, expected 0 to 18446744073709551615 (elements of uint64)");
}
