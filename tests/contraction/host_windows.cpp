// tests/contraction/host_windows.cpp: convolutions on the host, of sizes around its tiles and strips.
// Against sums over all products in double; threads must not change a bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using problem = tenon_test::convolution_problem<2>;

template <class T, class Shape>
auto drawn_tensor(const Shape& shape, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::cast<T>(tenon::uniform<float>(shape, seed, -3.0f, 3.0f)));
}

template <class T>
void compare(const problem& p, double bound) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.groups));
  const auto image = drawn_tensor<T>(rank<4>(p.image), 1), weight = drawn_tensor<T>(rank<4>(p.weight), 2);
  const auto x = numbers_of(image), w = numbers_of(weight);
  std::vector<double> expected(static_cast<std::size_t>(rank<4>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[at] += x[pixel] * w[tap]; });
  const auto result = tenon::convolve(image, weight, p.geometry);
  CHECK(tenon_test::difference(numbers_of(result), expected, bound) == "");
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions of all heights of tiles", "[host_windows]", float, double, std::int32_t) {
  for (const tenon::index outputs : {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17}) {
    compare<TestType>({{{2, 3, 6, 7}}, {{outputs, 3, 3, 3}}, {.padding = {{1, 1}}}}, 1e-5);
  }
}

TEST_CASE("convolutions of all widths of tiles", "[host_windows]") {
  for (const tenon::index width : {1, 3, 15, 16, 17, 31, 33, 47, 48, 49, 64, 65, 80, 97, 113}) {
    compare<float>({{{2, 2, 3, width}}, {{5, 2, 3, 3}}, {.padding = {{1, 1}}}}, 1e-5);
    compare<float>({{{2, 2, 1, width}}, {{9, 2, 1, 1}}, {}}, 1e-5);
  }
}

TEST_CASE("convolutions of several strips, and of several blocks of k", "[host_windows]") {
  compare<float>({{{1, 2, 150, 90}}, {{3, 2, 3, 3}}, {.padding = {{1, 1}}}}, 1e-5);
  compare<float>({{{3, 2, 70, 40}}, {{3, 2, 1, 1}}, {}}, 1e-5);
  compare<float>({{{3, 2, 60, 70}}, {{2, 2, 1, 3}}, {.padding = {{0, 1}}}}, 1e-5);
  compare<float>({{{2, 130, 8, 9}}, {{9, 130, 3, 3}}, {.stride = {{2, 1}}, .padding = {{1, 1}}}}, 1e-4);
  compare<float>({{{1, 3, 3, 2500}}, {{2, 3, 3, 2}}, {}}, 1e-5);
}

TEST_CASE("convolutions of half and bfloat16 sum in float", "[host_windows]") {
  compare<tenon::half>({{{2, 3, 9, 11}}, {{5, 3, 3, 3}}, {.padding = {{1, 1}}}}, 2e-3);
  compare<tenon::bfloat16>({{{2, 3, 9, 11}}, {{5, 3, 3, 3}}, {.padding = {{1, 1}}}}, 2e-2);
}

TEST_CASE("what is not a number stays where its windows are", "[host_windows]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto image = tenon_test::counting<float>(rank<4>(1, 1, 6, 9), 1);
  const auto weight = tenon_test::counting<float>(rank<4>(8, 1, 3, 3), 1);
  const auto clean = tenon::evaluated_tensor(tenon::convolve(image, weight, {.padding = {{1, 1}}}));
  image(0, 0, 2, 8) = nan, image(0, 0, 5, 0) = std::numeric_limits<float>::infinity();
  const auto found = tenon::evaluated_tensor(tenon::convolve(image, weight, {.padding = {{1, 1}}}));
  for (tenon::index row = 0; row < 6; ++row) {
    for (tenon::index column = 0; column < 9; ++column) {
      const bool sees_nan = row >= 1 && row <= 3 && column >= 7, sees_infinity = row >= 4 && column <= 1;
      const float value = found(0, 7, row, column);
      CHECK(std::isnan(value) == sees_nan);
      CHECK(std::isinf(value) == sees_infinity);
      if (!sees_nan && !sees_infinity) CHECK(value == clean(0, 7, row, column));
    }
  }
}

TEST_CASE("threads do not change convolutions", "[host_windows]") {
  const auto image = drawn_tensor<float>(rank<4>(2, 5, 60, 41), 1),
             weight = drawn_tensor<float>(rank<4>(9, 5, 3, 3), 2);
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve(image, weight, {.padding = {{1, 1}}})); }));
  const auto grouped = drawn_tensor<float>(rank<4>(5, 1, 3, 3), 3);
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve(image, grouped, {.padding = {{1, 1}}, .groups = 5})); }));
}
