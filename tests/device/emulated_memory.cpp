// tests/device/emulated_memory.cpp: the memory of emulated devices.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_memory.hpp>

#include "support/text_of.hpp"

namespace {

using tenon::emulated;
void free_emulated(void* memory, std::size_t bytes) noexcept { emulated::deallocate(memory, bytes); }

}  // namespace

TEST_CASE("memory lies on the device that was current", "[device]") {
  void* const here = emulated::allocate(10);
  void* there = nullptr;
  {
    const tenon::device_guard<emulated> second(1);
    there = emulated::allocate(10);
    CHECK(tenon::space_devices<emulated>::of(here) == 0);
  }
  CHECK(tenon::space_devices<emulated>::of(there) == 1);
  CHECK(tenon::space_devices<emulated>::of(static_cast<char*>(there) + 9) == 1);
  const auto before = tenon::blocks_of<emulated>().count();
  emulated::deallocate(here, 10);
  emulated::deallocate(there, 10);
  CHECK(tenon::blocks_of<emulated>().count() == before - 2);
}

TEST_CASE("what a captured function does with memory is done by its launch", "[device]") {
  const int source[2] = {1, 2};
  int target[2] = {7, 7}, zeroed[2] = {7, 7};
  tenon::captured_work work(free_emulated, {});
  tenon::detail::graph_recording<emulated> steps;
  {
    const tenon::capture_scope<emulated> scope(work);
    steps.begin();
    emulated::set_zero(zeroed, sizeof(zeroed));
    emulated::copy(target, source, sizeof(int));
    emulated::start_copy_from_host(target + 1, source + 1, sizeof(int));
    CHECK_THROWS_AS(emulated::copy_from_host(target, source, 4), tenon::capture_error);
    CHECK_THROWS_AS(emulated::copy_to_host(target, source, 4), tenon::capture_error);
    steps.end();
  }
  CHECK(target[0] == 7);
  CHECK(zeroed[1] == 7);
  for (int launch = 0; launch < 2; ++launch) {
    target[0] = target[1] = zeroed[0] = zeroed[1] = 7;
    steps.launch(work);
    CHECK(target[0] == 1);
    CHECK(target[1] == 2);
    CHECK(zeroed[0] == 0);
    CHECK(zeroed[1] == 0);
  }
  emulated::copy(target, source + 1, sizeof(int));
  CHECK(target[0] == 2);
}

TEST_CASE("a captured function uses its freed memory again and keeps it", "[device]") {
  auto& blocks = tenon::blocks_of<emulated>();
  const auto in_use = blocks.count();
  void* const older = emulated::allocate(64);
  void* outliving = nullptr;
  {
    tenon::captured_work work(free_emulated, {});
    {
      const tenon::capture_scope<emulated> scope(work);
      void* const first = emulated::allocate(100);
      emulated::deallocate(first, 100);
      CHECK(emulated::allocate(50) == first);
      emulated::deallocate(first, 50);  // its block has 100 bytes all the same
      CHECK(emulated::allocate(100) == first);
      emulated::deallocate(first, 100);
      emulated::deallocate(older, 64);  // its steps may name it
      outliving = emulated::allocate(1000);
    }
    CHECK(blocks.count() == in_use + 3);
  }
  CHECK(blocks.count() == in_use + 1);
  emulated::deallocate(outliving, 1000);
  CHECK(blocks.count() == in_use);
}
