// tests/ptx/matrices.cpp: ldmatrix and mma.sync. Which lane holds what is from the figures of the PTX manual.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/products.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

std::uint32_t row_address(const warp& w, const instruction& in, int lane) {
  const std::uint32_t address = w.at<std::uint32_t>(in.a)[lane] + static_cast<std::uint32_t>(in.offset);
  if (address % 16 != 0) throw fault("lane " + std::to_string(lane) + " names a row of a matrix that is not aligned");
  return address;
}

/// Matrices of 8 x 8 elements of 16 bits. Lanes 8 i to 8 i + 7 name the rows of matrix i; lane l gets two elements of
/// row l / 4, or of column l / 4 where it is transposed.
void load_matrices(warp& w, const instruction& in, lane_set) {
  const bool is_transposed = in.kind != 0;
  for (unsigned matrix = 0; matrix < in.count; ++matrix) {
    std::uint16_t elements[8][8];
    std::uintptr_t rows[warp_lanes]{};
    for (unsigned row = 0; row < 8; ++row) {
      const auto lane = static_cast<int>(8 * matrix + row);
      const std::uint32_t address = row_address(w, in, lane);
      rows[row] = address;
      std::memcpy(elements[row], checked_shared(w, address, 16, use::read, lane), 16);
    }
    if (w.in.of.asked.counts_traffic) count_shared(w.in.of.done.shared_loads, rows, 0xff, 16);
    std::uint32_t* const to = w.at<std::uint32_t>(w.code.lists[in.first + matrix]);
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const int outer = lane / 4, inner = lane % 4 * 2;
      const std::uint16_t first = is_transposed ? elements[inner][outer] : elements[outer][inner];
      const std::uint16_t second = is_transposed ? elements[inner + 1][outer] : elements[outer][inner + 1];
      to[lane] = first | std::uint32_t{second} << 16;
    }
  }
}

/// The same the other way round.
void store_matrices(warp& w, const instruction& in, lane_set) {
  const bool is_transposed = in.kind != 0;
  for (unsigned matrix = 0; matrix < in.count; ++matrix) {
    std::uint16_t elements[8][8];
    const std::uint32_t* const from = w.at<std::uint32_t>(w.code.lists[in.first + matrix]);
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const int outer = lane / 4, inner = lane % 4 * 2;
      const auto first = static_cast<std::uint16_t>(from[lane]), second = static_cast<std::uint16_t>(from[lane] >> 16);
      (is_transposed ? elements[inner][outer] : elements[outer][inner]) = first;
      (is_transposed ? elements[inner + 1][outer] : elements[outer][inner + 1]) = second;
    }
    std::uintptr_t rows[warp_lanes]{};
    for (unsigned row = 0; row < 8; ++row) {
      rows[row] = row_address(w, in, static_cast<int>(8 * matrix + row));
      std::memcpy(
          checked_shared(w, static_cast<std::uint32_t>(rows[row]), 16, use::write, static_cast<int>(8 * matrix + row)),
          elements[row], 16);
    }
    if (w.in.of.asked.counts_traffic) count_shared(w.in.of.done.shared_stores, rows, 0xff, 16);
  }
}

/// ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {to}, [rows]; stmatrix has its operands the other way round.
bool decode_rows(decoder& d, bool is_load) {
  if (!d.has("m8n8") || d.part(-1) != "b16") return false;
  d.made.then = flow::collective;
  d.made.run = is_load ? &load_matrices : &store_matrices;
  d.made.kind = d.has("trans") ? 1 : 0;
  d.address(is_load ? 1 : 0);
  d.add_list(is_load ? 0 : 1, 4, is_load);
  return !d.made.is_wide_address && d.made.count == (d.has("x4") ? 4 : d.has("x2") ? 2 : 1);
}

/// The lists of mma.sync: four registers of sums, four of the left matrix, two of the right one, four of sums.
constexpr unsigned left_list = 4, right_list = 8, sum_list = 10;

/// d (16, 8) = a (16, K) b (K, 8) + c. A register holds 4 bytes, E elements; K is 8 E.
void multiply_matrices(warp& w, const instruction& in, lane_set) {
  const auto type = static_cast<element>(in.kind), sum_type = static_cast<element>(in.bytes);
  const int bytes = bytes_of(type), each = 4 / bytes, depth = 8 * each;
  double left[16 * 32], right[32 * 8], sums[16 * 8];
  for (int lane = 0; lane < warp_lanes; ++lane) {
    const int group = lane / 4, member = lane % 4;
    const auto word = [&](unsigned i) { return w.at<std::uint32_t>(w.code.lists[in.first + i])[lane]; };
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < each; ++j) {
        const int row = group + 8 * (i & 1), column = member * each + j + (i >> 1) * 4 * each;
        left[row * depth + column] = number_of(type, word(left_list + static_cast<unsigned>(i)) >> (8 * bytes * j));
      }
      sums[(group + 8 * (i >> 1)) * 8 + member * 2 + (i & 1)] =
          number_of(sum_type, word(sum_list + static_cast<unsigned>(i)));
    }
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < each; ++j)
        right[(member * each + j + i * 4 * each) * 8 + group] =
            number_of(type, word(right_list + static_cast<unsigned>(i)) >> (8 * bytes * j));
    }
  }
  multiply(16, 8, depth, left, right, sums);
  w.in.of.done.tensor_operations += static_cast<std::uint64_t>(2 * 16 * 8 * depth);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const double sum = sums[(lane / 4 + 8 * (i >> 1)) * 8 + lane % 4 * 2 + (i & 1)];
      w.at<std::uint32_t>(w.code.lists[in.first + static_cast<unsigned>(i)])[lane] =
          static_cast<std::uint32_t>(bits_of_sum(sum_type, sum));
    }
  }
}

bool decode_product(decoder& d) {
  const element type = element_of(d.part(7)), sum_type = element_of(d.part(6));
  const std::string_view shape = d.part(3);
  const bool is_known = (shape == "m16n8k16" && (type == element::f16 || type == element::bf16)) ||
                        (shape == "m16n8k8" && type == element::tf32) || (shape == "m16n8k32" && bytes_of(type) == 1);
  if (!is_known || d.part(4) != "row" || d.part(5) != "col" || d.part(8) != d.part(7) || d.part(9) != d.part(6))
    return false;
  if (sum_type != element::f32 && sum_type != element::s32) return false;
  d.made.then = flow::collective;
  d.made.run = &multiply_matrices;
  d.made.kind = static_cast<std::uint8_t>(type);
  d.made.bytes = static_cast<std::uint16_t>(sum_type);
  d.add_list(0, 4, true);
  for (std::size_t i = 1; i < 4; ++i) d.add_list(i, 4, false);
  return d.at(0).parts.size() == 4 && d.at(1).parts.size() == 4 && d.at(2).parts.size() == 2;
}

}  // namespace

bool decode_matrices(decoder& d) {
  if (d.part(0) == "ldmatrix" || d.part(0) == "stmatrix") return decode_rows(d, d.part(0) == "ldmatrix");
  if (d.part(0) == "mma" && d.part(1) == "sync") return decode_product(d);
  return d.part(0) == "wmma" && decode_fragments(d);
}

}  // namespace tenon_test::ptx
