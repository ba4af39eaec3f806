// tests/contraction/kernel_cases.hpp: what every product kernel must get right.
// The host's products, which are checked against the definition, are the reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace tenon_test {

template <class T>
inline constexpr double product_bound = std::is_same_v<T, float> ? 1e-5 : 1e-2;

/// Values in [-1, 1).
template <class T, class Shape>
auto random_tensor(const Shape& shape, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::uniform<T>(shape, seed, -1.0f, 1.0f));
}

/// A product with prologue, residual and activation on the host and by the kernel that names itself `kernel`.
template <class Space, class T>
void compare_product(const std::string& kernel, tenon::index m, tenon::index n, tenon::index k) {
  const auto a = random_tensor<T>(tenon::rank<2>(m, k), 1), b = random_tensor<T>(tenon::rank<2>(k, n), 2),
             residual = random_tensor<T>(tenon::rank<2>(m, n), 3);
  const auto statement = [](const auto& x, const auto& y, const auto& z) {
    return tenon::evaluated_tensor(tenon::relu(tenon::matmul(x * 2, y) + z));
  };
  const tenon::launch_counter counter;
  const auto found = statement(a.template to<Space>(), b.template to<Space>(), residual.template to<Space>());
  CAPTURE(m, n, k);
  if (m * n != 0) CHECK(counter.last_kind() == kernel);
  CHECK(difference(numbers_of(found), numbers_of(statement(a, b, residual)), product_bound<T>) == "");
}

/// Tiles that are full, ragged and empty.
template <class Space, class T>
void compare_tiles(const std::string& kernel) {
  const tenon::index sizes[][3] = {{1, 1, 1},     {64, 64, 32}, {65, 63, 33}, {3, 130, 17},
                                   {130, 2, 100}, {5, 4, 0},    {0, 4, 5}};
  for (const auto& [m, n, k] : sizes) compare_product<Space, T>(kernel, m, n, k);
}

/// Batches, a transposed and a strided operand.
template <class Space, class T>
void compare_views() {
  const auto a = random_tensor<T>(tenon::rank<3>(3, 20, 34), 1);
  const auto b = random_tensor<T>(tenon::rank<2>(30, 17), 2);
  const auto statement = [](const auto& x, const auto& y) {
    const auto every_other = tenon::slice(x, tenon::all_of, tenon::all_of, tenon::range(0, 34, 2));
    return tenon::evaluated_tensor(tenon::matmul(every_other, tenon::transpose(y)));
  };
  const auto found = statement(a.template to<Space>(), b.template to<Space>());
  CHECK(difference(numbers_of(found), numbers_of(statement(a, b)), product_bound<T>) == "");
}

/// Convolution and its two gradients.
template <class Space, class T>
void compare_convolutions() {
  const auto image = random_tensor<T>(tenon::rank<4>(2, 3, 9, 8), 1);
  const auto weight = random_tensor<T>(tenon::rank<4>(5, 3, 3, 3), 2);
  const auto gradient = random_tensor<T>(tenon::rank<4>(2, 5, 5, 4), 3);
  const tenon::window_geometry<2> geometry{.stride = {{2, 2}}, .padding = {{1, 1}}};
  const auto compare = [](const auto& operation, const auto& x, const auto& y) {
    const auto found = operation(x.template to<Space>(), y.template to<Space>());
    CHECK(difference(numbers_of(found), numbers_of(operation(x, y)), product_bound<T>) == "");
  };
  compare([&](const auto& x, const auto& y) { return tenon::evaluated_tensor(tenon::convolve(x, y, geometry)); }, image,
          weight);
  compare(
      [&](const auto& x, const auto& y) {
        return tenon::evaluated_tensor(tenon::convolve_weight_gradient(x, y, {{3, 3}}, geometry));
      },
      gradient, image);
  compare(
      [&](const auto& x, const auto& y) {
        return tenon::evaluated_tensor(tenon::convolve_image_gradient(x, y, {{9, 8}}, geometry));
      },
      gradient, weight);
}

}  // namespace tenon_test
