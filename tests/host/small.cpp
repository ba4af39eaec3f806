// tests/host/small.cpp: reductions of few elements of static extents, and which statements are none of them.
// Each against its definition in double; destinations that are read, strided or observed give the same values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/small.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;

namespace {

template <class E>
constexpr bool runs_small(const E&) {
  return tenon::runs_small<E>;
}

template <class T, tenon::index... Extents>
tenon::tensor<T, shape<Extents...>> random_numbers(unsigned seed) {
  tenon::tensor<T, shape<Extents...>> result;
  result = tenon::uniform<T>(result.shape(), seed, -2.0f, 2.0f);
  return result;
}

template <class T, tenon::index N>
void check_vector() {
  const auto x = random_numbers<T, N>(1), y = random_numbers<T, N>(2);
  const auto a = numbers_of(x), b = numbers_of(y);
  double product = 0, squares = 0, greatest = a[0], total = 0, powers = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += a[i] * b[i], squares += a[i] * a[i], total += a[i];
    greatest = std::fmax(greatest, a[i]);
  }
  std::vector<double> unit, soft;
  for (const double each : a) powers += std::exp(each - greatest);
  for (const double each : a)
    unit.push_back(each / std::sqrt(squares)), soft.push_back(std::exp(each - greatest) / powers);
  CAPTURE(N);
  CHECK(runs_small(tenon::sum(x * y)));
  CHECK(runs_small(tenon::softmax(x, axis<0>)));
  const tenon::launch_counter counter;
  const T dot = tenon::sum(x * y), norm = tenon::sqrt(tenon::sum(x * x)), most = tenon::max(x), mean = tenon::mean(x);
  CHECK(counter.count() == 4);
  CHECK(std::fabs(dot - product) < 1e-5 * static_cast<double>(N));
  CHECK(std::fabs(norm - std::sqrt(squares)) < 1e-5 * static_cast<double>(N));
  CHECK(static_cast<double>(most) == greatest);
  CHECK(std::fabs(mean - total / static_cast<double>(N)) < 1e-5);
  tenon::tensor<T, shape<N>> result;
  result = tenon::softmax(x, axis<0>);
  CHECK(counter.count() == 5);
  CHECK(std::string(counter.last_kind()) == "rows");
  CHECK(difference(numbers_of(result), soft, 1e-6) == "");
  result = x / tenon::sqrt(tenon::sum(x * x, axis<0>));
  CHECK(difference(numbers_of(result), unit, 1e-6) == "");
  const T variance = tenon::variance(x);
  double spread = 0;
  for (const double each : a) spread += (each - total / N) * (each - total / N) / N;
  CHECK(std::fabs(variance - spread) < 1e-5);
  const auto place = static_cast<tenon::index>(tenon::argmax(x));
  CHECK(a[static_cast<std::size_t>(place)] == greatest);
}

}  // namespace

TEST_CASE("numbers and rows of short vectors", "[small]") {
  check_vector<float, 1>(), check_vector<float, 2>(), check_vector<float, 3>(), check_vector<float, 4>();
  check_vector<float, 5>(), check_vector<float, 7>(), check_vector<float, 16>(), check_vector<float, 19>();
  check_vector<float, 64>(), check_vector<double, 2>(), check_vector<double, 3>(), check_vector<double, 9>();
}

TEST_CASE("matrices, columns and elements apart are folded whole", "[small]") {
  const auto m = random_numbers<float, 3, 5>(3);
  const auto a = numbers_of(m);
  double total = 0, mixed = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += a[i], mixed += a[i] * a[i / 5 + i % 5 * 3];
  CHECK(runs_small(tenon::sum(m)));
  CHECK(std::fabs(static_cast<float>(tenon::sum(m)) - total) < 1e-5);
  const auto other = tenon::transpose(tenon::reshape(m, shape<5, 3>{}));
  CHECK(runs_small(tenon::sum(m * other)));
  CHECK(std::fabs(static_cast<float>(tenon::sum(m * other)) - mixed) < 1e-5);
  float column = 0;
  for (tenon::index i = 0; i < 3; ++i) column += m(i, 2);
  const auto of_column = tenon::select(m, tenon::axis<1>, 2);
  CHECK(std::fabs(static_cast<float>(tenon::sum(of_column)) - column) < 1e-5f);
}

TEST_CASE("a statement may read what it writes, and write elements apart", "[small]") {
  auto x = random_numbers<float, 6>(4);
  const auto before = numbers_of(x);
  double total = 0;
  for (const double each : before) total += each;
  std::vector<double> expected;
  for (std::size_t i = 0; i < before.size(); ++i) expected.push_back(before[before.size() - 1 - i] - total);
  x = tenon::flip(x, axis<0>) - tenon::sum(x, axis<0>);
  CHECK(difference(numbers_of(x), expected, 1e-5) == "");
  tenon::tensor<float, shape<4, 4>> square;
  square = 7;
  const auto v = random_numbers<float, 4>(5);
  tenon::select(square, tenon::axis<1>, 1) = tenon::softmax(v, axis<0>);
  const auto soft = numbers_of(tenon::softmax(v, axis<0>));
  for (tenon::index i = 0; i < 4; ++i) {
    CHECK(std::fabs(square(i, 1) - soft[static_cast<std::size_t>(i)]) < 1e-6);
    CHECK(square(i, 0) == 7);
    CHECK(square(i, 2) == 7);
  }
}

TEST_CASE("NaN and infinities come through, integers stay whole", "[small]") {
  tenon::tensor<float, shape<4>> x{1.0f, 2.0f, std::numeric_limits<float>::infinity(), 3.0f};
  CHECK(std::isinf(static_cast<float>(tenon::sum(x))));
  x(1) = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(static_cast<float>(tenon::sum(x))));
  CHECK(std::isnan(static_cast<float>(tenon::max(x))));
  const tenon::tensor<int, shape<3>> whole{2147483647, 1, 2};
  CHECK(static_cast<tenon::index>(tenon::sum(whole)) == 2147483650);
  const tenon::tensor<bool, shape<3>> flags{true, false, true};
  CHECK(static_cast<tenon::index>(tenon::sum(flags)) == 2);
  CHECK(static_cast<bool>(tenon::any(flags)));
  CHECK(!static_cast<bool>(tenon::all(flags)));
}

TEST_CASE("an observed statement is told as any other", "[small]") {
  struct : tenon::launch_observer {
    int statements = 0;
    bool begin(const tenon::launch_facts&) override { return true; }
    void end() noexcept override {}
    void statement(const tenon::statement_facts&) override { ++statements; }
  } observer;
  const auto x = random_numbers<float, 4>(6);
  float seen = 0;
  {
    const tenon::observer_scope scope(&observer);
    seen = tenon::sum(x * x);
  }
  CHECK(observer.statements == 1);
  CHECK(std::fabs(seen - static_cast<float>(tenon::sum(x * x))) < 1e-6f);
}

TEST_CASE("other statements are none", "[small]") {
  const tenon::tensor<float, rank<1>> dynamic({4});
  const tenon::tensor<float, shape<65>> long_row;
  const tenon::tensor<float, shape<0>> empty;
  const auto m = random_numbers<float, 4, 4>(7);
  CHECK(!runs_small(tenon::sum(dynamic)));
  CHECK(!runs_small(tenon::sum(long_row)));
  CHECK(!runs_small(tenon::sum(empty)));
  CHECK(!runs_small(tenon::sum(m, axis<1>)));
  CHECK(!runs_small(tenon::softmax(m, axis<1>)));
  CHECK(!runs_small(m + m));
  CHECK(static_cast<float>(tenon::sum(empty)) == 0);
}
