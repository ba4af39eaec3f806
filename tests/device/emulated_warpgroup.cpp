// tests/device/emulated_warpgroup.cpp: products of warpgroups, and the mistakes that emulation reports.
// Threads write operands themselves, so that layouts are checked apart from copies.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated_hopper.hpp>
#include <tenon/device/emulated_warpgroup.hpp>

#include <cmath>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;
using tenon::column_major;
using tenon::emulated_device;
using tenon::row_major;

constexpr int columns = 128;

float left_at(int row, int k) { return static_cast<float>((row * 7 + k * 3) % 11 - 5); }
float right_at(int k, int column) { return static_cast<float>((k * 5 + column * 2) % 13 - 6); }

enum class mistake { none, no_begin, early_read, early_write, other_operand, no_wait, half_a_warpgroup, no_swizzle };

/// 64 x 128 sums over a depth of 128 bytes, and over the first 32 bytes once more.
template <class Element, class Left, class Right>
struct product_kernel {
  using product = tenon::warpgroup_product<Element, columns, Left, Right>;
  using stored = tenon::fragment_storage<Element>;
  using sum_type = tenon::fragment_accumulator<Element>;
  static constexpr const char* name = "product";
  static constexpr int bytes = tenon::stored_bytes<Element>, depth = 128 / bytes;
  static constexpr int left_size = 64 * depth, right_size = columns * depth;
  static constexpr int shared_bytes = bytes * (left_size + right_size);
  float* found;
  mistake made = mistake::none;

  /// Where an element lies: lines of 64 of depth, or where lines are adjacent, 64 of them at each depth.
  static int place(bool adjacent, int line, int k) {
    return adjacent ? line / 64 * 64 * depth + k * 64 + line % 64 : line * depth + k;
  }
  int swizzled(int element) const {
    return made == mistake::no_swizzle ? element : tenon::swizzled(bytes * element) / bytes;
  }

  void operator()(emulated_device& device) const {
    tenon::hopper_unit<emulated_device> unit(device);
    const auto left = device.shared<stored>(left_size), right = device.shared<stored>(right_size);
    for (int i = device.thread(); i < left_size; i += 128) {
      left.store(swizzled(place(product::left_has_rows_adjacent, i / depth, i % depth)),
                 static_cast<stored>(left_at(i / depth, i % depth)));
    }
    for (int i = device.thread(); i < right_size; i += 128) {
      right.store(swizzled(place(product::right_has_columns_adjacent, i / depth, i % depth)),
                  static_cast<stored>(right_at(i % depth, i / depth)));
    }
    device.sync();
    if (made == mistake::half_a_warpgroup && device.thread() >= 64) return;
    std::uint32_t sums[product::sums];
    for (auto& sum : sums) sum = 1000;
    const auto a = unit.describe(left, 0, 8192, 1024), b = unit.describe(right, 0, 8192, 1024);
    constexpr int left_step = product::left_has_rows_adjacent ? 2048 : 32;
    constexpr int right_step = product::right_has_columns_adjacent ? 2048 : 32;
    if (made != mistake::no_begin) unit.begin_products();
    for (int i = 0; i < depth / tenon::product_depth<Element>; ++i) {
      const bool askew = made == mistake::other_operand && device.thread() == 9;
      unit.multiply<product>(sums, a.advanced(i * left_step), b.advanced((askew ? 0 : i) * right_step), i > 0);
    }
    unit.commit_products();
    unit.wait_products<1>();
    if (made == mistake::early_read) return note(device, sums);
    if (made == mistake::early_write && device.thread() == 0) left.store(5, static_cast<stored>(99.0f));
    unit.multiply<product>(sums, a, b, true);
    unit.commit_products();
    if (made == mistake::no_wait) return;
    unit.finish_products(sums);
    note(device, sums);
  }
  void note(emulated_device& device, const std::uint32_t (&sums)[product::sums]) const {
    for (int i = 0; i < product::sums; ++i) {
      const int row = tenon::row_of_sum(device.thread(), i / 2), column = tenon::column_of_sum(device.thread(), i / 2);
      found[row * columns + column + i % 2] = static_cast<float>(tenon::sum_of_word<sum_type>(sums[i]));
    }
  }
};

template <class Element, class Left, class Right>
std::vector<float> found_by(mistake made = mistake::none) {
  std::vector<float> found(64 * columns);
  using kernel = product_kernel<Element, Left, Right>;
  tenon::launch<tenon::emulated>({.grid = {1}, .block = 128, .shared_bytes = kernel::shared_bytes},
                                 kernel{found.data(), made});
  return found;
}

template <class Element = tenon::half>
int count_wrong(const std::vector<float>& found) {
  constexpr int depth = 128 / tenon::stored_bytes<Element>, once_more = tenon::product_depth<Element>;
  int wrong = 0;
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < columns; ++column) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) sum += left_at(row, k) * right_at(k, column) * (k < once_more ? 2 : 1);
      wrong += found[static_cast<std::size_t>(row * columns + column)] == sum ? 0 : 1;
    }
  }
  return wrong;
}

template <class Exception>
std::string text_of(mistake made) {
  return text_thrown<Exception>([made] { found_by<tenon::half, row_major, row_major>(made); });
}

}  // namespace

TEST_CASE("products of operands in either order", "[device]") {
  CHECK(count_wrong(found_by<tenon::half, row_major, row_major>()) == 0);
  CHECK(count_wrong(found_by<tenon::half, row_major, column_major>()) == 0);
  CHECK(count_wrong(found_by<tenon::half, column_major, row_major>()) == 0);
  CHECK(count_wrong(found_by<tenon::half, column_major, column_major>()) == 0);
}

TEST_CASE("products of elements of 8 and of 32 bits, whose depth lies side by side", "[device]") {
  CHECK(count_wrong<tenon::tf32>(found_by<tenon::tf32, row_major, column_major>()) == 0);
  CHECK(count_wrong<std::int8_t>(found_by<std::int8_t, row_major, column_major>()) == 0);
  CHECK(count_wrong<tenon::float8_e4m3>(found_by<tenon::float8_e4m3, row_major, column_major>()) == 0);
}

TEST_CASE("operands without the swizzle give something else", "[device]") {
  CHECK(count_wrong(found_by<tenon::half, row_major, row_major>(mistake::no_swizzle)) > 1000);
  CHECK(count_wrong(found_by<tenon::half, column_major, column_major>(mistake::no_swizzle)) > 1000);
}

TEST_CASE("sums are no numbers until waited for", "[device]") {
  std::vector<float> found(64 * columns);
  using kernel = product_kernel<tenon::half, row_major, row_major>;
  const auto run = [&] {
    tenon::launch<tenon::emulated>({.grid = {1}, .block = 128, .shared_bytes = kernel::shared_bytes},
                                   kernel{found.data(), mistake::early_read});
  };
  CHECK(contains(text_thrown<tenon::barrier_error>(run), "are under way"));
  CHECK(count_wrong(found) == 64 * columns);
  for (const float each : found) CHECK(std::isnan(each));
}

TEST_CASE("mistakes with products are reported", "[device]") {
  CHECK(contains(text_of<tenon::barrier_error>(mistake::no_begin), "expected one before"));
  CHECK(contains(text_of<tenon::barrier_error>(mistake::other_operand), "differ in their operands"));
  CHECK(contains(text_of<tenon::barrier_error>(mistake::no_wait), "are under way"));
  CHECK(contains(text_of<tenon::barrier_error>(mistake::half_a_warpgroup),
                 "64 of 128 threads of a warpgroup are in multiply"));
  CHECK(contains(text_of<tenon::race_error>(mistake::early_write), "was written before all its warps waited for it"));
}
