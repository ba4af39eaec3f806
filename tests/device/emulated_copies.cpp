// tests/device/emulated_copies.cpp: barriers of phases and copies of tiles, and the mistakes that emulation reports.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_copies.hpp>
#include <tenon/device/emulated_hopper.hpp>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;
using tenon::emulated_device;
using unit_type = tenon::hopper_unit<emulated_device>;

constexpr int rows = 16, width = 64;  // of a tile

/// A tensor of 3 x 20 x 72 numbers, each its position, and what a kernel reads of it.
struct numbers {
  std::vector<std::uint16_t> elements = std::vector<std::uint16_t>(3 * 20 * 72);
  std::vector<int> found = std::vector<int>(rows * width, -1);

  numbers() {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::uint16_t>(i);
  }
  tenon::emulated_tile_map map() const {
    return tenon::tile_maps<tenon::emulated>::make<std::uint16_t>(
        tenon::tiled_tensor{elements.data(), {{72, 20, 3}}, {{2 * 72, 2 * 72 * 20}}, {{width, rows}}});
  }
};

/// Copies a tile and reads it.
struct staged_copy_kernel {
  static constexpr const char* name = "copy";
  static constexpr int shared_bytes = 2 * rows * width + 64;
  tenon::emulated_tile_map map;
  tenon::array<int, 3> position;
  int* found;
  int announced = 2 * rows * width, arrivals = 1;
  bool shows = true, syncs = true, waits = true, swizzles = true, waits_at_last = true;
  int first = 0, parity = 0;

  void operator()(emulated_device& device) const {
    unit_type unit(device);
    const auto tile = device.shared<std::uint16_t>(rows * width);
    const auto barrier = device.shared<tenon::phase_barrier>(1);
    if (device.thread() == 0) {
      unit.make_barrier(barrier, 0, arrivals);
      if (shows) unit.show_barriers();
      for (int i = 0; i < rows * width; ++i) tile.store(i, 7);  // no copy in flight shows this
    }
    if (syncs) device.sync();
    if (device.thread() == 0) {
      unit.arrive_expecting(barrier, 0, announced);
      unit.copy_tile(tile.part(first, rows * width - first), map, position, barrier, 0);
    }
    if (waits) unit.wait(barrier, 0, parity);
    for (int i = device.thread(); i < rows * width; i += device.block_size()) {
      found[i] = tile.load(swizzles ? tenon::swizzled(2 * i) / 2 : i);
    }
    if (waits_at_last) unit.wait(barrier, 0, 0);
  }
};

void run(const staged_copy_kernel& kernel) {
  tenon::launch<tenon::emulated>({.grid = {1}, .block = 128, .shared_bytes = staged_copy_kernel::shared_bytes}, kernel);
}

std::string text_of_run(const staged_copy_kernel& kernel) {
  return text_thrown<tenon::barrier_error>([&] { run(kernel); });
}

/// Each of 64 threads arrives once a phase; thread 64 counts phases.
struct phase_kernel {
  static constexpr const char* name = "phases";
  int* count;
  int arrivals = 64, phases = 5;

  void operator()(emulated_device& device) const {
    unit_type unit(device);
    const auto full = device.shared<tenon::phase_barrier>(1), empty = device.shared<tenon::phase_barrier>(1);
    if (device.thread() == 0) {
      unit.make_barrier(full, 0, arrivals);
      unit.make_barrier(empty, 0, 1);
    }
    device.sync();
    for (int phase = 0; phase < phases; ++phase) {
      if (device.thread() < 64) {
        unit.wait(empty, 0, phase % 2 ^ 1);
        unit.arrive(full, 0);
      } else if (device.thread() == 64) {
        unit.wait(full, 0, phase % 2);
        ++*count;
        unit.arrive(empty, 0);
      }
    }
  }
};

std::string text_of_run(const phase_kernel& kernel) {
  return text_thrown<tenon::barrier_error>(
      [&] { tenon::launch<tenon::emulated>({.grid = {1}, .block = 128, .shared_bytes = 128}, kernel); });
}

}  // namespace

TEST_CASE("tiles land swizzled, with zeros outside the tensor", "[device]") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const tenon::emulation_scope scope({.seed = seed});
    for (const auto& position :
         {tenon::array<int, 3>{{0, 0, 0}}, {{8, 4, 2}}, {{40, 10, 1}}, {{-8, -3, 0}}, {{0, 0, 3}}}) {
      numbers data;
      run({data.map(), position, data.found.data()});
      int wrong = 0;
      for (int i = 0; i < rows * width; ++i) {
        const int x = position[0] + i % width, y = position[1] + i / width, z = position[2];
        const bool is_inside = x >= 0 && x < 72 && y >= 0 && y < 20 && z < 3;
        wrong += data.found[static_cast<std::size_t>(i)] == (is_inside ? (z * 20 + y) * 72 + x : 0) ? 0 : 1;
      }
      CAPTURE(position[0], position[1], position[2], seed);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("who reads without the swizzle, or before tiles have landed, reads something else", "[device]") {
  numbers data;
  run({.map = data.map(), .position = {{0, 0, 0}}, .found = data.found.data(), .swizzles = false});
  CHECK(data.found[0] == 0);
  CHECK(data.found[width] != 72);
  int early = 0;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    const tenon::emulation_scope scope({.seed = seed});
    run({.map = data.map(), .position = {{0, 0, 0}}, .found = data.found.data(), .waits = false});
    for (const int each : data.found) early += each == 0xFFFF ? 1 : 0;
  }
  CHECK(early > 0);
}

TEST_CASE("who waits for bytes that nobody brings is told so", "[device]") {
  numbers data;
  const staged_copy_kernel good{data.map(), {{0, 0, 0}}, data.found.data()};
  auto wrong = good;
  wrong.announced += 16;
  CHECK(contains(text_of_run(wrong), "for the barrier at byte 2048, which lacks 0 of 1 arrivals and 16 bytes"));
  wrong = good;
  wrong.arrivals = 2;
  CHECK(contains(text_of_run(wrong), "which lacks 1 of 2 arrivals and 0 bytes"));
  wrong = good;
  wrong.shows = false;
  CHECK(contains(text_of_run(wrong), "never shown; missing show_barriers()"));
  wrong = good;
  wrong.syncs = false;
  CHECK(text_of_run(wrong) != "");
  wrong = good;
  wrong.first = 8;
  CHECK(text_of_run(wrong) != "");
  wrong = good;
  wrong.parity = 2;
  CHECK(contains(text_of_run(wrong), "a parity that is neither 0 nor 1"));
  wrong = good;
  wrong.arrivals = 0;
  CHECK(contains(text_of_run(wrong), "expected at least one arrival"));
}

TEST_CASE("a kernel that ends while tiles are under way is refused", "[device]") {
  numbers data;
  std::string text;
  for (std::uint64_t seed = 1; seed < 100 && text.empty(); ++seed) {
    const tenon::emulation_scope scope({.seed = seed});
    staged_copy_kernel kernel{data.map(), {{0, 0, 0}}, data.found.data()};
    kernel.waits = kernel.waits_at_last = false;
    text += text_of_run(kernel);
  }
  CHECK(contains(text, "all threads have returned, but tiles or products are under way"));
}

TEST_CASE("phases end when all have arrived, and no sooner", "[device]") {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const tenon::emulation_scope scope({.seed = seed});
    int count = 0;
    CHECK(text_of_run(phase_kernel{&count}) == "");
    CHECK(count == 5);
  }
  int count = 0;
  CHECK(contains(text_of_run(phase_kernel{&count, 65}), "lacks 1 of 65 arrivals"));
  CHECK(contains(text_of_run(phase_kernel{&count, 32}), "nobody can go on"));
}
