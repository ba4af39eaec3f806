// tests/device/fragment.cpp: products of matrix fragments against double loops.
// The same kernels run on a GPU where there is one; there they test our own loading instructions.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/fragment.hpp>

#include <array>
#include <cmath>
#include <set>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

template <class Element, int M, int N, int K>
struct tile_traits {
  using element = Element;
  using storage = tenon::fragment_storage<Element>;
  using result = tenon::fragment_accumulator<Element>;
  static constexpr int m = M, n = N, k = K;
};

TENON_HOST_DEVICE constexpr int padded(int columns, int bytes) { return columns + 32 / bytes; }

/// C (rows x columns) = A (rows x depth) * B (depth x columns), one warp to a tile; edges are zero-filled.
template <class Traits, class LeftLayout, class RightLayout>
struct fragment_product_kernel {
  using storage = typename Traits::storage;
  using result = typename Traits::result;
  const storage* left;   // row-major
  const storage* right;  // row-major
  result* product;       // row-major
  int rows, columns, depth;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    constexpr int m = Traits::m, n = Traits::n, k = Traits::k;
    constexpr bool left_rows = std::is_same_v<LeftLayout, tenon::row_major>;
    constexpr bool right_rows = std::is_same_v<RightLayout, tenon::row_major>;
    constexpr int size = static_cast<int>(sizeof(storage));
    constexpr int left_leading = padded(left_rows ? k : m, size), right_leading = padded(right_rows ? n : k, size);
    const auto left_tile = device.template shared<storage>(left_leading * (left_rows ? m : k));
    const auto right_tile = device.template shared<storage>(right_leading * (right_rows ? k : n));
    const auto product_tile = device.template shared<result>(m * n);
    typename Device::template fragment<tenon::matrix_a, m, n, k, typename Traits::element, LeftLayout> a;
    typename Device::template fragment<tenon::matrix_b, m, n, k, typename Traits::element, RightLayout> b;
    typename Device::template fragment<tenon::accumulator, m, n, k, result> c;
    const int row = device.block().y * m, column = device.block().x * n;
    device.fill(c, result(1));
    for (int step = 0; step < depth; step += k) {
      fill_tile<left_rows, m, k>(device, left_tile, left_leading, {left, depth, row, step, rows, depth});
      fill_tile<right_rows, k, n>(device, right_tile, right_leading, {right, columns, step, column, depth, columns});
      device.sync_warp();
      device.load_fragment(a, left_tile, 0, left_leading);
      device.load_fragment(b, right_tile, 0, right_leading);
      device.multiply_add(c, a, b);
      device.sync_warp();
    }
    c.map(minus_one{});
    device.store_fragment(product_tile, 0, c, n);
    device.sync_warp();
    for (int i = device.lane(); i < m * n; i += tenon::warp_size) {
      const int r = row + i / n, s = column + i % n;
      if (r < rows && s < columns) product[r * columns + s] = product_tile.load(i);
    }
  }

 private:
  struct minus_one {
    TENON_HOST_DEVICE result operator()(result value) const { return value - result(1); }
  };
  struct source {
    const storage* data;
    int leading, row, column, rows, columns;
  };
  template <bool ByRows, int Rows, int Columns, class Device, class Tile>
  TENON_HOST_DEVICE void fill_tile(Device& device, const Tile& tile, int leading, const source& from) const {
    for (int i = device.lane(); i < Rows * Columns; i += tenon::warp_size) {
      const int r = i / Columns, c = i % Columns;
      const bool inside = from.row + r < from.rows && from.column + c < from.columns;
      const auto value = inside ? from.data[(from.row + r) * from.leading + from.column + c] : storage(0);
      tile.store(ByRows ? r * leading + c : c * leading + r, value);
    }
  }
};

/// Small whole numbers: every type multiplies and adds them exactly.
template <class T>
std::vector<T> small_numbers(int count, int seed) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<float>((i * 7 + seed * 3) % 11 - 5)));
  return values;
}

template <class Space, class Traits, class LeftLayout, class RightLayout>
void check_product(const std::array<int, 3>& size) {
  const int rows = size[0], columns = size[1], depth = size[2];
  using storage = typename Traits::storage;
  using result = typename Traits::result;
  const auto left = small_numbers<storage>(rows * depth, 1), right = small_numbers<storage>(depth * columns, 2);
  const device_copy<Space, storage> a(left), b(right);
  const device_copy<Space, result> c(std::vector<result>(static_cast<std::size_t>(rows * columns)));
  const fragment_product_kernel<Traits, LeftLayout, RightLayout> kernel{a.data(), b.data(), c.data(),
                                                                        rows,     columns,  depth};
  const tenon::grid_extent grid{(columns + Traits::n - 1) / Traits::n, (rows + Traits::m - 1) / Traits::m};
  tenon::launch<Space>({.grid = grid, .block = 32, .shared_bytes = 8192}, kernel);
  const auto seen = c.values();
  for (int i = 0; i < rows * columns; ++i) {
    double expected = 0;
    for (int k = 0; k < depth; ++k) {
      expected += static_cast<double>(left[static_cast<std::size_t>(i / columns * depth + k)]) *
                  static_cast<double>(right[static_cast<std::size_t>(k * columns + i % columns)]);
    }
    REQUIRE(static_cast<double>(seen[static_cast<std::size_t>(i)]) == expected);
  }
}

template <class Traits>
void check_all_layouts(int least_architecture = 0) {
  on_each_space_since(least_architecture, [](auto space) {
    using Space = decltype(space);
    using tenon::column_major;
    using tenon::row_major;
    using sizes = std::array<int, 3>;  // rows, columns, depth
    for (const sizes& size : {sizes{16, 16, 16}, sizes{17, 31, 5}, sizes{1, 1, 1}, sizes{33, 8, 40}}) {
      check_product<Space, Traits, row_major, row_major>(size);
      check_product<Space, Traits, row_major, column_major>(size);
      check_product<Space, Traits, column_major, row_major>(size);
      check_product<Space, Traits, column_major, column_major>(size);
    }
  });
}

enum class fragment_fault { none, no_warp_barrier, tile_offset, leading };

struct faulty_kernel {
  fragment_fault kind;
  float* out;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<tenon::half>(16 * 32);
    for (int i = device.lane(); i < 16 * 32; i += tenon::warp_size) tile.store(i, tenon::half(1.0f));
    if (kind != fragment_fault::no_warp_barrier) device.sync_warp();
    typename Device::template fragment<tenon::matrix_a, 16, 16, 16, tenon::half> a;
    device.load_fragment(a, tile, kind == fragment_fault::tile_offset ? 8 : 0,
                         kind == fragment_fault::leading ? 20 : 24);
    a.map([](tenon::half value) { return tenon::half(value * 2.0f); });
    out[device.lane()] = 1.0f;
  }
};

void run_faulty(fragment_fault kind) {
  std::vector<float> out(32);
  tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 1024}, faulty_kernel{kind, out.data()});
}

/// Learns which elements a lane holds, as no kernel should.
struct map_kernel {
  float* first;

  template <class Device>
  void operator()(Device& device) const {
    const auto tile = device.template shared<float>(256);
    for (int i = device.lane(); i < 256; i += tenon::warp_size) tile.store(i, static_cast<float>(i));
    device.sync_warp();
    typename Device::template fragment<tenon::accumulator, 16, 16, 16, float> c;
    device.load_fragment(c, tile, 0, 16);
    first[device.lane()] = c.elements[0];
  }
};

}  // namespace

TEST_CASE("half products", "[device]") { check_all_layouts<tile_traits<tenon::half, 16, 16, 16>>(); }
TEST_CASE("bfloat16 products", "[device]") { check_all_layouts<tile_traits<tenon::bfloat16, 16, 16, 16>>(80); }
TEST_CASE("int8 products", "[device]") { check_all_layouts<tile_traits<std::int8_t, 16, 16, 16>>(); }
TEST_CASE("tf32 products", "[device]") { check_all_layouts<tile_traits<tenon::tf32, 16, 16, 8>>(80); }
TEST_CASE("double products", "[device]") { check_all_layouts<tile_traits<double, 8, 8, 4>>(80); }

TEST_CASE("tf32 operands keep ten bits, rounded to nearest", "[device]") {
  using tenon::detail::rounded_operand;
  CHECK(rounded_operand<tenon::tf32>(1.0f) == 1.0f);
  CHECK(rounded_operand<tenon::tf32>(1.0f + 0x1p-11f) == 1.0f + 0x1p-10f);
  CHECK(rounded_operand<tenon::tf32>(-1.0f - 0x1p-12f) == -1.0f);
  CHECK(std::isinf(rounded_operand<tenon::tf32>(HUGE_VALF)));
  CHECK(std::isnan(rounded_operand<tenon::tf32>(NAN)));
  CHECK(rounded_operand<double>(0.1) == 0.1);
}

TEST_CASE("the scrambled map is a permutation and differs by seed", "[device]") {
  std::set<std::vector<float>> maps;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const tenon::emulation_scope scope({.seed = seed});
    std::vector<float> first(32);
    tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 1024}, map_kernel{first.data()});
    CHECK(std::set<float>(first.begin(), first.end()).size() == 32);
    maps.insert(first);
  }
  CHECK(maps.size() == 4);
  std::set<int> elements;
  constexpr std::uint64_t scramble = 0x123456789abcdef0u;
  for (int i = 0; i < 256; ++i) elements.insert(tenon::detail::scrambled_element(scramble, 256, i % 32, i / 32));
  CHECK(elements.size() == 256);
}

TEST_CASE("fragments keep the rules of barriers and alignment", "[device]") {
  run_faulty(fragment_fault::none);
  CHECK_THROWS_AS(run_faulty(fragment_fault::no_warp_barrier), tenon::race_error);
  CHECK(contains(text_thrown<tenon::barrier_error>([] { run_faulty(fragment_fault::tile_offset); }),
                 "aligned to 32 bytes"));
  CHECK(
      contains(text_thrown<tenon::barrier_error>([] { run_faulty(fragment_fault::leading); }), "whole 16 bytes apart"));
}
