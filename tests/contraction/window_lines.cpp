// tests/contraction/window_lines.cpp: images as lines that the taps of windows share.
// Every tap of every window must find at its offset what the patches say, zeros around the image included.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/window_lines.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/elements.hpp"

namespace {

using tenon::rank;

/// Whether strips of `room` rows hold what all windows see; the memory behind them is no part of it.
template <class Node>
bool holds_patches(const Node& node, tenon::index room) {
  const auto patches = tenon::right_matrix(node);
  const tenon::window_lines lines(patches.geometry);
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
    for (const tenon::index room : {1, 2, 5, 100}) {
      CHECK(holds_patches(tenon::convolve(image, weight, p.geometry), room));
      CHECK(holds_patches(tenon::convolve_image_gradient(gradient, weight, p.behind_channels(p.image), p.geometry),
                          room));
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

TEST_CASE("results of windows move together", "[window_lines]") {
  const auto geometry = tenon::patches_of<2>({.padding = {{1, 1}}}, {{2, 2}}, {{3, 3}}, {{2, 2}});
  const tenon::window_lines lines(geometry);
  REQUIRE(lines.pitch() == 3);
  std::vector<float> results{1, 2, -1, 3, 4, -1, 5, 6, -1, 7, 8, -1};
  lines.close_gaps(results.data(), 2, 2, 6);
  CHECK(std::vector<float>(results.begin(), results.begin() + 4) == std::vector<float>{1, 2, 3, 4});
  CHECK(std::vector<float>(results.begin() + 6, results.begin() + 10) == std::vector<float>{5, 6, 7, 8});
}
