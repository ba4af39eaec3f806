// tests/kernels/transposed.cpp: operands that lie across the destination, by way of tiles in shared memory.
// Extents around tiles and packets; several axes, widths and operands; destinations that lie askew; what takes no tile.
// SPDX-License-Identifier: Apache-2.0
#include <numeric>
#include <tenon/kernels/transposed.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/complex.hpp"
#include "support/elements.hpp"
#include "support/guarded.hpp"
#include "support/spaces.hpp"

using tenon::range;
using tenon::rank;
using tenon::transpose;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::elements_of;
using tenon_test::numbers_of;

namespace {

/// The kernel that a statement runs, by its count of launches; "" where it runs none or several.
template <class Statement>
std::string kernel_of(const Statement& statement) {
  const tenon::launch_counter counter;
  statement();
  return counter.count() == 1 ? counter.last_kind() : "";
}

/// Six leaves of three operands.
template <class A, class B, class C>
auto six_transposed(const A& a, const B& b, const C& c) {
  return (transpose(a) * transpose(b) + transpose(c)) * 0.5f - transpose(a) / (1 + transpose(b) * transpose(b));
}

template <class T, class Space>
void check_transposed_copy(tenon::index rows, tenon::index columns) {
  const auto x = tenon_test::made_tensor<T, Space>(rank<2>(rows, columns),
                                                   [](tenon::index i) { return static_cast<double>(i % 101); });
  tenon::tensor<T, rank<2>, Space> y({columns, rows});
  y = transpose(x);
  const auto read = elements_of(x), written = elements_of(y);
  CAPTURE(rows, columns);
  for (tenon::index i = 0; i < rows; ++i) {
    for (tenon::index j = 0; j < columns; ++j) {
      if (written[static_cast<std::size_t>(j * rows + i)] != read[static_cast<std::size_t>(i * columns + j)]) {
        FAIL("element " << j << ", " << i);
      }
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("transposed copies of every size around tiles", "[transposed]", float, double, tenon::half,
                   std::int8_t, tenon_test::complex<double>) {
  const tenon::index sizes[][2] = {{16, 16}, {17, 64}, {63, 65}, {64, 128}, {130, 31}, {200, 67}, {15, 40}, {0, 20}};
  using space = std::tuple_element_t<0, tenon_test::kernel_spaces>;
  for (const auto& [rows, columns] : sizes) check_transposed_copy<TestType, space>(rows, columns);
}

TEMPLATE_LIST_TEST_CASE("a statement with operands both ways is one kernel", "[transposed]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<2>(70, 100)), z = counting<float, TestType>(rank<2>(100, 70), 3),
             row = counting<float, TestType>(rank<2>(1, 70), 5), column = counting<float, TestType>(rank<2>(100, 1), 7);
  tenon::tensor<float, rank<2>, TestType> y({100, 70});
  CHECK(kernel_of([&] { y = transpose(x) * 2 + z - row * column + tenon::arange<float>(70); }) == "transposed");
  const auto copy = tenon::evaluated_tensor(transpose(x));
  CHECK(numbers_of(y) == numbers_of(copy * 2 + z - row * column + tenon::arange<float>(70)));
}

TEMPLATE_LIST_TEST_CASE("images change the order of their axes by tiles", "[transposed]", tenon_test::kernel_spaces) {
  const auto images = counting<tenon::bfloat16, TestType>(rank<4>(2, 20, 7, 9));
  tenon::tensor<tenon::bfloat16, rank<4>, TestType> channels_last({2, 7, 9, 20}), back({2, 20, 7, 9});
  CHECK(kernel_of([&] { channels_last = tenon::permute(images, tenon::axis<0, 2, 3, 1>); }) == "transposed");
  CHECK(kernel_of([&] { back = tenon::permute(channels_last, tenon::axis<0, 3, 1, 2>); }) == "transposed");
  CHECK(numbers_of(back) == numbers_of(images));
  CHECK(channels_last.template to<tenon::host>()(1, 3, 4, 19) == images.template to<tenon::host>()(1, 19, 3, 4));
}

TEMPLATE_LIST_TEST_CASE("a destination that lies askew sets the order", "[transposed]", tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<2>(40, 36)), z = counting<float, TestType>(rank<2>(36, 40), 3);
  tenon::tensor<float, rank<2>, TestType> y({36, 40});
  CHECK(kernel_of([&] { transpose(y) = x + 1; }) == "transposed");
  CHECK(numbers_of(transpose(y)) == numbers_of(x + 1));
  CHECK(kernel_of([&] { transpose(y) = transpose(z) * 2; }) == "pointwise");  // all the same way: no tile
  CHECK(numbers_of(y) == numbers_of(z * 2));
}

TEMPLATE_LIST_TEST_CASE("tiles of slices neither read nor write beside them", "[transposed]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<2>(61, 84));
  auto y = tenon::full<float, TestType>(rank<2>(90, 72), -1.0f);
  tenon::slice(y, range(3, 81), range(4, 62)) = transpose(tenon::slice(x, range(1, 59), range(4, 82)));
  const auto found = y.template to<tenon::host>(), read = x.template to<tenon::host>();
  for (tenon::index i = 0; i < 90; ++i) {
    for (tenon::index j = 0; j < 72; ++j) {
      const bool inside = i >= 3 && i < 81 && j >= 4 && j < 62;
      if (found(i, j) != (inside ? read(1 + j - 4, 4 + i - 3) : -1.0f)) FAIL("element " << i << ", " << j);
    }
  }
}

TEST_CASE("nothing is read or written past the end of memory", "[transposed]") {
  for (const auto& [rows, columns] : {std::pair<tenon::index, tenon::index>{66, 77}, {68, 76}, {100, 30}}) {
    const tenon_test::guarded<float> from(static_cast<std::size_t>(rows * columns)),
        to(static_cast<std::size_t>(rows * columns));
    std::iota(from.data(), from.data() + rows * columns, 0.0f);
    const tenon::view<const float, rank<2>, tenon::emulated> x(from.data(), rank<2>(rows, columns), {{columns, 1}});
    tenon::view<float, rank<2>, tenon::emulated> y(to.data(), rank<2>(columns, rows), {{rows, 1}});
    y = transpose(x);
    CHECK(to.data()[2 * rows + 1] == static_cast<float>(columns + 2));
  }
}

TEST_CASE("packets are read where they lie whole, whichever way", "[transposed]") {
  using tenon::array, tenon::index;
  const array<index, 2> extents{{64, 66}};
  tenon::detail::reading_choice<2, 4, 64, 8> choice{extents};
  alignas(16) float memory[8]{};
  choice(array<index, 2>{{1, 64}}, memory);      // across, aligned
  choice(array<index, 2>{{1, 66}}, memory);      // across, rows apart by no whole packets
  choice(array<index, 2>{{1, 64}}, memory + 1);  // across, askew
  choice(array<index, 2>{{68, 1}}, memory);      // along
  choice(array<index, 2>{{66, 1}}, memory);      // along, rows apart by no whole packets
  choice(array<index, 2>{{0, 1}}, memory);       // a row
  choice(array<index, 2>{{1, 0}}, memory);       // a column
  CHECK(choice.readings.across == 0b0000111);
  CHECK(choice.readings.in_packets == 0b0101001);
  CHECK(choice.readings.bytes <= tenon::detail::tile_bytes_limit);
  choice(array<index, 2>{{1, 64}}, memory + 2);  // a fourth tile is more than a block has
  CHECK_FALSE(choice.readings.is_across(7));
}

TEST_CASE("sources across that are the same elements share a tile", "[transposed]") {
  using tenon::array, tenon::index;
  const array<index, 2> extents{{64, 66}};
  tenon::detail::reading_choice<2, 4, 64, 11> choice{extents};
  alignas(16) float memory[8]{};
  const array<index, 2> across{{1, 64}};
  constexpr int tile = 64 * 65 * 4;
  choice(across, memory);
  choice(across, memory);
  choice(array<index, 2>{{1, 68}}, memory);  // other rows
  choice(across, memory);
  choice(across, reinterpret_cast<const short*>(memory));  // elements of another size
  choice(across, memory + 4);
  choice(across, memory + 4);
  choice(array<index, 2>{{64, 1}}, memory);  // along
  choice(across, memory + 1);                // no room for another tile of floats
  choice(across, memory + 1);
  choice(across, memory);
  CHECK(choice.readings.across == 0b10001111111);
  CHECK(choice.readings.first == 0b00000110101);
  for (const int same : {1, 3, 10}) CHECK(choice.readings.tile[same] == 0);
  CHECK(choice.readings.tile[2] == tile);
  CHECK(choice.readings.tile[4] == 2 * tile);
  CHECK(choice.readings.tile[5] == 2 * tile + 64 * 66 * 2);
  CHECK(choice.readings.tile[6] == choice.readings.tile[5]);
  CHECK(choice.readings.bytes == 3 * tile + 64 * 66 * 2);
  CHECK(choice.readings.bytes <= tenon::detail::tile_bytes_limit);
  CHECK(choice.readings.in_packets == 0b10011111111);
}

TEMPLATE_LIST_TEST_CASE("operands across that occur several times", "[transposed]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {64, 67}) {
    const auto host = counting<float>(rank<2>(4 * rows, 150));
    const auto x = host.template to<TestType>();
    const auto part = [&](const auto& values, tenon::index row, tenon::index column, tenon::index step = 1) {
      return tenon::slice(values, range(row, row + step * rows, step), range(column, column + 100));
    };
    const auto check = [&](const auto& operands) {
      const auto statement = [&](const auto& values) {
        return numbers_of(
            std::apply([](const auto&... matrix) { return six_transposed(matrix...); }, operands(values)));
      };
      CHECK(difference(statement(x), statement(host), 1e-6) == "");
    };
    CAPTURE(rows);
    check([&](const auto& all) { return std::tuple(part(all, 0, 0), part(all, 1, 4), part(all, 2, 8)); });
    check([&](const auto& all) { return std::tuple(part(all, 1, 0), part(all, 1, 0), part(all, 1, 0)); });
    check([&](const auto& all) { return std::tuple(part(all, 3, 2), part(all, 3, 2), part(all, 5, 2)); });  // askew
    check([&](const auto& all) { return std::tuple(part(all, 0, 0), part(all, 3, 3), part(all, 0, 0)); });
    check([&](const auto& all) { return std::tuple(part(all, 0, 0), part(all, 0, 0, 2), part(all, 0, 0, 3)); });
  }
}

TEMPLATE_LIST_TEST_CASE("in place with the other operand across", "[transposed]", tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<2>(50, 60));
  auto y = counting<float, TestType>(rank<2>(60, 50), 9);
  const auto expected = numbers_of(y * 3 + transpose(x));
  CHECK(kernel_of([&] { y = y * 3 + transpose(x); }) == "transposed");
  CHECK(numbers_of(y) == expected);
}

TEST_CASE("tiles beyond what a block holds are read where they are", "[transposed]") {
  const auto make = [](float first) { return counting<float, tenon::emulated>(rank<2>(66, 68), first); };
  const auto a = make(1), b = make(2), c = make(3), d = make(4);
  tenon::tensor<float, rank<2>, tenon::emulated> y({68, 66});
  y = transpose(a) + transpose(b) * 2 + transpose(c) * 4 + transpose(d) * 8;
  CHECK(numbers_of(transpose(y)) == numbers_of(a + b * 2 + c * 4 + d * 8));
}

TEST_CASE("a statement has as many tiles as distinct operands across", "[transposed]") {
  const auto make = [](float first) { return counting<float, tenon::emulated>(rank<2>(70, 100), first); };
  const auto a = make(1), b = make(2), c = make(3);
  const auto has = [](const auto& statement, const char* shared) {
    return tenon::explain(statement).find(shared) != std::string::npos;
  };
  CHECK(has(six_transposed(a, b, c), "threads, 50 kB of shared memory"));
  CHECK(has(six_transposed(a, c, a), "threads, 33 kB of shared memory"));
  CHECK(has(six_transposed(b, b, b), "threads, 17 kB of shared memory"));
}

TEST_CASE("narrow statements take no tiles", "[transposed]") {
  const auto x = counting<float, tenon::emulated>(rank<2>(100, 3));
  tenon::tensor<float, rank<2>, tenon::emulated> y({3, 100}), z({100, 3});
  CHECK(kernel_of([&] { y = transpose(x); }) == "pointwise");
  CHECK(kernel_of([&] { z = transpose(y); }) == "pointwise");
  CHECK(numbers_of(z) == numbers_of(x));
}
