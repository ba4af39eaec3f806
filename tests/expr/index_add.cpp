// tests/expr/index_add.cpp: sums of slices at indices against loops; what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/index_add.hpp>

#include <tenon/algorithms.hpp>
#include <tenon/algorithms/cuda.hpp>
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::index_add;
using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using tenon_test::text_of;

TEMPLATE_LIST_TEST_CASE("slices are added up where indices point", "[index_add]", tenon_test::spaces) {
  const auto source = tensor_of<TestType, float>(rank<2>(3, 2), {1, 2, 3, 4, 5, 6});
  const auto indices = tensor_of<TestType, std::int32_t>(rank<1>(3), {1, -1, 1});
  const auto operand = tensor_of<TestType, float>(rank<2>(3, 2), {10, 20, 30, 40, 50, 60});
  CHECK(numbers_of<TestType>(index_add(axis<0>, 3, indices, source)) == std::vector<double>{0, 0, 6, 8, 3, 4});
  CHECK(numbers_of<TestType>(index_add(axis<0>, operand, indices, source)) ==
        std::vector<double>{10, 20, 36, 48, 53, 64});
  CHECK(numbers_of<TestType>(index_add(axis<-1>, 2, indices, tenon::transpose(source)) * 2) ==
        std::vector<double>{0, 18, 0, 24});
  CHECK(numbers_of<TestType>(index_add(axis<0>, operand, tenon::trusted(indices), source * 0)) ==
        numbers_of<TestType>(operand));
  CHECK(numbers_of<TestType>(operand) == std::vector<double>{10, 20, 30, 40, 50, 60});
}

TEST_CASE("no slices, no places, and other types", "[index_add]") {
  const tenon::tensor<int, rank<1>> none(rank<1>(0)), twice = {0, 0, 0};
  CHECK(numbers_of(index_add(axis<0>, 2, none, tenon::zeros<float>({0, 2}))) == std::vector<double>{0, 0, 0, 0});
  CHECK(index_add(axis<0>, 0, none, tenon::zeros<float>({0, 2})).shape().count() == 0);
  const tenon::tensor<int, rank<1>> whole = {1, 2, 4};
  static_assert(std::is_same_v<decltype(index_add(axis<0>, 1, twice, whole))::element, int>);
  CHECK(numbers_of(index_add(axis<0>, 1, twice, whole)) == std::vector<double>{7});
  const tenon::tensor<tenon::bfloat16, rank<1>> narrow = tenon::cast<tenon::bfloat16>(tenon::arange<float>(3) + 256);
  static_assert(std::is_same_v<decltype(index_add(axis<0>, 1, twice, narrow))::element, tenon::bfloat16>);
  CHECK(numbers_of(index_add(axis<0>, 1, twice, narrow)) ==
        std::vector<double>{768});  // 256, 256 and 258: 770, halfway
}

TEST_CASE("extents and indices that do not fit", "[index_add]") {
  const tenon::tensor<float, rank<2>> source({3, 2}), operand({4, 5});
  const tenon::tensor<int, rank<1>> indices = {0, 1, 2}, two = {0, 1}, beyond = {0, 4, 1};
  CHECK(text_of<tenon::shape_error>([&] { index_add(axis<0>, 4, two, source); }) ==
        "index_add: axis 0: extent 3 of the source, expected 2 as there are indices");
  CHECK(text_of<tenon::shape_error>([&] { index_add(axis<0>, operand, indices, source); }) ==
        "index_add: axis 1: extent 2 of the source, expected 5 of the operand");
  CHECK(text_of<tenon::index_error>([&] { index_add(axis<0>, 4, beyond, source); }) ==
        "index_add: axis 0: index 4, expected at least -4 and below 4");
  CHECK(text_of<tenon::shape_error>([&] { index_add(axis<0>, -1, indices, source); }) ==
        "index_add: axis 0: extent -1, expected at least 0");
}
