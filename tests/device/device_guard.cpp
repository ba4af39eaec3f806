// tests/device/device_guard.cpp: the device that a thread uses.
// On the two devices of the emulation; on CUDA's where there are as many.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/device_guard.hpp>

#include <thread>

#include "support/spaces.hpp"
#include "support/text_of.hpp"

TEMPLATE_LIST_TEST_CASE("a guard changes the thread's device and puts it back", "[device]", tenon_test::kernel_spaces) {
  const int last = tenon::device_count<TestType>() - 1;
  CHECK(last >= 0);
  CHECK(tenon::current_device<TestType>() == 0);
  {
    const tenon::device_guard<TestType> outer(last);
    CHECK(tenon::current_device<TestType>() == last);
    {
      const tenon::device_guard<TestType> inner(0);
      CHECK(tenon::current_device<TestType>() == 0);
      CHECK(tenon::space_devices<TestType>::stream().device == 0);
    }
    CHECK(tenon::current_device<TestType>() == last);
    CHECK(tenon::space_devices<TestType>::stream().device == last);
    int elsewhere = -1;
    std::thread([&] { elsewhere = tenon::current_device<TestType>(); }).join();
    CHECK(elsewhere == 0);
  }
  CHECK(tenon::current_device<TestType>() == 0);
}

TEMPLATE_LIST_TEST_CASE("a device that is not there is refused", "[device]", tenon_test::kernel_spaces) {
  const int count = tenon::device_count<TestType>();
  const std::string text =
      tenon_test::text_of<tenon::device_error>([&] { const tenon::device_guard<TestType> beyond(count); });
  CHECK(text == tenon::compose_text("device_guard: device ", count, " of ", TestType::name, ", expected one of ", count,
                                    " devices"));
  CHECK_THROWS_AS(tenon::device_guard<TestType>(-1), tenon::device_error);
  CHECK(tenon::current_device<TestType>() == 0);
}

TEST_CASE("the host has no devices", "[device]") {
  STATIC_REQUIRE_FALSE(tenon::has_devices<tenon::host>);
  STATIC_REQUIRE(tenon::has_devices<tenon::emulated>);
}
