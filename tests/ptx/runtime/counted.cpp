// tests/ptx/runtime/counted.cpp: what statements cost as PTX, counted, against numbers that are worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include "ptx/counts.hpp"
#include "support/catch.hpp"

namespace {

using tenon::cuda;
using tenon::rank;
using tenon_test::ptx::counts;
using tenon_test::ptx::launches_of;

}  // namespace

TEST_CASE("a sum of two vectors reads and writes each sector once", "[ptx]") {
  tenon::tensor<float, rank<1>, cuda> x({4096}), y({4096}), z({4096});
  x = 1.0f;
  y = 2.0f;
  const auto launches = launches_of([&] { z = x + y; });
  REQUIRE(launches.size() == 1);
  const counts& done = launches[0].done;
  CHECK(done.global_loads.bytes == 2 * 4096 * 4);
  CHECK(done.global_loads.parts == 2 * 4096 * 4 / 32);
  CHECK(done.global_stores.bytes == 4096 * 4);
  CHECK(done.global_stores.parts == 4096 * 4 / 32);
  CHECK(done.tensor_operations == 0);
  CHECK(done.shared_loads.accesses == 0);
}

TEST_CASE("a transposed matrix is read and written in whole sectors, without conflicts of banks", "[ptx]") {
  tenon::tensor<float, rank<2>, cuda> x({64, 96}), y({96, 64});
  x = 1.0f;
  const auto launches = launches_of([&] { y = tenon::transpose(x); });
  REQUIRE(launches.size() == 1);
  const counts& done = launches[0].done;
  CHECK(done.global_loads.parts == 64 * 96 * 4 / 32);
  CHECK(done.global_stores.parts == 64 * 96 * 4 / 32);
  CHECK(done.shared_loads.conflicts() == 0);
  CHECK(done.shared_stores.conflicts() == 0);
}

TEST_CASE("a product of short floats is done by matrix instructions, each once", "[ptx]") {
  tenon::tensor<tenon::bfloat16, rank<2>, cuda> x({128, 64}), y({64, 128}), z({128, 128});
  x = tenon::bfloat16(1.0f);
  y = tenon::bfloat16(1.0f);
  const auto launches = launches_of([&] { z = tenon::matmul(x, y); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].done.tensor_operations == std::uint64_t{2} * 128 * 128 * 64);
}
