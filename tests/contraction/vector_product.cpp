// tests/contraction/vector_product.cpp: products of a matrix with a few vectors on devices.
// One to eight vectors on either side of matrices that lie along rows or columns, in packets or not, against sums of
// doubles; what lies between lines is no number.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/vector_product.hpp>

#include <algorithm>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::placed_matrix;
using tenon_test::placing;

/// A product of [rows, depth] with [depth, columns], placed as told, by the kernel that the library chooses.
template <class T, class Space>
void check_vectors(const tenon::array<tenon::index, 3>& extents, const placing& left = {}, const placing& right = {}) {
  const tenon::index rows = extents[0], columns = extents[1], depth = extents[2];
  const auto a = tenon_test::random_tensor<T>(rank<2>(rows, depth), 1);
  const auto b = tenon_test::random_tensor<T>(rank<2>(depth, columns), 2);
  const placed_matrix<Space, T> x(a, left), y(b, right);
  const auto found = tenon::evaluated_tensor(tenon::matmul(x.view(), y.view()));
  CAPTURE(left.by_columns, left.gap, right.by_columns, right.gap);
  CHECK(tenon::launch_count().last_kind == std::string("vector_product"));
  CHECK(tenon_test::product_error<T>(numbers_of(found), numbers_of(a), numbers_of(b), rows, columns, depth) == "");
}

template <class T, class Space>
void check_numbers_of_vectors() {
  for (const tenon::index vectors : {1, 2, 3, 8}) {
    for (const tenon::index many : {9, 32, 67}) {
      check_vectors<T, Space>({{vectors, many, 40}}, {}, {true});
      check_vectors<T, Space>({{vectors, many, 33}});
      check_vectors<T, Space>({{many, vectors, 40}});
      check_vectors<T, Space>({{many, vectors, 41}}, {true});
    }
  }
}

template <class Left, class Right>
bool runs_as_vectors(const Left& left, const Right& right) {
  tenon::evaluated_tensor(tenon::matmul(left, right));
  return tenon::launch_count().last_kind == std::string("vector_product");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a few vectors on either side of a matrix", "[vector_product]", tenon_test::kernel_spaces) {
  check_numbers_of_vectors<float, TestType>();
  check_numbers_of_vectors<tenon::half, TestType>();
  check_numbers_of_vectors<std::int8_t, TestType>();
  check_numbers_of_vectors<double, TestType>();
  check_vectors<std::int64_t, TestType>({{1, 20, 35}});
}

TEMPLATE_LIST_TEST_CASE("matrices and vectors anywhere in memory", "[vector_product]", tenon_test::kernel_spaces) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      for (const tenon::index gap : {0, 1, 8}) {
        check_vectors<tenon::bfloat16, TestType>({{3, 48, 64}}, {left, gap, gap / 2}, {right, gap, gap / 2});
        check_vectors<tenon::bfloat16, TestType>({{48, 3, 64}}, {left, gap, gap / 2}, {right, gap, gap / 2});
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("the depth of vectors is shared by warps and blocks", "[vector_product]",
                        tenon_test::kernel_spaces) {
  for (const tenon::index depth : {511 * 4, 512 * 4 + 3, 5000 * 4}) {
    check_vectors<float, TestType>({{1, 5, depth}}, {}, {true});
    check_vectors<float, TestType>({{5, 2, depth}});
    check_vectors<float, TestType>({{2, 130, depth}});
  }
  const auto a = tenon_test::random_tensor<float>(rank<2>(3, 20'000), 1).template to<TestType>();
  const auto b = tenon_test::random_tensor<float>(rank<2>(20'000, 9), 2).template to<TestType>();
  const auto first = numbers_of(tenon::matmul(a, b));
  for (const std::uint64_t seed : {2u, 3u}) {
    [[maybe_unused]] const tenon_test::shuffled_blocks<TestType> shuffled(seed);
    CHECK(numbers_of(tenon::matmul(a, b)) == first);
  }
}

TEMPLATE_LIST_TEST_CASE("what is computed before and behind a product of vectors", "[vector_product]",
                        tenon_test::kernel_spaces) {
  const auto a = tenon_test::random_tensor<tenon::half>(rank<2>(70, 40), 1);
  const auto v = tenon_test::random_tensor<tenon::half>(rank<1>(40), 2);
  const auto added = tenon_test::random_tensor<tenon::half>(rank<1>(70), 3);
  const auto statement = [](const auto& x, const auto& y, const auto& z) {
    return tenon::evaluated_tensor(tenon::relu(tenon::matmul(tenon::abs(x) * 2, y) + z));
  };
  const auto expected = numbers_of(statement(a, v, added));
  const auto found = statement(a.template to<TestType>(), v.template to<TestType>(), added.template to<TestType>());
  CHECK(tenon::launch_count().last_kind == std::string("vector_product"));
  CHECK(tenon_test::difference(numbers_of(found), expected, 0.01) == "");
}

TEMPLATE_LIST_TEST_CASE("batches of vectors, and rows over several axes", "[vector_product]",
                        tenon_test::kernel_spaces) {
  const auto a = tenon_test::random_tensor<float>(rank<3>(4, 20, 36), 1),
             b = tenon_test::random_tensor<float>(rank<3>(4, 36, 3), 2);
  const auto x = a.template to<TestType>(), y = b.template to<TestType>();
  const auto products = tenon::evaluated_tensor(tenon::matmul(x, y));
  CHECK(tenon::launch_count().last_kind == std::string("vector_product"));
  const auto found = numbers_of(products);
  for (tenon::index batch = 0; batch < 4; ++batch) {
    const tenon::range own(batch, batch + 1);
    const auto left = numbers_of(tenon::slice(a, own, tenon::all_of, tenon::all_of));
    const auto right = numbers_of(tenon::slice(b, own, tenon::all_of, tenon::all_of));
    const auto part = found.begin() + batch * 60;
    CHECK(tenon_test::product_error<float>(std::vector<double>(part, part + 60), left, right, 20, 3, 36) == "");
  }
  const auto vector = tenon_test::random_tensor<float>(rank<1>(36), 3);
  const auto z = vector.template to<TestType>();
  const auto of_axes = tenon::evaluated_tensor(tenon::tensordot(x, z, tenon::axis<2>, tenon::axis<0>));
  CHECK(tenon::launch_count().last_kind == std::string("vector_product"));
  CHECK(tenon_test::product_error<float>(numbers_of(of_axes), numbers_of(a), numbers_of(vector), 80, 1, 36) == "");
}

TEMPLATE_LIST_TEST_CASE("what is not finite reaches its results alone", "[vector_product]", tenon_test::kernel_spaces) {
  for (const bool by_columns : {false, true}) {
    auto a = tenon_test::random_tensor<tenon::half>(rank<2>(40, 35), 1);
    const auto b = tenon_test::random_tensor<tenon::half>(rank<2>(35, 2), 2);
    a(3, 34) = tenon::half(std::nanf("")), a(17, 0) = tenon::half(HUGE_VALF);
    const placed_matrix<TestType, tenon::half> x(a, {by_columns});
    const auto found = numbers_of(tenon::matmul(x.view(), b.template to<TestType>()));
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(std::isnan(found[i]) == (i / 2 == 3));
      CHECK(std::isinf(found[i]) == (i / 2 == 17));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("a few rows or columns, and enough depth", "[vector_product]", tenon_test::kernel_spaces) {
  const auto of = [](tenon::index rows, tenon::index columns) {
    return tenon_test::counting<float, TestType>(rank<2>(rows, columns));
  };
  CHECK(runs_as_vectors(of(8, 32), of(32, 40)));
  CHECK(runs_as_vectors(of(40, 32), of(32, 8)));
  CHECK(runs_as_vectors(of(2, 32), of(32, 2)));
  CHECK_FALSE(runs_as_vectors(of(9, 32), of(32, 40)));
  CHECK_FALSE(runs_as_vectors(of(8, 31), of(31, 40)));
  const auto vector = tenon_test::counting<float, TestType>(rank<1>(32));
  CHECK(runs_as_vectors(vector, of(32, 40)));
  CHECK(runs_as_vectors(of(40, 32), vector));
}

TEMPLATE_LIST_TEST_CASE("axes that are not one in memory go to tiles", "[vector_product]", tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<float>(rank<3>(4, 5, 36), -3, 0.01);
  const auto v = tenon_test::counting<float>(rank<1>(36), -1, 0.1);
  const auto statement = [](const auto& x, const auto& y) {
    return tenon::evaluated_tensor(
        tenon::tensordot(tenon::permute(x, tenon::axis<1, 0, 2>), y, tenon::axis<2>, tenon::axis<0>));
  };
  const auto found = statement(a.template to<TestType>(), v.template to<TestType>());
  CHECK(tenon::launch_count().last_kind == std::string("simt_product"));
  CHECK(tenon_test::difference(tenon_test::numbers_of(found), tenon_test::numbers_of(statement(a, v)), 1e-4) == "");
}

TEST_CASE("blocks share a product with vectors by its extents", "[vector_product]") {
  const auto lines = tenon::vector_sharing::of(true, 8192, 8192, 1, 8);
  CHECK(lines.team == 256);
  CHECK(lines.groups == 2048);
  CHECK(lines.parts == 1);
  const auto few_lines = tenon::vector_sharing::of(true, 4, 1 << 20, 1, 4);
  CHECK(few_lines.groups == 1);
  CHECK(few_lines.parts == 256);
  CHECK(tenon::vector_sharing::of(true, 100, 256, 3, 8).team == 32);
  const auto rows = tenon::vector_sharing::of(false, 8192, 8192, 1, 8);
  CHECK(rows.tile == 256);
  CHECK(rows.parts == 64);
}
