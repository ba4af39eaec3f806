// tests/expr/generate.cpp: values computed from their position.
// Generators lie in no space, so the same expression is evaluated in each.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/generate.hpp>
#include <tenon/expr/random.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::extents_of;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// How many of the numbers at `from`, `from + apart`, ... of a progression differ from `first + step * offset`, rounded
/// once, or of integers wrapped around.
template <class T>
int count_wrong_steps(T first, T step, tenon::index from, tenon::index apart) {
  constexpr tenon::index count = 37;
  const tenon::index last = from + count * apart, end = from < last ? last : from + 1;
  const auto all = tenon::progression<T>(end, first, step);
  const auto values = tenon_test::elements_of(tenon::slice(all, tenon::range(from, apart > 0 ? end : last, apart)));
  int wrong = values.size() == count ? 0 : 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const tenon::index offset = from + static_cast<tenon::index>(i) * apart;
    if constexpr (std::is_integral_v<T>) {
      wrong += values[i] == static_cast<T>(static_cast<std::uint64_t>(first) +
                                           static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(offset))
                   ? 0
                   : 1;
    } else {
      wrong += values[i] == std::fma(step, static_cast<T>(offset), first) ? 0 : 1;
    }
  }
  return wrong;
}

template <class T>
void check_steps() {
  for (const tenon::index from : {tenon::index{120}, (tenon::index{1} << 31) - 20, tenon::index{1} << 40}) {
    for (const tenon::index apart : {1, 2, -3}) {
      CAPTURE(tenon::dtype_name<T>(), from, apart);
      CHECK(count_wrong_steps<T>(T(5), T(3), from, apart) == 0);
      CHECK(count_wrong_steps<T>(T(100), static_cast<T>(T(0) - T(7)), from, apart) == 0);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("generators give the same values in every space", "[generate]", tenon_test::spaces) {
  using space = TestType;
  CHECK(numbers_of<space>(tenon::arange<float>(5)) == numbers{0, 1, 2, 3, 4});
  CHECK(numbers_of<space>(tenon::progression<std::int64_t>(4, 10, -3)) == numbers{10, 7, 4, 1});
  CHECK(numbers_of<space>(tenon::arange<double>(0)).empty());
  CHECK(numbers_of<space>(tenon::iota<int>(shape<3, 2>{})) == numbers{0, 1, 2, 3, 4, 5});
  CHECK(numbers_of<space>(tenon::eye<float>(2, 3)) == numbers{1, 0, 0, 0, 1, 0});
  CHECK(numbers_of<space>(tenon::eye<int>(3, 2)) == numbers{1, 0, 0, 1, 0, 0});
  CHECK(numbers_of<space>(tenon::constants(rank<1>(3), 2.5)) == numbers{2.5, 2.5, 2.5});
}

TEMPLATE_LIST_TEST_CASE("full, zeros and ones are tensors", "[generate]", tenon_test::spaces) {
  const auto sevens = tenon::full<int, TestType>(rank<2>(2, 2), 7);
  STATIC_REQUIRE(std::is_same_v<typename decltype(sevens)::space, TestType>);
  CHECK(numbers_of(sevens) == numbers{7, 7, 7, 7});
  CHECK(numbers_of(tenon::zeros<double, TestType>(shape<3>{})) == numbers{0, 0, 0});
  CHECK(numbers_of(tenon::ones<tenon::half, TestType>(rank<1>(2))) == numbers{1, 1});
  CHECK(tenon::zeros<float, TestType>(rank<2>(0, 5)).size() == 0);
}

TEMPLATE_LIST_TEST_CASE("arange counts as NumPy does", "[generate]", tenon_test::spaces) {
  using space = TestType;
  CHECK(numbers_of<space>(tenon::arange<int>(2, 9, 3)) == numbers{2, 5, 8});
  CHECK(numbers_of<space>(tenon::arange<int>(2, 8, 3)) == numbers{2, 5});
  CHECK(numbers_of<space>(tenon::arange<std::int64_t>(5, -4, -3)) == numbers{5, 2, -1});
  CHECK(numbers_of<space>(tenon::arange<std::uint8_t>(250, 255)) == numbers{250, 251, 252, 253, 254});
  CHECK(numbers_of<space>(tenon::arange<int>(3, 3)).empty());
  CHECK(numbers_of<space>(tenon::arange<int>(3, 9, -1)).empty());
  CHECK(numbers_of<space>(tenon::arange<double>(0, 1, 0.25)) == numbers{0, 0.25, 0.5, 0.75});
  CHECK(numbers_of<space>(tenon::arange<float>(1, 0, -0.5f)) == numbers{1, 0.5});
  CHECK(extents_of(tenon::arange<double>(0, 1, 0.1)) == std::vector<tenon::index>{10});
  CHECK(extents_of(tenon::arange<double>(0, 1.05, 0.1)) == std::vector<tenon::index>{11});
}

TEMPLATE_LIST_TEST_CASE("linspace reaches both ends, logspace their powers", "[generate]", tenon_test::spaces) {
  using space = TestType;
  CHECK(numbers_of<space>(tenon::linspace<double>(0, 1, 5)) == numbers{0, 0.25, 0.5, 0.75, 1});
  CHECK(numbers_of<space>(tenon::linspace<float>(0, 1, 4, false)) == numbers{0, 0.25, 0.5, 0.75});
  CHECK(numbers_of<space>(tenon::linspace<int>(0, 9, 4)) == numbers{0, 3, 6, 9});
  CHECK(numbers_of<space>(tenon::linspace<std::int8_t>(-200, 200, 5)) == numbers{-128, -100, 0, 100, 127});
  CHECK(numbers_of<space>(tenon::linspace<double>(3, 7, 1)) == numbers{3});
  CHECK(numbers_of<space>(tenon::linspace<double>(3, 7, 0)).empty());
  CHECK(numbers_of<space>(tenon::logspace<double>(0, 3, 4)) == numbers{1, 10, 100, 1000});
  CHECK(numbers_of<space>(tenon::logspace<float>(4, 0, 5, 2)) == numbers{16, 8, 4, 2, 1});
  CHECK(numbers_of<space>(tenon::logspace<float>(0, 2, 2, 3, false)) == numbers{1, 3});
  const auto thirds = numbers_of<space>(tenon::linspace<double>(0.1, 0.7, 7));
  for (std::size_t i = 0; i < 7; ++i) {
    CHECK(tenon_test::is_close(thirds[i], 0.1 + 0.1 * static_cast<double>(i), 1e-15));
  }
  CHECK(thirds[6] == 0.7);
}

TEMPLATE_LIST_TEST_CASE("diagonals of eye and coordinates of a grid", "[generate]", tenon_test::spaces) {
  using space = TestType;
  CHECK(numbers_of<space>(tenon::eye<float>(2)) == numbers{1, 0, 0, 1});
  CHECK(numbers_of<space>(tenon::eye<float>(2, 3, 1)) == numbers{0, 1, 0, 0, 0, 1});
  CHECK(numbers_of<space>(tenon::eye<bool>(shape<3, 2>{}, -1)) == numbers{0, 0, 1, 0, 0, 1});
  CHECK(numbers_of<space>(tenon::eye<bool>(2, 2, 5)) == numbers{0, 0, 0, 0});
  CHECK(numbers_of<space>(tenon::index_grid<int>(shape<3, 2>{}, tenon::axis<0>)) == numbers{0, 0, 1, 1, 2, 2});
  CHECK(numbers_of<space>(tenon::index_grid<float>(rank<2>(2, 3), tenon::axis<-1>)) == numbers{0, 1, 2, 0, 1, 2});
}

TEMPLATE_LIST_TEST_CASE("full_like takes type, extents and space", "[generate]", tenon_test::spaces) {
  const tenon::tensor<float, shape<2, tenon::dyn>, TestType> x({2, 3});
  const auto sevens = tenon::full_like(x, 7);
  STATIC_REQUIRE(std::is_same_v<decltype(sevens), const tenon::tensor<float, shape<2, tenon::dyn>, TestType>>);
  CHECK(numbers_of(sevens) == numbers(6, 7.0));
  CHECK(numbers_of(tenon::zeros_like(x)) == numbers(6, 0.0));
  CHECK(numbers_of(tenon::ones_like(x > 0)) == numbers(6, 1.0));
  STATIC_REQUIRE(std::is_same_v<typename decltype(tenon::ones_like(x > 0))::element, bool>);
}

TEST_CASE("static shapes reach the type", "[generate]") {
  const auto image = tenon::zeros<float>(shape<3, 4, 5>{});
  STATIC_REQUIRE(std::is_same_v<decltype(image), const tenon::tensor<float, shape<3, 4, 5>, tenon::host>>);
  CHECK(image.size() == 60);
}

TEST_CASE("positions survive slices, permutations and broadcasts", "[generate]") {
  const auto grid = tenon::iota<float>(rank<2>(3, 4));
  CHECK(numbers_of(tenon::transpose(grid)) == numbers{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11});
  CHECK(numbers_of(tenon::slice(grid, tenon::range(2, tenon::open_end, -1), tenon::range(1, 4, 2))) ==
        numbers{9, 11, 5, 7, 1, 3});
  CHECK(numbers_of(tenon::transpose(tenon::eye<float>(2, 3))) == numbers{1, 0, 0, 1, 0, 0});
  CHECK(numbers_of(grid * tenon::arange<float>(4)) == numbers{0, 1, 4, 9, 0, 5, 12, 21, 0, 9, 20, 33});
}

TEST_CASE("progressions have the same numbers in packs as one by one", "[generate]") {
  check_steps<float>(), check_steps<double>();
  check_steps<std::int8_t>(), check_steps<std::uint16_t>(), check_steps<std::int32_t>(), check_steps<std::uint64_t>();
  CHECK(count_wrong_steps<float>(0.3f, 0.1f, 3, 1) == 0);
  CHECK(count_wrong_steps<double>(0.3, 0.1, 3, 1) == 0);
  CHECK(numbers_of(tenon::arange<float>(0)).empty());
}

TEST_CASE("16-bit positions are computed in float and rounded once", "[generate]") {
  const auto values = numbers_of(tenon::arange<tenon::half>(4000));
  CHECK(values[2048] == 2048);
  CHECK(values[2049] == 2048);  // the tie goes to even
  CHECK(values[2051] == 2052);
}

TEST_CASE("a number that the elements cannot be is refused", "[generate]") {
  CHECK(text_of<tenon::dtype_error>([] { tenon::full<std::uint8_t>({2}, 300); }) ==
        "full: number 300, expected 0 to 255 (elements of uint8)");
  const auto like = tenon::zeros<std::int8_t>({2});
  CHECK(text_of<tenon::dtype_error>([&] { tenon::full_like(like, -200); }) ==
        "full_like: number -200, expected -128 to 127 (elements of int8)");
  CHECK(numbers_of(tenon::full<int>({1}, 1e10)) == numbers{2147483647});  // as casts do
  CHECK(numbers_of(tenon::full<tenon::half>({1}, 0.5)) == numbers{0.5});
}

TEST_CASE("a count that cannot be is refused", "[generate]") {
  CHECK_THROWS_AS(tenon::arange<float>(-1), tenon::shape_error);
  CHECK_THROWS_AS(tenon::eye<float>(2, -3), tenon::shape_error);
  CHECK_THROWS_AS(tenon::linspace<float>(0, 1, -1), tenon::shape_error);
  CHECK(text_of<tenon::shape_error>([] { tenon::arange<int>(0, 3, 0); }) == "arange: step 0, expected any other");
  CHECK(text_of<tenon::shape_error>([] { tenon::arange<double>(0, 1, 1e-30); }) ==
        "arange: numbers from 0 to 1 in steps of 1e-30, expected as many as an index counts");
}

TEMPLATE_LIST_TEST_CASE("extents stand in braces", "[generate]", tenon_test::spaces) {
  using space = TestType;
  const std::size_t rows = 2;
  const auto zeros = tenon::zeros<float, space>({rows, 3});
  STATIC_REQUIRE(std::is_same_v<decltype(zeros), const tenon::tensor<float, rank<2>, space>>);
  CHECK(numbers_of(zeros) == numbers(6, 0));
  CHECK(numbers_of(tenon::ones<int, space>({2, 1, 2})) == numbers(4, 1));
  CHECK(numbers_of(tenon::full<double, space>({2}, 7)) == numbers{7, 7});
  CHECK(numbers_of<space>(tenon::constants({2, 1}, 2.5)) == numbers{2.5, 2.5});
  CHECK(numbers_of<space>(tenon::iota<int>({2, 2})) == numbers{0, 1, 2, 3});
  CHECK(numbers_of<space>(tenon::index_grid<int>({2, 2}, tenon::axis<1>)) == numbers{0, 1, 0, 1});
  CHECK(numbers_of<space>(tenon::eye<int>({2, 2})) == numbers{1, 0, 0, 1});
  CHECK(text_of<tenon::shape_error>([] { tenon::zeros<float>({2, -1}); }) ==
        "shape: axis 1: extent -1, expected at least 0 (extents [2, -1])");
}

TEST_CASE("a generator without axes is a number", "[generate]") {
  const int first = tenon::iota<int>(shape<>{});
  const float seven = tenon::constants(shape<>{}, tenon::half(7));
  CHECK(first == 0);
  CHECK(seven == 7);
  CHECK(tenon::constants(shape<>{}, 2.5) * 2 > 4.5);
  const double drawn = tenon::uniform<double>(shape<>{}, 5);
  CHECK(drawn == numbers_of(tenon::uniform<double>({1}, 5))[0]);
  STATIC_REQUIRE_FALSE(std::is_convertible_v<decltype(tenon::iota<int>(shape<1>{})), int>);
}

TEMPLATE_LIST_TEST_CASE("the elements of a tensor are taken in order", "[generate]", tenon_test::spaces) {
  using space = TestType;
  tenon::tensor<float, shape<2, 3>, space> whole(shape<2, 3>{});
  const auto elements = tenon::in_order(whole);
  STATIC_REQUIRE(std::is_same_v<decltype(elements), const tenon::view<float, rank<1>, space>>);
  elements = tenon::iota<float>(rank<1>(6));
  CHECK(numbers_of(whole) == numbers{0, 1, 2, 3, 4, 5});
  CHECK(tenon::in_order(std::as_const(whole)).data() == whole.data());
  tenon::tensor<float, rank<2>, space> none(rank<2>(0, 4));
  CHECK(tenon::in_order(none).shape() == rank<1>(0));
}
