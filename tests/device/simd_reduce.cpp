// tests/device/simd_reduce.cpp: packs combined to one number.
// The order is asserted by a combination that is not associative: halves first, lane by lane.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/simd_reduce.hpp>

#include <vector>

#include "support/catch.hpp"

namespace simd = tenon::simd;

namespace {

template <class T, int Width>
void check_pack() {
  const auto lanes = simd::generate<T, Width>([](tenon::index lane) { return static_cast<T>(lane + 1); });
  const auto total = simd::reduce(lanes, [](auto x, auto y) { return decltype(x)(x + y); });
  CHECK(total == static_cast<T>(Width * (Width + 1) / 2));
  CHECK(simd::reduce(lanes, [](auto x, auto y) { return simd::max(x, y); }) == static_cast<T>(Width));
  std::vector<T> tree;
  for (int lane = 0; lane < Width; ++lane) tree.push_back(static_cast<T>(lane + 1));
  for (std::size_t half = tree.size() / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) tree[lane] = tree[lane] - tree[lane + half];
  }
  CHECK(simd::reduce(lanes, [](auto x, auto y) { return decltype(x)(x - y); }) == tree[0]);
}

/// The sums of packs whose lanes are numbered through.
template <class T, int Count, int Width>
void check_sums() {
  simd::pack<T, Width> packs[Count];
  for (int k = 0; k < Count; ++k) {
    packs[k] = simd::generate<T, Width>([k](tenon::index lane) { return static_cast<T>(k * k * Width + lane); });
  }
  const auto sums = simd::sums(packs);
  for (int k = 0; k < Count; ++k) CHECK(sums[k] == static_cast<T>(Width * (k * k * Width) + Width * (Width - 1) / 2));
}

template <class T>
void check_widths() {
  check_pack<T, 1>(), check_pack<T, 2>(), check_pack<T, 4>();
  check_pack<T, simd::native_width<T>>();
}

}  // namespace

TEST_CASE("lanes combine as a balanced tree", "[simd_reduce]") {
  check_widths<float>(), check_widths<double>(), check_widths<std::int32_t>(), check_widths<std::int64_t>();
}

TEST_CASE("packs are added up side by side", "[simd_reduce]") {
  check_sums<float, 4, 4>(), check_sums<float, 4, 8>(), check_sums<float, 4, 16>(), check_sums<float, 2, 4>();
  check_sums<double, 2, 2>(), check_sums<double, 2, 4>(), check_sums<double, 2, 8>(), check_sums<double, 4, 8>();
}
