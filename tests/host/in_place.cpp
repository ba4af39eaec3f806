// tests/host/in_place.cpp: statements of few elements whose extents types know, by the machine and by the compiler.
// Each against its definition in double; destinations may be read.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms.hpp>
#include <tenon/expr/operations/complex.hpp>
#include <tenon/host/in_place.hpp>
#include <tenon/products.hpp>
#include <tenon/tenon.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/few_elements.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::runs_small;

namespace {

/// Numbers in memory, or in place.
template <class Space, class T, tenon::index... Extents>
tenon::tensor<T, shape<Extents...>, Space> random_in(unsigned seed) {
  tenon::tensor<T, shape<Extents...>, Space> result;
  result = tenon::uniform<T>(result.shape(), seed, -2.0f, 2.0f);
  return result;
}
template <class T, tenon::index... Extents>
auto random_numbers(unsigned seed) {
  return random_in<tenon::in_place, T, Extents...>(seed);
}

template <class Space, class T, tenon::index N>
void check_vector_in() {
  const auto x = random_in<Space, T, N>(1), y = random_in<Space, T, N>(2);
  constexpr int launches = std::is_same_v<Space, tenon::host> ? 1 : 0;
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
  CHECK(counter.count() == 0);  // numbers are arithmetic
  CHECK(std::fabs(dot - product) < 1e-5 * static_cast<double>(N));
  CHECK(std::fabs(norm - std::sqrt(squares)) < 1e-5 * static_cast<double>(N));
  CHECK(static_cast<double>(most) == greatest);
  CHECK(std::fabs(mean - total / static_cast<double>(N)) < 1e-5);
  tenon::tensor<T, shape<N>, Space> result;
  result = tenon::softmax(x, axis<0>);
  CHECK(counter.count() == launches);
  if (launches == 1) CHECK(std::string(counter.last_kind()) == "rows");
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

/// Elements whose extents only the run knows, for the same statement by way of memory.
template <class Tensor>
auto dynamic(const Tensor& x) {
  return tenon::tensor<typename Tensor::element, rank<Tensor::rank>>(x);
}

/// A matrix of doubles and what tests ask of it, element by element.
struct table {
  int rows, columns;
  std::vector<double> values;

  double operator()(int i, int j) const { return values[static_cast<std::size_t>(i * columns + j)]; }
};

template <class Make>
table make_table(int rows, int columns, const Make& make) {
  table made{rows, columns, {}};
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) made.values.push_back(static_cast<double>(make(i, j)));
  }
  return made;
}
table turned(const table& x) {
  return make_table(x.columns, x.rows, [&](int i, int j) { return x(j, i); });
}
template <class Function>
table mapped(const table& x, const Function& function) {
  return make_table(x.rows, x.columns, [&](int i, int j) { return function(x(i, j)); });
}
/// Rows and columns of extent 1 repeat.
template <class Function>
table paired(const table& x, const table& y, const Function& function) {
  return make_table(std::max(x.rows, y.rows), std::max(x.columns, y.columns), [&](int i, int j) {
    return function(x(x.rows == 1 ? 0 : i, x.columns == 1 ? 0 : j), y(y.rows == 1 ? 0 : i, y.columns == 1 ? 0 : j));
  });
}
/// Each column folded, from its first element on.
template <class Function>
table folded(const table& x, const Function& function) {
  return make_table(1, x.columns, [&](int, int j) {
    double result = x(0, j);
    for (int i = 1; i < x.rows; ++i) result = function(result, x(i, j));
    return result;
  });
}
/// Where the first of the least elements of each column is.
table least_place(const table& x) {
  return make_table(1, x.columns, [&](int, int j) {
    int place = 0;
    for (int i = 1; i < x.rows; ++i) place = x(i, j) < x(place, j) ? i : place;
    return place;
  });
}
table product(const table& x, const table& y) {
  return make_table(x.rows, y.columns, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < x.columns; ++k) sum += x(i, k) * y(k, j);
    return sum;
  });
}

template <class T, int Rows, int Depth, int Columns>
void check_one_product() {
  const auto a = random_numbers<T, Rows, Depth>(1);
  const auto b = random_numbers<T, Depth, Columns>(2);
  const tenon::tensor<T, shape<Rows, Columns>> found = tenon::matmul(a, b);
  const auto expected = product({Rows, Depth, numbers_of(a)}, {Depth, Columns, numbers_of(b)});
  CAPTURE(Rows, Depth, Columns);
  CHECK(difference(numbers_of(found), expected.values, 1e-5 * Depth) == "");
}

template <class T, int Rows, int Depth, int Columns>
void check_products() {
  const auto a = random_numbers<T, Rows, Depth>(1);
  const auto b = random_numbers<T, Depth, Columns>(2);
  const auto v = random_numbers<T, Depth>(3);
  const auto u = random_numbers<T, Rows>(4);
  const auto w = random_numbers<T, Columns>(5);
  const table ta{Rows, Depth, numbers_of(a)}, tb{Depth, Columns, numbers_of(b)};
  const table tv{Depth, 1, numbers_of(v)}, tu{Rows, 1, numbers_of(u)}, tw{1, Columns, numbers_of(w)};
  constexpr std::plus<> add;
  constexpr std::divides<> divide;
  const auto greater = [](double x, double y) { return std::fmax(x, y); };
  const auto exp = [](double x) { return std::exp(x); };
  const double tolerance = 1e-5 * Depth;
  CAPTURE(Rows, Depth, Columns);
  const auto agree = [&](const auto& found, const table& expected) {
    static_assert(tenon::stays_in_registers<std::remove_cvref_t<decltype(found)>>);
    using element = typename std::remove_cvref_t<decltype(found)>::element;
    using known = typename std::remove_cvref_t<decltype(found)>::shape_type;
    const tenon::launch_counter counter;
    const tenon::tensor<element, known> result = found;
    CHECK(counter.count() == 0);
    CHECK(difference(numbers_of(result), expected.values, tolerance) == "");
    if constexpr (Rows == 2) {  // the same in memory; more of them would only take compilers longer
      tenon::tensor<element, known, tenon::host> in_memory;
      in_memory = found;
      CHECK(difference(numbers_of(in_memory), expected.values, tolerance) == "");
    }
  };
  const table tab = product(ta, tb), tav = product(ta, tv);
  agree(tenon::matmul(a, b), tab);
  agree(tenon::relu(tenon::matmul(a, b) + w), mapped(paired(tab, tw, add), [](double x) { return std::fmax(x, 0.0); }));
  agree(tenon::matmul(a, v), tav);
  agree(tenon::matmul(a, v) * 2 - u, paired(tav, tu, [](double x, double y) { return x * 2 - y; }));
  agree(tenon::matmul(u, a), product(turned(tu), ta));
  agree(tenon::matmul(tenon::transpose(b), tenon::transpose(a)), turned(tab));
  agree(tenon::matmul(tenon::transpose(b), v), product(turned(tb), tv));
  agree(tenon::matmul(a * 2 + 1, tenon::exp(b)),
        product(mapped(ta, [](double x) { return x * 2 + 1; }), mapped(tb, exp)));
  agree(tenon::matmul(tenon::matmul(a, b), w), product(tab, turned(tw)));
  agree(tenon::matmul(a, v) / tenon::sum(tenon::abs(tenon::matmul(a, v)) + 1, axis<0>),
        paired(tav, folded(mapped(tav, [](double x) { return std::fabs(x) + 1; }), add), divide));
  agree(tenon::sum(a, axis<1>) * tenon::max(a, axis<0>),
        paired(turned(folded(turned(ta), add)), folded(ta, greater), std::multiplies<>()));
  const table powers = mapped(ta, exp);
  agree(tenon::softmax(a, axis<1>), paired(powers, turned(folded(turned(powers), add)), divide));
  agree(tenon::softmax(a, axis<0>), paired(powers, folded(powers, add), divide));
  agree(tenon::argmin(a, axis<0>), least_place(ta));
  agree(tenon::argmax(a, tenon::drop<1>), least_place(turned(mapped(ta, std::negate<>()))));
  const auto total = [&](const table& x) { return folded(turned(folded(x, add)), add); };
  const table mean = mapped(total(ta), [](double x) { return x / (Rows * Depth); });
  agree(tenon::variance(a, axis<0, 1>),
        total(paired(ta, mean, [](double x, double y) { return (x - y) * (x - y) / (Rows * Depth); })));
}

}  // namespace

namespace constants {

using tenon::matmul, tenon::sum, tenon::transpose;
constexpr tenon::tensor<float, shape<4, 4>> m = {{1, 2, 3, 4}, {0, 1, 0, 0}, {2, 0, 1, 0}, {0, 0, 0, 5}};
constexpr tenon::tensor<float, shape<4>> v = {1, -2, 3, 4};
constexpr tenon::tensor<float, shape<4, 4>> square = matmul(m, m);
static_assert(square(0, 0) == 7 && square(0, 3) == 24 && square(3, 3) == 25);
constexpr tenon::tensor<float, shape<4, 4>> epilogue = tenon::relu(matmul(m, m) - v);
static_assert(epilogue(0, 0) == 6 && epilogue(1, 0) == 0 && epilogue(0, 3) == 20);
constexpr tenon::tensor<float, shape<4>> applied = matmul(m, v), rows = sum(m, axis<1>), columns = sum(m, axis<0>);
static_assert(applied(0) == 22 && applied(3) == 20 && rows(0) == 10 && columns(0) == 3);
constexpr float dot = tenon::dot(v, v), greatest = tenon::max(v), mean = tenon::mean(v);
static_assert(dot == 30 && greatest == 4 && mean == 1.5f && tenon::index(tenon::argmin(v)) == 1);
constexpr tenon::tensor<int, shape<2, 3>> whole = {{1, 2, 3}, {4, 5, 6}};
constexpr tenon::tensor<int, shape<3, 2>> turned = transpose(whole);
static_assert(turned(2, 0) == 3 && turned(0, 1) == 4);
constexpr tenon::tensor<std::int64_t, shape<2, 2>> gram = matmul(whole, transpose(whole));
static_assert(gram(0, 1) == 32 && gram(1, 1) == 77);
constexpr tenon::tensor<bool, shape<4>> mask = v > 0.0f && v < 4.0f;
static_assert(mask(0) && !mask(1) && mask(2) && !mask(3) && bool(tenon::any(v < 0.0f)) && !bool(tenon::all(v < 0.0f)));
constexpr auto chosen = [] {
  tenon::tensor<float, shape<4>> x = tenon::where(v < 0.0f, 0.0f, v);
  x = x * 2.0f + tenon::flip(x, axis<0>);
  x += 1.0f;
  return x;
}();
static_assert(chosen(0) == 7 && chosen(1) == 4 && chosen(3) == 10);

}  // namespace constants

TEST_CASE("products and reductions of matrices agree with their definitions", "[in_place]") {
  check_products<float, 1, 1, 1>(), check_products<float, 2, 3, 4>(), check_products<double, 3, 2, 5>();
}

TEST_CASE("products of other extents agree with their definition", "[in_place]") {
  check_one_product<float, 3, 3, 3>(), check_one_product<float, 4, 4, 4>(), check_one_product<float, 5, 7, 6>();
  check_one_product<float, 8, 8, 8>(), check_one_product<double, 6, 6, 6>(), check_one_product<float, 1, 16, 3>();
}

TEST_CASE("a tensor in place may be read where it is written", "[in_place]") {
  auto a = random_numbers<float, 4, 4>(8);
  const auto b = random_numbers<float, 4, 4>(9);
  const auto da = dynamic(a), db = dynamic(b);
  const auto check = [&](const auto& expected) {
    CHECK(difference(numbers_of(a), numbers_of(expected), 1e-5) == "");
    a = da;
  };
  a = tenon::matmul(a, b), check(tenon::matmul(da, db));
  a = tenon::matmul(b, a), check(tenon::matmul(db, da));
  a = tenon::matmul(a, a) + tenon::transpose(a), check(tenon::matmul(da, da) + tenon::transpose(da));
  a = tenon::transpose(a), check(tenon::transpose(da));
  a = a - tenon::sum(a, axis<0>), check(da - tenon::sum(da, axis<0>));
  a += tenon::flip(a, axis<0, 1>), check(da + tenon::flip(da, axis<0, 1>));
  a = a[1], check(tenon::broadcast_to(da[1], rank<2>(4, 4)));
  a = 3, check(tenon::full<float>({4, 4}, 3));
  a = tenon::sum(a, axis<1>) * 2, check(tenon::broadcast_to(tenon::sum(da, axis<1>) * 2, rank<2>(4, 4)));
  a.noalias() = a * 2, check(da * 2);
}

TEST_CASE("expressions keep temporaries in place", "[in_place]") {
  const auto made = [](float first) { return tenon::tensor<float, shape<3>>{first, first + 1, first + 2}; };
  const auto kept = made(1) * 2 + made(10);
  const auto copied = kept;
  CHECK(numbers_of(copied) == std::vector<double>{12, 15, 18});
  const tenon::tensor<float, rank<1>> in_memory = tenon::sqrt(made(4) * made(4));
  CHECK(numbers_of(in_memory) == std::vector<double>{4, 5, 6});
  CHECK(numbers_of(tenon::matmul(tenon::tensor<float, shape<2, 3>>{{1, 2, 3}, {4, 5, 6}}, made(0))) ==
        std::vector<double>{8, 17});
}

TEST_CASE("sums of whole tensors repeat, other extents are refused", "[in_place]") {
  const tenon::tensor<float, shape<2, 3>> m = {{1, 2, 3}, {4, 5, 6}};
  tenon::tensor<float, shape<3>> v;
  v = tenon::sum(m, axis<0, 1>);
  CHECK(numbers_of(v) == std::vector<double>{21, 21, 21});
  v = tenon::sum(m, axis<0>);
  CHECK(numbers_of(v) == std::vector<double>{5, 7, 9});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { v = tenon::sum(m, axis<1>); }) ==
        "assign: axis 0: extent 2, expected 3 (expression [2, 1], destination [3, 1])");
  CHECK(numbers_of(v) == std::vector<double>{5, 7, 9});
  const tenon::tensor<float, shape<4, 1, 1>> column = tenon::reshape(tenon::iota<float>(shape<4>{}), shape<4, 1, 1>{});
  tenon::tensor<float, shape<2, 2>> square;
  CHECK_THROWS_AS(square = column * 1.0f, tenon::shape_error);
  tenon::tensor<float, shape<1, 4>> row;
  row = tenon::iota<float>(shape<4>{}) + 1.0f;
  CHECK(numbers_of(row) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("types are converted as in other statements", "[in_place]") {
  const tenon::tensor<int, shape<5>> counts = {1, -2, 3, 4, 2147483647};
  tenon::tensor<float, shape<5>> floats = counts;
  CHECK(numbers_of(floats) == std::vector<double>{1, -2, 3, 4, 2147483648.0});
  floats = counts + counts;
  CHECK(numbers_of(floats) == std::vector<double>{2, -4, 6, 8, -2});
  const tenon::tensor<std::int64_t, shape<4>> wide = {1, 2, 3, 4};
  const tenon::tensor<double, shape<4>> doubles = wide * wide;
  CHECK(numbers_of(doubles) == std::vector<double>{1, 4, 9, 16});
  const tenon::tensor<float, shape<4>> x{1.9f, -2.9f, 3e10f, std::numeric_limits<float>::quiet_NaN()};
  const tenon::tensor<int, shape<4>> whole = x;
  CHECK(numbers_of(whole) == std::vector<double>{1, -2, 2147483647, 0});
  const tenon::tensor<tenon::half, shape<4>> half = {1.0f, 2.0f, 3.0f, 0.5f};
  const tenon::tensor<tenon::half, shape<4>> sums = half * half + tenon::sum(half, axis<0>);
  CHECK(numbers_of(sums) == std::vector<double>{7.5, 10.5, 15.5, 6.75});
  const tenon::tensor<std::uint8_t, shape<2, 2>> bytes = {{255, 1}, {2, 3}};
  const tenon::tensor<std::uint8_t, shape<2, 2>> wrapped = bytes + bytes;
  CHECK(numbers_of(wrapped) == std::vector<double>{254, 2, 4, 6});
  tenon::tensor<std::complex<double>, shape<2, 2>> turns;
  turns = 0.0, turns(0, 0) = {0, 1}, turns(1, 1) = {0, -1};
  const tenon::tensor<std::complex<double>, shape<2, 2>> halves = tenon::matmul(turns, turns);
  CHECK(halves(0, 0) == std::complex<double>(-1, 0));
  CHECK(halves(0, 1) == std::complex<double>(0, 0));
}

TEST_CASE("numbers and rows of short vectors", "[in_place]") {
  using tenon::host, tenon::in_place;
  check_vector_in<in_place, float, 1>(), check_vector_in<in_place, float, 4>(), check_vector_in<in_place, double, 9>();
  check_vector_in<in_place, float, 19>(), check_vector_in<host, float, 2>(), check_vector_in<host, float, 7>();
  check_vector_in<host, double, 3>(), check_vector_in<host, float, 64>();
}

TEST_CASE("matrices, columns and elements apart are folded whole", "[in_place]") {
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

TEST_CASE("a statement may read what it writes, and write elements apart", "[in_place]") {
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

TEST_CASE("NaN and infinities come through, integers stay whole", "[in_place]") {
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

TEST_CASE("an observed statement is told as any other", "[in_place]") {
  struct : tenon::launch_observer {
    int statements = 0;
    bool begin(const tenon::launch_facts&) override { return true; }
    void end() noexcept override {}
    void statement(const tenon::statement_facts&) override { ++statements; }
  } observer;
  const auto x = random_in<tenon::host, float, 4>(6);
  tenon::tensor<float, shape<>, tenon::host> seen;
  tenon::tensor<float, shape<>> unseen;
  {
    const tenon::observer_scope scope(&observer);
    seen = tenon::sum(x * x);
    unseen = tenon::sum(x * x);
  }
  CHECK(observer.statements == 1);
  CHECK(std::fabs(seen() - unseen()) < 1e-6f);
}
