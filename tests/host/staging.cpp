// tests/host/staging.cpp: copies of elements that do not lie along a loop.
// What is taken does not overlap; rows of any stride give the same values, staged or not.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/staging.hpp>

#include "support/catch.hpp"

using tenon::detail::staged_memory;

TEST_CASE("staged memory is taken in whole cache lines", "[staging]") {
  for (const tenon::index count : {1, 64, 700, 100000}) {
    staged_memory memory(2 * staged_memory::bytes_for(count, 3));
    std::byte* const first = memory.take(count, 3);
    std::byte* const second = memory.take(count, 3);
    CAPTURE(count);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    CHECK(second - first == (3 * count + 63) / 64 * 64);
    std::memset(first, 1, static_cast<std::size_t>(3 * count));
    std::memset(second, 2, static_cast<std::size_t>(3 * count));
    CHECK(first[3 * count - 1] == std::byte{1});
  }
}

TEST_CASE("rows with steps are copied side by side", "[staging]") {
  std::vector<float> memory(300);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  for (const tenon::index step : {2, 3, -1, -2, 0}) {
    const float* data = memory.data() + (step < 0 ? 299 : 0);
    const float* const origin = data;
    tenon::index stride = step;
    tenon::detail::staged_row row(5, 90);
    row(data, stride);
    CHECK(stride == 1);
    bool right = true;
    for (tenon::index i = 5; i < 95; ++i) right = right && data[i] == origin[i * step];
    CAPTURE(step);
    CHECK(right);
  }
}

TEST_CASE("rows that need no copy, or find no room, stay", "[staging]") {
  std::vector<float> memory(300);
  tenon::detail::staged_row row(0, 10);
  const float* beside = memory.data();
  tenon::index one = 1;
  row(beside, one);
  CHECK(beside == memory.data());
  CHECK(one == 1);
  for (int source = 0; source < 6; ++source) {
    const float* data = memory.data();
    tenon::index stride = 2;
    row(data, stride);
    CHECK(stride == (source < tenon::detail::staged_row::most_sources ? 1 : 2));
  }
}

TEST_CASE("short rows of neighbouring results are copied across, once for each place", "[staging]") {
  using columns = tenon::detail::staged_columns<3>;
  std::vector<double> memory(4 * 100 * 5);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<double>(i);
  tenon::detail::column_copies copies;
  columns staged(copies, {{2, 0, 0}}, 5, {{30, 77}});
  const double *data = memory.data(), *again = memory.data();
  tenon::array<tenon::index, 3> stride{{500, 1, 5}}, other = stride;
  staged(stride, data);
  staged(other, again);
  CHECK(stride == tenon::array<tenon::index, 3>{{500, columns::columns_at_once(5), 1}});
  CHECK(again == data);
  bool right = true;
  for (tenon::index i = 30; i < 77; ++i) {
    for (tenon::index k = 0; k < 5; ++k) {
      right = right && data[2 * stride[0] + k * stride[1] + i * stride[2]] == static_cast<double>(1000 + i * 5 + k);
    }
  }
  CHECK(right);
}

TEST_CASE("results that lie side by side, repeat or find no room stay where they are", "[staging]") {
  using columns = tenon::detail::staged_columns<2>;
  std::vector<float> memory(3000);
  tenon::detail::column_copies copies;
  columns staged(copies, {{0, 0}}, 3, {{0, 20}});
  for (const tenon::array<tenon::index, 2> kept :
       {tenon::array<tenon::index, 2>{{20, 1}}, {{1, 0}}, {{0, 3}}, {{2, 6}}}) {
    const float* data = memory.data();
    auto stride = kept;
    staged(stride, data);
    CHECK(data == memory.data());
    CHECK(stride == kept);
  }
  for (int source = 0; source < 6; ++source) {
    const float* data = memory.data() + source;
    tenon::array<tenon::index, 2> stride{{1, 3}};
    staged(stride, data);
    CHECK(stride[1] == (source < tenon::detail::column_copies::most_sources ? 1 : 3));
  }
  for (const tenon::index rows : {0, 1, 5, 32}) {
    CHECK(columns::columns_at_once(rows) * rows <= tenon::detail::column_copies::most_elements);
    CHECK(columns::columns_at_once(rows) >= 16);
  }
}

TEST_CASE("short rows that repeat over positions are copied once, others in their places", "[staging]") {
  using columns = tenon::detail::staged_columns<3>;
  std::vector<float> memory(3000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  tenon::detail::column_copies copies;
  const float* kept = nullptr;
  bool right = true;
  for (tenon::index position = 0; position < 9; ++position) {
    columns staged(copies, {{position, 0, 0}}, 3, {{0, 20}});
    tenon::array<tenon::index, 3> repeating{{0, 1, 3}}, moving{{60, 1, 3}}, other{{60, 1, 4}};
    const float *same = memory.data(), *own = memory.data() + 60, *last = memory.data() + 60;
    staged(moving, own);
    staged(repeating, same);
    staged(other, last);
    if (position == 0) kept = same;
    right = right && same == kept;
    for (tenon::index k = 0; k < 3; ++k) {
      const auto value = [&](const float* data, const tenon::array<tenon::index, 3>& stride) {
        return data[position * stride[0] + k * stride[1] + 19 * stride[2]];
      };
      const auto begin = static_cast<float>(60 + 60 * position + k);
      right = right && value(same, repeating) == static_cast<float>(57 + k);
      right = right && value(own, moving) == begin + 57 && value(last, other) == begin + 76;
    }
  }
  CHECK(right);
  columns again(copies, {{0, 0, 0}}, 4, {{0, 20}});  // more values of each row are another copy
  tenon::array<tenon::index, 3> stride{{0, 1, 4}};
  const float* data = memory.data();
  again(stride, data);
  CHECK(data[3 * stride[1]] == 3);
  const std::vector<double> numbers(100, 5.0);
  columns wider(copies, {{0, 0, 0}}, 4, {{0, 20}});
  tenon::array<tenon::index, 3> step{{0, 1, 4}};
  const double* of_numbers = numbers.data();
  wider(step, of_numbers);
  CHECK(of_numbers[19] == 5.0);
}
