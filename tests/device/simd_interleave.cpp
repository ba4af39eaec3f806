// tests/device/simd_interleave.cpp: groups of a few elements as packs, and back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_interleave.hpp>

#include <cstdint>
#include <vector>

#include "support/catch.hpp"

namespace {

template <class T, int Width, int Count>
void check_groups() {
  std::vector<T> memory(Width * Count), back(Width * Count + 1, T(77));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<T>(3 * i + 1);
  tenon::simd::pack<T, Width> packs[Count];
  tenon::simd::load_interleaved<Width>(packs, memory.data());
  int wrong = 0;
  for (int place = 0; place < Count; ++place) {
    T lanes[Width];
    tenon::simd::store<Width>(lanes, packs[place]);
    for (int group = 0; group < Width; ++group) {
      wrong += lanes[group] == memory[static_cast<std::size_t>(group * Count + place)] ? 0 : 1;
    }
  }
  tenon::simd::store_interleaved<Width>(back.data(), packs);
  for (std::size_t i = 0; i < memory.size(); ++i) wrong += back[i] == memory[i] ? 0 : 1;
  CAPTURE(Width, Count);
  CHECK(wrong == 0);
  CHECK(back.back() == T(77));
}

template <class T, int... Count>
void check_counts(std::integer_sequence<int, Count...>) {
  (check_groups<T, 1, Count + 1>(), ...);
  if constexpr (!tenon::compiled_by_nvcc) {
    (check_groups<T, tenon::simd::native_width<T>, Count + 1>(), ...);
    (check_groups<T, 4, Count + 1>(), ...);
    (check_groups<T, 8, Count + 1>(), ...);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("groups of elements as packs", "[device][simd]", float, double, std::int32_t, std::int64_t) {
  check_counts<TestType>(std::make_integer_sequence<int, 16>{});
}
