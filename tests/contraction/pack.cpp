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

/// Whether panels of `Width` columns hold rows and columns of `matrix` from (row, column) on, and zeros beyond.
template <int Width, class Matrix>
bool packs_right(const Matrix& matrix, const tenon::matrix_part& part) {
  std::vector<float> packed(static_cast<std::size_t>(part.rows * Width), -1.0f);
  tenon::pack_right<Width>(matrix, part, packed.data());
  for (tenon::index k = 0; k < part.rows; ++k) {
    for (tenon::index j = 0; j < Width; ++j) {
      const float expected = j < part.columns ? matrix.value(part.row + k, part.column + j) : 0.0f;
      if (packed[static_cast<std::size_t>(k * Width + j)] != expected) return false;
    }
  }
  return true;
}

template <int Height, class Matrix>
bool packs_left(const Matrix& matrix, const tenon::matrix_part& part) {
  std::vector<float> packed(static_cast<std::size_t>(part.columns * Height), -1.0f);
  tenon::pack_left<Height>(matrix, part, packed.data());
  for (tenon::index k = 0; k < part.columns; ++k) {
    for (tenon::index i = 0; i < Height; ++i) {
      const float expected = i < part.rows ? matrix.value(part.row + i, part.column + k) : 0.0f;
      if (packed[static_cast<std::size_t>(k * Height + i)] != expected) return false;
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
    CHECK(packs_right<32>(right, {0, 70, 0, 32}));
    CHECK(packs_right<32>(right, {5, 9, 32, 18}));
  };
  check(tenon::matmul(a, b));
  check(tenon::matmul(tenon::transpose(b), tenon::transpose(a)));
  check(tenon::matmul(a * 2 + 1, tenon::slice(b, tenon::range(tenon::open_end, tenon::open_end, -1)) - 3));
}

TEST_CASE("panels of patches with strides, padding and wide kernels", "[pack]") {
  const auto image = counting<float>(rank<4>(3, 2, 9, 11), 1);
  const auto check = [&](const auto& weight, const tenon::window_geometry& geometry) {
    const auto node = tenon::convolve(image, weight, geometry);
    const auto patches = tenon::right_matrix(node);
    const auto extents = tenon::extents_of_product(node);
    const tenon::index columns = extents.columns < 32 ? extents.columns : 32;
    CHECK(packs_right<32>(patches, {0, extents.depth, 0, columns}));
    CHECK(packs_right<32>(patches, {1, extents.depth - 1, extents.columns - columns, columns}));
    const tenon::transposed_matrix<std::remove_const_t<decltype(patches)>> transposed{patches};
    const tenon::index taps = extents.depth < 32 ? extents.depth : 32;
    CHECK(packs_right<32>(transposed, {0, extents.columns, 0, taps}));
    CHECK(packs_right<32>(transposed, {2, extents.columns - 2, 1, taps - 1}));
  };
  const auto three = counting<float>(rank<4>(1, 2, 3, 3)), wide = counting<float>(rank<4>(1, 2, 2, 9));
  check(three, {});
  check(three, {.padding = {{1, 1}}});
  check(three, {.stride = {{2, 3}}, .padding = {{2, 1}}});
  check(wide, {.padding = {{0, 8}}});
  check(three, {.padding = {{2, 2}}, .image_step = {{2, 2}}});
}
