// tests/device/launch_number.cpp: kernels of a captured graph learn which launch runs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_number.hpp>

#include <tenon/device/graph.hpp>

#include "device/spaces.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

struct add_launch_number {
  int* value;
  const std::uint64_t* number;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device&) const {
    *value += static_cast<int>(*number);
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("kernels of a graph read which launch runs", "[device]", tenon_test::kernel_spaces) {
  const tenon_test::device_copy<TestType, int> values({0});
  CHECK(tenon::number_of_launch<TestType>() == nullptr);
  const auto in_use = tenon::blocks_of<TestType>().count();
  {
    const auto graph = tenon::capture<TestType>([&] {
      int* const scratch = static_cast<int*>(TestType::allocate(sizeof(std::uint64_t)));
      TestType::set_zero(scratch,
                         sizeof(std::uint64_t));  // before the number is read, so that this memory must not hold it
      TestType::deallocate(scratch, sizeof(std::uint64_t));
      const std::uint64_t* const number = tenon::number_of_launch<TestType>();
      CHECK(number == tenon::number_of_launch<TestType>());
      CHECK(static_cast<const void*>(number) != scratch);
      tenon::launch<TestType>({.grid = {1}, .block = 1}, add_launch_number{values.data(), number});
      CHECK(TestType::allocate(sizeof(std::uint64_t)) == scratch);
      TestType::deallocate(scratch, sizeof(std::uint64_t));
    });
    graph.launch();
    CHECK(values.values() == std::vector<int>{1});
    graph.launch();
    graph.launch();
    CHECK(values.values() == std::vector<int>{6});
  }
  CHECK(tenon::blocks_of<TestType>().count() == in_use);
}
