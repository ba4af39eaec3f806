// tests/nn/adaptive_pool.cpp: adaptive and global pools against loops over PyTorch's definition of their windows.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/adaptive_pool.hpp>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

/// The mean or greatest of window (p, q) of `count` x `count` in a plane of h x w.
double adaptive_value(const double* plane, std::size_t h, std::size_t w, std::size_t p, std::size_t q,
                      std::size_t count, bool is_mean) {
  double total = 0, greatest = -HUGE_VAL, elements = 0;
  for (std::size_t i = p * h / count; i < ((p + 1) * h + count - 1) / count; ++i) {
    for (std::size_t j = q * w / count; j < ((q + 1) * w + count - 1) / count; ++j) {
      total += plane[i * w + j], elements += 1, greatest = std::fmax(greatest, plane[i * w + j]);
    }
  }
  return is_mean ? total / elements : greatest;
}

template <class Space>
void compare_adaptive_pools(std::size_t h, std::size_t w, std::size_t count) {
  const rank<4> extents(2, 3, static_cast<tenon::index>(h), static_cast<tenon::index>(w));
  const auto x = tenon_test::made_tensor<float, Space>(extents, tenon_test::scattered);
  const auto given = numbers_of(x);
  std::vector<double> means, greatest;
  for (std::size_t plane = 0; plane < 6; ++plane) {
    for (std::size_t i = 0; i < count * count; ++i) {
      const double* const from = given.data() + plane * h * w;
      means.push_back(adaptive_value(from, h, w, i / count, i % count, count, true));
      greatest.push_back(adaptive_value(from, h, w, i / count, i % count, count, false));
    }
  }
  const nn::per_axis<2> windows = static_cast<tenon::index>(count);
  CAPTURE(h, w, count);
  CHECK(tenon_test::difference(numbers_of(nn::adaptive_avg_pool2d<dyn>(windows).forward(x)), means, 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(nn::adaptive_max_pool2d<dyn>(windows).forward(x)), greatest) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("adaptive pools agree with their definition", "[adaptive_pool]", tenon_test::spaces) {
  compare_adaptive_pools<TestType>(10, 9, 3);
  compare_adaptive_pools<TestType>(6, 8, 2);
  compare_adaptive_pools<TestType>(3, 2, 5);  // more windows than elements
  compare_adaptive_pools<TestType>(7, 5, 1);
}

#if !defined(__CUDACC__)
TEST_CASE("gradients of adaptive pools agree with differences", "[adaptive_pool]") {
  CHECK(tenon_test::layer_difference(rank<4>(2, 2, 5, 7), nn::adaptive_avg_pool2d<nn::per_axis<2>(2, 3)>()) == "");
  CHECK(tenon_test::layer_difference(rank<4>(1, 2, 3, 2), nn::adaptive_avg_pool2d<5>()) == "");
  CHECK(tenon_test::layer_difference(rank<4>(2, 3, 4, 5), nn::adaptive_avg_pool2d<1>()) == "");
  CHECK(tenon_test::layer_difference(rank<3>(2, 3, 7), nn::adaptive_max_pool1d<3>()) == "");
  CHECK(tenon_test::layer_difference(rank<5>(1, 2, 3, 4, 3), nn::adaptive_max_pool3d<2>()) == "");
}

TEST_CASE("types know the output of adaptive pools", "[adaptive_pool]") {
  const shape<dyn, 8, 7, dyn> input(2, 8, 7, 9);
  const auto pooled = nn::adaptive_avg_pool2d<nn::per_axis<2>(3, nn::same)>().output_shape(input);
  STATIC_REQUIRE(std::is_same_v<std::remove_const_t<decltype(pooled)>, shape<dyn, 8, 3, dyn>>);
  CHECK(pooled.extent(3) == 9);
  CHECK(nn::adaptive_max_pool2d<dyn>(4).output_shape(input) == rank<4>(2, 8, 4, 4));
}

TEST_CASE("adaptive pools refuse a negative number of windows", "[adaptive_pool]") {
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::adaptive_max_pool2d<dyn>({2, -3}); }) ==
        "adaptive_max_pool2d: axis 3: output -3, expected at least 0, or `same`");
}
#endif
