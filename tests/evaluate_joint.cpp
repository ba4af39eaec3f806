// tests/evaluate_joint.cpp: several outputs of one statement: reductions, rows and pointwise expressions together.
// Against loops in double, and against the launches that one statement may take.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::assign;
using tenon::axis;
using tenon::evaluate;
using tenon::open_end;
using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::elements_of;
using tenon_test::numbers_of;
using tenon_test::text_of;
using numbers = std::vector<double>;

template <class Space, class T = float>
using matrix_of = tenon::tensor<T, rank<2>, Space>;
template <class Space, class T = float>
using vector_of = tenon::tensor<T, rank<1>, Space>;

/// Numbers around 0 in `count` lines of `length`: of the rows of a matrix, or of its columns.
struct lines {
  tenon::index count, length;
  numbers values;

  template <class Body>
  numbers each(const Body& body) const {
    numbers results;
    for (tenon::index line = 0; line < count; ++line) results.push_back(body(values.data() + line * length));
    return results;
  }
  numbers means() const {
    return each([this](const double* line) {
      double total = 0;
      for (tenon::index i = 0; i < length; ++i) total += line[i];
      return total / static_cast<double>(length);
    });
  }
  numbers variances() const {
    const numbers centres = means();
    std::size_t number = 0;
    return each([&](const double* line) {
      double total = 0;
      const double centre = centres[number++];
      for (tenon::index i = 0; i < length; ++i) total += (line[i] - centre) * (line[i] - centre);
      return total / static_cast<double>(length);
    });
  }
  numbers places_of_greatest() const {
    return each([this](const double* line) {
      tenon::index best = 0;
      for (tenon::index i = 1; i < length; ++i) best = line[i] > line[best] ? i : best;
      return static_cast<double>(best);
    });
  }
  numbers logs_of_sums() const {
    return each([this](const double* line) {
      double total = 0;
      for (tenon::index i = 0; i < length; ++i) total += std::exp(line[i]);
      return std::log(total);
    });
  }
  numbers shares() const {
    const numbers logs = logs_of_sums();
    numbers results = values;
    for (std::size_t i = 0; i < results.size(); ++i) {
      results[i] = std::exp(results[i] - logs[i / static_cast<std::size_t>(length)]);
    }
    return results;
  }
};

template <class Space>
matrix_of<Space> random_matrix(tenon::index rows, tenon::index columns) {
  return tenon::evaluated_tensor<Space>(tenon::uniform<float>(rank<2>(rows, columns), 11, -4.0f, 4.0f));
}
template <class Matrix>
lines rows_of(const Matrix& x) {
  return {x.extent(0), x.extent(1), numbers_of(x)};
}
template <class Matrix>
lines columns_of(const Matrix& x) {
  return {x.extent(1), x.extent(0), numbers_of(tenon::transpose(x))};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("reductions of columns are one pass", "[evaluate_joint]", tenon_test::spaces) {
  for (const auto& extents : {rank<2>(1, 1), rank<2>(7, 13), rank<2>(300, 3), rank<2>(33, 700), rank<2>(1030, 65)}) {
    const auto x = random_matrix<TestType>(extents.extent(0), extents.extent(1));
    const auto expected = columns_of(x);
    vector_of<TestType> means({x.extent(1)});
    vector_of<TestType, double> deviations({x.extent(1)});
    matrix_of<TestType, std::int64_t> places({1, x.extent(1)});
    const tenon::launch_counter counter;
    evaluate(assign(means, tenon::mean(x, axis<0>)), assign(deviations, tenon::sqrt(tenon::variance(x, axis<0>))),
             assign(places, tenon::argmax(x, axis<0>)));
    CHECK(counter.count() == 1);
    CAPTURE(extents.extent(0), extents.extent(1));
    numbers roots = expected.variances();
    for (double& each : roots) each = std::sqrt(each);
    CHECK(difference(numbers_of(means), expected.means(), 2e-6) == "");
    CHECK(difference(numbers_of(deviations), roots, 1e-5) == "");
    CHECK(numbers_of(places) == expected.places_of_greatest());
  }
}

TEMPLATE_LIST_TEST_CASE("reductions of rows and of everything are one pass", "[evaluate_joint]", tenon_test::spaces) {
  for (const auto& extents : {rank<2>(1, 1), rank<2>(13, 7), rank<2>(3, 300), rank<2>(67, 33), rank<2>(5, 40001)}) {
    const auto x = random_matrix<TestType>(extents.extent(0), extents.extent(1));
    const auto expected = rows_of(x);
    vector_of<TestType> means({x.extent(0)}), variances({x.extent(0)}), storage({2 * x.extent(0)});
    const auto every_other = tenon::slice(storage, range(0, 2 * x.extent(0), 2));
    const tenon::launch_counter counter;
    evaluate(assign(means, tenon::mean(x, axis<1>)), assign(variances, tenon::variance(x, axis<1>)));
    CHECK(counter.count() == 1);
    evaluate(assign(every_other, tenon::mean(x, tenon::drop<1>)), assign(variances, tenon::max(x, tenon::drop<1>)));
    CHECK(counter.count() == 2);
    CAPTURE(extents.extent(0), extents.extent(1));
    CHECK(difference(numbers_of(means), expected.means(), 2e-6) == "");
    CHECK(numbers_of(every_other) == numbers_of(means));
    CHECK(numbers_of(variances) == numbers_of(tenon::max(x, axis<1>)));

    tenon::tensor<float, tenon::shape<>, TestType> total, spread;
    evaluate(assign(total, tenon::mean(x)), assign(spread, tenon::variance(x)));
    CHECK(counter.count() >= 3);
    const lines whole{1, x.size(), numbers_of(x)};
    CHECK(difference(numbers_of(total), whole.means(), 2e-6) == "");
    CHECK(difference(numbers_of(spread), whole.variances(), 1e-5) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("rows and one number a row are one pass", "[evaluate_joint]", tenon_test::spaces) {
  for (const auto& extents :
       {rank<2>(1, 1), rank<2>(70, 3), rank<2>(5, 33), rank<2>(3, 300), rank<2>(2, 5001), rank<2>(17, 2048)}) {
    const tenon::index rows = extents.extent(0), columns = extents.extent(1);
    const auto x = random_matrix<TestType>(rows, columns);
    matrix_of<TestType> shares({rows, columns}), across({columns, rows});
    matrix_of<TestType, tenon::half> halves({rows, columns});
    vector_of<TestType> logs({rows}), storage({3 * rows});
    storage = -1;
    const auto every_third = tenon::slice(storage, range(0, 3 * rows, 3));
    const tenon::launch_counter counter;
    evaluate(assign(shares, tenon::softmax(x, axis<-1>)), assign(logs, tenon::logsumexp(x, axis<-1>)));
    CHECK(counter.count() == 1);
    evaluate(assign(every_third, tenon::logsumexp(x, axis<1>)), assign(halves, x * 2));
    CHECK(counter.count() == 2);
    const auto turned = tenon::transpose(across.write_view());
    evaluate(assign(turned, tenon::softmax(x, axis<1>)), assign(logs, tenon::logsumexp(x, axis<1>)));
    CHECK(counter.count() == 3);
    CAPTURE(rows, columns);
    const auto expected = rows_of(x);
    CHECK(difference(numbers_of(shares), expected.shares(), 1e-5) == "");
    CHECK(difference(numbers_of(tenon::transpose(across)), expected.shares(), 1e-5) == "");
    CHECK(difference(numbers_of(logs), expected.logs_of_sums(), 1e-5) == "");
    CHECK(numbers_of(every_third) == numbers_of(logs));
    CHECK(numbers_of(tenon::slice(storage, range(1, 3 * rows, 3))) == numbers(static_cast<std::size_t>(rows), -1.0));
    CHECK(elements_of(halves).back() == tenon::half(elements_of(x).back() * 2));
  }
}

TEMPLATE_LIST_TEST_CASE("rows of several axes are joined too", "[evaluate_joint]", tenon_test::spaces) {
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<3>(4, 5, 7), 3, -1.0f, 1.0f));
  tenon::tensor<float, rank<3>, TestType> centred({4, 5, 7}), turned({7, 5, 4});
  vector_of<TestType> means({4});
  const auto across = tenon::permute(turned.write_view(), axis<2, 1, 0>);
  const tenon::launch_counter counter;
  evaluate(assign(centred, x - tenon::mean(x, axis<1, 2>)), assign(means, tenon::mean(x, axis<1, 2>)),
           assign(across, tenon::standardise(x, axis<1, 2>)));
  CHECK(counter.count() == 1);
  const lines expected{4, 35, numbers_of(x)};
  CHECK(difference(numbers_of(means), expected.means(), 1e-6) == "");
  for (tenon::index i = 0; i < 4 * 35; ++i) {
    const auto at = static_cast<std::size_t>(i), line = static_cast<std::size_t>(i / 35);
    const double value = expected.values[at] - expected.means()[line];
    CHECK(tenon_test::is_close(numbers_of(centred)[at], value, 1e-5));
    CHECK(tenon_test::is_close(numbers_of(across)[at], value / std::sqrt(expected.variances()[line] + 1e-5), 1e-5));
  }
}

TEMPLATE_LIST_TEST_CASE("outputs in place of what they are computed from", "[evaluate_joint]", tenon_test::spaces) {
  for (const tenon::index columns : {3, 40, 700}) {
    const auto before = random_matrix<TestType>(37, columns);
    const auto expected = rows_of(before);
    auto x = before;
    auto running = tenon::full<float, TestType>(rank<2>(37, 1), 8.0f);
    const tenon::launch_counter counter;
    evaluate(assign(running, running * 0.5f + tenon::mean(x, axis<1>)), assign(x, x - tenon::mean(x, axis<1>)));
    constexpr bool on_host = std::is_same_v<TestType, tenon::host>;  // elsewhere threads share a row
    CHECK(counter.count() == (on_host ? 1 : 4));
    CAPTURE(columns);
    const auto found = numbers_of(running), centred = numbers_of(x);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(tenon_test::is_close(found[i], 4 + expected.means()[i], 1e-5));
      const std::size_t first = i * static_cast<std::size_t>(columns);
      CHECK(tenon_test::is_close(centred[first], expected.values[first] - expected.means()[i], 1e-5));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("in place outputs need no temporary, those read elsewhere do", "[evaluate_joint]",
                        tenon_test::spaces) {
  auto x = random_matrix<TestType>(9, 40);
  const auto before = rows_of(x);
  matrix_of<TestType> scale({9, 1});
  const auto launches = [](const auto&... all) {
    const tenon::launch_counter counter;
    evaluate(all...);
    return counter.count();
  };
  CHECK(launches(assign(x, x - tenon::mean(x, axis<1>)), assign(scale, tenon::mean(x, axis<1>))) == 1);
  CHECK(difference(numbers_of(scale), before.means(), 1e-5) == "");

  x = random_matrix<TestType>(9, 40) + 0;
  scale = 2.0f;
  CHECK(launches(assign(x, x * scale), assign(scale, tenon::max(x, axis<1>))) == 4);  // x reads the scale as it was
  CHECK(tenon_test::is_close(numbers_of(x)[359], 2 * before.values[359], 1e-6));
  CHECK(tenon_test::is_close(numbers_of(x)[1], 2 * before.values[1], 1e-6));

  auto running = counting<float, TestType>(rank<1>(40));
  vector_of<TestType> variances({40});
  const auto y = random_matrix<TestType>(9, 40);
  CHECK(launches(assign(running, running * 0.75f + tenon::mean(y, axis<0>)),
                 assign(variances, tenon::variance(y, axis<0>))) == 1);
  CHECK(tenon_test::is_close(numbers_of(running)[39], 0.75 * 39 + columns_of(y).means()[39], 1e-5));
  CHECK(difference(numbers_of(variances), columns_of(y).variances(), 1e-5) == "");

  auto sums = counting<float, TestType>(rank<1>(9));
  const auto square = random_matrix<TestType>(9, 9);
  CHECK(launches(assign(sums, tenon::sum(square * sums, axis<1>)), assign(scale, tenon::sum(square, axis<1>))) == 4);
  double total = 0;
  for (std::size_t i = 0; i < 9; ++i) total += numbers_of(square)[i] * static_cast<double>(i);
  CHECK(tenon_test::is_close(numbers_of(sums)[0], total, 1e-5));
}

TEMPLATE_LIST_TEST_CASE("joined statements without elements", "[evaluate_joint]", tenon_test::spaces) {
  const auto none = random_matrix<TestType>(5, 0);
  vector_of<TestType> sums({5}), means({5});
  matrix_of<TestType> doubled({5, 0});
  evaluate(assign(sums, tenon::sum(none, axis<1>)), assign(means, tenon::mean(none, axis<1>)));
  CHECK(numbers_of(sums) == numbers(5, 0.0));
  CHECK(std::isnan(numbers_of(means)[4]));
  sums = 3.0f;
  evaluate(assign(sums, tenon::sum(none, axis<1>)), assign(doubled, none * 2));
  CHECK(numbers_of(sums) == numbers(5, 0.0));
  const auto no_rows = random_matrix<TestType>(0, 5);
  vector_of<TestType> nothing({0});
  matrix_of<TestType> shares({0, 5});
  evaluate(assign(shares, tenon::softmax(no_rows, axis<1>)), assign(nothing, tenon::logsumexp(no_rows, axis<1>)));
  CHECK(numbers_of(nothing).empty());
}

TEMPLATE_LIST_TEST_CASE("joined expressions repeat over their destinations", "[evaluate_joint]", tenon_test::spaces) {
  const auto row = counting<float, TestType>(rank<1>(5));
  const auto x = counting<float, TestType>(rank<2>(3, 5));
  matrix_of<TestType> repeated({3, 5}), doubled({3, 5}), sums({3, 5});
  evaluate(assign(repeated, row + 1), assign(doubled, x * 2));
  CHECK(numbers_of(repeated) == numbers{1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5});
  CHECK(numbers_of(doubled)[14] == 28);
  evaluate(assign(sums, tenon::sum(x, axis<1>)), assign(doubled, x * 3));
  CHECK(numbers_of(sums)[7] == 35);
  CHECK(numbers_of(doubled)[14] == 42);
}

TEMPLATE_LIST_TEST_CASE("outputs of other extents are refused", "[evaluate_joint]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(3, 5)), y = counting<float, TestType>(rank<2>(4, 5));
  auto a = counting<float, TestType>(rank<2>(3, 5)), b = counting<float, TestType>(rank<2>(4, 5));
  auto c = counting<float, TestType>(rank<1>(3));
  auto d = counting<float, TestType>(rank<2>(1, 5)), e = a;
  const auto before = numbers_of(a);
  CHECK(text_of<tenon::shape_error>([&] { evaluate(assign(a, x * 2), assign(b, y * 2)); }) ==
        "evaluate: axis 0: extent 3, expected 4 as of another output ([3, 5] with [4, 5])");
  CHECK(text_of<tenon::shape_error>([&] { evaluate(assign(a, x * 2), assign(d, d * 2)); }) ==
        "evaluate: axis 0: extent 1, expected 3 as of another output ([1, 5] with [3, 5])");
  CHECK(text_of<tenon::shape_error>([&] {
          evaluate(assign(c, tenon::sum(x, axis<1>)), assign(b, tenon::softmax(y, axis<1>)));
        }) == "evaluate: axis 0: extent 3, expected 4 as of another output ([3, 1] with [4, 5])");
  CHECK(text_of<tenon::shape_error>([&] { evaluate(assign(a, y * 2), assign(e, x * 2)); }) ==
        "assign: axis 0: extent 4, expected 3 (expression [4, 5], destination [3, 5])");
  CHECK(numbers_of(a) == before);
}

TEMPLATE_LIST_TEST_CASE("outputs that have elements in common are refused", "[evaluate_joint]", tenon_test::spaces) {
  auto a = counting<float, TestType>(rank<2>(4, 6));
  const auto before = numbers_of(a);
  const auto x = counting<float, TestType>(rank<2>(3, 6));
  const auto top = tenon::slice(a, range(0, 3)), bottom = tenon::slice(a, range(1, 4));
  CHECK(text_of<tenon::storage_error>([&] { evaluate(assign(top, x), assign(bottom, x * 2)); }) ==
        "evaluate: outputs 0 and 1, of extents [3, 6] and [3, 6], have elements in common; assign one after the other");
  CHECK(text_of<tenon::storage_error>([&] { evaluate(assign(a[0], x[0]), assign(a[1], x[1]), assign(a[0], x[2])); }) ==
        "evaluate: outputs 0 and 2, of extents [6] and [6], have elements in common; assign one after the other");
  CHECK(numbers_of(a) == before);
}

TEMPLATE_LIST_TEST_CASE("views without a name are destinations", "[evaluate_joint]", tenon_test::spaces) {
  auto a = counting<float, TestType>(rank<2>(4, 6));
  const auto x = counting<float, TestType>(rank<1>(3), 1);
  const auto even = tenon::range(0, 6, 2), odd = tenon::range(1, 6, 2);  // they lie between each other
  evaluate(assign(a[2][even], x * 2), assign(a[2][odd], x * 3));
  CHECK(numbers_of(a[2]) == numbers{2, 3, 4, 6, 6, 9});
}

TEST_CASE("empty destinations take the extents of their expressions", "[evaluate_joint]") {
  tenon::tensor<float, rank<2>> x({3, 5}), means, twice;
  x = tenon::iota<float>(x.shape());
  tenon::tensor<float, rank<1>> totals;
  evaluate(assign(means, tenon::mean(x, axis<1>)), assign(totals, tenon::sum(x, axis<1>)));
  CHECK(means.shape() == rank<2>(3, 1));
  CHECK(totals.shape() == rank<1>(3));
  CHECK(numbers_of(totals) == std::vector<double>{10, 35, 60});
  evaluate(assign(twice, x * 2));
  CHECK(twice.shape() == x.shape());
  CHECK(twice(2, 4) == 28);
}
