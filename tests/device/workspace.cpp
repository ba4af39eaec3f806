// tests/device/workspace.cpp: memory that kernels of one thread and stream share.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/workspace.hpp>

#include <cstring>
#include <tenon/device/graph.hpp>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

template <class Space>
bool counters_are_zero(const tenon::workspace<Space>& space) {
  std::vector<unsigned> found(tenon::workspace_counters, 1u);
  Space::copy_to_host(found.data(), space.counters(), found.size() * sizeof(unsigned));
  return found == std::vector<unsigned>(tenon::workspace_counters);
}

/// The host's memory, in the order of a stream that a test chooses.
struct ordered_memory : tenon::host {
  static void set_zero(void* memory, std::size_t bytes) { std::memset(memory, 0, bytes); }
};
thread_local tenon::stream_id chosen_order;

}  // namespace

template <>
struct tenon::space_devices<ordered_memory> {
  [[maybe_unused]] static constexpr bool available = false;
  static stream_id stream() { return chosen_order; }
};

TEMPLATE_LIST_TEST_CASE("a workspace grows and keeps its counters at zero", "[workspace]", tenon_test::kernel_spaces) {
  auto& small = tenon::workspace<TestType>::with(16);
  CHECK(counters_are_zero(small));
  auto& large = tenon::workspace<TestType>::with(100000);
  CHECK(&small == &large);
  CHECK(counters_are_zero(large));
  const std::byte* const bytes = large.bytes();
  CHECK(tenon::workspace<TestType>::with(50).bytes() == bytes);
}

TEMPLATE_LIST_TEST_CASE("threads have workspaces of their own", "[workspace]", tenon_test::kernel_spaces) {
  const std::byte* const here = tenon::workspace<TestType>::with(64).bytes();
  const std::byte* there = nullptr;
  std::thread([&] { there = tenon::workspace<TestType>::with(64).bytes(); }).join();
  CHECK(here != nullptr);
  CHECK(there != nullptr);
}

TEST_CASE("each stream of a thread has one workspace", "[workspace]") {
  const auto workspace_on = [](const void* stream, std::size_t bytes) {
    chosen_order = {stream, 0};
    return &tenon::workspace<ordered_memory>::with(bytes);
  };
  const int streams[3] = {};
  const auto* const first = workspace_on(streams, 64);
  const auto* const second = workspace_on(streams + 1, 64);
  const auto* const third = workspace_on(streams + 2, 64);
  CHECK(first != second);
  CHECK(first != third);
  CHECK(second != third);
  CHECK(workspace_on(streams + 1, 100000) == second);
  CHECK(workspace_on(streams, 16) == first);
  CHECK(workspace_on(streams + 2, 16) == third);
}

TEMPLATE_LIST_TEST_CASE("a captured function has a workspace of its own, zeroed by each launch", "[workspace]",
                        tenon_test::kernel_spaces) {
  auto& usual = tenon::workspace<TestType>::with(64);
  usual.launched();
  unsigned* counters = nullptr;
  const auto graph = tenon::capture<TestType>([&] {
    auto& own = tenon::workspace<TestType>::with(64);
    CHECK(&own != &usual);
    counters = own.counters();
    own.launched();
    CHECK(&tenon::workspace<TestType>::with(32) == &own);
  });
  CHECK(&tenon::workspace<TestType>::with(64) == &usual);
  std::vector<unsigned> numbers(tenon::workspace_counters, 5u);
  TestType::copy_from_host(counters, numbers.data(), numbers.size() * sizeof(unsigned));
  graph.launch();
  TestType::copy_to_host(numbers.data(), counters, numbers.size() * sizeof(unsigned));
  CHECK(numbers == std::vector<unsigned>(tenon::workspace_counters));
}

TEST_CASE("few long results are shared by blocks, by their extents alone", "[workspace]") {
  const tenon::index endless = tenon::index{1} << 40;
  CHECK(tenon::parts_of_result(1, 4095, 256) == 1);
  CHECK(tenon::parts_of_result(1, 2 * 4096, 256) == 2);
  CHECK(tenon::parts_of_result(1, 256, 8) == 2);
  CHECK(tenon::parts_of_result(1, endless, 256) == 4096);
  CHECK(tenon::parts_of_result(1, endless, 32) == 512);
  CHECK(tenon::parts_of_result(3, endless, 256) == 1365);
  CHECK(tenon::parts_of_result(513, endless, 8) == 7);
  CHECK(tenon::parts_of_result(tenon::workspace_counters + 1, endless, 8) == 1);
  CHECK(tenon::parts_of_result(0, 0, 8) == 1);
}

#if !defined(__CUDACC__)
TEST_CASE("after a kernel that failed, counters start at zero again", "[workspace]") {
  auto& space = tenon::workspace<tenon::emulated>::with(16);
  space.counters()[3] = 7;  // what its blocks had counted
  CHECK(counters_are_zero(tenon::workspace<tenon::emulated>::with(16)));
  space.launched();
  space.counters()[3] = 7;
  CHECK_FALSE(counters_are_zero(tenon::workspace<tenon::emulated>::with(16)));  // kernels that end need no help
  space.counters()[3] = 0;
}
#endif
