// tests/contraction/attention.cpp: the kernel of attention.
// Partial tiles of queries, keys and values, for each unit, against the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/attention.hpp>
#include <tenon/expressions.hpp>
#include <tenon/tenon.hpp>
#include <vector>

#include "contraction/attentions.hpp"
#include "support/catch.hpp"
#include "support/spaces.hpp"

using tenon_test::attention_extents;

namespace {

template <class Space, class T>
std::string kernel_attention_difference(const attention_extents& extents,
                                        const tenon::attention_options& options = {}) {
  const double tolerance = sizeof(T) == 2 ? 1e-2 : sizeof(T) == 4 ? 2e-6 : 1e-13;
  return tenon_test::attention_value_error<Space, T>(extents, options, tolerance);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("attention in tiles of any size", "[attention]", tenon_test::kernel_spaces) {
  for (const tenon::index queries : {1, 30, 70}) {
    for (const tenon::index keys : {1, 31, 130}) {
      CAPTURE(queries, keys);
      CHECK(kernel_attention_difference<TestType, float>({2, queries, keys, 9, 11}) == "");
    }
  }
  CHECK(kernel_attention_difference<TestType, float>({1, 10, 20, 40, 70}) == "");
  CHECK(kernel_attention_difference<TestType, float>({1, 5, 9, 1, 270}) == "");
  CHECK(kernel_attention_difference<TestType, double>({2, 33, 40, 9, 40}) == "");
  CHECK(kernel_attention_difference<TestType, tenon::half>({2, 70, 100, 40, 20}) == "");
  CHECK(kernel_attention_difference<TestType, tenon::bfloat16>({1, 20, 30, 64, 64}) == "");
}

TEMPLATE_LIST_TEST_CASE("attention of kernels with masks, caps and earlier keys", "[attention]",
                        tenon_test::kernel_spaces) {
  CHECK(kernel_attention_difference<TestType, float>({2, 100, 100, 8, 8}, {.is_causal = true}) == "");
  CHECK(kernel_attention_difference<TestType, float>({1, 70, 150, 8, 8}, {.is_causal = true, .first_query = 80}) == "");
  CHECK(kernel_attention_difference<TestType, float>({1, 30, 30, 8, 8}, {.is_causal = true, .first_query = -2}) == "");
  CHECK(kernel_attention_difference<TestType, float>({2, 10, 30, 8, 8}, {.scale = 3, .softcap = 1.5f}) == "");
}

TEMPLATE_TEST_CASE("every weight of a tile has a place of its own", "[attention]", float, double, tenon::half) {
  using tiles = tenon::weight_tiles<typename tenon::attention_units<TestType>::unit>;
  std::vector<bool> taken(static_cast<std::size_t>(tiles::weight_elements));
  for (int row = 0; row < tiles::rows; ++row) {
    for (int column = 0; column < tiles::columns; ++column) {
      const int place = tiles::place_of(row, column);
      REQUIRE((place >= 0 && place < tiles::weight_elements));
      REQUIRE(!taken[static_cast<std::size_t>(place)]);
      taken[static_cast<std::size_t>(place)] = true;
    }
  }
  STATIC_REQUIRE(tiles::columns % tenon::warp_size == 0);
  constexpr int pitch = tiles::columns + tenon::chunk_size<typename tiles::number>;  // of sums and gradients
  STATIC_REQUIRE(tiles::ring_bytes + 2 * tenon::shared_bytes_of<typename tiles::number>(tiles::rows * pitch) +
                     tenon::shared_bytes_of<typename tiles::element>(tiles::weight_elements) <=
                 64 * 1024);  // what a block has at least, on any device
}
