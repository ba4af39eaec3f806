// tests/core/noalias.cpp: statements that are told to need no temporary.
// Where the promise holds nothing differs; where it does not, the values show that no temporary was made.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/noalias.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

TEMPLATE_LIST_TEST_CASE("statements of every form give the same without the question", "[noalias]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 3), 1);
  tenon::tensor<float, rank<2>, TestType> y({3, 3});
  y.noalias() = x * 2;
  CHECK(numbers_of(y) == numbers{2, 4, 6, 8, 10, 12, 14, 16, 18});
  y.noalias() = y + 1;
  CHECK(numbers_of(y) == numbers{3, 5, 7, 9, 11, 13, 15, 17, 19});
  y.noalias() = tenon::transpose(x) - tenon::max(x, axis<0>);
  CHECK(numbers_of(y) == numbers{-6, -4, -2, -5, -3, -1, -4, -2, 0});
  y.noalias() = tenon::matmul(x, x);
  CHECK(numbers_of(y) == numbers{30, 36, 42, 66, 81, 96, 102, 126, 150});
  y.noalias() = tenon::sum(x, axis<1>);
  CHECK(numbers_of(y) == numbers{6, 6, 6, 15, 15, 15, 24, 24, 24});
  y.noalias() = 7;
  CHECK(numbers_of(y) == numbers(9, 7.0));
}

TEMPLATE_LIST_TEST_CASE("views and empty tensors take expressions without the question", "[noalias]",
                        tenon_test::spaces) {
  auto x = counting<float, TestType>(rank<1>(6));
  tenon::slice(x, range(0, 3)).noalias() = tenon::slice(x, range(3, 6)) * 2;
  CHECK(numbers_of(x) == numbers{6, 8, 10, 3, 4, 5});
  tenon::slice(x, range(0, 6, 2)).noalias() = tenon::slice(x, range(1, 6, 2));
  CHECK(numbers_of(x) == numbers{8, 8, 3, 3, 5, 5});
  tenon::tensor<float, rank<1>, TestType> y;
  y.noalias() = x + 1;
  CHECK(numbers_of(y) == numbers{9, 9, 4, 4, 6, 6});
  CHECK(text_of<tenon::shape_error>([&] { y.noalias() = counting<float, TestType>(rank<1>(5)); }) ==
        "assign: axis 0: extent 5, expected 6 (expression [5], destination [6])");
}

TEST_CASE("no temporary is made", "[noalias]") {
  auto x = counting<float, tenon::emulated>(rank<1>(5)), y = counting<float, tenon::emulated>(rank<1>(5));
  const auto launches_of = [](const auto& statement) {
    const tenon::launch_counter launches;
    statement();
    return launches.count();
  };
  const auto backwards = [](auto& v) { return tenon::slice(v, range(tenon::open_end, tenon::open_end, -1)); };
  CHECK(launches_of([&] { x = backwards(x) + 0; }) == 2);
#if TENON_CHECKED == 0
  CHECK(launches_of([&] { y.noalias() = backwards(y) + 0; }) == 1);
#endif
}
