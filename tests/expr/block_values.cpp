// tests/expr/block_values.cpp: the node of weights in blocks, under views and in statements.
// Against numbers that the test decodes from the same bytes by itself.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/block_values.hpp>

#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"

using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// Random bytes, but for scales: powers of two.
template <class Format>
std::vector<std::uint8_t> random_blocks(tenon::index blocks, std::uint64_t seed) {
  tenon_test::random_source source(seed);
  std::vector<std::uint8_t> bytes;
  for (tenon::index i = 0; i < blocks * Format::bytes; ++i) {
    const tenon::index place = i % Format::bytes;
    const auto any = static_cast<std::uint8_t>(source.below(256));
    bytes.push_back(place == 0 ? 0 : place == 1 ? static_cast<std::uint8_t>(0x30 + any % 4 * 4) : any);
  }
  return bytes;
}
/// The weight of a row and column.
template <class Format>
double weight_at(const std::vector<std::uint8_t>& bytes, tenon::index columns, tenon::index row, tenon::index column) {
  const std::uint8_t* block = bytes.data() + (row * columns / 32 + column / 32) * Format::bytes;
  const double scale = std::ldexp(1.0, block[1] / 4 - 15);
  const tenon::index place = column % 32;
  if constexpr (Format::bytes == 34) return scale * static_cast<std::int8_t>(block[2 + place]);
  else return scale * ((place < 16 ? block[2 + place] % 16 : block[2 + place - 16] / 16) - 8);
}
template <class Format, class Bytes>
auto node_of_bytes(const Bytes& bytes, tenon::index rows, tenon::index columns) {
  const auto leaf = tenon::as_node(bytes);
  return tenon::block_values<Format, rank<2>, std::remove_const_t<decltype(leaf)>>{{{{leaf}}}, rank<2>(rows, columns)};
}

template <class Format, class Space>
void check_values() {
  const tenon::index rows = 3, columns = 96;
  const auto made = random_blocks<Format>(rows * 3, 7);
  const auto bytes = tenon_test::tensor_of<Space>(rank<2>(rows, 3 * Format::bytes), made);
  const auto node = node_of_bytes<Format>(bytes, rows, columns);
  std::vector<double> whole, turned, part, sums(3);
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      const double weight = weight_at<Format>(made, columns, i, j);
      whole.push_back(weight), sums[static_cast<std::size_t>(i)] += weight;
    }
  }
  for (tenon::index j = 0; j < columns; ++j) {
    for (tenon::index i = 0; i < rows; ++i) turned.push_back(2 * weight_at<Format>(made, columns, i, j));
  }
  for (tenon::index j = 90; j >= 6; j -= 3) part.push_back(weight_at<Format>(made, columns, 2, j));
  CHECK(numbers_of<Space>(node) == whole);
  CHECK(numbers_of<Space>(tenon::transpose(node) * 2.0f) == turned);
  CHECK(numbers_of<Space>(
            tenon::flip(tenon::slice(node, tenon::range(2, 3), tenon::range(6, 91, 3)), tenon::axis<1>)) == part);
  CHECK(tenon_test::difference(numbers_of<Space>(tenon::sum(node, tenon::axis<1>)), sums, 1e-5) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("blocks stand for their weights", "[block_values]", tenon_test::spaces) {
  check_values<tenon::q8_0, TestType>();
  check_values<tenon::q4_0, TestType>();
}
