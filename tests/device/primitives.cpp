// tests/device/primitives.cpp: the contract between kernels and devices.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/primitives.hpp>

#include <string>
#include <tenon/device/emulated.hpp>

#include "support/catch.hpp"

namespace {

struct named_kernel {
  static constexpr const char* name = "named";
  static constexpr int max_threads = 64, min_blocks = 3;
  static constexpr bool is_cooperative = true;
};
struct plain_kernel {};

tenon::source_position called_from(tenon::source_position where = {}) { return where; }

}  // namespace

static_assert(tenon::kernel_device<tenon::emulated_device>);
static_assert(!tenon::kernel_device<plain_kernel>);

static_assert(tenon::operand_is_legal<tenon::half, 16, 16, 16>);
static_assert(tenon::operand_is_legal<tenon::tf32, 16, 16, 8>);
static_assert(tenon::operand_is_legal<double, 8, 8, 4>);
static_assert(!tenon::operand_is_legal<float, 16, 16, 16>);
static_assert(!tenon::operand_is_legal<tenon::tf32, 16, 16, 16>);
static_assert(!tenon::operand_is_legal<tenon::bfloat16, 8, 8, 8>);
static_assert(tenon::fragment_is_legal<tenon::accumulator, float, 16, 16, 8>);
static_assert(tenon::fragment_is_legal<tenon::accumulator, std::int32_t, 16, 16, 16>);
static_assert(!tenon::fragment_is_legal<tenon::accumulator, tenon::half, 16, 16, 16>);
static_assert(!tenon::fragment_is_legal<tenon::accumulator, double, 16, 16, 16>);
static_assert(!tenon::fragment_is_legal<tenon::matrix_a, float, 16, 16, 16>);

TEST_CASE("shared memory is counted in aligned pieces", "[device]") {
  CHECK(tenon::shared_bytes_of<float>(0) == 0);
  CHECK(tenon::shared_bytes_of<float>(1) == 32);
  CHECK(tenon::shared_bytes_of<double>(4) == 32);
  CHECK(tenon::shared_bytes_of<tenon::half>(17) == 64);
}

TEST_CASE("a grid has the product of its extents", "[device]") {
  CHECK(tenon::grid_extent{}.blocks() == 1);
  CHECK(tenon::grid_extent{3}.blocks() == 3);
  CHECK(tenon::grid_extent{1 << 30, 4, 2}.blocks() == tenon::index{1} << 33);
  CHECK(tenon::grid_extent{3, 0, 2}.blocks() == 0);
}

TEST_CASE("kernels name themselves and their largest block, or get a name and 256", "[device]") {
  CHECK(std::string(tenon::kernel_name<named_kernel>()) == "named");
  CHECK(std::string(tenon::kernel_name<plain_kernel>()).find("plain_kernel") != std::string::npos);
  CHECK(tenon::kernel_max_threads<named_kernel>() == 64);
  CHECK(tenon::kernel_max_threads<plain_kernel>() == 256);
  CHECK(tenon::kernel_min_blocks<named_kernel>() == 3);
  CHECK(tenon::kernel_min_blocks<plain_kernel>() == 1);
  CHECK(tenon::is_cooperative_kernel<named_kernel>());
  CHECK_FALSE(tenon::is_cooperative_kernel<plain_kernel>());
}

TEST_CASE("a defaulted source position is the caller's", "[device]") {
  const int line = __LINE__ + 1;
  const tenon::source_position where = called_from();
  CHECK(where.line == line);
  CHECK(std::string(where.file).find("primitives") != std::string::npos);
}
