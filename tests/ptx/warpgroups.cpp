// tests/ptx/warpgroups.cpp: wgmma: products of a warpgroup, whose operands lie in swizzled tiles of shared memory.
// They are done as late as the rules allow: when the warp waits for their group. Each warp does its own 16 rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "ptx/decode.hpp"
#include "ptx/products.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

constexpr int rows_of_warp = 16, part_bytes = 16;

/// The word that describes an operand: addresses in units of 16 bytes.
struct descriptor {
  std::uint64_t bits;
  std::uint32_t field(int bit) const { return static_cast<std::uint32_t>(bits >> bit & 0x3fff) * 16; }
  std::uint32_t address() const { return field(0); }
  std::uint32_t leading_bytes() const { return field(16); }
  std::uint32_t stride_bytes() const { return field(32); }
  void check() const {
    if (bits >> 62 != 1 || (bits >> 49 & 7) != 0)
      throw fault("wgmma: a descriptor of another order than 128 swizzled bytes");
  }
};

/// Sixteen bytes of a tile whose rows of 128 bytes are swizzled by their address.
void read_part(warp& w, std::uint32_t address, unsigned char* into) {
  std::memcpy(into, checked_async(w, {&w.in, address ^ ((address >> 7 & 7) << 4)}, part_bytes, use::read, 0),
              part_bytes);
}

/// An operand: `lines` rows of the left or columns of the right one, from `first` on, and their depth. The place of an
/// element in `into` is line * line_step + depth * depth_step.
struct operand_reader {
  warp& w;
  descriptor from;
  element type;
  int first, lines, depth, line_step, depth_step;
  double* into;

  void take_part(std::uint32_t address, int line, int at, bool goes_along_lines) const {
    unsigned char bytes[part_bytes];
    read_part(w, address, bytes);
    const int size = bytes_of(type);
    for (int i = 0; i < part_bytes / size; ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, bytes + i * size, static_cast<std::size_t>(size));
      const int here =
          goes_along_lines ? (line + i) * line_step + at * depth_step : line * line_step + (at + i) * depth_step;
      into[here] = number_of(type, bits);
    }
  }
  /// Depth lies side by side: eight lines are 1024 bytes, from eight to the next are stride_bytes.
  void read_by_depth() const {
    const int each = part_bytes / bytes_of(type);
    for (int line = 0; line < lines; ++line) {
      const auto row = static_cast<std::uint32_t>(first + line);
      for (int at = 0; at < depth; at += each)
        take_part(from.address() + row / 8 * from.stride_bytes() + row % 8 * 128 +
                      static_cast<std::uint32_t>(at * bytes_of(type)),
                  line, at, false);
    }
  }
  /// Lines lie side by side, 64 in a row: eight of depth are 1024 bytes, from eight to the next are stride_bytes; from
  /// 64 lines to the next are leading_bytes.
  void read_by_lines() const {
    for (int at = 0; at < depth; ++at) {
      const auto row = static_cast<std::uint32_t>(at);
      for (int line = 0; line < lines; line += 8) {
        const auto column = static_cast<std::uint32_t>(first + line);
        take_part(from.address() + row / 8 * from.stride_bytes() + row % 8 * 128 + column / 64 * from.leading_bytes() +
                      column % 64 * 2,
                  line, at, true);
      }
    }
  }
};

enum order : std::uint16_t { left_by_lines = 256, right_by_lines = 512 };

void finish_product(warp& w, const async_product& product) {
  const instruction& in = *product.what;
  for (const std::uint32_t sum : w.code.watched[in.watched].sums) --w.sums_under_way[sum];
  const auto type = static_cast<element>(in.kind);
  const int columns = in.count * 2, depth = 32 / bytes_of(type), first = w.number % 4 * rows_of_warp;
  std::vector<double> left(static_cast<std::size_t>(rows_of_warp * depth)),
      right(static_cast<std::size_t>(depth * columns)), sums(static_cast<std::size_t>(rows_of_warp * columns));
  const operand_reader a{w, {product.left}, type, first, rows_of_warp, depth, depth, 1, left.data()};
  const operand_reader b{w, {product.right}, type, 0, columns, depth, 1, columns, right.data()};
  if ((in.bytes & left_by_lines) != 0) a.read_by_lines();
  else a.read_by_depth();
  if ((in.bytes & right_by_lines) != 0) b.read_by_lines();
  else b.read_by_depth();
  const auto place = [&](int lane, unsigned i) {
    const auto number = static_cast<int>(i);
    return static_cast<std::size_t>((lane / 4 + 8 * (number >> 1 & 1)) * columns + 8 * (number >> 2) + lane % 4 * 2 +
                                    (number & 1));
  };
  const element sum_type = type == element::s8 ? element::s32 : element::f32;
  for (unsigned i = 0; i < in.count && product.adds; ++i) {
    const std::uint32_t* const old = w.at<std::uint32_t>(w.code.lists[in.first + i]);
    for (int lane = 0; lane < warp_lanes; ++lane) sums[place(lane, i)] = number_of(sum_type, old[lane]);
  }
  multiply(rows_of_warp, columns, depth, left.data(), right.data(), sums.data());
  w.in.of.done.tensor_operations += static_cast<std::uint64_t>(2 * rows_of_warp * columns * depth);
  for (unsigned i = 0; i < in.count; ++i) {
    std::uint32_t* const to = w.at<std::uint32_t>(w.code.lists[in.first + i]);
    for (int lane = 0; lane < warp_lanes; ++lane)
      to[lane] = static_cast<std::uint32_t>(bits_of_sum(sum_type, sums[place(lane, i)]));
  }
}

void begin_product(warp& w, const instruction& in, lane_set) {
  const descriptor left{w.at<std::uint64_t>(in.a)[0]}, right{w.at<std::uint64_t>(in.b)[0]};
  left.check(), right.check();
  if (!w.has_product_fence) throw fault("wgmma.mma_async without a wgmma.fence before it");
  for (const std::uint32_t sum : w.code.watched[in.watched].sums) {
    if (w.used_sums[sum] != 0)
      throw fault("wgmma.mma_async takes registers that other instructions have used, without a wgmma.fence between");
    ++w.sums_under_way[sum];
  }
  w.products.push_back({&in, left.bits, right.bits, (w.predicate(in.c) & 1) != 0, w.product_groups});
}

void commit_products(warp& w, const instruction&, lane_set) { ++w.product_groups; }

/// All groups but the latest `offset` are done.
void wait_for_products(warp& w, const instruction& in, lane_set) {
  while (!w.products.empty() && std::int64_t{w.product_groups} - 1 - w.products.front().group >= in.offset) {
    finish_product(w, w.products.front());
    w.products.pop_front();
  }
}

void make_fence(warp& w, const instruction&, lane_set) {
  w.has_product_fence = true;
  std::fill(w.used_sums.begin(), w.used_sums.end(), std::uint8_t{0});
}

/// Another instruction than a product uses registers of sums.
void use_sums(warp& w, const instruction& in, lane_set active) {
  const watched_instruction& watched = w.code.watched[in.watched];
  for (const std::uint32_t sum : watched.sums) {
    if (w.sums_under_way[sum] != 0)
      throw fault("registers of a product of a warpgroup are used before it is waited for");
    w.used_sums[sum] = 1;
  }
  watched.run(w, in, active);
}

/// The registers that an instruction names.
std::vector<slot> registers_of(const kernel& code, const instruction& in) {
  std::vector<slot> result{in.to, in.to_other, in.a, in.b, in.c, in.d, in.members};
  const auto lists = code.lists.begin() + in.first;
  result.insert(result.end(), lists, lists + in.listed);
  std::erase_if(result, [](slot each) { return each.is_there == 0 || each.is_constant != 0; });
  return result;
}

/// wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {sums}, left, right, adds, of floats 1, 1 and, of 16 bits, the
/// orders.
bool decode_product(decoder& d) {
  const element type = element_of(d.part(6));
  const std::string_view shape = d.part(4);
  int columns = 0;
  if (shape.substr(0, 4) == "m64n") std::from_chars(shape.data() + 4, shape.data() + shape.size(), columns);
  const bool is_integer = type == element::s8, has_16_bits = type == element::f16 || type == element::bf16;
  const bool is_known =
      is_integer || has_16_bits || type == element::tf32 || type == element::e4m3 || type == element::e5m2;
  const std::string depth = "k" + std::to_string(32 / bytes_of(type));
  if (!is_known || !shape.ends_with(depth) || d.part(5) != (is_integer ? "s32" : "f32") || d.part(7) != d.part(6) ||
      columns != 2 * static_cast<int>(d.at(0).parts.size()) ||
      d.operands() != (is_integer    ? 4u
                       : has_16_bits ? 8u
                                     : 6u))
    return false;
  if (!is_integer && (d.at(4).bits != 1 || d.at(5).bits != 1)) return false;
  d.made.run = &begin_product;
  d.made.kind = static_cast<std::uint8_t>(type);
  d.add_list(0, 4, true);
  d.made.a = d.source(1, 8);
  d.made.b = d.source(2, 8);
  d.made.c = d.source(3, 0);
  d.made.bytes = static_cast<std::uint16_t>((has_16_bits && d.at(6).bits != 0 ? left_by_lines : 0) |
                                            (has_16_bits && d.at(7).bits != 0 ? right_by_lines : 0));
  return true;
}

}  // namespace

void watch_sums(kernel& code) {
  std::map<std::uint32_t, std::uint32_t> numbers;  // of registers of sums, by their places
  for (const instruction& each : code.code) {
    for (unsigned i = 0; each.run == &begin_product && i < each.count; ++i)
      numbers.try_emplace(code.lists[each.first + i].offset, static_cast<std::uint32_t>(numbers.size()));
  }
  code.sums = numbers.size();
  if (numbers.empty()) return;
  for (instruction& each : code.code) {
    watched_instruction watched{.run = each.run, .sums = {}};
    for (const slot one : registers_of(code, each)) {
      if (const auto found = numbers.find(one.offset); found != numbers.end()) watched.sums.push_back(found->second);
    }
    if (watched.sums.empty()) continue;
    each.watched = static_cast<std::uint32_t>(code.watched.size());
    if (each.run != &begin_product) each.run = &use_sums;
    code.watched.push_back(std::move(watched));
  }
}

bool decode_warpgroups(decoder& d) {
  d.made.then = flow::collective;
  const std::string_view name = d.part(1);
  if (name == "mma_async") return decode_product(d);
  if (name == "fence") d.made.run = &make_fence;
  else if (name == "commit_group") d.made.run = &commit_products;
  else if (name == "wait_group")
    d.made.run = &wait_for_products, d.made.offset = static_cast<std::int64_t>(d.at(0).bits);
  else return false;
  return true;
}

}  // namespace tenon_test::ptx
