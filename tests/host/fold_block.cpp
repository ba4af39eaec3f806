// tests/host/fold_block.cpp: variances and positions of extremes, which a block finds in two looks.
// Rows of every length around blocks and packs, with steps, NaN, ties and far means, against plain loops in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold_block.hpp>
#include <tenon/tenon.hpp>

#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"

using tenon::range;
using tenon::rank;

namespace {

constexpr tenon::index lengths[] = {1, 5, 16, 63, 64, 65, 100, 127, 1023, 1024, 1025, 3000};

template <class T>
double variance_of(const std::vector<T>& values, std::size_t step) {
  double mean = 0, distance = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < values.size(); i += step) mean += static_cast<double>(values[i]), ++count;
  mean /= static_cast<double>(count);
  for (std::size_t i = 0; i < values.size(); i += step) {
    distance += (static_cast<double>(values[i]) - mean) * (static_cast<double>(values[i]) - mean);
  }
  return distance / static_cast<double>(count);
}

/// The position of the first greatest value, or of the first NaN.
template <class T>
std::int64_t first_greatest(const std::vector<T>& values) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != values[i]) return static_cast<std::int64_t>(i);
    if (values[i] > values[found]) found = i;
  }
  return static_cast<std::int64_t>(found);
}

}  // namespace

TEMPLATE_TEST_CASE("variances of rows, with steps or without", "[fold]", float, double, std::int32_t, std::int8_t) {
  const double bound = std::is_same_v<TestType, double> ? 1e-13 : 2e-6;
  for (const tenon::index length : lengths) {
    const auto values = tenon_test::random_values<TestType>(static_cast<std::size_t>(3 * length), 3, -100, 100);
    const auto x = tenon_test::tensor_of<tenon::host>(rank<1>(3 * length), values);
    const auto all = static_cast<double>(tenon::evaluated_tensor(tenon::variance(x)).data()[0]);
    const auto third = static_cast<double>(
        tenon::evaluated_tensor(tenon::variance(tenon::slice(x, range(0, 3 * length, 3)))).data()[0]);
    CAPTURE(length);
    CHECK(std::fabs(all - variance_of(values, 1)) <= bound * variance_of(values, 1));
    CHECK(std::fabs(third - variance_of(values, 3)) <= bound * variance_of(values, 3));
  }
}

TEST_CASE("a variance far smaller than the mean", "[fold]") {
  auto values = tenon_test::random_values<float>(5000, 3);
  for (float& each : values) each += 10000;
  const auto x = tenon_test::tensor_of<tenon::host>(rank<1>(5000), values);
  CHECK(std::fabs(static_cast<double>(static_cast<float>(tenon::variance(x))) / variance_of(values, 1) - 1) < 1e-3);
  values[4000] = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(static_cast<float>(tenon::variance(tenon_test::tensor_of<tenon::host>(rank<1>(5000), values)))));
}

TEMPLATE_TEST_CASE("positions of extremes", "[fold]", float, double, std::int32_t, std::uint8_t, std::int64_t) {
  for (const tenon::index length : lengths) {
    auto values = tenon_test::random_values<TestType>(static_cast<std::size_t>(length), 3, 20, 90);
    std::vector<TestType> negated;
    for (const TestType each : values) negated.push_back(static_cast<TestType>(100 - each));
    const auto x = tenon_test::tensor_of<tenon::host>(rank<1>(length), values);
    tenon::tensor<TestType, rank<1>> backwards({length});
    backwards = tenon::flip(x, tenon::axis<0>);
    CAPTURE(length);
    CHECK(static_cast<std::int64_t>(tenon::argmax(x)) == first_greatest(values));
    CHECK(static_cast<std::int64_t>(tenon::argmin(x)) == first_greatest(negated));
    const auto flipped = tenon::slice(backwards, range(tenon::open_end, tenon::open_end, -1));
    CHECK(static_cast<std::int64_t>(tenon::argmax(flipped)) == first_greatest(values));
  }
}

TEST_CASE("the first NaN is the extreme, and of equal values the first", "[fold]") {
  for (const std::size_t at : {0u, 17u, 700u, 1023u, 1024u, 2999u}) {
    std::vector<float> values(3000, -1.0f);
    values[at] = 0.0f;
    values[2999] = -0.0f;
    const auto tied = tenon_test::tensor_of<tenon::host>(rank<1>(3000), values);
    CHECK(static_cast<std::int64_t>(tenon::argmax(tied)) == static_cast<std::int64_t>(at));
    values[5] = 7.0f;
    values[at] = std::numeric_limits<float>::quiet_NaN();
    const auto x = tenon_test::tensor_of<tenon::host>(rank<1>(3000), values);
    CHECK(static_cast<std::int64_t>(tenon::argmax(x)) == static_cast<std::int64_t>(at));
    CHECK(static_cast<std::int64_t>(tenon::argmin(x)) == static_cast<std::int64_t>(at));
  }
}

TEST_CASE("the greatest and the least of truth values", "[fold]") {
  for (const tenon::index length : lengths) {
    const auto place = tenon::iota<std::int64_t>(rank<1>(length));
    const tenon::tensor<bool, rank<1>> last = place == length - 1;
    const tenon::tensor<bool, rank<1>> others = place != length - 1;
    CAPTURE(length);
    CHECK(tenon_test::numbers_of(tenon::evaluated_tensor(tenon::max(last))) == std::vector<double>{1});
    CHECK(tenon_test::numbers_of(tenon::evaluated_tensor(tenon::min(others))) == std::vector<double>{0});
    CHECK(tenon_test::numbers_of(tenon::evaluated_tensor(tenon::min(last || others))) == std::vector<double>{1});
    const auto rows = [&](const auto& row) { return tenon::broadcast_to(row, rank<2>(3, length)); };
    const auto columns = tenon::evaluated_tensor(tenon::max(tenon::evaluated_tensor(rows(last)), tenon::axis<0>));
    CHECK(tenon_test::numbers_of(columns) == tenon_test::numbers_of(last));
  }
}
