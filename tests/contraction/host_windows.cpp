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

TEST_CASE("strips of windows are as many as give threads equal shares", "[host_windows]") {
  const auto rows_of = [](tenon::index planes, tenon::index threads) {
    const tenon::patch_geometry<2> geometry{{{28, 28}}, {{3, 3}}, {{28, 28}}, {{1, 1}}, {{1, 1}}, {{1, 1}}, {{1, 1}}};
    return tenon::detail::rows_of_strip<float>(tenon::window_lines<2>(geometry), 3, {{planes, 28}}, threads);
  };
  for (const tenon::index planes : {1, 2, 3, 5, 8}) CHECK(rows_of(planes, 1) == 28);
  CHECK(rows_of(1, 2) == 14);
  CHECK(rows_of(2, 2) == 28);
  CHECK(rows_of(3, 2) == 14);
  CHECK(rows_of(9, 2) == 28);
  CHECK(rows_of(1, 8) == 4);
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

namespace {

/// Whether strips of `room` rows hold what all windows see; the memory behind them is no part of it.
template <class Node>
bool holds_patches(const Node& node, tenon::index room, bool apart) {
  const auto patches = tenon::right_matrix(node);
  const tenon::window_lines lines(patches.geometry, apart);
  const auto extents = tenon::extents_of_product(node);
  const tenon::index channels = extents.depth / patches.geometry.taps(), all_rows = extents.columns / lines.columns();
  const tenon::index plane_rows = lines.crosses_planes() ? all_rows : lines.rows();
  std::vector<tenon::index> offsets(static_cast<std::size_t>(extents.depth));
  lines.find_taps(channels, room, offsets.data());
  for (tenon::index row = 0; row < all_rows;) {
    const tenon::index rows = std::min(room, plane_rows - row % plane_rows);
    std::vector<float> image(static_cast<std::size_t>(lines.size(channels, room)), -7);
    lines.copy(patches, {row, rows, room}, {{0, channels}}, image.data());
    for (tenon::index k = 0; k < extents.depth; ++k) {
      for (tenon::index i = 0; i < rows * lines.columns(); ++i) {
        const tenon::index number = i / lines.columns() * lines.pitch() + i % lines.columns();
        const float found = image[static_cast<std::size_t>(offsets[static_cast<std::size_t>(k)] + number)];
        if (found != patches.value(k, row * lines.columns() + i)) return false;
      }
    }
    row += rows;
  }
  return true;
}

template <int Rank>
void check_random() {
  std::mt19937 generator(static_cast<unsigned>(10 + Rank));
  for (int i = 0; i < 100; ++i) {
    auto p = tenon_test::random_problem<Rank>(generator);
    p.image[1] = p.weight[1], p.geometry.groups = 1;
    CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.padding, p.geometry.extra_padding,
                                p.geometry.dilation));
    const auto image = tenon_test::counting<float>(rank<Rank + 2>(p.image), 1),
               weight = tenon_test::counting<float>(rank<Rank + 2>(p.weight)),
               gradient = tenon_test::counting<float>(rank<Rank + 2>(p.result()), 1);
    const auto spread = tenon::convolve_image_gradient(gradient, weight, p.behind_channels(p.image), p.geometry);
    for (const bool apart : {false, true}) {
      for (const tenon::index room : {1, 2, 5, 100}) {
        CHECK(holds_patches(tenon::convolve(image, weight, p.geometry), room, apart));
        CHECK(holds_patches(spread, room, apart));
      }
    }
  }
}

}  // namespace

TEST_CASE("taps find what their windows see", "[window_lines]") {
  check_random<1>();
  check_random<2>();
  check_random<3>();
}

TEST_CASE("rows share the zeros between them", "[window_lines]") {
  const auto pitch_of = [](tenon::index extent, tenon::index kernel, const tenon::window_geometry<1>& geometry) {
    return tenon::window_lines(tenon::patches_of<1>(geometry, {{extent}}, {{kernel}},
                                                    tenon::window_counts({{extent}}, {{kernel}}, geometry)))
        .pitch();
  };
  CHECK(pitch_of(56, 3, {.padding = {{1}}}) == 57);
  CHECK(pitch_of(56, 3, {}) == 56);
  CHECK(pitch_of(14, 1, {}) == 14);
  CHECK(pitch_of(224, 7, {.stride = {{2}}, .padding = {{3}}}) == 114);
  CHECK(pitch_of(56, 3, {.padding = {{2}}}) == 58);
}

TEST_CASE("nothing lies between rows whose taps are apart", "[window_lines]") {
  const auto geometry = tenon::patches_of<2>({.padding = {{1, 1}}}, {{14, 14}}, {{3, 3}}, {{14, 14}});
  const tenon::window_lines together(geometry), apart(geometry, true);
  CHECK((together.pitch() == 15 && together.blocks() == 1));
  CHECK((apart.pitch() == 14 && apart.blocks() == 3 && apart.reach() == together.reach()));
}

TEST_CASE("results of windows move together", "[window_lines]") {
  const auto geometry = tenon::patches_of<2>({.padding = {{1, 1}}}, {{2, 2}}, {{3, 3}}, {{2, 2}});
  const tenon::window_lines lines(geometry);
  REQUIRE(lines.pitch() == 3);
  std::vector<float> results{1, 2, -1, 3, 4, -1, 5, 6, -1, 7, 8, -1};
  lines.close_gaps(results.data(), 2, 2, 6);
  CHECK(std::vector<float>(results.begin(), results.begin() + 4) == std::vector<float>{1, 2, 3, 4});
  CHECK(std::vector<float>(results.begin() + 6, results.begin() + 10) == std::vector<float>{5, 6, 7, 8});
}
