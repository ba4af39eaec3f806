// tests/expr/covariance.cpp: covariances and correlations against sums in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/covariance.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"

namespace {

using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// The covariances of `m` rows of `n` numbers, divided by n - ddof; correlations where they are `scaled`.
decimals varying_together(const decimals& x, tenon::index m, tenon::index n, double ddof, bool scaled) {
  const auto at = [&](tenon::index i, tenon::index k) { return x[static_cast<std::size_t>(i * n + k)]; };
  const auto mean = [&](tenon::index i) {
    double sum = 0;
    for (tenon::index k = 0; k < n; ++k) sum += at(i, k);
    return sum / static_cast<double>(n);
  };
  const auto product = [&](tenon::index i, tenon::index j) {
    double sum = 0;
    for (tenon::index k = 0; k < n; ++k) sum += (at(i, k) - mean(i)) * (at(j, k) - mean(j));
    return sum;
  };
  decimals result;
  for (tenon::index i = 0; i < m; ++i) {
    for (tenon::index j = 0; j < m; ++j) {
      result.push_back(scaled ? product(i, j) / std::sqrt(product(i, i) * product(j, j))
                              : product(i, j) / (static_cast<double>(n) - ddof));
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("covariances and correlations of rows", "[covariance]", tenon_test::spaces) {
  for (const auto& [m, n] : {std::pair<tenon::index, tenon::index>{1, 2}, {3, 5}, {4, 33}, {7, 130}}) {
    CAPTURE(m, n);
    const auto x = tenon_test::made_tensor<double, TestType>(tenon::rank<2>(m, n), tenon_test::far_scattered);
    const auto few = tenon_test::made_tensor<float, TestType>(tenon::rank<2>(m, n), tenon_test::far_scattered);
    const auto values = numbers_of(x);
    CHECK(difference(numbers_of(tenon::cov(x)), varying_together(values, m, n, 1, false), 1e-12) == "");
    CHECK(difference(numbers_of(tenon::cov(x, 0)), varying_together(values, m, n, 0, false), 1e-12) == "");
    CHECK(difference(numbers_of(tenon::cov(few)), varying_together(values, m, n, 1, false), 1e-5) == "");
    CHECK(difference(numbers_of(tenon::corrcoef(x)), varying_together(values, m, n, 0, true), 1e-12) == "");
    CHECK(difference(numbers_of(tenon::cov(tenon::transpose(tenon::transpose(x)))), numbers_of(tenon::cov(x)), 1e-12) ==
          "");
  }
}

TEST_CASE("covariances of batches, of integers, and of too few observations", "[covariance]") {
  const auto x = tenon_test::drawn(tenon::rank<3>(2, 3, 9), 1);
  const auto batch = numbers_of(tenon::cov(x));
  const auto second = numbers_of(tenon::cov(x[1]));
  CHECK(difference(decimals(batch.begin() + 9, batch.end()), second, 1e-14) == "");
  const tenon::tensor<int, tenon::rank<2>> whole = {{1, 2, 4}, {2, 1, 0}};
  static_assert(std::is_same_v<typename decltype(tenon::cov(whole))::element, float>);
  CHECK(difference(numbers_of(tenon::cov(whole)), {7.0 / 3, -1.5, -1.5, 1}, 1e-6) == "");
  const tenon::tensor<double, tenon::rank<2>> one = {{1}, {2}}, none({2, 0}), same = {{1, 1}, {2, 3}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(difference(numbers_of(tenon::cov(one)), {nan, nan, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::cov(none)), {nan, nan, nan, nan}) == "");
  CHECK(difference(numbers_of(tenon::corrcoef(same)), {nan, nan, nan, 1}, 1e-15) == "");
}

TEST_CASE("covariances and correlations have gradients", "[covariance]") {
  auto x = tenon_test::drawn(tenon::rank<2>(3, 5), 2);
  CHECK(tenon::gradcheck([](const auto& v) { return tenon::cov(v); }, x) == "");
  CHECK(tenon::gradcheck([](const auto& v) { return tenon::corrcoef(v); }, x) == "");
}
