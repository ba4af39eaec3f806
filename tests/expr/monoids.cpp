// tests/expr/monoids.cpp: what reductions fold with.
// Each monoid is checked by its laws (identity, associativity over any split) and by what it makes of special values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/monoids.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "support/catch.hpp"

namespace {

template <class Monoid, class T>
using state_of = typename Monoid::template state<T>;

/// Folds values [begin, end) one after another.
template <class Monoid, class T>
state_of<Monoid, T> fold(const std::vector<T>& values, std::size_t begin, std::size_t end) {
  using state = state_of<Monoid, T>;
  state result = Monoid::template identity<state>();
  for (std::size_t i = begin; i < end; ++i) {
    const auto value = static_cast<tenon::compute_type<T>>(values[i]);
    result = Monoid::combine(result, Monoid::template lift<state>(value, static_cast<tenon::index>(i)));
  }
  return result;
}

template <class Monoid, class T>
auto finish(const state_of<Monoid, T>& state, std::size_t count) {
  using result = tenon::compute_type<typename Monoid::template element<T>>;
  return Monoid::template finish<result>(state, static_cast<tenon::index>(count));
}

/// The result of `values`; NaN unless every split into two or three parts gives the same.
template <class Monoid, class T>
double fold_every_way(const std::vector<T>& values) {
  const std::size_t n = values.size();
  const auto whole = static_cast<double>(finish<Monoid, T>(fold<Monoid>(values, 0, n), n));
  for (std::size_t i = 0; i <= n; ++i) {
    for (std::size_t j = i; j <= n; ++j) {
      const auto tail = Monoid::combine(fold<Monoid>(values, i, j), fold<Monoid>(values, j, n));
      const auto parts = Monoid::combine(fold<Monoid>(values, 0, i), tail);
      const auto result = static_cast<double>(finish<Monoid, T>(parts, n));
      const bool same = std::fabs(result - whole) <= 1e-6 * std::fabs(whole) || result == whole;
      if (!same && !(std::isnan(result) && std::isnan(whole))) return -12345.0;
    }
  }
  return whole;
}

const float not_a_number = std::numeric_limits<float>::quiet_NaN();
const float inf = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("sums, products and means", "[monoids]") {
  CHECK(fold_every_way<tenon::sum_monoid>(std::vector<float>{1, 2, 3, 4}) == 10);
  CHECK(fold_every_way<tenon::prod_monoid>(std::vector<double>{1, 2, 3, 4}) == 24);
  CHECK(fold_every_way<tenon::mean_monoid>(std::vector<int>{1, 2, 3, 5}) == 2.75);
  CHECK(fold_every_way<tenon::sum_monoid>(std::vector<std::int8_t>{100, 100, 100}) == 300);
  CHECK(fold_every_way<tenon::sum_monoid>(std::vector<std::uint8_t>{200, 200}) == 400);
  CHECK(std::isnan(fold_every_way<tenon::sum_monoid>(std::vector<float>{1, not_a_number, 2})));
  CHECK(std::isnan(fold_every_way<tenon::sum_monoid>(std::vector<float>{inf, -inf})));
}

TEST_CASE("sums and products of integers wrap around", "[monoids]") {
  using number = std::int64_t;
  constexpr number most = std::numeric_limits<number>::max(), least = std::numeric_limits<number>::min();
  // As constants, where undefined behaviour does not compile.
  STATIC_REQUIRE(tenon::sum_monoid::combine(most, number{1}) == least);
  STATIC_REQUIRE(tenon::prod_monoid::combine(most, number{2}) == -2);
}

TEST_CASE("what nothing folds to", "[monoids]") {
  CHECK(fold_every_way<tenon::sum_monoid>(std::vector<float>{}) == 0);
  CHECK(fold_every_way<tenon::prod_monoid>(std::vector<float>{}) == 1);
  CHECK(std::isnan(fold_every_way<tenon::mean_monoid>(std::vector<float>{})));
  CHECK(std::isnan(fold_every_way<tenon::variance_monoid>(std::vector<float>{})));
  CHECK(fold_every_way<tenon::all_monoid>(std::vector<float>{}) == 1);
  CHECK(fold_every_way<tenon::any_monoid>(std::vector<float>{}) == 0);
  STATIC_REQUIRE(!tenon::max_monoid::has_identity);
  STATIC_REQUIRE(!tenon::argmin_monoid::has_identity);
}

TEST_CASE("max and min follow one rule for NaN, wherever it stands", "[monoids]") {
  CHECK(fold_every_way<tenon::max_monoid>(std::vector<float>{-3, -1, -2}) == -1);
  CHECK(fold_every_way<tenon::min_monoid>(std::vector<float>{3, 1, 2}) == 1);
  CHECK(fold_every_way<tenon::max_monoid>(std::vector<float>{-inf, -inf}) == -HUGE_VAL);
  CHECK(fold_every_way<tenon::max_monoid>(std::vector<std::int8_t>{-128, -128}) == -128);
  CHECK(fold_every_way<tenon::min_monoid>(std::vector<std::uint64_t>{UINT64_MAX, UINT64_MAX}) ==
        18446744073709551615.0);
  const std::vector<std::vector<float>> placed = {
      {not_a_number, 1, 5, 2}, {1, not_a_number, 5, 2}, {1, 5, 2, not_a_number}, {not_a_number, inf, -inf}};
  for (const auto& values : placed) {
    CHECK(std::isnan(fold_every_way<tenon::max_monoid>(values)));
    CHECK(std::isnan(fold_every_way<tenon::min_monoid>(values)));
  }
}

TEST_CASE("nanmax and nanmin pass over NaN, wherever it stands", "[monoids]") {
  const std::vector<std::vector<float>> placed = {{not_a_number, 1, 5, 2}, {5, not_a_number, 1}, {1, 5, not_a_number}};
  for (const auto& values : placed) {
    CHECK(fold_every_way<tenon::nanmax_monoid>(values) == 5);
    CHECK(fold_every_way<tenon::nanmin_monoid>(values) == 1);
  }
  CHECK(fold_every_way<tenon::nanmax_monoid>(std::vector<float>{not_a_number, -inf}) == -HUGE_VAL);
  CHECK(fold_every_way<tenon::nanmin_monoid>(std::vector<float>{inf, not_a_number}) == HUGE_VAL);
  CHECK(std::isnan(fold_every_way<tenon::nanmax_monoid>(std::vector<float>{not_a_number, not_a_number})));
  CHECK(std::isnan(fold_every_way<tenon::nanmin_monoid>(std::vector<float>{not_a_number})));
}

TEST_CASE("argmax and argmin take the first of equals and the first NaN", "[monoids]") {
  using tenon::argmax_monoid;
  using tenon::argmin_monoid;
  CHECK(fold_every_way<argmax_monoid>(std::vector<float>{1, 5, 2, 5}) == 1);
  CHECK(fold_every_way<argmin_monoid>(std::vector<float>{4, 1, 2, 1}) == 1);
  CHECK(fold_every_way<argmax_monoid>(std::vector<float>{1, not_a_number, 5, not_a_number}) == 1);
  CHECK(fold_every_way<argmin_monoid>(std::vector<float>{1, 0, not_a_number}) == 2);
  CHECK(fold_every_way<argmax_monoid>(std::vector<float>{-inf, -inf}) == 0);
  CHECK(fold_every_way<argmin_monoid>(std::vector<float>{inf, inf}) == 0);
  CHECK(fold_every_way<argmax_monoid>(std::vector<int>{-2147483647 - 1, -2147483647 - 1}) == 0);
}

TEST_CASE("all and any", "[monoids]") {
  CHECK(fold_every_way<tenon::all_monoid>(std::vector<float>{1, 2, -3}) == 1);
  CHECK(fold_every_way<tenon::all_monoid>(std::vector<float>{1, 0, -3}) == 0);
  CHECK(fold_every_way<tenon::any_monoid>(std::vector<int>{0, 0, 7}) == 1);
  CHECK(fold_every_way<tenon::any_monoid>(std::vector<int>{0, 0, 0}) == 0);
}

TEST_CASE("the variance is biased and survives a large offset", "[monoids]") {
  CHECK(fold_every_way<tenon::variance_monoid>(std::vector<double>{1, 2, 3, 4}) == 1.25);
  CHECK(fold_every_way<tenon::variance_monoid>(std::vector<double>{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}) == 1.25);
  CHECK(fold_every_way<tenon::variance_monoid>(std::vector<float>{7}) == 0);
  CHECK(std::isnan(fold_every_way<tenon::variance_monoid>(std::vector<float>{HUGE_VALF})));
  CHECK(std::isnan(fold_every_way<tenon::variance_monoid>(std::vector<float>{1, -HUGE_VALF, 2})));
  CHECK(fold_every_way<tenon::variance_monoid>(std::vector<int>{2, 4}) == 1);
}

TEST_CASE("element types of results", "[monoids]") {
  using std::is_same_v;
  STATIC_REQUIRE(is_same_v<tenon::sum_monoid::element<std::int8_t>, std::int64_t>);
  STATIC_REQUIRE(is_same_v<tenon::sum_monoid::element<bool>, std::int64_t>);
  STATIC_REQUIRE(is_same_v<tenon::sum_monoid::element<std::uint8_t>, std::uint64_t>);
  STATIC_REQUIRE(is_same_v<tenon::sum_monoid::element<tenon::half>, tenon::half>);
  STATIC_REQUIRE(is_same_v<tenon::mean_monoid::element<int>, float>);
  STATIC_REQUIRE(is_same_v<tenon::max_monoid::element<std::int8_t>, std::int8_t>);
  STATIC_REQUIRE(is_same_v<tenon::argmax_monoid::element<float>, std::int64_t>);
  STATIC_REQUIRE(is_same_v<tenon::variance_monoid::element<int>, float>);
  STATIC_REQUIRE(is_same_v<tenon::all_monoid::element<float>, bool>);
}
