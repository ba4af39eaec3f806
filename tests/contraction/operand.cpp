// tests/contraction/operand.cpp: tiles of operands in shared memory.
// A kernel fetches one tile and writes out what lies there; how it was to be read is seen from the operand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/operand.hpp>
#include <tenon/contraction/wmma.hpp>
#include <tenon/device/launch.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::operand_side;
using tenon::rank;
using tenon::tile_layout;

constexpr int lines = 16, depth = 32, threads = 32;
using placement = tenon::fragment_placement<float, lines, depth>;

/// Fetches one part of an operand and writes it out line by line.
template <class Operand>
struct fetch_kernel {
  Operand operand;
  tenon::operand_part part;
  float* found;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto stage = device.template shared<float>(placement::elements);
    operand.template fetch<placement, threads>(device, stage, part);
    device.commit_copies();
    device.template wait_copies<0>();
    device.sync();
    const bool along_depth = operand.layout == tile_layout::along_depth;
    for (int i = device.thread(); i < lines * depth; i += threads) {
      const int run = along_depth ? i / depth : i % depth, element = along_depth ? i % depth : i / depth;
      found[i] = stage.load(placement::offset(operand.layout, run, element / 4) + element % 4);
    }
  }
};

template <class Space, class Operand>
std::vector<double> fetched(const Operand& operand, const tenon::operand_part& part) {
  tenon::tensor<float, rank<2>, Space> found({lines, depth});
  const tenon::launch_shape shape{.grid = {}, .block = threads, .shared_bytes = placement::elements * 4};
  tenon::launch<Space>(shape, fetch_kernel<Operand>{operand, part, found.data()});
  return tenon_test::numbers_of(found);
}

/// How a matrix lies in memory, and the bytes of the accesses that it is copied in.
struct placed_bytes {
  tenon::index gap, first;
  int bytes;
};

/// What an operand's part should be: element (line, k) of the matrix or of its transpose, zeros outside.
std::vector<double> expected_part(const tenon::tensor<float, rank<2>>& matrix, bool is_right,
                                  const tenon::operand_part& part) {
  std::vector<double> result;
  for (tenon::index line = part.first_line; line < part.first_line + lines; ++line) {
    for (tenon::index k = part.first_depth; k < part.first_depth + depth; ++k) {
      const bool inside = line < part.line_end && k < part.depth_end;
      result.push_back(!inside ? 0 : is_right ? matrix(k, line) : matrix(line, k));
    }
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("operands in memory are copied in the widest accesses that they allow", "[operand]",
                        tenon_test::kernel_spaces) {
  const auto matrix = tenon_test::counting<float>(rank<2>(20, 36));
  for (const bool by_columns : {false, true}) {
    for (const auto& [gap, first, bytes] :
         {placed_bytes{0, 0, 16}, {4, 8, 16}, {2, 0, 8}, {4, 2, 8}, {1, 0, 4}, {0, 1, 4}}) {
      const tenon_test::placed_matrix<TestType, float> placed(matrix, {by_columns, gap, first});
      const auto left = tenon::make_operand<float, operand_side::left>(tenon_test::matrix_of(placed.view()), 20, 36);
      const auto right = tenon::make_operand<float, operand_side::right>(tenon_test::matrix_of(placed.view()), 20, 36);
      CAPTURE(by_columns, gap, first);
      CHECK(left.copy_bytes == bytes);
      CHECK(right.copy_bytes == bytes);
      CHECK((left.layout == tile_layout::along_lines) == by_columns);
      CHECK((right.layout == tile_layout::along_lines) != by_columns);
      for (const tenon::index start : {0, 16}) {
        const tenon::operand_part rows{start, 20, start * 2, 36}, columns{2 * start, 36, start / 2, 20};
        CHECK(fetched<TestType>(left, rows) == expected_part(matrix, false, rows));
        CHECK(fetched<TestType>(right, columns) == expected_part(matrix, true, columns));
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("operands that are computed, strided or of another type are evaluated", "[operand]",
                        tenon_test::kernel_spaces) {
  const auto matrix = tenon_test::counting<float>(rank<2>(20, 36));
  const auto here = matrix.template to<TestType>();
  const tenon::operand_part part{3, 20, 5, 36};
  const auto check = [&](const auto& operand, const auto& expected) {
    CHECK(operand.copy_bytes == 0);
    CHECK(fetched<TestType>(operand, part) == expected_part(tenon::evaluated_tensor(expected), false, part));
  };
  check(tenon::make_operand<float, operand_side::left>(tenon_test::matrix_of(here * 2), 20, 36), matrix * 2);
  const auto wide = tenon_test::counting<float>(rank<2>(20, 72));
  const auto strided = [](const auto& x) { return tenon::slice(x, tenon::all_of, tenon::range(0, 72, 2)); };
  const auto wide_here = wide.template to<TestType>();
  check(tenon::make_operand<float, operand_side::left>(tenon_test::matrix_of(strided(wide_here)), 20, 36),
        strided(wide));
  const auto bytes =
      tenon_test::made_tensor<std::int8_t>(rank<2>(20, 36), [](tenon::index i) { return i % 251 - 125; });
  const auto bytes_here = bytes.template to<TestType>();
  check(tenon::make_operand<float, operand_side::left>(tenon_test::matrix_of(bytes_here), 20, 36),
        tenon::cast<float>(bytes));
  const auto computed = tenon_test::matrix_of(tenon::transpose(here) + 1);
  const auto across = tenon::make_operand<float, operand_side::left>(computed, 36, 20);
  CHECK(across.layout == tile_layout::along_lines);
}
