// tests/expr/views/pad.cpp: more elements at the ends of axes.
// Each mode is compared with the periodic sequence that defines it, read by a remainder.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/pad.hpp>

#include <algorithm>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::padding;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

/// Extents [2, 5, 6] padded by [0, (3, 1), (2, 4)]; `pick(i, extent)` is the position read at i, or -1 for none.
template <class Pick>
numbers padded(double outside, Pick&& pick) {
  numbers result;
  for (int n = 0; n < 2; ++n) {
    for (int y = -3; y < 5 + 1; ++y) {
      for (int x = -2; x < 6 + 4; ++x) {
        const int row = pick(y, 5), column = pick(x, 6);
        result.push_back(row < 0 || column < 0 ? outside : (n * 5 + row) * 6 + column);
      }
    }
  }
  return result;
}

/// Position `i` of a sequence that repeats every `period`.
int phase(int i, int period) { return ((i % period) + period) % period; }

}  // namespace

TEMPLATE_LIST_TEST_CASE("every mode continues the operand by its rule", "[pad]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<3>(2, 5, 6));
  const tenon::array<padding, 3> widths{{0, {3, 1}, {2, 4}}};
  CHECK(tenon::pad(x, widths).shape() == rank<3>(2, 9, 12));
  const auto inside = [](int i, int extent) { return i >= 0 && i < extent ? i : -1; };
  CHECK(numbers_of(tenon::pad(x, widths)) == padded(0, inside));
  CHECK(numbers_of(tenon::pad(x, widths, -7)) == padded(-7, inside));
  CHECK(numbers_of(tenon::pad(x, widths, tenon::replicate)) ==
        padded(0, [](int i, int extent) { return std::clamp(i, 0, extent - 1); }));
  CHECK(numbers_of(tenon::pad(x, widths, tenon::circular)) == padded(0, phase));
  CHECK(numbers_of(tenon::pad(x, widths, tenon::reflect)) == padded(0, [](int i, int extent) {
          const int at = phase(i, 2 * extent - 2);
          return at < extent ? at : 2 * extent - 2 - at;
        }));
  CHECK(numbers_of(tenon::pad(x, widths, tenon::symmetric)) == padded(0, [](int i, int extent) {
          const int at = phase(i, 2 * extent);
          return at < extent ? at : 2 * extent - 1 - at;
        }));
}

TEMPLATE_LIST_TEST_CASE("named axes are padded, and types know the others", "[pad]", tenon_test::spaces) {
  using tenon::dyn;
  using tenon::shape;
  const auto x = counting<float, TestType>(shape<2, dyn, 6>(2, 5, 6));
  const auto same = [](const auto& named, const auto& all) {
    return named.shape() == all.shape() && numbers_of(named) == numbers_of(all);
  };
  const auto middle = tenon::pad(x, axis<1>, {{{3, 1}}}, -7);
  STATIC_REQUIRE(std::is_same_v<typename decltype(middle)::shape_type, shape<2, dyn, 6>>);
  CHECK(same(middle, tenon::pad(x, {{0, {3, 1}, 0}}, -7)));
  const auto ends = tenon::pad(x, axis<-1, 0>, {{1, {0, 2}}});
  STATIC_REQUIRE(std::is_same_v<typename decltype(ends)::shape_type, shape<dyn, dyn, dyn>>);
  CHECK(same(ends, tenon::pad(x, {{{0, 2}, 0, 1}})));
  CHECK(same(tenon::pad(x, axis<2>, {{{2, 4}}}, tenon::reflect), tenon::pad(x, {{0, 0, {2, 4}}}, tenon::reflect)));
  const auto longer = tenon::pad<2, 1>(x, axis<2, 1>, 5);
  STATIC_REQUIRE(std::is_same_v<typename decltype(longer)::shape_type, shape<2, dyn, 9>>);
  CHECK(same(longer, tenon::pad(x, {{0, {2, 1}, {2, 1}}}, 5)));
  CHECK(same(tenon::pad<0, 2>(x, axis<-1>, tenon::circular), tenon::pad(x, {{0, 0, {0, 2}}}, tenon::circular)));
  CHECK(same(tenon::pad<1, 0>(x * 2, axis<0>), tenon::pad(x * 2, {{{1, 0}, 0, 0}})));
}

TEMPLATE_LIST_TEST_CASE("padding fuses with what is around it", "[pad]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 33));
  const auto framed = tenon::pad(x * 2, {{1, 1}}, 1);
  CHECK(numbers_of(tenon::sum(framed)) == numbers{2.0 * 98 * 99 / 2 + 2 * 35 + 2 * 3});
  CHECK(numbers_of(tenon::slice(framed, tenon::range(1, -1), tenon::range(1, -1)) / 2) == numbers_of(x));
  STATIC_REQUIRE(tenon::kernel_count<decltype(tenon::sum(framed))> == 1);
}

TEMPLATE_LIST_TEST_CASE("padding turns empty axes into constants", "[pad]", tenon_test::spaces) {
  const auto empty = counting<float, TestType>(rank<2>(0, 2));
  CHECK(numbers_of(tenon::pad(empty, {{1, 0}}, 4)) == numbers{4, 4, 4, 4});
  CHECK(tenon::pad(empty, {{0, 0}}, tenon::reflect).shape().count() == 0);
}

namespace {

/// A mode of the user's, whose places jump back and forth within the operand.
struct jumping_padding {
  static constexpr const char* name = "jumping";
  static constexpr tenon::index most(tenon::index) { return 100; }
  TENON_HOST_DEVICE static constexpr tenon::index inside(tenon::index position, tenon::index extent) {
    const tenon::index place = (position + 100) % extent;
    return place % 16 == 5 ? place + 1 : place % 16 == 6 ? place - 1 : place;
  }
};

}  // namespace

TEST_CASE("a mode of the user's may jump", "[pad]") {
  const auto x = tenon_test::counting<float>(rank<1>(96));
  std::vector<double> expected;
  for (tenon::index i = 0; i < 98; ++i) expected.push_back(static_cast<double>(jumping_padding::inside(i - 1, 96)));
  CHECK(numbers_of(tenon::pad(x, {{1}}, jumping_padding{})) == expected);
}

TEST_CASE("infinities and other types pad as they are", "[pad]") {
  const auto x = counting<tenon::half>(rank<1>(2));
  const auto lowest = tenon::half(-std::numeric_limits<float>::infinity());
  const auto padded_half = numbers_of(tenon::pad(x, {{1}}, lowest));
  CHECK(std::isinf(padded_half[0]));
  CHECK(padded_half[2] == 1);
  CHECK(numbers_of(tenon::pad(counting<std::int64_t>(rank<1>(2)), {{{0, 1}}}, std::int64_t{1} << 40))[2] == 0x1p40);
}

TEST_CASE("a value that the elements cannot be is refused", "[pad]") {
  const tenon::tensor<std::uint8_t, tenon::rank<1>> bytes({2});
  CHECK(text_of<tenon::dtype_error>([&] { (void)tenon::pad(bytes, {{1}}, 300); }) ==
        "pad: number 300, expected 0 to 255 (elements of uint8)");
}

TEST_CASE("widths that a mode cannot fill are refused", "[pad]") {
  const auto x = counting<float>(rank<2>(3, 4));
  CHECK(text_of<tenon::shape_error>([&] { tenon::pad(x, {{0, {1, -1}}}); }) ==
        "pad: axis 1: 1 before and -1 after, expected at least 0 for mode constant of extent 4 (operand [3, 4])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::pad(x, {{3, 0}}, tenon::reflect); }) ==
        "pad: axis 0: 3 before and 3 after, expected at least 0 and at most 2 for mode reflect of extent 3 "
        "(operand [3, 4])");
  CHECK(text_of<tenon::shape_error>([&] { tenon::pad(x, axis<-1>, {{{1, -1}}}); }) ==
        "pad: axis 1: 1 before and -1 after, expected at least 0 for mode constant of extent 4 (operand [3, 4])");
  CHECK_THROWS_AS((tenon::pad<0, 4>(x, axis<0>, tenon::symmetric)), tenon::shape_error);
  CHECK_THROWS_AS(tenon::pad(x, {{0, 5}}, tenon::circular), tenon::shape_error);
  CHECK_THROWS_AS(tenon::pad(x, {{0, 5}}, tenon::symmetric), tenon::shape_error);
  CHECK_THROWS_AS(tenon::pad(counting<float>(rank<1>(0)), {{1}}, tenon::replicate), tenon::shape_error);
}
