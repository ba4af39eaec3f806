// tests/cuda_programs/in_place.cu: tensors in place within a kernel of the user's: each thread moves a point.
// nvcc takes it with --expt-relaxed-constexpr, since these statements are constant expressions.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_programs/space.hpp"

#include <cmath>
#include <tenon/expr/random.hpp>
#include <tenon/products.hpp>

namespace tn = tenon;

using matrix = tn::tensor<float, tn::shape<4, 4>>;
using vector = tn::tensor<float, tn::shape<4>>;

/// points[i] = relu(pose points[i] + offset), of length 1, and its greatest element.
struct move_points {
  static constexpr const char* name = "move_points";
  matrix pose;
  vector offset;
  vector* points;
  float* greatest;
  int count;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int i = static_cast<int>(device.block().x) * device.block_size() + device.thread();
    if (i >= count) return;
    const vector moved = tn::relu(tn::matmul(pose, points[i]) + offset);
    points[i] = moved / tn::sqrt(tn::sum(moved * moved, tn::axis<0>));
    greatest[i] = tn::max(points[i]);
  }
};

int main() {
  expectations expect;
  constexpr int count = 100;
  const matrix pose = {{0, -1, 0, 1}, {1, 0, 0, 2}, {0, 0, 1, 3}, {0, 0, 0, 1}};
  const vector offset = {0.5f, 1, 2, 3};
  tn::tensor<float, tn::rank<2>> given({count, 4});
  given = tn::uniform<float>(given.shape(), 7, -2.0f, 2.0f);
  auto points = given.to<space>();
  tn::tensor<float, tn::rank<1>, space> greatest({count});
  tn::launch<space>({.grid = {4}, .block = 32},
                    move_points{pose, offset, reinterpret_cast<vector*>(points.data()), greatest.data(), count});
  const auto found = points.to<tn::host>();
  const auto most = greatest.to<tn::host>();
  bool holds = true;
  for (tn::index i = 0; i < count; ++i) {
    double moved[4], squares = 0, largest = 0;
    for (tn::index row = 0; row < 4; ++row) {
      moved[row] = offset(row);
      for (tn::index k = 0; k < 4; ++k) moved[row] += static_cast<double>(pose(row, k)) * given(i, k);
      moved[row] = std::fmax(moved[row], 0.0);
      squares += moved[row] * moved[row];
    }
    for (tn::index row = 0; row < 4; ++row) {
      const double expected = moved[row] / std::sqrt(squares);
      holds = holds && std::fabs(expected - found(i, row)) < 1e-5;
      largest = std::fmax(largest, expected);
    }
    holds = holds && std::fabs(largest - most(i)) < 1e-5;
  }
  expect(holds, "statements in place within a kernel are those of the host");
  return expect.failures;
}
