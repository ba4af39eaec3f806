// tests/contraction/register_results.cpp: what lanes do with the results that they hold.
// Results are numbered by row and column, and an epilogue of the test notes what it is given.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/mma.hpp>
#include <tenon/contraction/register_results.hpp>

#include "device/spaces.hpp"
#include "support/catch.hpp"

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
