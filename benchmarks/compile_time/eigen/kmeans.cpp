// benchmarks/compile_time/eigen/kmeans.cpp: tenon/kmeans.cpp in the words of Eigen and the standard library.
// SPDX-License-Identifier: Apache-2.0
#include <Eigen/Dense>
#include <cstdio>
#include <random>

int main() {
  constexpr Eigen::Index points = 20000, features = 16, clusters = 10;
  using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<Eigen::Index> cloud(0, clusters - 1), any_point(0, points - 1);
  const matrix true_centres = 10 * matrix::Random(clusters, features);
  matrix x(points, features), centres(clusters, features);
  for (auto row : x.rowwise()) {
    row = true_centres.row(cloud(random)) + matrix::NullaryExpr(1, features, [&] { return normal(random); });
  }
  for (auto row : centres.rowwise()) row = x.row(any_point(random));

  Eigen::ArrayX<Eigen::Index> nearest(points);
  Eigen::ArrayXf least(points), members(clusters);
  float before = 0;
  for (int step = 1; step <= 100; ++step) {
    // |x - c|^2 = |x|^2 - 2 x c + |c|^2, of every point to every centre
    matrix distances = -2 * x * centres.transpose();
    distances.colwise() += x.rowwise().squaredNorm();
    distances.rowwise() += centres.rowwise().squaredNorm().transpose();
    for (Eigen::Index i = 0; i < points; ++i) least(i) = distances.row(i).minCoeff(&nearest(i));
    const float inertia = least.sum();
    std::printf("step %d: %.1f\n", step, static_cast<double>(inertia));
    if (step > 1 && inertia >= before * 0.99999f) break;
    before = inertia;

    matrix sums = matrix::Zero(clusters, features);
    members.setZero();
    for (Eigen::Index i = 0; i < points; ++i) sums.row(nearest(i)) += x.row(i), ++members(nearest(i));
    for (Eigen::Index k = 0; k < clusters; ++k) {
      if (members(k) > 0) centres.row(k) = sums.row(k) / members(k);
    }
  }
  for (const float size : members) std::printf(" %.0f", static_cast<double>(size));
  std::printf(" points in the clusters\n");
  return 0;
}
