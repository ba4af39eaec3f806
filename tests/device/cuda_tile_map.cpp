// tests/device/cuda_tile_map.cpp: maps as the driver encodes them, where there is one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/cuda_tile_map.hpp>

#include <cstring>

#include "spaces.hpp"
#include "support/catch.hpp"

TEST_CASE("equal tensors have equal maps, others have others", "[device]") {
#if defined(__CUDACC__)
  if (tenon::cuda_device_count() == 0) return;
  const tenon_test::device_copy<tenon::cuda, std::uint16_t> memory(std::vector<std::uint16_t>(64 * 128));
  const tenon::tiled_tensor tensor{memory.data(), {{128, 64, 1}}, {{256, 256 * 64}}, {{64, 64}}};
  using maps = tenon::tile_maps<tenon::cuda>;
  const auto first = maps::make<tenon::half>(tensor);
  for (int count = 1; count <= 80; ++count) {
    auto other = tensor;
    other.extents[1] = 64 - count % 64;
    const auto map = maps::make<tenon::half>(other);
    CHECK((std::memcmp(&map, &first, sizeof(map)) == 0) == (count == 64));
  }
  const auto again = maps::make<tenon::half>(tensor), bfloat = maps::make<tenon::bfloat16>(tensor);
  CHECK(std::memcmp(&again, &first, sizeof(first)) == 0);
  CHECK(std::memcmp(&bfloat, &first, sizeof(first)) != 0);
  auto askew = tensor;
  askew.stride_bytes[0] = 250;
  CHECK_THROWS_AS(maps::make<tenon::half>(askew), tenon::shape_error);
  CHECK(maps::takes<tenon::half>(tensor));
  auto outside = tensor;
  outside.extents[0] = (tenon::index{1} << 32) + 8;  // which every driver refuses
  CHECK_FALSE(maps::takes<tenon::half>(outside));
#endif
  const tenon::tiled_tensor none{};
  CHECK(none == tenon::tiled_tensor{});
}
