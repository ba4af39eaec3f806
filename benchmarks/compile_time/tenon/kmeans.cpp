// benchmarks/compile_time/tenon/kmeans.cpp: 20,000 points in ten clouds, and the ten centres found again.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tenon/algorithms.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

namespace tn = tenon;

int main() {
  constexpr tn::index points = 20000, features = 16, clusters = 10;
  using matrix = tn::tensor<float, tn::rank<2>>;
  using labels = tn::tensor<std::int64_t, tn::rank<1>>;

  const matrix true_centres = tn::uniform<float>(tn::rank<2>(clusters, features), 1, -10.0f, 10.0f);
  const labels cloud = tn::randint<std::int64_t>(tn::rank<1>(points), 2, 0, clusters);
  const matrix x = tn::take(true_centres, cloud, tn::axis<0>) + tn::normal<float>(tn::rank<2>(points, features), 3);

  const labels first = tn::slice(tn::permutation<std::int64_t>(points, 4), tn::range(0, clusters));
  matrix centres = tn::take(x, first, tn::axis<0>);
  labels nearest({points});
  float before = 0;
  for (int step = 1; step <= 100; ++step) {
    // |x - c|^2 = |x|^2 - 2 x c + |c|^2, of every point to every centre
    const tn::tensor<float, tn::rank<1>> lengths = tn::sum(tn::square(centres), tn::drop<1>);
    const matrix distances = tn::sum(tn::square(x), tn::axis<1>) + lengths - 2 * tn::matmul(x, tn::transpose(centres));
    nearest = tn::argmin(distances, tn::drop<1>);
    const float inertia = tn::sum(tn::min(distances, tn::axis<1>));
    std::printf("step %d: %.1f\n", step, static_cast<double>(inertia));
    if (step > 1 && inertia >= before * 0.99999f) break;
    before = inertia;

    matrix sums = tn::zeros<float>(tn::rank<2>(clusters, features));
    tn::index_add(sums, tn::axis<0>, nearest, x);
    const matrix members = tn::new_axis<1>(tn::cast<float>(tn::bincount(nearest, clusters)));
    centres = tn::where(members > 0.0f, sums / members, centres);
  }
  const auto sizes = tn::bincount(nearest, clusters);
  for (tn::index k = 0; k < clusters; ++k) std::printf(" %ld", static_cast<long>(sizes(k)));
  std::printf(" points in the clusters\n");
  return 0;
}
