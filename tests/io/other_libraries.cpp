// tests/io/other_libraries.cpp: the lines of docs/interop.md that need no header of Tenon's own.
// Eigen and Thrust are tested where their headers are found; else their case says so.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <tenon/products.hpp>
#include <vector>

#include "support/catch.hpp"
#if __has_include(<Eigen/Core>)
#include <Eigen/Core>
#define TENON_TEST_EIGEN 1
#elif __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#define TENON_TEST_EIGEN 1
#endif
#if __has_include(<thrust/sort.h>) && !defined(__CUDACC__)
#define THRUST_DEVICE_SYSTEM THRUST_DEVICE_SYSTEM_CPP
#include <thrust/execution_policy.h>
#include <thrust/sort.h>
#define TENON_TEST_THRUST 1
#endif

namespace tn = tenon;

TEST_CASE("memory of pointers, vectors and arrays is a view", "[io][interop]") {
  std::vector<float> memory(12);
  std::iota(memory.begin(), memory.end(), 0.0f);
  const tn::view rows(memory.data(), tn::rank<2>(3, 4));
  const tn::view columns(memory.data(), tn::rank<2>(4, 3), {{1, 4}});
  const tn::view every_other(memory.data() + 1, tn::rank<1>(6), {{2}});
  CHECK(rows(2, 1) == 9.0f);
  CHECK(columns(1, 2) == 9.0f);
  CHECK(every_other(4) == 9.0f);
  every_other = -every_other;
  CHECK(memory[9] == -9.0f);
  const tn::view whole(memory);
  CHECK(whole(9) == -9.0f);
  tn::tensor<float, tn::rank<2>> product({3, 3});
  product = tn::matmul(rows, columns);
  CHECK(product(0, 0) == 0.0f + 1.0f + 4.0f + 9.0f);
}

#if defined(TENON_TEST_EIGEN)
TEST_CASE("an Eigen matrix is a view, and a tensor is an Eigen map", "[io][interop]") {
  Eigen::MatrixXf matrix(2, 3);  // the first axis is the fastest
  matrix << 0, 1, 2, 3, 4, 5;
  const tn::view x(matrix.data(), tn::rank<2>(matrix.rows(), matrix.cols()), {{1, matrix.outerStride()}});
  CHECK(x(1, 2) == 5.0f);
  x = x * 2.0f;
  CHECK(matrix(1, 2) == 10.0f);

  using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  tn::tensor<float, tn::rank<2>> y = {{1, 2}, {3, 4}, {5, 6}};
  Eigen::Map<rows> map(y.data(), y.extent(0), y.extent(1));
  CHECK(map.data() == y.data());
  map *= 10.0f;
  CHECK(y(2, 0) == 50.0f);

  const tn::view column(y.data() + 1, tn::rank<1>(3), {{2}});
  const Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<>> steps(column.data(), column.extent(0),
                                                                   Eigen::InnerStride<>(column.strides()[0]));
  CHECK(steps.sum() == 120.0f);
}
#else
TEST_CASE("Eigen is absent", "[io][interop]") { WARN("no header <Eigen/Core>: skipped"); }
#endif

#if defined(TENON_TEST_THRUST)
TEST_CASE("elements are iterators of Thrust", "[io][interop]") {
  tn::tensor<float, tn::rank<1>> x = {3, 1, 2};
  thrust::sort(thrust::host, x.data(), x.data() + x.size());
  CHECK(x(0) == 1.0f);
  CHECK(x(2) == 3.0f);
}
#else
TEST_CASE("Thrust is absent", "[io][interop]") { WARN("no header <thrust/sort.h>: skipped"); }
#endif
