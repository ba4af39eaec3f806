// tests/device/launch.cpp: starting kernels, and refusing shapes that no device takes.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch.hpp>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

struct small_kernel {
  static constexpr const char* name = "small";
  static constexpr int max_threads = 64;
  int* visits;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    device.atomic_add(visits, 1);
  }
};

/// A team, as kernels have one.
struct small_team {
  int bits;

  int size() const { return 1 << bits; }
};

struct choosing_kernel {
  static constexpr const char* name = "choosing";
  static constexpr int tile = 64, depth_tile = 16;
  small_team team;
  int parts;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device&) const {}
};

/// Keeps what it is told of the latest launch.
struct launch_memory final : tenon::launch_observer {
  tenon::launch_facts facts{};
  tenon::launch_shape shape{};
  bool runs = true;

  void statement(const tenon::statement_facts&) override {}
  bool begin(const tenon::launch_facts& told) override {
    facts = told;
    shape = *told.shape;
    return runs;
  }
  void end() noexcept override {}
};

std::string refusal(const tenon::launch_shape& shape) {
  int visits = 0;
  const std::string text =
      text_thrown<tenon::shape_error>([&] { tenon::launch<tenon::emulated>(shape, small_kernel{&visits}); });
  CHECK(visits == 0);
  return text;
}

}  // namespace

TEST_CASE("a launch runs once and is counted once, by the name of its kernel", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, int> visits(std::vector<int>(1));
    const tenon::launch_counter counter;
    tenon::launch<Space>({.grid = {3, 2}, .block = 33}, small_kernel{visits.data()});
    CHECK(counter.count() == 1);
    CHECK(std::string(counter.last_kind()) == "small");
    CHECK(visits.values()[0] == 6 * 33);
  });
}

TEST_CASE("an empty grid runs nothing and counts nothing", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, int> visits(std::vector<int>(1));
    const tenon::launch_counter counter;
    tenon::launch<Space>({.grid = {3, 0, 2}, .block = 33}, small_kernel{visits.data()});
    CHECK(counter.count() == 0);
    CHECK(visits.values()[0] == 0);
  });
}

TEST_CASE("shapes that no device takes are refused before anything runs", "[device]") {
  CHECK(contains(refusal({.block = 65}), "launch: small: a block of 65 threads, expected 1 to 64"));
  CHECK(contains(refusal({.block = 0}), "a block of 0 threads"));
  CHECK(contains(refusal({.block = 32, .shared_bytes = 300'000}), "300000 bytes of shared memory"));
  CHECK(contains(refusal({.block = 32, .shared_bytes = -1}), "-1 bytes"));
  CHECK(contains(refusal({.grid = {1, 70'000}, .block = 32}), "a grid of [1, 70000, 1] blocks"));
  CHECK(contains(refusal({.grid = {-1, 1}, .block = 32}), "none negative"));
}

TEST_CASE("an observer is told the shape of a launch, and what its kernel chose", "[device]") {
  launch_memory memory;
  const tenon::observer_scope scope(&memory);
  tenon::launch<tenon::emulated>({.grid = {3, 2}, .block = 64, .shared_bytes = 96}, choosing_kernel{{5}, 5});
  CHECK(std::string(memory.facts.kernel) == "choosing");
  CHECK(memory.shape.grid.y == 2);
  CHECK(memory.shape.shared_bytes == 96);
  CHECK(memory.facts.clock == nullptr);
  REQUIRE(memory.facts.choice_count == 4);
  const std::vector<std::string> names{"tile", "depth of a tile", "threads of a team", "blocks of a result"};
  const std::vector<std::int64_t> values{64, 16, 32, 5};
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(memory.facts.choices[i].name == names[i]);
    CHECK(memory.facts.choices[i].value == values[i]);
  }
}

TEST_CASE("a launch that its observer does not run leaves everything as it was", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    launch_memory memory;
    memory.runs = false;
    const device_copy<Space, int> visits(std::vector<int>(1));
    const tenon::observer_scope scope(&memory);
    tenon::launch<Space>({.grid = {3, 2}, .block = 33}, small_kernel{visits.data()});
    CHECK(visits.values()[0] == 0);
  });
}
