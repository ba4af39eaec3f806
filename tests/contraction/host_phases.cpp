// tests/contraction/host_phases.cpp: image gradients of strided convolutions on the host.
// Against sums over all products in double; what surrounds them happens once; threads must not change a bit.
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
auto drawn_tensor(const tenon::array<tenon::index, Rank>& extents, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::cast<T>(tenon::uniform<float>(rank<Rank>(extents), seed, -3.0f, 3.0f)));
}

template <class T, int Rank>
void compare_images(const tenon_test::convolution_problem<Rank>& p, double bound = 1e-5) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.dilation,
                              p.geometry.extra_padding, p.geometry.groups));
  const auto gradient = drawn_tensor<T, Rank + 2>(p.result(), 1), weight = drawn_tensor<T, Rank + 2>(p.weight, 2);
  const auto g = numbers_of(gradient), w = numbers_of(weight);
  std::vector<double> expected(static_cast<std::size_t>(rank<Rank + 2>(p.image).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[pixel] += g[at] * w[tap]; });
  const auto spatial = p.behind_channels(p.image);
  const auto result = tenon::evaluated_tensor(tenon::convolve_image_gradient(gradient, weight, spatial, p.geometry));
  CHECK(tenon_test::difference(numbers_of(result), expected, bound) == "");
  // twice the value and one more, of operands that are computed, where the destination has other neighbours
  tenon::tensor<T, rank<Rank + 2>> around(result.shape());
  around = tenon::convolve_image_gradient(gradient + gradient, weight, spatial, p.geometry) + static_cast<T>(1);
  for (double& each : expected) each = 2 * each + 1;
  CHECK(tenon_test::difference(numbers_of(around), expected, bound) == "");
}

template <int Rank>
void compare_random(unsigned seed) {
  std::mt19937 generator(seed);
  for (int i = 0; i < 60; ++i) {
    auto p = tenon_test::random_problem<Rank>(generator);
    p.geometry.stride[i % Rank] += 1;
    compare_images<float, Rank>({p.image, p.weight, p.geometry});
  }
}

using problem = tenon_test::convolution_problem<2>;

}  // namespace

TEMPLATE_TEST_CASE("strided image gradients of all heights of tiles", "[host_phases]", float, double, std::int32_t) {
  for (const tenon::index channels : {1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 17}) {
    compare_images<TestType, 2>(
        {{{2, channels, 7, 8}}, {{3, channels, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}});
  }
}

TEST_CASE("strided image gradients of all widths of tiles", "[host_phases]") {
  for (const tenon::index width : {1, 3, 15, 16, 31, 33, 64, 65, 97, 113, 200}) {
    compare_images<float, 2>({{{2, 2, 5, width}}, {{3, 2, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}});
    compare_images<float, 2>({{{2, 2, 2, width}}, {{3, 2, 2, 1}}, {.stride = {{1, 3}}}});
  }
}

TEST_CASE("strided image gradients of random shapes", "[host_phases]") {
  compare_random<1>(1);
  compare_random<2>(2);
  compare_random<3>(3);
}

TEST_CASE("strided image gradients that no tap reaches are zero", "[host_phases]") {
  compare_images<float, 2>({{{2, 3, 11, 13}}, {{4, 3, 1, 1}}, {.stride = {{3, 4}}}});
  compare_images<float, 2>({{{1, 3, 3, 2}}, {{4, 3, 3, 2}}, {.stride = {{7, 9}}}});
  compare_images<float, 2>({{{0, 3, 6, 7}}, {{4, 3, 3, 3}}, {.stride = {{2, 2}}}});
  compare_images<float, 2>({{{2, 3, 6, 7}}, {{0, 3, 3, 3}}, {.stride = {{2, 2}}}});
  compare_images<float, 3>({{{2, 2, 5, 7, 6}}, {{3, 2, 2, 1, 2}}, {.stride = {{4, 3, 5}}}});
}

TEST_CASE("strided image gradients of several strips, and of several blocks of k", "[host_phases]") {
  compare_images<float, 2>({{{1, 2, 150, 181}}, {{3, 2, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}});
  compare_images<float, 2>({{{2, 9, 8, 9}}, {{1100, 9, 3, 3}}, {.stride = {{2, 1}}, .padding = {{1, 1}}}}, 4e-4);
  compare_images<float, 2>({{{1, 2, 3, 5000}}, {{3, 2, 3, 2}}, {.stride = {{1, 2}}}});
  compare_images<float, 2>({{{2, 6, 9, 11}}, {{4, 3, 3, 3}}, {.stride = {{2, 2}}, .dilation = {{2, 3}}, .groups = 2}});
}

TEST_CASE("strided image gradients of half and bfloat16 sum in float", "[host_phases]") {
  const problem p{{{2, 3, 9, 11}}, {{5, 3, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}};
  compare_images<tenon::half>(p, 4e-3);
  compare_images<tenon::bfloat16>(p, 3e-2);
}

TEST_CASE("strided image gradients with channels last", "[host_phases]") {
  const problem p{{{2, 3, 9, 11}}, {{5, 3, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}};
  const auto gradient = drawn_tensor<float, 4>(p.result(), 1), weight = drawn_tensor<float, 4>(p.weight, 2);
  const auto expected =
      tenon::evaluated_tensor(tenon::convolve_image_gradient(gradient, weight, {{9, 11}}, p.geometry));
  const auto turned = tenon::evaluated_tensor(tenon::permute(gradient, tenon::axis<0, 2, 3, 1>));
  tenon::tensor<float, rank<4>> result({2, 9, 11, 3});
  tenon::permute(result, tenon::axis<0, 3, 1, 2>) =
      tenon::convolve_image_gradient(tenon::permute(turned, tenon::axis<0, 3, 1, 2>), weight, {{9, 11}}, p.geometry);
  const auto back = tenon::evaluated_tensor(tenon::permute(result, tenon::axis<0, 3, 1, 2>));
  CHECK(numbers_of(back) == numbers_of(expected));
}

TEST_CASE("strided image gradients see only their own windows", "[host_phases]") {
  auto gradient = tenon_test::counting<float>(rank<4>(1, 1, 3, 4), 1);
  const auto weight = tenon_test::counting<float>(rank<4>(1, 1, 3, 3), 1);
  gradient(0, 0, 1, 2) = std::numeric_limits<float>::quiet_NaN();
  const auto found =
      tenon::evaluated_tensor(tenon::convolve_image_gradient(gradient, weight, {{7, 9}}, {.stride = {{2, 2}}}));
  for (tenon::index row = 0; row < 7; ++row) {
    for (tenon::index column = 0; column < 9; ++column) {
      CHECK(std::isnan(found(0, 0, row, column)) == (row >= 2 && row <= 4 && column >= 4 && column <= 6));
    }
  }
}

TEST_CASE("lines are laid out apart where packs would be emptier than that costs", "[host_phases]") {
  using products = tenon::number_products<float>;
  const auto pitch_of = [](tenon::index extent, tenon::index rows) {
    const tenon::patch_geometry<2> geometry{{{extent, extent}}, {{2, 2}}, {{extent, extent}}, {{1, 1}}, {{1, 1}},
                                            {{0, 0}},           {{1, 1}}};
    return tenon::detail::choose_lines<products>(geometry, 4, rows * 9, 1000 * extent * extent).pitch();
  };
  const auto packs_of = [](tenon::index pitch, tenon::index rows, tenon::index columns) {
    return tenon::column_panels<products>((rows - 1) * pitch + columns).padded();
  };
  bool saved = false;
  for (const tenon::index extent : {3, 4, 7, 8, 14, 28}) {
    CHECK(pitch_of(extent, 1) == extent + 1);
    if (packs_of(extent + 1, extent, extent) > packs_of(extent, extent, extent)) {
      CHECK(pitch_of(extent, 1000) == extent);
      saved = true;
    }
  }
  CHECK(saved);
}

TEST_CASE("strided image gradients of rows that lie apart", "[host_phases]") {
  for (const tenon::index extent : {6, 8, 14, 15, 16, 27, 28}) {
    compare_images<float, 2>({{{3, 33, extent, extent}}, {{5, 33, 3, 3}}, {.stride = {{2, 2}}, .padding = {{1, 1}}}});
    compare_images<float, 2>({{{2, 40, extent, extent}}, {{3, 40, 5, 4}}, {.stride = {{3, 2}}, .padding = {{2, 1}}}});
  }
}

TEST_CASE("threads do not change strided image gradients", "[host_phases]") {
  const auto gradient = drawn_tensor<float, 4>({{2, 9, 30, 21}}, 1), weight = drawn_tensor<float, 4>({{9, 5, 3, 3}}, 2);
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return numbers_of(tenon::convolve_image_gradient(gradient, weight, {{61, 43}}, {.stride = {{2, 2}}})); }));
}
