// tests/unfused/statements.cpp: with TENON_NO_FUSE, one kernel for each operation and the same results.
// Expected values are plain loops'; kernels are counted by the launches of the emulated device.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <tenon/device/emulated.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

static_assert(!tenon::fuses_operations);

namespace {

/// Launches that assigning `node` to a new tensor takes on the emulated device.
template <class Node>
int launches_of(const Node& node) {
  const tenon::launch_counter launches;
  (void)tenon::evaluated_tensor(node);
  return launches.count();
}

}  // namespace

TEST_CASE("operations run one by one", "[statements]") {
  const auto x = counting<float, tenon::emulated>(rank<2>(3, 4));
  const auto statement = (x + 1) * tenon::transpose(tenon::transpose(x) - 2);
  STATIC_REQUIRE(tenon::kernel_count<decltype(statement)> == 3);
  CHECK(launches_of(statement) == 3);
  const auto values = numbers_of(statement);
  for (int i = 0; i < 12; ++i) CHECK(values[static_cast<std::size_t>(i)] == (i + 1) * (i - 2));
  CHECK(launches_of(tenon::matmul(x, tenon::transpose(x)) + 1) == 2);
  CHECK(launches_of(tenon::sum(x * 2, axis<1>)) == 2);
}

TEST_CASE("explain names the macro as the reason", "[statements]") {
  const auto x = counting<float>(rank<1>(3));
  CHECK(tenon::explain(x * x + 1) ==
        "2 kernels\n1. pointwise: float32 [3] = multiply(x0, x0)\n   reads 12 bytes of 1 tensor, writes 12 bytes\n"
        "   ends here: with TENON_NO_FUSE every operation is a kernel of its own\n"
        "2. pointwise: float32 [3] = add(result1, 1)\n   reads 12 bytes of 1 tensor, writes 12 bytes\n");
}

TEST_CASE("equal parts run once", "[statements]") {
  const auto x = counting<float, tenon::emulated>(rank<2>(3, 4));
  CHECK(launches_of((x + 1) * (x + 1)) == 2);
  CHECK(launches_of((x + 1) * (x + 2)) == 3);
}

TEMPLATE_TEST_CASE("softmax has the same values", "[statements]", tenon::host, tenon::emulated) {
  const auto x = counting<float, TestType>(rank<2>(2, 5));
  const auto values = numbers_of(tenon::softmax(x, axis<1>));
  for (int row = 0; row < 2; ++row) {
    double total = 0;
    for (int i = 0; i < 5; ++i) total += std::exp(i - 4.0);
    for (int i = 0; i < 5; ++i) {
      CHECK(values[static_cast<std::size_t>(row * 5 + i)] == Approx(std::exp(i - 4.0) / total));
    }
  }
}

TEST_CASE("evaluate still reads all operands before it writes", "[statements]") {
  auto x = counting<float>(rank<1>(3));
  auto y = tenon_test::counting<float>(rank<1>(3));
  y = y + 10;
  tenon::evaluate(tenon::assign(x, y * 1), tenon::assign(y, x * 1));
  CHECK(numbers_of(x) == std::vector<double>{10, 11, 12});
  CHECK(numbers_of(y) == std::vector<double>{0, 1, 2});
  tenon::tensor<float, rank<1>> shifted({3});
  tenon::tensor<float, tenon::shape<>> total;
  tenon::evaluate(tenon::assign(total, tenon::sum(x)));
  CHECK(numbers_of(total) == std::vector<double>{33});
  tenon::evaluate(tenon::assign(shifted, x - tenon::mean(x, axis<0>)),
                  tenon::assign(x, tenon::softmax(x * 0, axis<0>)));
  CHECK(numbers_of(shifted) == std::vector<double>{-1, 0, 1});
  CHECK(numbers_of(x)[1] == Approx(1.0 / 3));
}
