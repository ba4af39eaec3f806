// tests/expr/polynomial.cpp: polynomials against sums of powers in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/polynomial.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"

namespace {

/// The sum of the powers, that of the highest first.
std::vector<double> powers_of(const std::vector<double>& coefficients, const std::vector<double>& xs) {
  std::vector<double> result;
  for (const double x : xs) {
    double sum = 0;
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      sum += coefficients[i] * std::pow(x, static_cast<double>(coefficients.size() - 1 - i));
    }
    result.push_back(sum);
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("polynomials have the coefficient of the highest power first", "[polynomial]",
                        tenon_test::spaces) {
  using tenon::polyval;
  using tenon_test::difference;
  using tenon_test::numbers_of;
  for (const tenon::index count : {0, 1, 7, 37}) {
    const auto x = tenon_test::made_tensor<double, TestType>(tenon::rank<1>(count), tenon_test::scattered);
    const auto few = tenon_test::made_tensor<float, TestType>(tenon::rank<1>(count), tenon_test::scattered);
    CHECK(difference(numbers_of(polyval({2, -1, 0.5, 3}, x)), powers_of({2, -1, 0.5, 3}, numbers_of(x)), 1e-14) == "");
    CHECK(difference(numbers_of(polyval({2, -1, 0.5, 3}, few)), powers_of({2, -1, 0.5, 3}, numbers_of(few)), 1e-6) ==
          "");
    CHECK(numbers_of(polyval({4}, x)) == std::vector<double>(static_cast<std::size_t>(count), 4.0));
    CHECK(difference(numbers_of(2 * polyval({1, 0}, x + 1)), numbers_of(2 * (x + 1)), 1e-15) == "");
  }
  const auto whole = tenon_test::tensor_of<TestType, int>(tenon::rank<1>(3), {0, 1, -2});
  static_assert(std::is_same_v<typename decltype(polyval({1, 0.5}, whole))::element, float>);
  CHECK(numbers_of(polyval({1, 0.5}, whole)) == std::vector<double>{0.5, 1.5, -1.5});
}

TEST_CASE("polynomials have derivatives", "[polynomial]") {
  auto x = tenon_test::drawn(tenon::rank<1>(9), 1);
  const auto cubic = [](const auto& v) { return tenon::polyval({2, -1, 0.5, 3}, v); };
  CHECK(tenon::gradcheck(cubic, x) == "");
  CHECK(tenon_test::second_difference(cubic, x) == "");
  CHECK(tenon::gradcheck([](const auto& v) { return tenon::polyval({3}, v); }, x) == "");
}
