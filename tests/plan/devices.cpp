// tests/plan/devices.cpp: on which device a statement runs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/devices.hpp>

#include <tenon/device/graph.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;
using tenon_test::text_of;

template <class Space>
using vector = tenon::tensor<float, rank<1>, Space>;

template <class Space>
bool has_two_devices() {
  if (tenon::device_count<Space>() > 1) return true;
  WARN("skipped: there is one device");
  return false;
}

template <class Space>
vector<Space> counting_on(int device, tenon::index extent) {
  const tenon::device_guard<Space> guard(device);
  return counting<float>(rank<1>(extent)).template to<Space>();
}

template <class Space>
std::string mixing_text(const char* operation, const char* extents) {
  return tenon::compose_text(operation, ": operand ", extents, ": lies on device 1 of ", Space::name,
                             ", expected device 0, the destination's; copy it there first: copy_from, or to<> under a "
                             "device_guard");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tensors remember their device", "[devices]", tenon_test::kernel_spaces) {
  if (!has_two_devices<TestType>()) return;
  const auto x = counting_on<TestType>(0, 5), y = counting_on<TestType>(1, 5);
  CHECK(tenon::device_of(x) == 0);
  CHECK(tenon::device_of(y) == 1);
  CHECK(tenon::device_of(tenon::slice(y, tenon::range(3, 5))) == 1);
}

TEMPLATE_LIST_TEST_CASE("a statement that mixes devices names both", "[devices]", tenon_test::kernel_spaces) {
  if (!has_two_devices<TestType>()) return;
  const auto x = counting_on<TestType>(0, 5), y = counting_on<TestType>(1, 5);
  vector<TestType> z = counting_on<TestType>(0, 5);
  const auto before = numbers_of(z);
  CHECK(text_of<tenon::device_error>([&] { z = x + y; }) == mixing_text<TestType>("add", "[5]"));
  CHECK(text_of<tenon::device_error>([&] { z = x * tenon::flip(tenon::exp(y), tenon::axis<0>); }) ==
        mixing_text<TestType>("exp", "[5]"));
  CHECK(text_of<tenon::device_error>([&] { z = x - tenon::sum(y, tenon::axis<0>); }) ==
        mixing_text<TestType>("sum", "[5]"));
  CHECK(text_of<tenon::device_error>([&] { z.view() = y.view(); }) == mixing_text<TestType>("assign", "[5]"));
  CHECK(text_of<tenon::device_error>([&] { vector<TestType> fresh = x + y; }) == mixing_text<TestType>("add", "[5]"));
  vector<TestType> w = counting_on<TestType>(0, 5);
  CHECK(text_of<tenon::device_error>([&] {
          tenon::evaluate(tenon::assign(z, x + 1.0f), tenon::assign(w, tenon::abs(y)));
        }) == mixing_text<TestType>("abs", "[5]"));
  CHECK(numbers_of(z) == before);
  CHECK(tenon::current_device<TestType>() == 0);
}

TEMPLATE_LIST_TEST_CASE("a statement runs on the device of its destination", "[devices]", tenon_test::kernel_spaces) {
  if (!has_two_devices<TestType>()) return;
  const auto host = counting<float>(rank<1>(7));
  const auto x = counting_on<TestType>(1, 7);
  vector<TestType> y = counting_on<TestType>(1, 7);
  y = x + tenon::softmax(y * x, tenon::axis<0>);  // with a part in memory of its own
  const auto expected = tenon::evaluated_tensor(host + tenon::softmax(host * host, tenon::axis<0>));
  CHECK(tenon_test::difference(numbers_of(y), numbers_of(expected), 1e-6) == "");
  CHECK(tenon::device_of(y) == 1);
  const float total = tenon::sum(x);
  CHECK(total == static_cast<float>(tenon::sum(host)));
  CHECK(tenon::current_device<TestType>() == 0);
}

TEMPLATE_LIST_TEST_CASE("a graph is of one device", "[devices]", tenon_test::kernel_spaces) {
  if (!has_two_devices<TestType>()) return;
  vector<TestType> x = counting_on<TestType>(1, 5);
  CHECK_THROWS_AS(tenon::capture<TestType>([&] { x = x + 1.0f; }), tenon::capture_error);
  const tenon::device_guard<TestType> second(1);
  tenon::capture<TestType>([&] { x = x + 1.0f; }).launch();
  CHECK(numbers_of(x) == std::vector<double>{1, 2, 3, 4, 5});
}

#if !defined(__CUDACC__)
TEST_CASE("an algorithm runs on the current device", "[devices]") {
  using tenon::emulated;
  const auto x = counting_on<emulated>(1, 5);
  const auto places = counting<tenon::index>(rank<1>(5)).to<emulated>();
  const std::string told =
      " [5]: lies on device 1 of emulated, expected device 0, the current one; call it under a "
      "device_guard";
  vector<emulated> y = counting_on<emulated>(1, 5);
  CHECK(text_of<tenon::device_error>([&] { (void)tenon::sort(x, tenon::axis<0>); }) == "sort: argument" + told);
  CHECK(text_of<tenon::device_error>([&] { tenon::scatter(y, tenon::axis<0>, places, 1.0f); }) ==
        "scatter: argument" + told);
  const tenon::device_guard<emulated> second(1);
  CHECK(numbers_of(tenon::sort(x, tenon::axis<0>)) == numbers_of(x));
}
#endif

TEMPLATE_LIST_TEST_CASE("copies go from device to device", "[devices]", tenon_test::kernel_spaces) {
  if (!has_two_devices<TestType>()) return;
  const auto x = counting_on<TestType>(1, 6);
  const auto copy = x.template to<TestType>();
  CHECK(tenon::device_of(copy) == 0);
  CHECK(numbers_of(copy) == numbers_of(x));
  vector<TestType> z = tenon::zeros<float, TestType>(rank<1>(6));
  z.copy_from(x);
  CHECK(numbers_of(z) == numbers_of(x));
  z = copy + 1.0f;
  z = x;  // a copy of a tensor is no statement
  CHECK(tenon::device_of(z) == 0);
  CHECK(numbers_of(z) == numbers_of(x));
}

TEMPLATE_LIST_TEST_CASE("launches are known to belong to their statement", "[devices]", tenon_test::kernel_spaces) {
  const auto x = tenon_test::counting<float>(rank<2>(3, 4)).template to<TestType>();
  tenon::tensor<float, rank<2>, TestType> y({3, 4});
  y = x + 1.0f;
  CHECK(tenon_test::has(tenon::recent_launches(), "pointwise of add [3, 4]"));
  y.view() = x.view();
  CHECK(tenon::recent_launches().find("pointwise of assign [3, 4]") == 0);
}
