// tests/core/elements.cpp: tensors that hold their elements themselves.
// Which do, how large they are, and that they are copied as numbers are, also by the compiler.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/core/elements.hpp>

#include <array>
#include <span>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::dyn;
using tenon::host;
using tenon::in_place;
using tenon::rank;
using tenon::shape;
using tenon::tensor;

using matrix4 = tensor<float, shape<4, 4>>;
using vector3 = tensor<float, shape<3>>;

template <class Tensor>
inline constexpr bool is_in_place = std::is_same_v<Tensor, tensor<float, typename Tensor::shape_type, in_place>>;

static_assert(std::is_trivially_copyable_v<matrix4> && sizeof(matrix4) == 64);
static_assert(std::is_trivially_copyable_v<vector3> && sizeof(vector3) == 12 && alignof(vector3) == 4);
static_assert(alignof(matrix4) == 64 && alignof(tensor<float, shape<4>>) == 16 &&
              alignof(tensor<double, shape<>>) == 8);
static_assert(sizeof(tensor<bool, shape<5>>) == 5 && sizeof(tensor<float, shape<6>>) == 24);
static_assert(is_in_place<matrix4> && is_in_place<tensor<float, shape<8, 8>>> && is_in_place<tensor<float, shape<>>>);
static_assert(!is_in_place<tensor<float, shape<65>>> && !is_in_place<tensor<float, shape<0>>>);
static_assert(!is_in_place<tensor<float, shape<dyn, 4>>> && !is_in_place<tensor<float, shape<4>, host>>);
static_assert(std::is_same_v<matrix4::space, host>);

/// A pose as programs keep it.
struct pose {
  tensor<double, shape<3, 3>> rotation;
  tensor<double, shape<3>> offset;
};
static_assert(std::is_trivially_copyable_v<pose> && sizeof(pose) == 96);

constexpr matrix4 known = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
static_assert(known(1, 2) == 7 && known.at(3, 0) == 13 && known[2](1) == 10 && known.size() == 16);
static_assert(known.strides()[0] == 4 && known.strides()[1] == 1);
constexpr vector3 listed = {1, 2.5, 3};
static_assert(listed[1] == 2.5f && listed[-1] == 3);
constexpr vector3 from_values(std::array<int, 3>{4, 5, 6});
static_assert(from_values(2) == 6);
constexpr float changed() {
  vector3 v = listed;
  v(1) += 1;
  const vector3 w = v;
  v = listed;
  return v(1) + w(1);
}
static_assert(changed() == 6);

}  // namespace

TEST_CASE("copies in place are their own, and moving is copying", "[elements]") {
  matrix4 a = known;
  matrix4 b = a, c = std::move(a);
  b(0, 0) = -1;
  CHECK(a(0, 0) == 1);
  CHECK(c(0, 0) == 1);
  c = std::move(b);
  CHECK(c(0, 0) == -1);
  CHECK(b(0, 0) == -1);
  c = *&c;
  CHECK(c(3, 3) == 16);
  CHECK(c.data() == static_cast<const void*>(&c));
  c.reset();
  CHECK(c(3, 3) == 16);
  CHECK(!c.is_empty());
  pose here{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {1, 2, 3}};
  const pose there = here;
  here.offset = 0.0;
  CHECK(there.offset(2) == 3);
  std::vector<vector3> many(5, listed);
  many.push_back({7, 8, 9});
  CHECK(many[5](0) == 7);
  CHECK(many[0](1) == 2.5f);
}

TEST_CASE("elements go between a tensor in place, memory and views", "[elements]") {
  const tensor<float, shape<4, 4>, host> there = known;
  CHECK(there(2, 3) == 12);
  const auto back = there.to<in_place>();
  static_assert(is_in_place<std::remove_const_t<decltype(back)>>);
  CHECK(back(2, 3) == 12);
  const auto moved = known.to<host>();
  CHECK(moved(1, 1) == 6);
  matrix4 x = there;
  x(0, 0) = 5;
  tensor<float, rank<2>> dynamic = x;
  CHECK(dynamic(0, 0) == 5);
  x = dynamic + 1;
  CHECK(x(3, 3) == 17);
  x.copy_from(there);
  CHECK(x(0, 0) == 1);
  const tenon::view<const float, shape<4, 4>> seen = x;
  matrix4 y = seen;
  CHECK(y(1, 3) == 8);
  y[1] = tenon::zeros<float>({4});
  CHECK(y(1, 3) == 0);
  CHECK(y(2, 3) == 12);
  const std::vector<double> numbers{1, 2, 3};
  const vector3 converted(numbers), spanned(std::span<const double>{numbers});
  CHECK(converted(2) == 3);
  CHECK(spanned(0) == 1);
}

TEST_CASE("a tensor in place may have many elements where its type says so", "[elements]") {
  tensor<float, shape<20, 20>, in_place> large;
  large = tenon::eye<float>(20);
  static_assert(sizeof(large) == 1600 && std::is_trivially_copyable_v<decltype(large)>);
  const auto copy = large;
  large = tenon::matmul(large, large) * 2;
  CHECK(tenon_test::numbers_of(tenon::sum(large)) == std::vector<double>{40});
  CHECK(tenon_test::numbers_of(tenon::sum(copy)) == std::vector<double>{20});
  tensor<float, shape<3, 0>, in_place> empty;
  empty = empty + 1;
  CHECK(empty.size() == 0);
  CHECK(empty.data() == nullptr);
}

TEST_CASE("what does not fit in place is refused, and nothing is written", "[elements]") {
  vector3 v = listed;
  const tensor<float, rank<1>> four({4}, {1, 2, 3, 4});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { v = four; }) ==
        "assign: axis 0: extent 4, expected 3 (expression [4], destination [3])");
  CHECK(v(1) == 2.5f);
  CHECK(tenon_test::has(tenon_test::text_of<tenon::shape_error>([&] { v.copy_from(four); }), "[4]"));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)vector3(four); }) ==
        "assign: axis 0: extent 4, expected 3 (expression [4], destination [3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)vector3(four.view()); }) ==
        "assign: axis 0: extent 4, expected 3 (expression [4], destination [3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { (void)vector3(std::vector<float>{1, 2}); }) ==
        "shape: axis 0: extent 2, expected 3 (extents [2])");
  CHECK(tenon_test::has(tenon_test::text_of<tenon::shape_error>([] { (void)matrix4({{1, 2}, {3, 4}}); }), "[2, 2]"));
  CHECK_THROWS_AS(v.at(3), tenon::index_error);
}
