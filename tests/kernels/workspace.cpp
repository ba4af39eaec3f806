// tests/kernels/workspace.cpp: memory that kernels of one thread and stream share.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/workspace.hpp>

#include <thread>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

template <class Space>
bool counters_are_zero(const tenon::workspace<Space>& space) {
  std::vector<unsigned> found(tenon::workspace_counters, 1u);
  Space::copy_to_host(found.data(), space.counters(), found.size() * sizeof(unsigned));
  return found == std::vector<unsigned>(tenon::workspace_counters);
}

}  // namespace

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
