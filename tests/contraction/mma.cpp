// tests/contraction/mma.cpp: the unit of matrix products in registers, alone and in the kernel of tiled products.
// Its loads are seen by a device that notes addresses: what lanes load at once lies in different banks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/dtype.hpp>
#include <tenon/contraction/mma.hpp>

#include <set>

#include "contraction/kernel_cases.hpp"
#include "device/spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;
using tenon::tile_layout;

/// sums (rows x columns) = 1 + left (lines x depth) * right (lines x depth), transposed; one block, one stage.
template <class Unit, class Element>
struct unit_kernel {
  using policy = typename Unit::policy;
  using element = typename Unit::element;
  using accumulator = typename Unit::accumulator;
  static constexpr int left_count = Unit::left_placement::elements, right_count = Unit::right_placement::elements;
  static constexpr int shared_bytes =
      tenon::shared_bytes_of<element>(left_count) + tenon::shared_bytes_of<element>(right_count);
  const element* left;
  const element* right;
  tile_layout left_layout, right_layout;
  accumulator* sums;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto a = device.template shared<element>(left_count), b = device.template shared<element>(right_count);
    fill<typename Unit::left_placement>(device, a, left, left_layout);
    fill<typename Unit::right_placement>(device, b, right, right_layout);
    device.sync();
    typename Unit::template warp_tile<Device> held;
    held.clear(device);
    held.multiply_add(device, a, left_layout, b, right_layout);
    held.multiply_add(device, a, left_layout, b, right_layout);
    const int lane = device.lane();
    for (int down = 0; down < Unit::runs_down; ++down) {
      const auto values = held.results(down);
      for (int across = 0; across < Unit::runs_across; ++across) {
        const int row = policy::row_of_warp(device.warp()) + Unit::row_of_run(lane, down);
        const int column = policy::column_of_warp(device.warp()) + Unit::column_of_run(lane, across);
        for (int i = 0; i < Unit::run; ++i) sums[row * policy::columns + column + i] = values[across][i];
      }
    }
  }

 private:
  template <class Placement, class Device, class Tile>
  TENON_HOST_DEVICE static void fill(Device& device, const Tile& to, const element* from, tile_layout layout) {
    constexpr int chunk = tenon::chunk_size<element>;
    for (int i = device.thread(); i < Placement::elements; i += policy::threads) {
      const int line = i / Placement::depth, depth = i % Placement::depth;
      const int run = layout == tile_layout::along_depth ? line : depth;
      const int place = layout == tile_layout::along_depth ? depth : line;
      to.store(Placement::offset(layout, run, place / chunk) + place % chunk, from[i]);
    }
  }
};

template <class Space, class Element, class Policy>
void check_unit(tile_layout left_layout, tile_layout right_layout) {
  using unit = tenon::mma_unit<Element, Policy>;
  using element = typename unit::element;
  using accumulator = typename unit::accumulator;
  constexpr int rows = Policy::rows, columns = Policy::columns, depth = Policy::depth;
  const auto left = whole_numbers<element>(rows * depth, 7), right = whole_numbers<element>(columns * depth, 5);
  const device_copy<Space, element> a(left), b(right);
  const device_copy<Space, accumulator> c(std::vector<accumulator>(rows * columns));
  using kernel_type = unit_kernel<unit, Element>;
  tenon::launch<Space>({.block = Policy::threads, .shared_bytes = kernel_type::shared_bytes},
                       kernel_type{a.data(), b.data(), left_layout, right_layout, c.data()});
  const auto seen = c.values();
  for (int i = 0; i < rows * columns; ++i) {
    double expected = 0;
    for (int k = 0; k < depth; ++k) {
      expected += static_cast<double>(left[static_cast<std::size_t>(i / columns * depth + k)]) *
                  static_cast<double>(right[static_cast<std::size_t>(i % columns * depth + k)]);
    }
    CAPTURE(i / columns, i % columns);
    REQUIRE(static_cast<double>(seen[static_cast<std::size_t>(i)]) == 2 * expected);
  }
}

template <class Element, class Policy>
void check_layouts() {
  on_each_space([](auto space) {
    for (const auto left : {tile_layout::along_depth, tile_layout::along_lines}) {
      for (const auto right : {tile_layout::along_depth, tile_layout::along_lines}) {
        CAPTURE(static_cast<int>(left), static_cast<int>(right));
        check_unit<decltype(space), Element, Policy>(left, right);
      }
    }
  });
}

/// Where a lane reads, in bytes.
struct noted_addresses {
  int values[256];
  int count = 0;

  TENON_HOST_DEVICE void add(int address) { values[count++] = address; }
};

/// A lane that notes where it reads.
struct noting_device {
  int own;
  noted_addresses& noted;

  TENON_HOST_DEVICE int lane() const { return own; }
  template <bool Transposed = false, class Stage>
  TENON_HOST_DEVICE tenon::lane_words<4> load_blocks(const Stage&, int first) {
    noted.add(first * static_cast<int>(sizeof(typename Stage::value_type)));
    return {};
  }
  TENON_HOST_DEVICE std::uint32_t select_bytes(std::uint32_t, std::uint32_t, std::uint32_t) { return 0; }
  template <class T, int Count>
  TENON_HOST_DEVICE void round_words(tenon::lane_words<Count>&) {}
};

/// An array whose vectors are noted too.
template <class T>
struct noting_stage {
  using value_type = T;
  noted_addresses& noted;

  template <class Other>
  TENON_HOST_DEVICE noting_stage<Other> as() const {
    return {noted};
  }
  template <int Size>
  TENON_HOST_DEVICE tenon::array<T, Size> load_vector(int i) const {
    noted.add(i * static_cast<int>(sizeof(T)));
    return {};
  }
};

/// Lanes that are served at once read `bytes` each of banks that no other of them reads.
void check_banks(const std::vector<noted_addresses>& addresses, int bytes) {
  const int at_once = 128 / bytes;
  REQUIRE(addresses[0].count > 0);
  for (int read = 0; read < addresses[0].count; ++read) {
    for (int first = 0; first < tenon::warp_size; first += at_once) {
      std::set<int> banks;
      for (int lane = first; lane < first + at_once; ++lane) {
        const int address = addresses[static_cast<std::size_t>(lane)].values[read];
        REQUIRE(address % bytes == 0);
        banks.insert(address % 128 / bytes);
      }
      REQUIRE(static_cast<int>(banks.size()) == at_once);
    }
  }
}

template <class Element, class Placement, class Side, tile_layout Layout>
void check_loads() {
  using storage = tenon::fragment_storage<Element>;
  using loader = tenon::detail::line_group_loader<Element, Placement, Side, Layout>;
  std::vector<noted_addresses> addresses(tenon::warp_size);
  for (int lane = 0; lane < tenon::warp_size; ++lane) {
    auto& noted = addresses[static_cast<std::size_t>(lane)];
    noting_device device{lane, noted};
    const noting_stage<storage> stage{noted};
    for (int line = 0; line < Placement::lines; line += 16) {
      for (int step = 0; step < Placement::depth / tenon::lane_product_depth<Element>; ++step) {
        loader::load(device, stage, line, step);
      }
    }
  }
  check_banks(addresses, sizeof(storage) == 4 && Layout == tile_layout::along_lines ? 8 : 16);
}

template <class Element, int Lines, int Depth>
void check_tile_loads() {
  using placement = tenon::swizzled_placement<tenon::fragment_storage<Element>, Lines, Depth>;
  check_loads<Element, placement, tenon::matrix_a, tile_layout::along_depth>();
  check_loads<Element, placement, tenon::matrix_a, tile_layout::along_lines>();
  check_loads<Element, placement, tenon::matrix_b, tile_layout::along_depth>();
  check_loads<Element, placement, tenon::matrix_b, tile_layout::along_lines>();
}

struct tf32_product {
  using units = void;

  template <class Left, class Right>
  auto operator()(const Left& left, const Right& right) const {
    return tenon::matmul<tenon::precision::tf32>(left, right);
  }
};

using small_16 = tenon::tile_policy<64, 32, 32, 32, 16, 2>;

}  // namespace

static_assert(tenon::mma_unit_exists<tenon::half> && tenon::mma_unit_exists<tenon::tf32>);
static_assert(!tenon::mma_unit_exists<float> && !tenon::mma_unit_exists<double>);

TEST_CASE("a warp's products of half and bfloat16, all layouts", "[mma]") {
  check_layouts<tenon::half, small_16>();
  check_layouts<tenon::bfloat16, tenon::tile_policy<64, 64, 64, 64, 32, 2>>();
}
TEST_CASE("a warp's products of tf32, all layouts", "[mma]") {
  check_layouts<tenon::tf32, tenon::tile_policy<32, 64, 16, 16, 32, 2>>();
}
TEST_CASE("a warp's products of int8, all layouts", "[mma]") {
  check_layouts<std::int8_t, tenon::tile_policy<64, 32, 64, 32, 32, 2>>();
}

TEST_CASE("what lanes load at once lies in different banks", "[mma]") {
  check_tile_loads<tenon::half, 128, 32>();
  check_tile_loads<tenon::half, 64, 64>();
  check_tile_loads<tenon::bfloat16, 256, 32>();
  check_tile_loads<tenon::tf32, 128, 16>();
  check_tile_loads<tenon::tf32, 64, 32>();
  check_tile_loads<std::int8_t, 128, 64>();
  check_tile_loads<std::int8_t, 128, 128>();
}

TEMPLATE_LIST_TEST_CASE("mma: extents around those of a tile", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_extents<TestType, tenon::half>(64, 32);
  tenon_test::check_extents<TestType, std::int8_t>(64, 64);
  tenon_test::check_extents<TestType, float, tf32_product>(64, 16);
}

TEMPLATE_LIST_TEST_CASE("mma: all layouts, copied as they allow", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_layouts<TestType, tenon::half>(64);
  tenon_test::check_layouts<TestType, std::int8_t>(64);
  tenon_test::check_layouts<TestType, float, tf32_product>(64);
}

TEMPLATE_LIST_TEST_CASE("mma: blocks that share a tile", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_parts<TestType, tenon::half>();
  tenon_test::check_parts<TestType, std::int8_t>();
  tenon_test::check_parts<TestType, float, tf32_product>();
}

TEMPLATE_LIST_TEST_CASE("mma: batches, transposed and strided operands", "[mma]", tenon_test::kernel_spaces) {
  for (const tenon::index depth : {17, 20}) {  // copied in other widths, or not at all
    tenon_test::check_views<TestType, tenon::half>(depth);
  }
}

TEMPLATE_LIST_TEST_CASE("mma: what stands before and after the product", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_fusion<TestType, tenon::half>();
  tenon_test::check_fusion<TestType, tenon::bfloat16>();
}

TEMPLATE_LIST_TEST_CASE("mma: numbers that are none pass through", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_not_finite<TestType, tenon::half>();
  tenon_test::check_not_finite<TestType, tenon::bfloat16>();
}

TEMPLATE_LIST_TEST_CASE("mma: convolution and both gradients", "[mma]", tenon_test::kernel_spaces) {
  tenon_test::check_convolutions<TestType, tenon::half>();
}

namespace {

template <class T, int Lines, int Depth>
void check_places() {
  using placement = tenon::swizzled_placement<T, Lines, Depth>;
  constexpr int chunk = tenon::chunk_size<T>;
  CAPTURE(sizeof(T), Lines, Depth);
  std::set<int> along_depth, along_lines;
  for (int line = 0; line < Lines; ++line) {
    for (int i = 0; i < Depth / chunk; ++i) along_depth.insert(placement::offset(tile_layout::along_depth, line, i));
  }
  for (int depth = 0; depth < Depth; ++depth) {
    for (int i = 0; i < Lines / chunk; ++i) along_lines.insert(placement::offset(tile_layout::along_lines, depth, i));
  }
  for (const auto& places : {along_depth, along_lines}) {
    CHECK(static_cast<int>(places.size()) == Lines * Depth / chunk);
    CHECK(*places.begin() == 0);
    CHECK(*places.rbegin() == placement::elements - chunk);
    for (const int place : places) REQUIRE(place % chunk == 0);
  }
}

}  // namespace

TEST_CASE("chunks have places of their own within a tile", "[swizzle]") {
  check_places<tenon::half, 128, 32>();
  check_places<tenon::half, 64, 64>();
  check_places<tenon::half, 32, 16>();
  check_places<float, 128, 16>();
  check_places<float, 64, 32>();
  check_places<std::int8_t, 128, 64>();
  check_places<std::int8_t, 64, 32>();
}

TEST_CASE("lines and their registers are each other's inverse", "[swizzle]") {
  for (int line = 0; line < 16; ++line) {
    CHECK(tenon::line_in_registers<float>(tenon::line_in_tile<float>(line)) == line);
    CHECK(tenon::line_in_registers<tenon::half>(line) == line);
  }
  CHECK(tenon::line_in_tile<std::int8_t>(3) == 6);
  CHECK(tenon::line_in_tile<std::int8_t>(11) == 7);
}
