// tests/expr/matmul.cpp: products of matrices, vectors and tensors in every space.
// Results are compared with the triple loop in double; prologues, epilogues and batches ride along.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/matmul.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::scattered;
using tenon_test::text_of;
using numbers = std::vector<double>;

struct extents {
  tenon::index m, k, n;
};

/// The product by definition, batch after batch.
numbers product(const numbers& left, const numbers& right, const extents& e, tenon::index batches = 1) {
  numbers result;
  for (tenon::index batch = 0; batch < batches; ++batch) {
    for (tenon::index i = 0; i < e.m * e.n; ++i) {
      double total = 0;
      for (tenon::index k = 0; k < e.k; ++k) {
        total += left[static_cast<std::size_t>((batch * e.m + i / e.n) * e.k + k)] *
                 right[static_cast<std::size_t>((batch * e.k + k) * e.n + i % e.n)];
      }
      result.push_back(total);
    }
  }
  return result;
}

template <class T, class Space>
auto scattered_matrix(tenon::index rows, tenon::index columns) {
  return tenon_test::made_tensor<T, Space>(rank<2>(rows, columns), scattered);
}

template <class T, class Space>
void check_product(const extents& e, double bound) {
  CAPTURE(e.m, e.k, e.n);
  const auto a = scattered_matrix<T, Space>(e.m, e.k), b = scattered_matrix<T, Space>(e.k, e.n);
  const auto expected = product(numbers_of(a), numbers_of(b), e);
  CHECK(difference(numbers_of(tenon::matmul(a, b)), expected, bound) == "");
}

const extents sizes[] = {{1, 1, 1}, {2, 3, 4}, {17, 5, 33}, {64, 64, 64}, {65, 31, 7}, {3, 130, 70}, {1, 50, 1}};

}  // namespace

TEMPLATE_LIST_TEST_CASE("products of float and double at odd extents", "[matmul]", tenon_test::spaces) {
  for (const auto& each : sizes) {
    check_product<float, TestType>(each, 1e-5);
    check_product<double, TestType>(each, 1e-13);
  }
}

TEMPLATE_LIST_TEST_CASE("16-bit types accumulate in float and round once", "[matmul]", tenon_test::spaces) {
  for (const auto& each : sizes) {
    check_product<tenon::half, TestType>(each, 6e-4);
    check_product<tenon::bfloat16, TestType>(each, 5e-3);
  }
  const auto ones = tenon::ones<tenon::half, TestType>(rank<2>(1, 4096));
  CHECK(numbers_of(tenon::matmul(ones, tenon::transpose(ones))) == numbers{4096});
}

TEMPLATE_LIST_TEST_CASE("integers accumulate in 64 bits", "[matmul]", tenon_test::spaces) {
  const auto a = tenon::full<std::int32_t, TestType>(rank<2>(2, 3), 1 << 20);
  const auto b = tenon::full<std::int64_t, TestType>(rank<2>(3, 2), std::int64_t{1} << 20);
  const double expected = 3.0 * 1099511627776.0;
  CHECK(numbers_of(tenon::matmul(a, b)) == numbers(4, expected));
}

TEMPLATE_LIST_TEST_CASE("a depth of zero gives zeros", "[matmul]", tenon_test::spaces) {
  const auto a = scattered_matrix<float, TestType>(3, 0), b = scattered_matrix<float, TestType>(0, 2);
  CHECK(numbers_of(tenon::matmul(a, b)) == numbers(6, 0.0));
  CHECK(numbers_of(tenon::matmul(b, scattered_matrix<float, TestType>(2, 4))).empty());
  CHECK(numbers_of(tenon::matmul(a, b) + 1) == numbers(6, 1.0));
}

TEMPLATE_LIST_TEST_CASE("operands may be transposed, sliced, broadcast and computed", "[matmul]", tenon_test::spaces) {
  const auto a = scattered_matrix<float, TestType>(5, 9), b = scattered_matrix<float, TestType>(7, 5);
  const auto plain = numbers_of(
      tenon::matmul(tenon::evaluated_tensor(tenon::transpose(a)), tenon::evaluated_tensor(tenon::transpose(b))));
  CHECK(difference(numbers_of(tenon::matmul(tenon::transpose(a), tenon::transpose(b))), plain, 1e-6) == "");
  const auto x = numbers_of(tenon::evaluated_tensor(tenon::slice(a, tenon::range(0, 5, 2), tenon::range(8, 1, -1))));
  const auto y = numbers_of(tenon::evaluated_tensor(tenon::square(b) - 0.5f));
  const auto sliced = tenon::slice(a, tenon::range(0, 5, 2), tenon::range(8, 1, -1));
  CHECK(difference(numbers_of(tenon::matmul(sliced, tenon::square(b) - 0.5f)), product(x, y, {3, 7, 5}), 1e-5) == "");
  const auto row = scattered_matrix<float, TestType>(1, 5);
  const auto repeated = tenon::broadcast_to(row, rank<2>(4, 5));
  const auto repeated_values = numbers_of(tenon::evaluated_tensor(repeated));
  CHECK(difference(numbers_of(tenon::matmul(repeated, a)), product(repeated_values, numbers_of(a), {4, 5, 9}), 1e-5) ==
        "");
}

TEMPLATE_LIST_TEST_CASE("an epilogue of bias, residual and activation", "[matmul]", tenon_test::spaces) {
  const auto a = scattered_matrix<float, TestType>(6, 11), b = scattered_matrix<float, TestType>(11, 10);
  const auto residual = scattered_matrix<float, TestType>(6, 10);
  const auto bias = tenon_test::made_tensor<float, TestType>(rank<1>(10), scattered);
  const auto scale = scattered_matrix<float, TestType>(6, 1);
  auto expected = product(numbers_of(a), numbers_of(b), {6, 11, 10});
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto number = [](std::size_t at) { return scattered(static_cast<tenon::index>(at)); };
    expected[i] = std::fmax(expected[i] * number(i / 10) + number(i % 10), 0.0) + number(i);
  }
  CHECK(difference(numbers_of(tenon::relu(tenon::matmul(a, b) * scale + bias) + residual), expected, 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("batches pair up and broadcast", "[matmul]", tenon_test::spaces) {
  const auto a = tenon_test::made_tensor<float, TestType>(rank<3>(4, 3, 5), scattered);
  const auto b =
      tenon_test::made_tensor<float, TestType>(rank<3>(4, 5, 6), [](tenon::index i) { return scattered(3 * i + 1); });
  const auto expected = product(numbers_of(a), numbers_of(b), {3, 5, 6}, 4);
  CHECK(difference(numbers_of(tenon::matmul(a, b)), expected, 1e-5) == "");
  const auto one = tenon::slice(b, tenon::only(0));
  const auto repeated = tenon::evaluated_tensor(tenon::broadcast_to(one, rank<3>(4, 5, 6)));
  const auto shared = product(numbers_of(a), numbers_of(repeated), {3, 5, 6}, 4);
  CHECK(difference(numbers_of(tenon::matmul(a, one)), shared, 1e-5) == "");
  const auto matrix = tenon::evaluated_tensor(tenon::reshape(tenon::evaluated_tensor(one), rank<2>(5, 6)));
  CHECK(difference(numbers_of(tenon::matmul(a, matrix)), shared, 1e-5) == "");
  const auto outer = tenon::evaluated_tensor(tenon::reshape(a, rank<4>(2, 2, 3, 5)));
  CHECK(tenon::matmul(outer, matrix).shape() == rank<4>(2, 2, 3, 6));
}

TEMPLATE_LIST_TEST_CASE("vectors are rows on the left and columns on the right", "[matmul]", tenon_test::spaces) {
  const auto a = tenon_test::made_tensor<float, TestType>(rank<3>(2, 3, 5), scattered);
  const auto row = tenon_test::made_tensor<float, TestType>(rank<1>(3), scattered);
  const auto column = tenon_test::made_tensor<float, TestType>(rank<1>(5), scattered);
  const auto x = numbers_of(a), left = numbers_of(row), right = numbers_of(column);
  const numbers rows = [&] {
    numbers both = left;
    both.insert(both.end(), left.begin(), left.end());
    return product(both, x, {1, 3, 5}, 2);
  }();
  CHECK(tenon_test::extents_of(tenon::matmul(a, column)) == std::vector<tenon::index>{2, 3});
  CHECK(difference(numbers_of(tenon::matmul(a, column)), product(x, right, {6, 5, 1}), 1e-5) == "");
  CHECK(tenon_test::extents_of(tenon::matmul(row, a)) == std::vector<tenon::index>{2, 5});
  CHECK(difference(numbers_of(tenon::matmul(row, a)), rows, 1e-5) == "");
  CHECK(difference(numbers_of(tenon::matmul(column, column)), product(right, right, {1, 5, 1}), 1e-5) == "");
  CHECK(tenon::kernel_count<decltype(tenon::relu(tenon::matmul(a, column) + 1))> == 1);
}

TEMPLATE_LIST_TEST_CASE("gemm is one kernel", "[matmul]", tenon_test::spaces) {
  const auto a = scattered_matrix<float, TestType>(7, 9), b = scattered_matrix<float, TestType>(9, 5);
  const auto c = scattered_matrix<float, TestType>(7, 5);
  auto expected = product(numbers_of(a), numbers_of(b), {7, 9, 5});
  const auto addend = numbers_of(c);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = 2.5 * expected[i] - 0.5 * addend[i];
  const auto result = tenon::gemm(2.5f, a, b, -0.5f, c);
  CHECK(tenon::kernel_count<decltype(result)> == 1);
  CHECK(difference(numbers_of(result), expected, 1e-5) == "");
}

TEST_CASE("element types and static extents of a product", "[matmul]") {
  const tenon::tensor<tenon::half, shape<4, 3>> a;
  const tenon::tensor<float, shape<3, tenon::dyn>> b({3, 5});
  using node = decltype(tenon::matmul(a, b));
  STATIC_REQUIRE(std::is_same_v<node::element, float>);
  STATIC_REQUIRE(std::is_same_v<node::shape_type, shape<4, tenon::dyn>>);
  STATIC_REQUIRE(std::is_same_v<decltype(tenon::matmul(a, tenon::transpose(a)))::accumulator, float>);
}

TEST_CASE("inner extents that differ are refused, with a hint where it helps", "[matmul]") {
  const tenon::tensor<float, rank<2>> a({64, 784}), b({128, 10}), c({10, 784});
  const auto text = text_of<tenon::shape_error>([&] { tenon::matmul(a, b); });
  CHECK(has(text, "matmul: inner extents 784 and 128 differ (operands [64, 784] and [128, 10])"));
  CHECK_FALSE(has(text, "transpose"));
  CHECK(has(text_of<tenon::shape_error>([&] { tenon::matmul(a, c); }), "transpose the second operand?"));
  const tenon::tensor<float, rank<1>> vector({5});
  CHECK(text_of<tenon::shape_error>([&] { tenon::matmul(a, vector); }) ==
        "matmul: inner extents 784 and 5 differ (operands [64, 784] and [5])");
  const tenon::tensor<float, rank<3>> two({2, 3, 3}), three({3, 3, 3});
  CHECK(text_of<tenon::shape_error>([&] { tenon::matmul(two, three); }) ==
        "matmul: axis 0: extents 2 and 3 differ, expected equal or one of them 1 (operands [2, 3, 3] and [3, 3, 3])");
  const tenon::tensor<float, rank<4>> many({4, 7, 3, 3});
  const tenon::tensor<float, rank<2>> points({2, 3});
  CHECK(
      text_of<tenon::shape_error>([&] { tenon::matmul(many, tenon::new_axis<2>(points)); }) ==
      "matmul: axis 1: extents 7 and 2 differ, expected equal or one of them 1 (operands [4, 7, 3, 3] and [2, 3, 1])");
}
