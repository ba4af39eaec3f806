// tests/expr/one_hot.cpp: classes as vectors.
// The result is written down; indices may be of any integer type.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/one_hot.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::rank;
using tenon::shape;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

TEMPLATE_LIST_TEST_CASE("one_hot marks the index along a new axis", "[one_hot]", tenon_test::spaces) {
  const auto classes = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(3), {2, 0, 1});
  CHECK(numbers_of(tenon::one_hot<float>(classes, 3)) == numbers{0, 0, 1, 1, 0, 0, 0, 1, 0});
  const auto bytes = tenon_test::tensor_of<TestType, std::uint8_t>(shape<2, 1>{}, {1, 255});
  const auto hot = tenon::one_hot<bool>(bytes, shape<2>{});
  STATIC_REQUIRE(std::is_same_v<typename decltype(hot)::shape_type, shape<2, 1, 2>>);
  CHECK(numbers_of(hot) == numbers{0, 1, 0, 0});
}

TEST_CASE("indices outside the depth give zeros", "[one_hot]") {
  const auto classes = tenon_test::tensor_of<tenon::host, int>(rank<1>(3), {-1, 2, 1});
  CHECK(numbers_of(tenon::one_hot<int>(classes, 2)) == numbers{0, 0, 0, 0, 0, 1});
  CHECK(extents_of(tenon::one_hot<int>(classes, 0)) == std::vector<tenon::index>{3, 0});
  CHECK_THROWS_AS(tenon::one_hot<int>(classes, -1), tenon::shape_error);
}

TEST_CASE("one_hot fuses into its statement", "[one_hot]") {
  const tenon::tensor<int, rank<1>> classes({4});
  const tenon::tensor<float, rank<2>> table({5, 3});
  CHECK(tenon::kernel_count<decltype(tenon::one_hot<float>(classes, 5) * 2)> == 1);
  CHECK(tenon::kernel_count<decltype(tenon::matmul(tenon::one_hot<float>(classes, 5), table))> == 1);
}
