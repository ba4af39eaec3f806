// tests/evaluate.cpp: statements, from the assignment to the values in memory.
// The fusion table by counting launches; aliasing, ownership and errors by what a user can see of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::all_of;
using tenon::axis;
using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon::shape;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

template <class Space>
using matrix = tenon::tensor<float, rank<2>, Space>;
template <class Space>
using vector = tenon::tensor<float, rank<1>, Space>;

/// The launches of `destination = expression`, which must be what its type promises.
template <class Destination, class Expression>
int launches_of(Destination& destination, const Expression& expression) {
  const tenon::launch_counter counter;
  destination = expression;
  CHECK(counter.count() == tenon::kernel_count<Expression>);
  return counter.count();
}

template <class Space>
matrix<Space> small_matrix() {
  return counting<float, Space>(rank<2>(3, 3), 1);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("any pointwise tree is one kernel", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 5), -7, 0.5), y = counting<float, TestType>(rank<2>(5, 6));
  const auto row = counting<float, TestType>(rank<1>(5));
  matrix<TestType> result({6, 5});
  CHECK(launches_of(result, x * x + tenon::exp(-tenon::abs(x))) == 1);
  CHECK(launches_of(result, tenon::transpose(y) + row * 2 - tenon::slice(x, range(open_end, open_end, -1))) == 1);
  CHECK(launches_of(result, tenon::where(x > 0, x, tenon::cast<float>(tenon::iota<int>(rank<2>(6, 5))))) == 1);
  CHECK(launches_of(result, tenon::uniform<float>(rank<2>(6, 5), 3) < 0.5f) == 1);
  CHECK(launches_of(result, tenon::reshape(y, rank<2>(6, 5)) + tenon::new_axis<-1>(tenon::iota<float>(rank<1>(6)))) ==
        1);
}

TEMPLATE_LIST_TEST_CASE("a reduction of a pointwise tree, with one on its result, is one kernel", "[evaluate]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 5), -7, 0.5);
  vector<TestType> rows({6}), columns({5});
  tenon::tensor<float, shape<>, TestType> number;
  CHECK(launches_of(rows, tenon::sqrt(tenon::sum(x * x, axis<1>)) + 1) == 1);
  CHECK(launches_of(columns, tenon::max(x, axis<0>) - tenon::min(x, axis<0>)) == 1);
  CHECK(launches_of(number, tenon::sum(tenon::square(x - 1)) * 0.5f) == 1);
  const tenon::launch_counter counter;
  const float total = tenon::sum(x);
  CHECK(counter.count() == 1);
  CHECK(total == 7.5f);
}

TEMPLATE_LIST_TEST_CASE("nested reductions over the trailing axes are one kernel", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 50), -7, 0.5);
  matrix<TestType> result({6, 50});
  CHECK(launches_of(result, tenon::softmax(x, axis<-1>)) == 1);
  CHECK(launches_of(result, tenon::log_softmax(x, axis<-1>)) == 1);
  CHECK(launches_of(result, tenon::standardise(x, axis<-1>) * 2 + 1) == 1);
  CHECK(launches_of(result, x - tenon::mean(x, axis<-1>)) == 1);
}

TEMPLATE_LIST_TEST_CASE("a reduction of what reductions leave is two kernels", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 5), -7, 0.5);
  tenon::tensor<float, shape<>, TestType> number;
  CHECK(launches_of(number, tenon::mean(tenon::logsumexp(x, axis<1>) - tenon::max(x, axis<1>))) == 2);
  double expected = 0;  // all rows rise by 0.5 from value to value
  for (int i = 0; i < 5; ++i) expected += std::exp(-0.5 * i);
  CHECK(tenon_test::is_close(numbers_of(number)[0], std::log(expected), 1e-6));
  CHECK(launches_of(number, tenon::sum(tenon::square(tenon::mean(x, axis<0>)))) == 2);
}

TEMPLATE_LIST_TEST_CASE("a full reduction broadcast back is two kernels", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 5));
  matrix<TestType> result({6, 5});
  CHECK(launches_of(result, x / tenon::sum(x)) == 2);
  CHECK(tenon_test::is_close(numbers_of(result)[29], 29.0 / 435.0, 1e-6));
  CHECK(launches_of(result, x - tenon::max(x, axis<0>)) == 2);
}

TEMPLATE_LIST_TEST_CASE("a contraction with pointwise operands and result is one kernel", "[evaluate]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 3)), w = counting<float, TestType>(rank<2>(3, 5));
  const auto bias = counting<float, TestType>(rank<1>(5));
  const auto residual = counting<float, TestType>(rank<2>(4, 5));
  matrix<TestType> result({4, 5});
  CHECK(launches_of(result, tenon::matmul(x, w)) == 1);
  CHECK(launches_of(result, tenon::relu(tenon::matmul(x * 2, tenon::exp(-w)) + bias) + residual) == 1);
  const auto batch = counting<float, TestType>(rank<3>(2, 4, 3));
  tenon::tensor<float, rank<3>, TestType> products({2, 4, 5});
  CHECK(launches_of(products, tenon::matmul(batch, w) + bias) == 1);
  const auto image = counting<float, TestType>(rank<4>(2, 3, 6, 6)),
             kernel = counting<float, TestType>(rank<4>(4, 3, 3, 3));
  tenon::tensor<float, rank<4>, TestType> maps({2, 4, 4, 4});
  CHECK(launches_of(maps, tenon::relu(tenon::convolve(image, kernel))) == 1);
}

TEMPLATE_LIST_TEST_CASE("two contractions are two kernels, reductions of one too", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 3)), w = counting<float, TestType>(rank<2>(3, 4));
  matrix<TestType> result({4, 4});
  CHECK(launches_of(result, tenon::matmul(tenon::relu(tenon::matmul(x, w)), tenon::matmul(x, w))) == 3);
  CHECK(launches_of(result, tenon::matmul(x, w) * tenon::matmul(x, w)) == 2);
  vector<TestType> rows({4});
  CHECK(launches_of(rows, tenon::sum(tenon::matmul(x, w), axis<1>)) == 2);
}

TEMPLATE_LIST_TEST_CASE("a product that softmax reads four times is computed once", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(4, 3)), w = counting<float, TestType>(rank<2>(3, 4));
  matrix<TestType> result({4, 4});
  const tenon::launch_counter counter;
  result = tenon::softmax(tenon::matmul(x, w) * 0.01f, axis<1>);
  CHECK(counter.count() == 2);
  const matrix<TestType> product = tenon::matmul(x, w) * 0.01f;
  const auto expected = numbers_of(tenon::softmax(product, axis<1>));
  CHECK(tenon_test::difference(numbers_of(result), expected, 1e-6) == "");  // devices round the product another way
}

TEMPLATE_LIST_TEST_CASE("several outputs share one pass", "[evaluate]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<1>(40));
  vector<TestType> doubled({40}), squared({40});
  const auto y = counting<float, TestType>(rank<2>(4, 3));
  matrix<TestType> shares({4, 3});
  vector<TestType> means({3}), variances({3}), logs({4});
  const tenon::launch_counter counter;
  tenon::evaluate(tenon::assign(doubled, x * 2), tenon::assign(squared, x * x));
  CHECK(counter.count() == 1);
  tenon::evaluate(tenon::assign(means, tenon::mean(y, axis<0>)), tenon::assign(variances, tenon::variance(y, axis<0>)));
  CHECK(counter.count() == 2);
  tenon::evaluate(tenon::assign(shares, tenon::softmax(y, axis<-1>)),
                  tenon::assign(logs, tenon::logsumexp(y, axis<-1>)));
  CHECK(counter.count() == 3);
  CHECK(numbers_of(doubled)[39] == 78);
  CHECK(numbers_of(squared)[39] == 1521);
  CHECK(numbers_of(variances) == numbers{11.25, 11.25, 11.25});
}

TEMPLATE_LIST_TEST_CASE("every output sees the operands as they were", "[evaluate]", tenon_test::spaces) {
  auto a = counting<float, TestType>(rank<1>(40)), b = counting<float, TestType>(rank<1>(40), 100);
  tenon::evaluate(tenon::assign(a, b + 1), tenon::assign(b, a + 2));
  CHECK(numbers_of(a) == numbers_of(tenon::iota<float>(rank<1>(40)) + 101));
  CHECK(numbers_of(b) == numbers_of(tenon::iota<float>(rank<1>(40)) + 2));
  tenon::evaluate(tenon::assign(a, tenon::slice(a, range(open_end, open_end, -1))), tenon::assign(b, a));
  CHECK(numbers_of(a)[0] == 140);
  CHECK(numbers_of(b)[0] == 101);
}

TEMPLATE_LIST_TEST_CASE("a destination may be read at other places", "[evaluate]", tenon_test::spaces) {
  auto a = small_matrix<TestType>();
  a = tenon::transpose(a);
  CHECK(numbers_of(a) == numbers{1, 4, 7, 2, 5, 8, 3, 6, 9});
  a = a + tenon::slice(a, tenon::only(0));
  CHECK(numbers_of(a) == numbers{2, 8, 14, 3, 9, 15, 4, 10, 16});
  auto v = counting<float, TestType>(rank<1>(6));
  tenon::slice(v, range(1, 6)) = tenon::slice(v, range(0, 5));
  CHECK(numbers_of(v) == numbers{0, 0, 1, 2, 3, 4});
  v = tenon::slice(v, range(open_end, open_end, -1)) + v;
  CHECK(numbers_of(v) == numbers{4, 3, 3, 3, 3, 4});
  tenon::slice(v, range(0, 3)) = tenon::slice(v, range(3, 6)) * 2;
  CHECK(numbers_of(v) == numbers{6, 6, 8, 3, 3, 4});
}

TEMPLATE_LIST_TEST_CASE("in place statements of every form", "[evaluate]", tenon_test::spaces) {
  auto y = small_matrix<TestType>();
  y = y / tenon::sum(y, axis<1>);
  CHECK(difference(numbers_of(y), {1. / 6, 2. / 6, 3. / 6, 4. / 15, 5. / 15, 6. / 15, 7. / 24, 8. / 24, 9. / 24},
                   1e-6) == "");
  auto e = small_matrix<TestType>();
  e = e * 0 + tenon::sum(e, axis<1>);
  CHECK(numbers_of(e) == numbers{6, 6, 6, 15, 15, 15, 24, 24, 24});
  auto m = small_matrix<TestType>();
  m = tenon::matmul(m, m);
  CHECK(numbers_of(m) == numbers{30, 36, 42, 66, 81, 96, 102, 126, 150});
  auto s = small_matrix<TestType>();
  tenon::slice(s, tenon::only(0)) = tenon::sum(s, axis<0>);
  CHECK(numbers_of(s) == numbers{12, 15, 18, 4, 5, 6, 7, 8, 9});
  auto t = small_matrix<TestType>();
  t = tenon::transpose(t) - tenon::max(t, axis<1>);
  CHECK(numbers_of(t) == numbers{-2, 1, 4, -4, -1, 2, -6, -3, 0});
}

TEMPLATE_LIST_TEST_CASE("expressions own the tensors that have no name", "[evaluate]", tenon_test::spaces) {
  const auto make = [] { return counting<float, TestType>(rank<1>(5)); };
  const auto doubled = [&] { return make() * 2 + 1; };
  const auto e = doubled();
  vector<TestType> result({5});
  result = e;
  result = e + result;
  CHECK(numbers_of(result) == numbers{2, 6, 10, 14, 18});
  const auto local = [&] {
    const auto c = make();
    const auto t = tenon::exp(tenon::evaluated_tensor(c * 0));
    return (1 - t) / (1 + t);
  };
  CHECK(numbers_of(local()) == numbers{0, 0, 0, 0, 0});
}

TEMPLATE_LIST_TEST_CASE("operands broadcast to the destination", "[evaluate]", tenon_test::spaces) {
  matrix<TestType> result({3, 4});
  result = counting<float, TestType>(rank<2>(3, 1)) + counting<float, TestType>(rank<1>(4));
  CHECK(numbers_of(result) == numbers{0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5});
  result = 5;
  CHECK(numbers_of(result) == numbers(12, 5.0));
  result = counting<float, TestType>(rank<1>(4));
  CHECK(numbers_of(result) == numbers{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  result = counting<float, TestType>(rank<2>(3, 1)) * 2;
  CHECK(numbers_of(result) == numbers{0, 0, 0, 0, 2, 2, 2, 2, 4, 4, 4, 4});
}

TEMPLATE_LIST_TEST_CASE("a failing statement leaves its destination as it was", "[evaluate]", tenon_test::spaces) {
  auto c = counting<float, TestType>(rank<2>(2, 3));
  const auto before = numbers_of(c);
  const auto a = counting<float, TestType>(rank<2>(2, 4)), b = counting<float, TestType>(rank<2>(3, 5));
  CHECK(text_of<tenon::shape_error>([&] { c = a * 2; }) ==
        "assign: axis 1: extent 4, expected 3 (expression [2, 4], destination [2, 3])");
  CHECK(text_of<tenon::shape_error>([&] { c = a + b; }) ==
        "add: axis 0: extents 2 and 3 differ, expected equal or one of them 1 (operands [2, 4] and [3, 5])");
  CHECK(text_of<tenon::shape_error>([&] { c = tenon::matmul(a, b); }) ==
        "matmul: inner extents 4 and 3 differ (operands [2, 4] and [3, 5])");
  CHECK(numbers_of(c) == before);
}

TEMPLATE_LIST_TEST_CASE("sums are exact where floats in a row would not be", "[evaluate]", tenon_test::spaces) {
  const tenon::index count = std::is_same_v<TestType, tenon::host> ? 1 << 25 : 1 << 17;
  const auto ones = tenon::constants(rank<1>(count), 1.0f);
  const auto stored = tenon::evaluated_tensor<TestType>(ones);
  CHECK(static_cast<float>(tenon::sum(stored)) == static_cast<float>(count));
  CHECK(static_cast<float>(tenon::mean(stored)) == 1.0f);
  const auto bytes = tenon::evaluated_tensor<TestType>(tenon::constants(rank<1>(300), std::int8_t{1}));
  CHECK(static_cast<std::int64_t>(tenon::sum(bytes)) == 300);
}

TEMPLATE_LIST_TEST_CASE("reductions follow one rule for NaN, and argmax counts in its row", "[evaluate]",
                        tenon_test::spaces) {
  const float nan = static_cast<float>(std::nan(""));
  const auto x = tensor_of<TestType, float>(rank<2>(3, 4), {1, nan, 5, 2, nan, 1, 5, 2, -4, -3, -2, -1});
  const auto greatest = numbers_of(tenon::max(x, axis<1>));
  CHECK(std::isnan(greatest[0]));
  CHECK(std::isnan(greatest[1]));
  CHECK(greatest[2] == -1);
  CHECK(numbers_of(tenon::argmax(x, axis<1>)) == numbers{1, 0, 3});
}

TEMPLATE_LIST_TEST_CASE("extents of zero compute nothing", "[evaluate]", tenon_test::spaces) {
  const auto none = counting<float, TestType>(rank<2>(0, 4));
  CHECK(numbers_of(none + 1).empty());
  CHECK(numbers_of(tenon::softmax(none, axis<-1>)).empty());
  CHECK(numbers_of(tenon::sum(none, axis<0>)) == numbers(4, 0.0));
  CHECK(static_cast<float>(tenon::sum(none)) == 0.0f);
  CHECK(numbers_of(tenon::matmul(none, counting<float, TestType>(rank<2>(4, 3)))).empty());
}

TEMPLATE_LIST_TEST_CASE("a tensor without axes is made of a number, and is one", "[evaluate]", tenon_test::spaces) {
  using number = tenon::tensor<double, shape<>, TestType>;
  number scale = 0.5, other(3), braced{2.0f};
  CHECK(static_cast<double>(scale) == 0.5);
  scale += 1, scale *= other;
  scale -= braced;
  const double found = scale;
  CHECK(found == 2.5);
  CHECK(static_cast<double>(scale.view()) == 2.5);
  tenon::tensor<double, rank<1>, TestType> x({3});
  x = 2.0;
  x = x * scale + other;
  CHECK(static_cast<double>(tenon::sum(x)) == 24);
  CHECK(std::max(1.0, static_cast<double>(scale)) == 2.5);
  CHECK((scale > 1.0 && other == 3.0));
  const tenon::tensor<tenon::half, shape<>, TestType> quarter = 0.25;
  CHECK(static_cast<float>(quarter) == 0.25f);
}

TEST_CASE("which overload a tensor without axes chooses", "[evaluate]") {
  struct overloads {
    static int of(double) { return 1; }
    static int of(const tenon::tensor<double, shape<>>&) { return 2; }
  };
  const tenon::tensor<double, shape<>> scale = 0.5;
  CHECK(overloads::of(0.5) == 1);
  CHECK(overloads::of(scale) == 2);
  const tenon::tensor<tenon::index, shape<>> last = 2;
  const tenon::tensor<int, rank<1>> x = {5, 6, 7};
  CHECK(x[last] == 7);
  CHECK_THROWS_AS((tenon::tensor<std::int8_t, shape<>>(200)), tenon::dtype_error);
  constexpr tenon::tensor<double, shape<>> known = 0.25;
  STATIC_REQUIRE(static_cast<double>(known) == 0.25);
}

TEMPLATE_LIST_TEST_CASE("elements convert to the destination's type", "[evaluate]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, float>(rank<1>(4), {-1.75f, 0.5f, 2.25f, 300.0f});
  tenon::tensor<std::int32_t, rank<1>, TestType> whole({4});
  tenon::tensor<tenon::half, rank<1>, TestType> halves({4});
  tenon::tensor<tenon::bfloat16, rank<1>, TestType> short_floats({4});
  tenon::tensor<double, rank<1>, TestType> doubles({4});
  tenon::tensor<bool, rank<1>, TestType> truths({4});
  whole = x, halves = x, short_floats = x, doubles = x, truths = x > 0;
  CHECK(numbers_of(whole) == numbers{-1, 0, 2, 300});
  CHECK(numbers_of(halves) == numbers_of(x));
  CHECK(numbers_of(short_floats) == numbers_of(x));
  CHECK(numbers_of(doubles) == numbers_of(x));
  CHECK(numbers_of(truths) == numbers{0, 1, 1, 1});
}

TEMPLATE_LIST_TEST_CASE("an empty tensor takes extents, another keeps them", "[evaluate]", tenon_test::spaces) {
  matrix<TestType> result;
  result = small_matrix<TestType>() + 1;
  CHECK(result.shape() == rank<2>(3, 3));
  vector<TestType> totals;
  totals = tenon::sum(result, axis<1>);
  CHECK(numbers_of(totals) == numbers{9, 18, 27});
  const vector<TestType> greatest = tenon::max(result, axis<0>) * 2;
  CHECK(numbers_of(greatest) == numbers{16, 18, 20});
  const auto larger = counting<float, TestType>(rank<2>(4, 3));
  CHECK_THROWS_AS(result = larger + 1, tenon::shape_error);
}

namespace {

/// An expression without axes as T, and as what T converts to.
template <class T, class Expression>
void check_number(const Expression& expression, float expected) {
  const T own = expression, made(expression);
  const float single = expression;
  const double wide = expression;
  CHECK(float(own) == expected);
  CHECK(float(made) == expected);
  CHECK(float(static_cast<T>(expression)) == expected);
  CHECK(single == expected);
  CHECK(wide == double{expected});
  CHECK(int(expression) == int(expected));
}

}  // namespace

TEMPLATE_TEST_CASE("expressions without axes are numbers, short ones also floats", "[statement]", float, tenon::half,
                   tenon::bfloat16, tenon::float8_e4m3) {
  const auto x = counting<TestType>(rank<1>(3), 1);
  check_number<TestType>(tenon::sum(x), 6);
  check_number<TestType>(tenon::sum(x) * 2, 12);
  check_number<TestType>(tenon::select(x + 0, axis<0>, 1), 2);
  check_number<TestType>(tenon::as_node(tenon::tensor<TestType, shape<>>(tenon::max(x))), 3);
  tenon::traced loss = tenon::sum(tenon::traced(x * 2));
  check_number<TestType>(loss, 12);
  check_number<float>(tenon::sum(tenon::cast<float>(x)), 6);
  CHECK(float(tenon::half(tenon::sum(x))) == 6);
}
