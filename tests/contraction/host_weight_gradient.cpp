// tests/contraction/host_weight_gradient.cpp: weight gradients on the host, of sizes around tiles, blocks and strips.
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

template <class T, int Rank>
void compare_weights(const tenon_test::convolution_problem<Rank>& p) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.groups));
  const auto drawn = [](const auto& extents, std::uint64_t seed) {
    return tenon::evaluated_tensor(
        tenon::cast<T>(tenon::uniform<float>(rank<Rank + 2>(extents), seed, -3.0f, 3.0f)));
  };
  const auto image = drawn(p.image, 1), gradient = drawn(p.result(), 2);
  const auto x = numbers_of(image), g = numbers_of(gradient);
  std::vector<double> expected(static_cast<std::size_t>(rank<Rank + 2>(p.weight).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[tap] += x[pixel] * g[at]; });
  const auto result = tenon::convolve_weight_gradient(gradient, image, p.behind_channels(p.weight), p.geometry);
  const auto terms = static_cast<double>(p.image[0] * rank<Rank>(p.windows).count());
  CHECK(tenon_test::difference(numbers_of(result), expected, terms * 9 * 0x1p-24) == "");
}

using problem = tenon_test::convolution_problem<2>;

}  // namespace

TEMPLATE_TEST_CASE("weight gradients of all heights and widths of tiles", "[host_weight_gradient]", float, double,
                   std::int32_t) {
  for (const tenon::index outputs : {1, 2, 15, 16, 17, 33, 47, 48, 49, 64, 97}) {
    compare_weights<TestType, 2>({{{2, 3, 6, 7}}, {{outputs, 3, 3, 3}}, {.padding = {{1, 1}}}});
  }
  for (const tenon::index channels : {1, 2, 7, 8, 9, 16, 19}) {
    compare_weights<TestType, 2>({{{2, channels, 6, 7}}, {{3, channels, 2, 1}}, {}});
  }
}

TEST_CASE("weight gradients over several strips of a plane, and over planes", "[host_weight_gradient]") {
  compare_weights<float, 2>({{{1, 2, 90, 70}}, {{3, 2, 3, 3}}, {.padding = {{1, 1}}}});
  compare_weights<float, 2>({{{2, 2, 37, 1100}}, {{3, 2, 3, 2}}, {}});
  compare_weights<float, 2>({{{3, 2, 60, 70}}, {{3, 2, 1, 1}}, {}});
  compare_weights<float, 2>({{{3, 2, 60, 70}}, {{2, 2, 1, 3}}, {.padding = {{0, 1}}}});
  compare_weights<float, 2>({{{2, 10, 28, 29}}, {{9, 10, 3, 3}}, {.stride = {{2, 1}}, .padding = {{1, 1}}}});
  compare_weights<float, 3>({{{2, 3, 5, 9, 11}}, {{4, 3, 3, 2, 3}}, {.padding = {{1, 0, 1}}}});
  compare_weights<float, 1>({{{2, 3, 3000}}, {{4, 3, 5}}, {.stride = {{2}}, .dilation = {{3}}}});
  compare_weights<float, 2>({{{2, 6, 9, 8}}, {{4, 3, 3, 3}}, {.groups = 2}});
}

TEST_CASE("weight gradients of no images are zero", "[host_weight_gradient]") {
  compare_weights<float, 2>({{{0, 3, 6, 7}}, {{4, 3, 3, 3}}, {}});
}

TEST_CASE("taps that do not see what is not a number have numbers", "[host_weight_gradient]") {
  auto image = tenon_test::counting<float>(rank<4>(1, 1, 6, 9), 1);
  const auto gradient = tenon_test::counting<float>(rank<4>(1, 16, 6, 9), 1);
  image(0, 0, 2, 8) = std::numeric_limits<float>::quiet_NaN();  // of a last column: first taps do not see it
  const auto found =
      tenon::evaluated_tensor(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, {.padding = {{1, 1}}}));
  for (tenon::index row = 0; row < 3; ++row) {
    for (tenon::index column = 0; column < 3; ++column) CHECK(std::isnan(found(7, 0, row, column)) == (column > 0));
  }
}

TEST_CASE("threads do not change weight gradients", "[host_weight_gradient]") {
  const auto image = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(3, 20, 28, 29), 1));
  const auto gradient = tenon::evaluated_tensor(tenon::uniform<float>(rank<4>(3, 70, 28, 29), 2));
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, {.padding = {{1, 1}}})); }));
}
