// tests/contraction/host_byte_windows.cpp: convolutions of bytes against sums of their products, which are exact.
// Whatever the machine multiplies them with; where it is made for bytes, their channels are taken four at a time.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::numbers_of;

namespace {

template <int Rank>
using byte_problem = tenon_test::convolution_problem<Rank>;

/// Bytes of all values, the extremes among them.
template <class T, class Extents>
auto drawn_bytes(const Extents& extents, std::uint64_t seed) {
  const rank<Extents::size()> shape(extents);
  const auto drawn = tenon::cast<int>(tenon::floor(tenon::uniform<float>(shape, seed, 0.0f, 256.0f)));
  return tenon::evaluated_tensor(tenon::cast<T>(drawn));
}
template <int Rank, class Image, class Weight>
std::vector<double> sums_of_bytes(const byte_problem<Rank>& p, const Image& image, const Weight& weight) {
  const auto x = numbers_of(image), w = numbers_of(weight);
  std::vector<double> sums(static_cast<std::size_t>(rank<Rank + 2>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { sums[at] += x[pixel] * w[tap]; });
  return sums;
}
template <class T, int Rank>
void compare_bytes(const byte_problem<Rank>& p) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.groups));
  const auto image = drawn_bytes<T>(p.image, 1);
  const auto weight = drawn_bytes<std::int8_t>(p.weight, 2);
  const auto sums = tenon::convolve(tenon::cast<int>(image), tenon::cast<int>(weight), p.geometry);
  CHECK(numbers_of(sums) == sums_of_bytes(p, image, weight));
}

}  // namespace

TEMPLATE_TEST_CASE("convolutions of bytes with any number of channels", "[host_byte_windows]", std::int8_t,
                   std::uint8_t) {
  for (const tenon::index channels : {1, 2, 3, 4, 5, 8, 11}) {
    compare_bytes<TestType, 2>({{{2, channels, 5, 7}}, {{3, channels, 3, 3}}, {.padding = {{1, 1}}}});
  }
  for (const tenon::index outputs : {1, 4, 8, 13}) {
    compare_bytes<TestType, 2>({{{1, 6, 4, 21}}, {{outputs, 6, 2, 3}}, {}});
  }
}

TEMPLATE_TEST_CASE("convolutions of bytes with steps, gaps, borders and groups", "[host_byte_windows]", std::int8_t,
                   std::uint8_t) {
  compare_bytes<TestType, 2>({{{2, 5, 9, 18}}, {{4, 5, 3, 2}}, {.stride = {{2, 3}}, .padding = {{2, 1}}}});
  compare_bytes<TestType, 2>({{{2, 5, 9, 18}}, {{4, 5, 3, 2}}, {.padding = {{2, 3}}, .dilation = {{2, 3}}}});
  compare_bytes<TestType, 2>({{{2, 6, 5, 6}}, {{4, 3, 3, 3}}, {.extra_padding = {{1, 2}}, .groups = 2}});
  compare_bytes<TestType, 2>({{{3, 7, 4, 35}}, {{9, 7, 1, 1}}, {}});
  compare_bytes<TestType, 2>({{{1, 4, 1, 1}}, {{2, 4, 3, 3}}, {.padding = {{2, 2}}}});
  compare_bytes<TestType, 2>({{{0, 4, 5, 5}}, {{2, 4, 3, 3}}, {}});
  compare_bytes<TestType, 2>({{{2, 4, 5, 5}}, {{4, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 4}});
  compare_bytes<TestType, 1>({{{2, 5, 40}}, {{3, 5, 4}}, {.stride = {{2}}, .padding = {{3}}}});
  compare_bytes<TestType, 3>({{{1, 5, 4, 3, 6}}, {{3, 5, 2, 3, 2}}, {.padding = {{1, 1, 1}}}});
}

TEST_CASE("convolutions of bytes that are computed, or lie elsewhere", "[host_byte_windows]") {
  const byte_problem<2> p{{{2, 5, 6, 7}}, {{3, 5, 3, 3}}, {.padding = {{1, 1}}}};
  const auto image = drawn_bytes<std::int8_t>(p.image, 3), weight = drawn_bytes<std::int8_t>(p.weight, 4);
  const auto expected = sums_of_bytes(p, image, weight);
  const auto last = tenon::evaluated_tensor(tenon::permute(image, tenon::axis<0, 2, 3, 1>));
  const auto seen = tenon::permute(last, tenon::axis<0, 3, 1, 2>);
  CHECK(numbers_of(tenon::convolve(tenon::cast<int>(seen), tenon::cast<int>(weight), p.geometry)) == expected);
  const auto scaled = tenon::quantise<std::int8_t>(tenon::cast<float>(image) * 0.5f, 0.5f);
  const auto sums = tenon::convolve(tenon::cast<int>(scaled), tenon::cast<int>(weight), p.geometry);
  const tenon::tensor<float, rank<4>> shifted(tenon::cast<float>(sums) * 0.5f + 1.0f);
  std::vector<double> halves;
  for (const double each : expected) halves.push_back(each * 0.5 + 1);
  CHECK(numbers_of(shifted) == halves);
}

TEST_CASE("convolutions of bytes gather zeros where images are spread", "[host_byte_windows]") {
  const tenon::window_geometry<2> twice{.stride = {{2, 2}}};
  const auto image = drawn_bytes<std::int8_t>(tenon::array<tenon::index, 4>{{1, 5, 3, 4}}, 5);
  const auto weight = drawn_bytes<std::int8_t>(tenon::array<tenon::index, 4>{{5, 2, 3, 3}}, 6);
  const auto bytes = tenon::convolve_transpose(tenon::cast<int>(image), tenon::cast<int>(weight), twice);
  const auto wide = tenon::convolve_transpose(tenon::cast<double>(image), tenon::cast<double>(weight), twice);
  CHECK(numbers_of(bytes) == numbers_of(wide));
}
