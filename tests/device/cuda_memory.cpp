// tests/device/cuda_memory.cpp: memory of CUDA devices.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_memory.hpp>

#include <concepts>
#include <vector>

#include "support/catch.hpp"

namespace {

// What core asks of a space; naming the functions does not use them, so this holds without nvcc too.
template <class Space>
constexpr bool has_the_functions_of_a_space = requires(void* target, const void* source, std::size_t bytes) {
  { Space::allocate(bytes) } -> std::same_as<void*>;
  { Space::deallocate(target, bytes) } noexcept;
  Space::copy(target, source, bytes);
  Space::copy_from_host(target, source, bytes);
  Space::copy_to_host(target, source, bytes);
  Space::start_copy_from_host(target, source, bytes);
  Space::start_copy_to_host(target, source, bytes);
  Space::set_zero(target, bytes);
};

}  // namespace

TEST_CASE("cuda is a memory space in every file", "[device]") {
  STATIC_REQUIRE(has_the_functions_of_a_space<tenon::cuda>);
}

#if defined(__CUDACC__)
TEST_CASE("device memory takes values and gives them back", "[device]") {
  if (tenon::cuda_device_count() == 0) return;
  const std::vector<int> values{1, 2, 3, 4, 5};
  std::vector<int> back(5);
  const std::size_t bytes = values.size() * sizeof(int);
  void* first = tenon::cuda::allocate(bytes);
  void* second = tenon::cuda::allocate(bytes);
  CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
  tenon::cuda::copy_from_host(first, values.data(), bytes);
  tenon::cuda::copy(second, first, bytes);
  tenon::cuda::copy_to_host(back.data(), second, bytes);
  CHECK(back == values);
  tenon::cuda::set_zero(second, bytes);
  tenon::cuda::copy_to_host(back.data(), second, bytes);
  CHECK(back == std::vector<int>(5));
  tenon::cuda::deallocate(first, bytes);
  tenon::cuda::deallocate(second, bytes);
  CHECK(tenon::cuda::allocate(0) == nullptr);
}
#endif
