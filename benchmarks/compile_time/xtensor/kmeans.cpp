// benchmarks/compile_time/xtensor/kmeans.cpp: tenon/kmeans.cpp by xtensor, whose products are another package.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <xtensor/xmath.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xsort.hpp>
#include <xtensor/xtensor.hpp>
#include <xtensor/xview.hpp>

int main() {
  constexpr std::size_t points = 20000, features = 16, clusters = 10;
  using matrix = xt::xtensor<float, 2>;
  using labels = xt::xtensor<std::size_t, 1>;

  const matrix true_centres = xt::random::rand<float>({clusters, features}, -10.0f, 10.0f);
  const labels cloud = xt::random::randint<std::size_t>({points}, 0, clusters);
  const matrix x = xt::view(true_centres, xt::keep(cloud), xt::all()) + xt::random::randn<float>({points, features});

  const labels first = xt::random::randint<std::size_t>({clusters}, 0, points);
  matrix centres = xt::view(x, xt::keep(first), xt::all());
  labels nearest = xt::zeros<std::size_t>({points});
  xt::xtensor<float, 1> members = xt::zeros<float>({clusters});
  float before = 0;
  for (int step = 1; step <= 100; ++step) {
    matrix distances = xt::zeros<float>({points, clusters});
    for (std::size_t k = 0; k < clusters; ++k) {
      xt::view(distances, xt::all(), k) = xt::sum(xt::square(x - xt::view(centres, k)), {1});
    }
    nearest = xt::argmin(distances, 1);
    const float inertia = xt::sum(xt::amin(distances, {1}))();
    std::printf("step %d: %.1f\n", step, static_cast<double>(inertia));
    if (step > 1 && inertia >= before * 0.99999f) break;
    before = inertia;

    matrix sums = xt::zeros<float>({clusters, features});
    members.fill(0);
    for (std::size_t i = 0; i < points; ++i) xt::view(sums, nearest(i)) += xt::view(x, i), ++members(nearest(i));
    const auto size = xt::view(members, xt::all(), xt::newaxis());
    const matrix moved = xt::where(size > 0.0f, sums / size, centres);
    centres = moved;
  }
  for (const float size : members) std::printf(" %.0f", static_cast<double>(size));
  std::printf(" points in the clusters\n");
  return 0;
}
