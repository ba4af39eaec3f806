// tests/contraction/kernel_cases.hpp: what every product kernel must get right.
// Products are compared with sums of doubles, of the same rounded operands; the bound is that of accumulation in float.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <tenon/contraction/select.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace tenon_test {

/// Numbers of (-1, 1), or small whole ones where T has no others.
template <class T, class Shape>
auto random_tensor(const Shape& shape, std::uint64_t seed) {
  const float most = tenon::is_floating<T> ? 1.0f : 100.0f;
  return tenon::evaluated_tensor(tenon::cast<T>(tenon::uniform<float>(shape, seed, -most, most)));
}

/// Numbers that 10 bits of mantissa hold, so that matrix units multiply them exactly.
inline auto random_short_floats(tenon::index rows, tenon::index columns, std::uint64_t seed) {
  return tenon::evaluated_tensor(tenon::cast<float>(random_tensor<tenon::half>(tenon::rank<2>(rows, columns), seed)));
}

/// A matrix over the two axes of a program.
template <class E>
auto matrix_of(const E& node) {
  return tenon::merged_matrix<tenon::matrix_axes<0, 1>>(
      tenon::as_node(node).template lower<0>(tenon::identity_map<2>()), tenon::as_node(node).shape().to_array());
}

/// What a result of type T may lose when it is rounded.
template <class T>
inline constexpr double roundoff = std::is_same_v<T, tenon::half>       ? 0x1p-11
                                   : std::is_same_v<T, tenon::bfloat16> ? 0x1p-8
                                   : std::is_same_v<T, double>          ? 0x1p-53
                                                                        : 0x1p-24;

/// Empty when `found` is left * right, two operands on the host, up to rounding; integers wrap.
template <class T>
std::string product_error(const std::vector<double>& found, const std::vector<double>& left,
                          const std::vector<double>& right, tenon::index rows, tenon::index columns,
                          tenon::index depth) {
  if (static_cast<tenon::index>(found.size()) != rows * columns) return "another number of results";
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      double sum = 0, magnitude = 0;
      for (tenon::index k = 0; k < depth; ++k) {
        const double product = left.data()[i * depth + k] * right.data()[k * columns + j];
        sum += product, magnitude += std::fabs(product);
      }
      if constexpr (std::is_integral_v<T>) sum = static_cast<double>(static_cast<T>(static_cast<std::int64_t>(sum)));
      const double step = std::is_same_v<T, double> ? 0x1p-52 : 0x1p-23;
      const double loss = (static_cast<double>(depth) + 2) * step * magnitude + roundoff<T> * std::fabs(sum);
      const double result = found.data()[i * columns + j], bound = std::is_integral_v<T> ? 0 : loss;
      if (!(std::fabs(result - sum) <= bound)) {
        return tenon::compose_text("(", i, ", ", j, "): ", result, ", expected ", sum, " of [", rows, ", ", depth,
                                   "] x [", depth, ", ", columns, "]");
      }
    }
  }
  return "";
}

/// Runs blocks and threads of emulated kernels in another order; a device has its own.
template <class Space>
struct shuffled_blocks {
  explicit shuffled_blocks(std::uint64_t) {}
};
#if !defined(__CUDACC__)
template <>
struct shuffled_blocks<tenon::emulated> : tenon::emulation_scope {
  explicit shuffled_blocks(std::uint64_t seed) : emulation_scope({.seed = seed}) {}
};
#endif

/// A statement with one contraction, evaluated on Space as `choice` says; by `Units`, if any, instead of its own.
template <class Space, class Units = void, class E>
auto evaluated_by(const tenon::product_choice& choice, const E& node) {
  using element = typename E::element;
  tenon::tensor<element, typename E::shape_type, Space> result(node.shape());
  const tenon::strided_target<element, E::shape_type::rank> target{result.data(), result.view().strides()};
  if constexpr (std::is_void_v<Units>) tenon::run_contraction_kernel<Space>(target, node, choice);
  else tenon::run_product_by<Space, Units>(target, node, tenon::contraction_of(node), choice);
  return result;
}

/// What no result may depend on.
template <class T>
T no_number() {
  if constexpr (tenon::is_floating<T>) return T(std::nanf(""));
  else return T(99);
}

/// How a matrix lies in memory: which of its axes is side by side, how much further apart than they are long its runs
/// lie, and how many elements lie before the first. What lies between is no number, so that a kernel which reads it is
/// noticed.
struct placing {
  bool by_columns = false;
  tenon::index gap = 0, first = 0;
};

/// `matrix` in memory of Space.
template <class Space, class T>
class placed_matrix {
 public:
  placed_matrix(const tenon::tensor<T, tenon::rank<2>>& matrix, const placing& how) {
    const tenon::index rows = matrix.extent(0), columns = matrix.extent(1);
    const tenon::index runs = how.by_columns ? columns : rows, pitch = (how.by_columns ? rows : columns) + how.gap;
    tenon::tensor<T, tenon::rank<1>> memory(tenon::rank<1>(runs * pitch + how.first));
    for (tenon::index i = 0; i < memory.size(); ++i) memory.data()[i] = no_number<T>();
    strides_ = how.by_columns ? strides{{1, pitch}} : strides{{pitch, 1}};
    for (tenon::index i = 0; i < rows * columns; ++i) {
      const tenon::index row = i / columns, column = i % columns;
      memory.data()[how.first + row * strides_[0] + column * strides_[1]] = matrix(row, column);
    }
    memory_ = memory.template to<Space>();
    first_ = how.first, extents_ = {{rows, columns}};
  }
  auto view() const {
    return tenon::view<const T, tenon::rank<2>, Space>(memory_.data() + first_, tenon::rank<2>(extents_), strides_);
  }

 private:
  using strides = tenon::array<tenon::index, 2>;
  tenon::tensor<T, tenon::rank<1>, Space> memory_;
  tenon::index first_ = 0;
  strides strides_{}, extents_{};
};

/// Multiplies views: the product whose kernel is tested.
template <class Units = void>
struct product_by {
  using units = Units;

  template <class Left, class Right>
  auto operator()(const Left& left, const Right& right) const {
    return tenon::matmul(left, right);
  }
};

/// One product of `choice`, of operands placed as they are told.
template <class Space, class T, class Product = product_by<>>
void check_product(const tenon::product_choice& choice, const tenon::array<tenon::index, 3>& extents,
                   const placing& left = {}, const placing& right = {}) {
  const tenon::index rows = extents[0], columns = extents[1], depth = extents[2];
  const auto make = [](tenon::index m, tenon::index n, std::uint64_t seed) {
    if constexpr (std::is_same_v<T, float>) return random_short_floats(m, n, seed);
    else return random_tensor<T>(tenon::rank<2>(m, n), seed);
  };
  const auto a = make(rows, depth, 1), b = make(depth, columns, 2);
  const placed_matrix<Space, T> x(a, left), y(b, right);
  const auto found = evaluated_by<Space, typename Product::units>(choice, Product{}(x.view(), y.view()));
  CAPTURE(choice.tile, choice.parts, left.by_columns, left.gap, right.by_columns, right.gap);
  CHECK(product_error<T>(numbers_of(found), numbers_of(a), numbers_of(b), rows, columns, depth) == "");
}

/// Extents around those of the small tile, whose depth is `depth`: one less, as many, one more.
template <class Space, class T, class Product = product_by<>>
void check_extents(tenon::index tile, tenon::index depth) {
  for (const tenon::index rows : {tenon::index{1}, tile - 1, tile, tile + 1}) {
    for (const tenon::index columns : {tenon::index{1}, tile - 1, tile, tile + 1}) {
      check_product<Space, T, Product>({1, 1}, {{rows, columns, depth + (rows + columns) % 3 - 1}});
    }
  }
  for (const tenon::index k : {tenon::index{0}, tenon::index{1}, depth - 1, depth, depth + 1, 5 * depth + 3}) {
    check_product<Space, T, Product>({1, 1}, {{tile + 6, tile - 6, k}});
  }
  check_product<Space, T, Product>({0, 1}, {{2 * tile + 1, 2 * tile - 3, 2 * depth + 5}});
  CHECK(evaluated_by<Space, typename Product::units>(
            {1, 1}, Product{}(random_tensor<T>(tenon::rank<2>(0, 3), 1).template to<Space>(),
                              random_tensor<T>(tenon::rank<2>(3, 4), 1).template to<Space>()))
            .size() == 0);
}

/// All four layouts, of runs as they are copied best, and askew by one element and by two.
template <class Space, class T, class Product = product_by<>>
void check_layouts(tenon::index tile) {
  for (const bool left : {false, true}) {
    for (const bool right : {false, true}) {
      for (const tenon::index gap : {0, 1, 2, 32}) {
        check_product<Space, T, Product>({1, 1}, {{tile, 24, 40}}, {left, gap, gap / 2}, {right, gap, gap / 2});
      }
      check_product<Space, T, Product>({0, 1}, {{tile + 8, 24, 40}}, {left}, {right});
    }
  }
}

/// Blocks that share the depth of a tile find what one block finds, and the same each time.
template <class Space, class T, class Product = product_by<>>
void check_parts() {
  for (const int parts : {2, 3, 7}) {
    check_product<Space, T, Product>({1, parts}, {{20, 33, 200}});
    check_product<Space, T, Product>({1, parts}, {{5, 8, 3}});
  }
  check_product<Space, T, Product>({0, 2}, {{20, 24, 130}});
  const auto a = random_tensor<T>(tenon::rank<2>(40, 300), 1).template to<Space>();
  const auto b = random_tensor<T>(tenon::rank<2>(300, 24), 2).template to<Space>();
  const auto first = numbers_of(evaluated_by<Space, typename Product::units>({1, 4}, Product{}(a, b)));
  for (const std::uint64_t seed : {2u, 3u, 4u}) {
    [[maybe_unused]] const shuffled_blocks<Space> shuffled(seed);
    CHECK(numbers_of(evaluated_by<Space, typename Product::units>({1, 4}, Product{}(a, b))) == first);
  }
}

/// Products of batches, of which one operand has fewer, and of strided operands.
template <class Space, class T, class Units = void>
void check_views(tenon::index depth) {
  const auto a = random_tensor<T>(tenon::rank<4>(2, 3, 20, 2 * depth), 1);
  const auto b = random_tensor<T>(tenon::rank<3>(3, 30, depth), 2);
  const tenon::range steps(0, 2 * depth, 2);
  const auto statement = [&](const auto& x, const auto& y) {
    const auto every_other = tenon::slice(x, tenon::all_of, tenon::all_of, tenon::all_of, steps);
    return tenon::matmul(every_other, tenon::permute(y, tenon::axis<0, 2, 1>));
  };
  const auto x = a.template to<Space>();
  const auto y = b.template to<Space>();
  for (const tenon::product_choice choice : {tenon::product_choice{1, 1}, {1, 2}}) {
    const auto found = numbers_of(evaluated_by<Space, Units>(choice, statement(x, y)));
    for (tenon::index batch = 0; batch < 6; ++batch) {
      const tenon::range outer(batch / 3, batch / 3 + 1), inner(batch % 3, batch % 3 + 1);
      const auto left = numbers_of(tenon::slice(a, outer, inner, tenon::all_of, steps));
      const auto right =
          numbers_of(tenon::permute(tenon::slice(b, inner, tenon::all_of, tenon::all_of), tenon::axis<0, 2, 1>));
      const auto part = found.begin() + batch * 20 * 30;
      CHECK(product_error<T>(std::vector<double>(part, part + 20 * 30), left, right, 20, 30, depth) == "");
    }
  }
}

/// A prologue, and an epilogue with bias, residual, activation and cast, where results lie in packets and where not.
template <class Space, class T, class Units = void>
void check_fusion() {
  const double bound = 4 * roundoff<T> + 1e-4;
  for (const auto& [rows, columns] : {std::pair<tenon::index, tenon::index>{70, 72}, {65, 33}}) {
    const auto a = random_tensor<T>(tenon::rank<2>(rows, 40), 1), b = random_tensor<T>(tenon::rank<2>(40, columns), 2),
               residual = random_tensor<T>(tenon::rank<2>(rows, columns), 3);
    const auto bias = random_tensor<T>(tenon::rank<1>(columns), 4);
    const auto statement = [](const auto& left, const auto& right, const auto& added, const auto& each) {
      return tenon::cast<float>(tenon::relu(tenon::matmul(left * 2, tenon::abs(right)) + each) + added);
    };
    const auto expected = numbers_of(statement(a, b, residual, bias));
    const auto x = a.template to<Space>(), y = b.template to<Space>(), z = residual.template to<Space>();
    const auto row = bias.template to<Space>();
    const auto node = statement(x, y, z, row);
    for (const tenon::product_choice choice : {tenon::product_choice{0, 1}, {1, 1}, {1, 2}}) {
      CHECK(difference(numbers_of(evaluated_by<Space, Units>(choice, node)), expected, 20 * bound) == "");
    }
  }
}

/// Numbers that are none, and infinities, reach the results of their rows and columns and no others.
template <class Space, class T, class Units = void>
void check_not_finite() {
  auto a = random_tensor<T>(tenon::rank<2>(40, 24), 1);
  const auto b = random_tensor<T>(tenon::rank<2>(24, 40), 2);
  a(3, 5) = T(std::nanf("")), a(17, 23) = T(HUGE_VALF);
  const auto found =
      numbers_of(evaluated_by<Space, Units>({1, 1}, tenon::matmul(a.template to<Space>(), b.template to<Space>())));
  int finite = 0;
  for (tenon::index i = 0; i < 40 * 40; ++i) {
    const double number = found[static_cast<std::size_t>(i)];
    finite += std::isfinite(number) ? 1 : 0;
    if (i / 40 == 3) CHECK(std::isnan(number));
    if (i / 40 == 17) CHECK(std::isinf(number));
  }
  CHECK(finite == 38 * 40);
}

/// Convolution and its two gradients.
template <class Space, class T>
void check_convolutions() {
  const auto image = random_tensor<T>(tenon::rank<4>(2, 3, 9, 8), 1);
  const auto weight = random_tensor<T>(tenon::rank<4>(5, 3, 3, 3), 2);
  const auto gradient = random_tensor<T>(tenon::rank<4>(2, 5, 5, 4), 3);
  const tenon::window_geometry<2> geometry{.stride = {{2, 2}}, .padding = {{1, 1}}};
  const auto compare = [](const auto& operation, const auto& x, const auto& y) {
    const auto found = operation(x.template to<Space>(), y.template to<Space>());
    CHECK(difference(numbers_of(found), numbers_of(operation(x, y)), 20 * roundoff<T> + 1e-4) == "");
  };
  compare([&](const auto& x, const auto& y) { return tenon::evaluated_tensor(tenon::convolve(x, y, geometry)); }, image,
          weight);
  const auto weight_gradient = [&](const auto& x, const auto& y) {
    return tenon::evaluated_tensor(tenon::convolve_weight_gradient(x, y, {{3, 3}}, geometry));
  };
  compare(weight_gradient, gradient, image);
  compare(weight_gradient, random_tensor<T>(tenon::rank<4>(1, 5, 5, 4), 4),  // one image's gradients are single runs
          random_tensor<T>(tenon::rank<4>(1, 3, 9, 8), 5));
  compare(
      [&](const auto& x, const auto& y) {
        return tenon::evaluated_tensor(tenon::convolve_image_gradient(x, y, {{9, 8}}, geometry));
      },
      gradient, weight);
}

}  // namespace tenon_test
