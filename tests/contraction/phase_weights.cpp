// tests/contraction/phase_weights.cpp: phases of strided image gradients, and their weights.
// Against what each window and tap see, one by one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/host.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/convolution.hpp"
#include "support/elements.hpp"

namespace {

using tenon::rank;

/// Whether every phase lists exactly the taps that see an element from one of its windows, at their places.
template <int Rank>
bool lists_what_windows_see(const tenon::patch_geometry<Rank>& geometry) {
  const tenon::window_phases<Rank> phases(geometry);
  for (tenon::index window = 0; window < geometry.windows(); ++window) {
    tenon::array<tenon::index, Rank> at{}, dense{};
    tenon::index phase = 0, rest = window, step = 1;
    for (int axis = Rank - 1; axis >= 0; rest /= geometry.output[axis], step *= phases.counts[axis], --axis) {
      at[axis] = rest % geometry.output[axis], dense[axis] = at[axis] / geometry.image_step[axis];
      phase += at[axis] % geometry.image_step[axis] * step;
    }
    std::vector<tenon::index> places(static_cast<std::size_t>(geometry.taps()), -1);
    phases.for_each_tap(phase,
                        [&](tenon::index tap, tenon::index place) { places[static_cast<std::size_t>(tap)] = place; });
    for (tenon::index tap = 0; tap < geometry.taps(); ++tap) {
      const tenon::index place = places[static_cast<std::size_t>(tap)];
      bool is_seen = true, agrees = true;
      tenon::index spread_rest = tap, dense_rest = place;
      for (int axis = Rank - 1; axis >= 0; --axis) {
        const tenon::index expected = geometry.place(axis, at[axis], spread_rest % geometry.kernel[axis]);
        spread_rest /= geometry.kernel[axis], is_seen = is_seen && expected >= 0;
        if (place < 0) continue;
        const tenon::index kernel = phases.dense.kernel[axis];
        agrees = agrees && phases.dense.place(axis, dense[axis], dense_rest % kernel) == expected;
        dense_rest /= kernel;
      }
      if (place < 0 ? is_seen : !agrees) return false;
    }
  }
  return true;
}

template <int Rank>
void check_random_phases(unsigned seed) {
  std::mt19937 generator(seed);
  for (int i = 0; i < 60; ++i) {
    auto drawn = tenon_test::random_problem<Rank>(generator);
    drawn.image[1] = drawn.weight[1], drawn.geometry.groups = 1, drawn.geometry.stride[i % Rank] += 1;
    const tenon_test::convolution_problem<Rank> p{drawn.image, drawn.weight, drawn.geometry};
    const auto weight = tenon_test::counting<float>(rank<Rank + 2>(p.weight)),
               gradient = tenon_test::counting<float>(rank<Rank + 2>(p.result()), 1);
    const auto node = tenon::convolve_image_gradient(gradient, weight, p.behind_channels(p.image), p.geometry);
    CHECK(lists_what_windows_see(tenon::right_matrix(node).geometry));
  }
}

/// Whether the packed weights of a stride of two hold what `weight` [channels, rows, 3, 2] says, and list what it sees.
template <class Weight>
bool packs_weight(const Weight& weight, tenon::index channels, tenon::index rows) {
  const auto gradient = tenon_test::counting<float>(rank<4>(1, channels, 4, 5), 1);
  const auto node = tenon::convolve_image_gradient(gradient, weight, {{9, 10}}, {.stride = {{2, 2}}});
  const auto left = tenon::left_matrix(node);
  using weights_type = tenon::phase_weights<tenon::number_products<float>, std::remove_const_t<decltype(left)>, 2>;
  const tenon::window_phases<2> phases(tenon::right_matrix(node).geometry);
  const tenon::window_lines lines(phases.dense);
  std::vector<tenon::index> seen(static_cast<std::size_t>(channels * phases.dense.taps()));
  lines.find_taps(channels, 3, seen.data());
  const tenon::detail::scratch memory;
  const auto* weights = weights_type{left, phases, rows, channels}.pack(memory, lines, 3);
  for (tenon::index phase = 0; phase < phases.count(0, 2); ++phase) {
    const auto& packed = weights[phase];
    tenon::index k = 0;
    for (tenon::index first = 0; first < channels; first += weights_type::channels_together) {
      phases.for_each_tap(phase, [&](tenon::index tap, tenon::index place) {
        for (tenon::index c = first; c < std::min(channels, first + weights_type::channels_together); ++c, ++k) {
          if (packed.offsets[k] != seen[static_cast<std::size_t>(c * phases.dense.taps() + place)]) k = -channels * 9;
          for (tenon::index row = 0; row < weights_type::padded_rows(rows); ++row) {
            const float expected = row < rows ? left.value(row, c * 6 + tap) : 0.0f;
            if (*packed.left.at(row, std::max(k, tenon::index{0})) != expected) k = -channels * 9;
          }
        }
      });
    }
    if (k != packed.depth) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("phases list what their windows see", "[phase_weights]") {
  check_random_phases<1>(31);
  check_random_phases<2>(32);
  check_random_phases<3>(33);
}

TEST_CASE("weights of phases are packed from any memory, and computed", "[phase_weights]") {
  for (const tenon::index channels : {1, 3, 15, 16, 17, 40}) {
    for (const tenon::index rows : {1, 2, 5, 8, 13, 70}) {
      CAPTURE(channels, rows);
      const auto weight = tenon_test::counting<float>(rank<4>(channels, rows, 3, 2), 1);
      CHECK(packs_weight(weight, channels, rows));
      CHECK(packs_weight(weight + weight, channels, rows));
      const auto turned = tenon_test::counting<float>(rank<4>(channels, 3, 2, rows), 2);
      CHECK(packs_weight(tenon::permute(turned, tenon::axis<0, 3, 1, 2>), channels, rows));
      const auto exchanged = tenon_test::counting<float>(rank<4>(rows, channels, 3, 2), 3);
      CHECK(packs_weight(tenon::permute(exchanged, tenon::axis<1, 0, 2, 3>), channels, rows));
      CHECK(packs_weight(tenon::flip(weight, tenon::axis<2, 3>), channels, rows));
    }
  }
}

TEST_CASE("weights of phases without channels have no columns", "[phase_weights]") {
  CHECK(packs_weight(tenon_test::counting<float>(rank<4>(0, 3, 3, 2), 1), 0, 3));
}
