// tests/nn/stream_tiles.cpp: packed weights, and their products with vectors against sums in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/stream_tiles.hpp>

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::dyn;

namespace {

double tile_weight(tenon::index row, tenon::index k) { return static_cast<double>((row * 7 + k * 3) % 11 - 5) / 4; }
double tile_factor(tenon::index k) { return static_cast<double>(k % 5 - 2) / 2; }

/// Empty where all tiles of `Blocks * units` rows have the sums of `runs` runs of `run` factors. Sums are exact.
template <class Tiles, int Blocks, class T>
std::string tile_difference(tenon::index units, tenon::index runs, tenon::index run) {
  const auto packed = Tiles::packed(
      units, runs, run, [](tenon::index row, tenon::index k) { return static_cast<T>(tile_weight(row, k)); });
  std::vector<T> factors;
  for (tenon::index k = 0; k < runs * run; ++k) factors.push_back(static_cast<T>(tile_factor(k)));
  std::vector<double> found(static_cast<std::size_t>(Blocks * units)), expected;
  for (tenon::index tile = 0; tile < Tiles::tiles(units); ++tile) {
    typename Tiles::sums sums = {};
    for (tenon::index number = 0; number < runs; ++number) {
      const tenon::index of_run = Tiles::groups(run) * Tiles::width;
      tenon::nn::detail::add_products<Tiles>(sums, packed.data() + (tile * runs + number) * of_run,
                                             factors.data() + number * run, run);
    }
    for (int vector = 0; vector < Tiles::vectors; ++vector) {
      T lanes[Tiles::lanes];
      tenon::simd::store<Tiles::lanes>(lanes, tenon::nn::detail::joined_sum<Tiles>(sums, vector));
      for (tenon::index lane = 0; lane < Tiles::lanes; ++lane) {
        const tenon::index unit = (tile * Tiles::packs + vector % Tiles::packs) * Tiles::lanes + lane;
        if (unit < units)
          found[static_cast<std::size_t>(vector / Tiles::packs * units + unit)] = static_cast<double>(lanes[lane]);
        else if (lanes[lane] != 0) return "a unit that does not exist has a sum";
      }
    }
  }
  for (tenon::index row = 0; row < Blocks * units; ++row) {
    double sum = 0;
    for (tenon::index k = 0; k < runs * run; ++k) sum += tile_weight(row, k) * tile_factor(k);
    expected.push_back(sum);
  }
  return tenon_test::difference(found, expected, 0);
}

}  // namespace

TEST_CASE("tiles have the products of all their rows", "[stream_tiles]") {
  using tenon::nn::detail::stream_tiles;
  CHECK(tile_difference<stream_tiles<float, 1, 64, 64, 64>, 1, float>(64, 1, 64) == "");
  CHECK(tile_difference<stream_tiles<float, 1, 1, 5, 5>, 1, float>(1, 1, 5) == "");
  CHECK(tile_difference<stream_tiles<float, 1, 33, 21, 7>, 1, float>(33, 3, 7) == "");
  CHECK(tile_difference<stream_tiles<float, 1, 17, 3, 1>, 1, float>(17, 3, 1) == "");
  CHECK(tile_difference<stream_tiles<float, 1, 150, 300, 300>, 1, float>(150, 1, 300) == "");
  CHECK(tile_difference<stream_tiles<float, 1, dyn, dyn, dyn>, 1, float>(75, 2, 9) == "");
  CHECK(tile_difference<stream_tiles<float, 4, 19, 38, 1>, 4, float>(19, 1, 19) == "");
  CHECK(tile_difference<stream_tiles<float, 3, dyn, dyn, 1>, 3, float>(40, 1, 6) == "");
  CHECK(tile_difference<stream_tiles<double, 4, 11, 22, 11>, 4, double>(11, 1, 11) == "");
}

TEST_CASE("a bias lies where its sums are, and is zero where there is none", "[stream_tiles]") {
  using tiles = tenon::nn::detail::stream_tiles<float, 3, 5, 10, 1>;
  std::vector<float> bias;
  for (int row = 0; row < 15; ++row) bias.push_back(static_cast<float>(row + 1));
  const auto packed = tiles::packed_vector(5, bias.data()), none = tiles::packed_vector(5, nullptr);
  REQUIRE(packed.count() == tiles::padded(5) * 3);
  for (tenon::index block = 0; block < 3; ++block) {
    for (tenon::index unit = 0; unit < tiles::padded(5); ++unit) {
      const tenon::index place = block * tiles::padded(5) + unit;
      CHECK(packed.data()[place] == (unit < 5 ? static_cast<float>(block * 5 + unit + 1) : 0.0f));
      CHECK(none.data()[place] == 0.0f);
    }
  }
}

TEST_CASE("samples visit tiles in turns from both ends", "[stream_tiles]") {
  std::vector<tenon::index> visited;
  for (const bool is_reversed : {false, true}) {
    tenon::nn::detail::visit_tiles(3, is_reversed, [&](tenon::index tile) { visited.push_back(tile); });
  }
  CHECK(visited == std::vector<tenon::index>{0, 1, 2, 2, 1, 0});
}
