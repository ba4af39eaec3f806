// tests/contraction/host_depthwise.cpp: convolutions of single channels with 3 x 3 windows, and their weight gradients.
// Against sums over all products in double; what the loop does not serve must come out right another way.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host_depthwise.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using problem = tenon_test::convolution_problem<2>;

template <class T>
void compare(const problem& p) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.padding, p.geometry.extra_padding, p.geometry.groups));
  const auto make = [](const tenon::array<tenon::index, 4>& extents, std::uint64_t seed) {
    return tenon::evaluated_tensor(tenon::cast<T>(tenon::uniform<float>(rank<4>(extents), seed, -3.0f, 3.0f)));
  };
  const auto image = make(p.image, 1), weight = make(p.weight, 2);
  const auto x = numbers_of(image), w = numbers_of(weight);
  std::vector<double> expected(static_cast<std::size_t>(rank<4>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[at] += x[pixel] * w[tap]; });
  CHECK(tenon_test::difference(numbers_of(tenon::convolve(image, weight, p.geometry)), expected, 1e-5) == "");
  const auto last = tenon::evaluated_tensor(tenon::permute(image, tenon::axis<0, 2, 3, 1>));
  const auto turned = tenon::permute(last, tenon::axis<0, 3, 1, 2>);
  CHECK(tenon_test::difference(numbers_of(tenon::convolve(turned, weight, p.geometry)), expected, 1e-5) == "");
  const auto scaled = numbers_of(tenon::convolve(image * 1, weight, p.geometry));
  CHECK(tenon_test::difference(scaled, expected, 1e-5) == "");

  const auto gradient = make(p.result(), 3);
  const auto g = numbers_of(gradient);
  std::vector<double> of_weight(w.size());
  p.for_each_product([&](auto at, auto pixel, auto tap) { of_weight[tap] += x[pixel] * g[at]; });
  const auto compare_weight = [&](const auto& gradients, const auto& images) {
    const auto found = tenon::convolve_weight_gradient(gradients, images, p.behind_channels(p.weight), p.geometry);
    const auto terms = static_cast<double>(p.image[0] * rank<2>(p.windows).count());
    CHECK(tenon_test::difference(numbers_of(found), of_weight, terms * 9 * 0x1p-24) == "");
  };
  compare_weight(gradient, image);
  compare_weight(gradient, turned);
  compare_weight(gradient * 1, image);
  const auto gradient_last = tenon::evaluated_tensor(tenon::permute(gradient, tenon::axis<0, 2, 3, 1>));
  compare_weight(tenon::permute(gradient_last, tenon::axis<0, 3, 1, 2>), image);
}

}  // namespace

TEMPLATE_TEST_CASE("windows of single channels, of every width and padding", "[host_depthwise]", float, double,
                   std::int32_t) {
  for (const tenon::index width : {3, 4, 15, 16, 17, 18, 28, 33, 65}) {
    for (const tenon::index padding : {0, 1, 2, 4}) {
      compare<TestType>({{{2, 3, 5, width}}, {{3, 1, 3, 3}}, {.padding = {{1, padding}}, .groups = 3}});
    }
  }
}

TEST_CASE("single channels with several results, uneven padding and other windows", "[host_depthwise]") {
  compare<float>({{{2, 3, 6, 7}}, {{9, 1, 3, 3}}, {.padding = {{2, 1}}, .extra_padding = {{-1, 2}}, .groups = 3}});
  compare<float>({{{2, 1, 1, 1}}, {{4, 1, 3, 3}}, {.padding = {{3, 3}}}});
  compare<float>({{{1, 2, 130, 40}}, {{2, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 2}});
  compare<float>({{{1, 1, 4, 2100}}, {{1, 1, 3, 3}}, {.padding = {{1, 1}}}});
  compare<float>({{{2, 3, 9, 8}}, {{3, 1, 3, 3}}, {.stride = {{2, 1}}, .groups = 3}});
  compare<float>({{{2, 3, 9, 8}}, {{3, 1, 3, 3}}, {.dilation = {{1, 2}}, .groups = 3}});
  compare<float>({{{2, 3, 9, 12}}, {{3, 1, 1, 9}}, {.groups = 3}});
  compare<float>({{{2, 3, 12, 8}}, {{3, 1, 9, 1}}, {.groups = 3}});
  compare<float>({{{2, 6, 7, 18}}, {{12, 2, 3, 3}}, {.padding = {{1, 1}}, .groups = 3}});
}

TEST_CASE("gradients of single channels turn their windows around", "[host_depthwise]") {
  const problem p{{{2, 3, 6, 7}}, {{3, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 3}};
  const auto gradient = tenon_test::counting<double>(rank<4>(p.result()), 1),
             weight = tenon_test::counting<double>(rank<4>(p.weight), 1);
  const auto g = numbers_of(gradient), w = numbers_of(weight);
  std::vector<double> expected(g.size());
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[pixel] += g[at] * w[tap]; });
  CHECK(numbers_of(tenon::convolve_image_gradient(gradient, weight, {{6, 7}}, p.geometry)) == expected);
}

TEST_CASE("planes of many channels, of one image and of several", "[host_depthwise]") {
  compare<float>({{{3, 37, 5, 6}}, {{37, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 37}});
  compare<double>({{{2, 11, 4, 19}}, {{22, 1, 3, 3}}, {.padding = {{0, 1}}, .groups = 11}});
  compare<float>({{{1, 20, 3, 3}}, {{60, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 20}});
  compare<float>({{{5, 17, 1, 40}}, {{17, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 17}});
  compare<float>({{{3, 4, 6, 7}}, {{2, 4, 3, 3}}, {.padding = {{1, 1}}}});
  compare<float>({{{2, 18, 1, 1}}, {{18, 1, 3, 3}}, {.padding = {{2, 2}}, .groups = 18}});
  const tenon::tensor<float, rank<4>> none({0, 2, 5, 6}), weight({2, 1, 3, 3});
  CHECK(numbers_of(tenon::convolve(none, weight, {.padding = {{1, 1}}, .groups = 2})).empty());
  const auto found = tenon::convolve_weight_gradient(none, none, {{3, 3}}, {.padding = {{1, 1}}, .groups = 2});
  CHECK(numbers_of(found) == std::vector<double>(18, 0.0));
}

TEST_CASE("channels and images that lie apart", "[host_depthwise]") {
  const tenon::window_geometry<2> geometry{.padding = {{1, 1}}, .groups = 5};
  const auto all = tenon_test::counting<double>(rank<4>(6, 10, 7, 18), -900, 0.5);
  const auto every_other = tenon::range(tenon::open_end, tenon::open_end, 2);
  const auto some = tenon::slice(all, every_other, every_other, tenon::range(), tenon::range());
  const auto together = tenon::evaluated_tensor(some);
  const auto weight = tenon_test::counting<double>(rank<4>(5, 1, 3, 3), -20);
  CHECK(numbers_of(tenon::convolve(some, weight, geometry)) == numbers_of(tenon::convolve(together, weight, geometry)));
  CHECK(numbers_of(tenon::convolve_weight_gradient(some, some, {{3, 3}}, geometry)) ==
        numbers_of(tenon::convolve_weight_gradient(together, together, {{3, 3}}, geometry)));
}

TEST_CASE("taps of single channels that do not see what is not a number have numbers", "[host_depthwise]") {
  const auto gradient = tenon_test::counting<float>(rank<4>(1, 2, 6, 18), 1);
  const tenon::window_geometry<2> geometry{.padding = {{1, 1}}, .groups = 2};
  const auto check = [&](tenon::index y, tenon::index x, const auto& sees) {
    auto image = tenon_test::counting<float>(rank<4>(1, 2, 6, 18), 1);
    image(0, 1, y, x) = std::numeric_limits<float>::quiet_NaN();
    const auto found = tenon::evaluated_tensor(tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, geometry));
    CAPTURE(y, x);
    for (tenon::index row = 0; row < 3; ++row) {
      for (tenon::index column = 0; column < 3; ++column) {
        CHECK(!std::isnan(found(0, 0, row, column)));
        CHECK(std::isnan(found(1, 0, row, column)) == sees(row, column));
      }
    }
  };
  check(2, 17, [](tenon::index, tenon::index column) { return column > 0; });
  check(3, 0, [](tenon::index, tenon::index column) { return column < 2; });
  check(0, 5, [](tenon::index row, tenon::index) { return row < 2; });
  check(5, 16, [](tenon::index row, tenon::index) { return row > 0; });
}

TEST_CASE("threads do not change windows of single channels", "[host_depthwise]") {
  const auto image = tenon_test::counting<float>(rank<4>(2, 4, 150, 40), -3, 0.001),
             weight = tenon_test::counting<float>(rank<4>(4, 1, 3, 3), -1, 0.1);
  const tenon::window_geometry<2> geometry{.padding = {{1, 1}}, .groups = 4};
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::convolve(image, weight, geometry)); }));
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve_weight_gradient(image, image, {{3, 3}}, geometry)); }));
}
