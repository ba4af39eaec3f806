// tests/contraction/pack.cpp: operands of the host product in the order of its inner loop.
// Every value must be the matrix's own, every place beyond it zero.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/pack.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::rank;
using tenon_test::counting;

namespace {

using floats = tenon::number_products<float>;
constexpr int width = 2 * floats::lanes;

/// Whether panels of `Width` columns hold rows and columns of `matrix` from (row, column) on, and zeros beyond.
template <int Width, class Matrix>
bool packs_right(const Matrix& matrix, const tenon::matrix_part& part) {
  std::vector<float> packed(static_cast<std::size_t>(part.rows * Width), -1.0f);
  tenon::pack_right<floats>(matrix, part, Width, packed.data());
  for (tenon::index k = 0; k < part.rows; ++k) {
    for (tenon::index j = 0; j < Width; ++j) {
      const float expected = j < part.columns ? matrix.value(part.row + k, part.column + j) : 0.0f;
      if (packed[static_cast<std::size_t>(k * Width + j)] != expected) return false;
    }
  }
  return true;
}

template <int Lines, class Matrix>
bool packs_left(const Matrix& matrix, const tenon::matrix_part& part) {
  const tenon::index pitch = part.columns + 3;
  std::vector<float> packed(static_cast<std::size_t>(Lines * pitch), -1.0f);
  tenon::pack_left<floats>(matrix, part, Lines, packed.data(), pitch);
  for (tenon::index i = 0; i < Lines; ++i) {
    for (tenon::index k = 0; k < part.columns; ++k) {
      const float expected = i < part.rows ? matrix.value(part.row + i, part.column + k) : 0.0f;
      if (packed[static_cast<std::size_t>(i * pitch + k)] != expected) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("panels of plain, transposed, sliced and computed operands", "[pack]") {
  const auto a = counting<float>(rank<2>(50, 70), 1), b = counting<float>(rank<2>(70, 50), 2);
  const auto check = [](const auto& node) {
    const auto left = tenon::left_matrix(node);
    const auto right = tenon::right_matrix(node);
    CHECK(packs_left<12>(left, {0, 12, 0, 70}));
    CHECK(packs_left<12>(left, {36, 5, 3, 33}));
    CHECK(packs_right<width>(right, {0, 70, 0, width}));
    CHECK(packs_right<width>(right, {5, 9, 32, width < 18 ? width - 3 : 18}));
  };
  check(tenon::matmul(a, b));
  check(tenon::matmul(tenon::transpose(b), tenon::transpose(a)));
  check(tenon::matmul(a * 2 + 1, tenon::slice(b, tenon::range(tenon::open_end, tenon::open_end, -1)) - 3));
}

TEST_CASE("panels of patches with strides, padding, dilation and wide kernels", "[pack]") {
  const auto check_node = [](const auto& node) {
    const auto patches = tenon::right_matrix(node);
    const auto extents = tenon::extents_of_product(node);
    const tenon::index columns = extents.columns < width ? extents.columns : width;
    CHECK(packs_right<width>(patches, {0, extents.depth, 0, columns}));
    CHECK(packs_right<width>(patches, {1, extents.depth - 1, extents.columns - columns, columns}));
    const tenon::transposed_matrix<std::remove_const_t<decltype(patches)>> transposed{patches};
    const tenon::index taps = extents.depth < width ? extents.depth : width;
    CHECK(packs_right<width>(transposed, {0, extents.columns, 0, taps}));
    CHECK(packs_right<width>(transposed, {2, extents.columns - 2, 1, taps - 1}));
  };
  const auto image = counting<float>(rank<4>(3, 2, 9, 11), 1);
  const auto check = [&](const auto& weight, const tenon::window_geometry<2>& geometry) {
    check_node(tenon::convolve(image, weight, geometry));
  };
  const auto three = counting<float>(rank<4>(1, 2, 3, 3)), wide = counting<float>(rank<4>(1, 2, 2, 9));
  check(three, {});
  check(three, {.padding = {{1, 1}}});
  check(three, {.stride = {{2, 3}}, .padding = {{2, 1}}});
  check(three, {.padding = {{2, 2}}, .dilation = {{2, 3}}});
  check(wide, {.padding = {{0, 8}}});
  check(counting<float>(rank<4>(2, 1, 3, 3)), {.groups = 2});
  const auto pair = counting<float>(rank<4>(2, 3, 3, 3));
  check_node(tenon::convolve_image_gradient(image, pair, {{19, 23}}, {.stride = {{2, 2}}}));
  check_node(tenon::convolve(counting<float>(rank<3>(2, 3, 17)), counting<float>(rank<3>(2, 3, 3))));
  check_node(tenon::convolve(counting<float>(rank<5>(2, 2, 4, 3, 5)), counting<float>(rank<5>(1, 2, 2, 2, 3)),
                             {.stride = {{2, 1, 1}}, .padding = {{1, 0, 1}}}));
}

TEST_CASE("bytes are packed four to a unit, and their sums are kept", "[pack]") {
  using bytes = tenon::byte_products<std::int8_t>;
  constexpr int panel = 3 * bytes::lanes, columns = 9;
  for (const tenon::index depth : {1, 4, 7}) {
    const auto a = counting<std::int8_t>(rank<2>(3, depth), -5),
               b = counting<std::int8_t>(rank<2>(depth, columns), -20);
    const auto check = [&](const auto& node) {
      const tenon::index steps = (depth + 3) / 4;
      std::vector<std::uint32_t> right(static_cast<std::size_t>((steps + 1) * panel)),
          left(static_cast<std::size_t>(3 * steps));
      tenon::pack_right<bytes>(tenon::right_matrix(node), {0, depth, 0, columns}, panel, right.data());
      tenon::pack_left<bytes>(tenon::left_matrix(node), {0, 3, 0, depth}, 3, left.data(), steps);
      const auto* const packed = reinterpret_cast<const std::int8_t*>(right.data());
      if constexpr (tenon::simd::has_byte_dot) {
        for (tenon::index j = 0; j < columns; ++j) {
          int total = 0;
          for (tenon::index k = 0; k < depth; ++k) {
            CHECK(packed[k / 4 * panel * 4 + j * 4 + k % 4] == b(k, j));
            total += b(k, j);
          }
          CHECK(static_cast<int>(right[static_cast<std::size_t>(steps * panel + j)]) == -128 * total);
        }
      }
      for (tenon::index k = 0; k < 3 * depth; ++k) {
        const auto byte = reinterpret_cast<const std::uint8_t*>(left.data() + k / depth * steps)[k % depth];
        CHECK(byte == static_cast<std::uint8_t>(a(k / depth, k % depth) + 128));
      }
    };
    check(tenon::matmul(a, b));
    const auto turned = tenon::evaluated_tensor(tenon::transpose(b));
    check(tenon::matmul(a, tenon::transpose(turned)));
  }
}
