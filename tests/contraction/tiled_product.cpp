// tests/contraction/tiled_product.cpp: the kernel of all tiled products.
// What does not depend on the unit: where tiles lie, what a launch says of itself, units that a device may lack.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/mma.hpp>
#include <tenon/contraction/tiled_product.hpp>

#include <algorithm>

#include "contraction/kernel_cases.hpp"
#include "device/spaces.hpp"
#include "support/catch.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;

/// As wmma_unit, but for the fallback of devices that lack the unit.
template <class Element>
using fallback_unit = typename tenon::wmma_unit<Element, typename tenon::product_tiles<Element>::small_tile>::fallback;

/// A product of a unit that the library would not choose here.
template <class Space, class Unit, class E>
auto evaluated_with(const E& node, int parts) {
  tenon::tensor<typename E::element, typename E::shape_type, Space> result(node.shape());
  const tenon::strided_target<typename E::element, 2> target{result.data(), result.view().strides()};
  tenon::detail::launch_product<Unit, Space>(node, tenon::make_kernel_epilogue<E>(target, node), parts);
  return result;
}

template <class Space, class Element, class T = tenon::fragment_storage<Element>>
void check_fallback() {
  const auto a = tenon_test::random_tensor<T>(rank<2>(50, 70), 1), b = tenon_test::random_tensor<T>(rank<2>(70, 66), 2);
  const auto turned = tenon::evaluated_tensor(tenon::transpose(a));
  const auto x = a.template to<Space>(), y = b.template to<Space>(), z = turned.template to<Space>();
  using unit = fallback_unit<Element>;
  const auto found = numbers_of(evaluated_with<Space, unit>(tenon::matmul(x, y), 1));
  CHECK(tenon_test::product_error<T>(found, numbers_of(a), numbers_of(b), 50, 66, 70) == "");
  CHECK(numbers_of(evaluated_with<Space, unit>(tenon::matmul(tenon::transpose(z), y), 1)) == found);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiles in groups of rows cover the results", "[tiled_product]", tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<float>(rank<2>(64 * 19 + 5, 1), 0, 0.25);
  const auto b = tenon_test::counting<float>(rank<2>(1, 64 * 2 + 3), 1);
  const auto x = a.template to<TestType>(), y = b.template to<TestType>();
  const auto found = tenon_test::evaluated_by<TestType>({1, 1}, tenon::matmul(x, y));
  CHECK(numbers_of(found) == numbers_of(tenon::matmul(a, b)));
}

TEMPLATE_LIST_TEST_CASE("more batches than a grid has along its last axes", "[tiled_product]",
                        tenon_test::kernel_spaces) {
  const auto a = tenon_test::counting<double>(rank<3>(70'000, 1, 2));
  const auto b = tenon_test::counting<double>(rank<2>(2, 1), 1);
  const auto x = a.template to<TestType>();
  const auto y = b.template to<TestType>();
  const auto found = numbers_of(tenon_test::evaluated_by<TestType>({1, 1}, tenon::matmul(x, y)));
  CHECK(found[69'999] == 139'998.0 + 2 * 139'999.0);
}

TEMPLATE_LIST_TEST_CASE("threads multiply what a device has no unit for", "[tiled_product]",
                        tenon_test::kernel_spaces) {
  check_fallback<TestType, tenon::bfloat16>();
  check_fallback<TestType, double>();
  check_fallback<TestType, tenon::tf32>();
}

namespace {

/// A product of T into memory of several strides; where results of a column lie side by side, it is computed
/// transposed.
template <class Space, class T>
void check_targets(const tenon::product_choice& choice) {
  const auto a = tenon_test::random_tensor<T>(rank<2>(24, 40), 1), b = tenon_test::random_tensor<T>(rank<2>(40, 30), 2);
  const auto x = a.template to<Space>(), y = b.template to<Space>();
  const auto expected = numbers_of(tenon_test::evaluated_by<Space>(choice, tenon::matmul(x, y) * T(2)));
  for (const tenon::array<tenon::index, 2>& strides :
       {tenon::array<tenon::index, 2>{{1, 24}}, {{1, 27}}, {{33, 1}}, {{40, 1}}}) {
    for (const tenon::index first : {0, 1}) {
      tenon::tensor<T, rank<1>, Space> memory(rank<1>(2000));
      memory = T(-100.0f);
      const tenon::strided_target<T, 2> target{memory.data() + first, strides};
      tenon::run_contraction_kernel<Space>(target, tenon::matmul(x, y) * T(2), choice);
      const tenon::view<const T, rank<2>, Space> written(memory.data() + first, rank<2>(24, 30), strides);
      CHECK(tenon_test::difference(numbers_of(written), expected, 1e-6) == "");
      const auto everything = numbers_of(memory);
      CHECK(std::count(everything.begin(), everything.end(), -100.0) == 2000 - 24 * 30);
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("results go to targets of any strides", "[tiled_product]", tenon_test::kernel_spaces) {
  check_targets<TestType, tenon::half>({0, 1});
  for (const tenon::product_choice& choice : {tenon::product_choice{1, 1}, {1, 2}}) {
    CAPTURE(choice.tile, choice.parts);
    check_targets<TestType, tenon::half>(choice);
    check_targets<TestType, float>(choice);
    check_targets<TestType, double>(choice);
  }
}

namespace {

using namespace tenon_test;

using policy = tenon::tile_policy<64, 64, 32, 32, 32, 2>;

/// The results of a thread: 1000 * row + column of the tile, whose origin is 1.
template <class Unit>
struct numbered_sums {
  using accumulator = typename Unit::accumulator;
  typename Unit::lane_row rows[Unit::runs_down];

  template <class Device>
  TENON_HOST_DEVICE void number(Device& device) {
    for (int down = 0; down < Unit::runs_down; ++down) {
      const int row = policy::row_of_warp(device.warp()) + Unit::row_of_run(device.lane(), down);
      for (int i = 0; i < Unit::runs_across * Unit::run; ++i) {
        const int across = i / Unit::run, place = i % Unit::run;
        const int column = policy::column_of_warp(device.warp()) + Unit::column_of_run(device.lane(), across) + place;
        rows[down][across][place] = static_cast<accumulator>(1000 * row + column + 1);
      }
    }
  }
  template <class Device>
  TENON_HOST_DEVICE void clear(Device&) {
    for (auto& row : rows) row = {};
  }
  TENON_HOST_DEVICE typename Unit::lane_row results(int down) const { return rows[down]; }
  TENON_HOST_DEVICE void add(int down, const typename Unit::lane_row& row) {
    for (int i = 0; i < Unit::runs_across * Unit::run; ++i)
      rows[down][i / Unit::run][i % Unit::run] += row[i / Unit::run][i % Unit::run];
  }
};

/// Notes results, and how many came at once, in a matrix with rows `pitch` apart.
struct noting_epilogue {
  static constexpr int packet = 8;
  int usable_packet;
  int* numbers;
  int* sizes;
  int pitch;

  template <class Accumulator>
  TENON_HOST_DEVICE void store(tenon::index row, tenon::index column, Accumulator value) const {
    store_packet(row, column, tenon::array<Accumulator, 1>{{value}});
  }
  template <class Accumulator, int Size>
  TENON_HOST_DEVICE void store_packet(tenon::index row, tenon::index column,
                                      const tenon::array<Accumulator, Size>& values) const {
    for (int i = 0; i < Size; ++i) {
      numbers[row * pitch + column + i] += static_cast<int>(values[i]);
      sizes[row * pitch + column + i] += Size;
    }
  }
};

/// Finishes a tile that begins at row 2 and column 8 and of which `inside` is inside. With `parts`, it is first left in
/// memory as often, and gathered.
template <class Unit>
struct finishing_kernel {
  noting_epilogue last;
  tenon::array<int, 2> inside;
  typename Unit::accumulator* left;
  int parts;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    using results = tenon::register_results<Unit>;
    numbered_sums<Unit> sums;
    sums.number(device);
    constexpr int tile = policy::rows * policy::columns;
    for (int part = 0; part < parts; ++part) results::leave(device, left + part * tile, sums);
    if (parts > 0) results::gather(device, left, parts, tile, sums);
    results::finish(device, sums, last, {{2, 8}}, inside);
  }
};

template <class Space, class Unit>
void check_finish(int usable_packet, const tenon::array<int, 2>& inside, int size, int parts) {
  constexpr int pitch = 80, rows = 70;
  const std::vector<int> zeros(pitch * rows);
  const device_copy<Space, int> numbers(zeros), sizes(zeros);
  using accumulator = typename Unit::accumulator;
  const std::size_t places = static_cast<std::size_t>(policy::rows) * policy::columns * 3;
  const device_copy<Space, accumulator> left{std::vector<accumulator>(places)};
  const finishing_kernel<Unit> kernel{{usable_packet, numbers.data(), sizes.data(), pitch}, inside, left.data(), parts};
  tenon::launch<Space>({.block = policy::threads, .shared_bytes = 0}, kernel);
  const auto found = numbers.values(), at_once = sizes.values();
  for (int i = 0; i < pitch * rows; ++i) {
    const int row = i / pitch - 2, column = i % pitch - 8;
    const bool is_inside = row >= 0 && column >= 0 && row < inside[0] && column < inside[1];
    CAPTURE(row, column, usable_packet, parts);
    REQUIRE(found[static_cast<std::size_t>(i)] ==
            (is_inside ? (1000 * row + column + 1) * (parts > 0 ? parts : 1) : 0));
    REQUIRE(at_once[static_cast<std::size_t>(i)] == (is_inside ? size : 0));
  }
}

template <class Unit>
void check_unit() {
  on_each_space([](auto space) {
    using Space = decltype(space);
    constexpr int run = Unit::run;
    for (const int parts : {0, 1, 3}) {
      check_finish<Space, Unit>(8, {{64, 64}}, run, parts);
      check_finish<Space, Unit>(run, {{33, 48}}, run, parts);
      check_finish<Space, Unit>(run / 2, {{64, 46}}, 1, parts);
      check_finish<Space, Unit>(1, {{1, 33}}, 1, parts);
    }
  });
}

}  // namespace

static_assert(tenon::holds_runs<tenon::mma_unit<tenon::half, policy>>);
static_assert(!tenon::holds_runs<tenon::wmma_unit<tenon::half, policy>>);

TEST_CASE("every result is finished once, in runs where they fit", "[register_results]") {
  check_unit<tenon::mma_unit<tenon::half, policy>>();
  check_unit<tenon::mma_unit<std::int8_t, policy>>();
}
