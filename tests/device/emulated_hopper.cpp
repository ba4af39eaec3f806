// tests/device/emulated_hopper.cpp: registers of warpgroups, and blocks that have none.
// Copies and products have tests of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_hopper.hpp>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

/// Warpgroup 0 gives registers, the others take them; warp `absent` does neither.
template <int Given, int Taken>
struct register_kernel {
  static constexpr const char* name = "registers";
  static constexpr int max_threads = 384;
  int absent = -1;

  void operator()(tenon::emulated_device& device) const {
    tenon::hopper_unit<tenon::emulated_device> unit(device);
    if (device.warp() == absent) return;
    if (device.thread() < tenon::warpgroup_size) unit.give_registers<Given>();
    else unit.take_registers<Taken>();
  }
};

template <class Kernel>
std::string text_of_run(const Kernel& kernel, int block = 384) {
  return text_thrown<tenon::barrier_error>(
      [&] { tenon::launch<tenon::emulated>({.grid = {2}, .block = block}, kernel); });
}

}  // namespace

TEST_CASE("warpgroups share the registers of a multiprocessor", "[device]") {
  CHECK(text_of_run(register_kernel<40, 232>{}) == "");
  CHECK(text_of_run(register_kernel<24, 240>{}) == "");
  CHECK(contains(text_of_run(register_kernel<40, 240>{}), "hold 520 together, expected at most 512"));
}

TEST_CASE("registers change hands for whole warpgroups", "[device]") {
  CHECK(contains(text_of_run(register_kernel<40, 232>{5}), "96 of 128 threads of a warpgroup are in registers"));
  CHECK(contains(text_of_run(register_kernel<40, 232>{}, 96), "expected whole warpgroups"));
}

TEST_CASE("maps are made of what devices take", "[device]") {
  alignas(16) static std::uint16_t memory[64 * 8];
  const tenon::tiled_tensor tensor{memory, {{64, 8, 1}}, {{128, 1024}}, {{64, 8}}};
  CHECK(tenon::tile_maps<tenon::emulated>::make<tenon::half>(tensor).images ==
        tenon::tiled_images{memory, {{64, 8, 1, 1, 1}}, {{128, 1024, 0, 0}}, {{64, 8, 1, 1, 1}}, {{1, 1, 1, 1, 1}}});
  CHECK(tenon::tile_maps<tenon::emulated>::make<tenon::half>(tensor).element_bytes == 2);
  CHECK_THROWS_AS(tenon::tile_maps<tenon::emulated>::make<float>(tensor), tenon::shape_error);
  auto loose = tensor;
  loose.extents = {{64, 8, 2}}, loose.stride_bytes = {{256, 128}};
  CHECK_FALSE(tenon::tile_maps<tenon::emulated>::takes<tenon::half>(loose));
  CHECK(
      text_thrown<tenon::shape_error>([&] { tenon::tile_maps<tenon::emulated>::make<tenon::half>(loose); }) ==
      "tiled_tensor: strides: [256, 128] bytes for a tensor of [64, 8, 2], expected each a multiple of the one before, "
      "over all of its axis");
}
