// tests/train/nan_watch.cpp: the first statement that makes a number that is not finite throws and is named.
// Statements before it and after it are what they are without a watch.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/profile.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/nan_watch.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon::train::nan_watch;
using tenon::train::not_finite_error;
using tenon::train::watched_values;
using tenon_test::has;
using tenon_test::text_of;
constexpr float watched_infinity = std::numeric_limits<float>::infinity();

template <class Space>
tenon::tensor<float, rank<2>, Space> watched_matrix(tenon::index rows, tenon::index columns) {
  tenon::tensor<float, rank<2>, Space> result({rows, columns});
  result = tenon::uniform<float>(result.shape(), 3, 1.0f, 2.0f);
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("the statement that makes the first NaN throws and is named", "[nan_watch]",
                        tenon_test::spaces) {
  auto x = watched_matrix<TestType>(3, 5);
  auto y = x;
  const nan_watch watch;
  y = x * 2.0f;
  CHECK_NOTHROW(y = tenon::softmax(x, tenon::axis<-1>));
  x = x - 1.5f;
  const auto text = text_of<not_finite_error>([&] { y = tenon::log(x) + 1.0f; });
  CHECK(has(text, "nan_watch: float32 [3, 5] = add(log(x), c): NaN at ["));
  CHECK(has(text, " numbers that are not finite"));
  const auto sum = text_of<not_finite_error>([&] { (void)static_cast<float>(tenon::sum(tenon::log(x))); });
  CHECK(has(sum, "float32 [] = sum(log(x)): NaN at [], the first of 1 numbers"));
}

TEMPLATE_LIST_TEST_CASE("position, count and infinities are told; infinities can be put up with", "[nan_watch]",
                        tenon_test::spaces) {
  tenon::tensor<float, rank<2>> values({2, 3}, {1, 2, 3, 4, 0, 0});
  const auto x = values.to<TestType>();
  tenon::tensor<float, rank<2>, TestType> y({2, 3});
  {
    const nan_watch watch;
    const auto text = text_of<not_finite_error>([&] { y = 1.0f / x; });
    CHECK(has(text, ": an infinity at [1, 1], the first of 2 numbers that are not finite"));
    auto columns = y.view();
    const auto turned = text_of<not_finite_error>([&] { tenon::transpose(columns) = tenon::transpose(1.0f / x); });
    CHECK(has(turned, ": an infinity at [1, 1], the first of 2"));
  }
  CHECK_NOTHROW(y = 1.0f / x);
  const nan_watch watch(watched_values::nan);
  CHECK_NOTHROW(y = 1.0f / x);
  CHECK_THROWS_AS(y = y - y, not_finite_error);
}

TEST_CASE("every output of a joint statement is watched, short floats and doubles too", "[nan_watch]") {
  const tenon::tensor<float, rank<1>> x({3}, {1, 0, 4});
  tenon::tensor<float, rank<1>> a({3});
  tenon::tensor<tenon::half, rank<1>> b({3});
  tenon::tensor<double, rank<1>> c({3});
  const nan_watch watch;
  const auto text =
      text_of<not_finite_error>([&] { tenon::evaluate(tenon::assign(a, x + 1.0f), tenon::assign(c, tenon::log(x))); });
  CHECK(has(text, "float64 [3] = log(x): an infinity at [1]"));
  CHECK_NOTHROW(b = tenon::cast<tenon::half>(x));
  CHECK(has(text_of<not_finite_error>([&] { b = tenon::cast<tenon::half>(x * 30000.0f); }), "float16 [3]"));
  const tenon::tensor<int, rank<1>> whole({2}, {1 << 30, -1});
  tenon::tensor<int, rank<1>> other({2});
  CHECK_NOTHROW(other = whole + 1);  // whole numbers are finite, whatever their bits
}

TEST_CASE("a watch and a profile around each other see the same", "[nan_watch]") {
  const tenon::tensor<float, rank<1>> x({3}, {1, 2, watched_infinity});
  tenon::tensor<float, rank<1>> y({3});
  const nan_watch outer;
  tenon::profile inner(nullptr);
  CHECK_THROWS_AS(y = x + 1.0f, not_finite_error);
  const nan_watch innermost;
  CHECK_THROWS_AS(y = x * 2.0f, not_finite_error);
  CHECK(inner.rows().size() == 2);
}
