// tests/instructions/broken/serialized_products.cu: a kernel that reads sums while products are added to them.
// found: products wait for each other
// architectures: 90a
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_hopper.hpp>
#include <tenon/device/launch.hpp>

using product = tenon::warpgroup_product<tenon::half, 64, tenon::row_major, tenon::row_major>;

struct hasty_kernel {
  std::uint32_t* results;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if constexpr (tenon::hopper_unit<Device>::is_available()) {
      tenon::hopper_unit<Device> unit(device);
      const auto tiles = device.template shared<tenon::half>(64 * 64);
      const auto operand = unit.describe(tiles, 0, 8192, 1024);
      std::uint32_t sums[product::sums];
      for (int step = 0; step < 4; ++step) {
        unit.begin_products();
        unit.template multiply<product>(sums, operand, operand, step > 0);
        unit.commit_products();
        results[step * device.block_size() + device.thread()] = sums[step];
      }
      unit.finish_products(sums);
      for (int i = 0; i < product::sums; ++i) results[i * device.block_size() + device.thread()] += sums[i];
    }
  }
};

void run(std::uint32_t* results) {
  tenon::launch<tenon::cuda>({.grid = {1}, .block = 128, .shared_bytes = 8192}, hasty_kernel{results});
}
