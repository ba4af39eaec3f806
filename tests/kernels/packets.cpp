// tests/kernels/packets.cpp: pointwise statements in accesses of 16 bytes, and when they are not.
// Sizes around packets, blocks and tiles; operands of several widths, broadcast, misaligned and in place.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/kernels/packets.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

namespace {

template <class T, class E>
constexpr int size_for(const E&) {
  using program = decltype(std::declval<const E&>().template lower<0>(tenon::identity_map<E::shape_type::rank>()));
  return tenon::packet_size<T, program>;
}

/// Whether a statement of floats, `left * 2 + right`, is done in packets.
template <class Space, class Shape, class Left, class Right>
bool is_in_packets(tenon::view<float, Shape, Space> destination, const Left& left, const Right& right,
                   tenon::other_sources others = tenon::other_sources::refused) {
  const auto node = tenon::as_node(left * 2 + right);
  auto program = node.template lower<0>(tenon::identity_map<Shape::rank>());
  auto extents = destination.shape().to_array();
  tenon::strided_target<float, Shape::rank> target{destination.data(), destination.strides()};
  tenon::merge_axes(extents, 0, extents.size(), target, program);
  return tenon::run_packet_kernel<Space>(extents, target, program, others);
}

}  // namespace

TEST_CASE("a packet is 16 bytes of the widest operand, at most eight elements", "[packets]") {
  const tenon::tensor<float, rank<1>> narrow({8});
  const tenon::tensor<double, rank<1>> wide({8});
  const tenon::tensor<tenon::bfloat16, rank<1>> half_as_wide({8});
  const tenon::tensor<std::int8_t, rank<1>> bytes({8});
  CHECK(size_for<float>(tenon::as_node(narrow + 1)) == 4);
  CHECK(size_for<double>(tenon::as_node(narrow + 1)) == 2);
  CHECK(size_for<float>(tenon::as_node(narrow + wide)) == 2);
  CHECK(size_for<float>(tenon::as_node(half_as_wide + half_as_wide)) == 4);
  CHECK(size_for<tenon::bfloat16>(tenon::as_node(half_as_wide + half_as_wide)) == 8);
  CHECK(size_for<std::int8_t>(tenon::as_node(bytes + bytes)) == 8);
}

TEMPLATE_LIST_TEST_CASE("every size around packets and blocks", "[packets]", tenon_test::kernel_spaces) {
  for (const tenon::index count : {1, 3, 4, 5, 8, 1023, 1024, 1025, 2047, 2048, 2051, 9001}) {
    const auto x = counting<float, TestType>(rank<1>(count)), z = counting<float, TestType>(rank<1>(count), 2);
    auto y = tenon::full<float, TestType>(rank<1>(count + 4), -1.0f);
    auto inner = tenon::slice(y, range(0, count));
    CAPTURE(count);
    CHECK(numbers_of(y) == std::vector<double>(static_cast<std::size_t>(count + 4), -1.0));
    CHECK(is_in_packets(inner, x, z));
    const auto found = numbers_of(y), expected = numbers_of(x * 2 + z);
    for (tenon::index i = 0; i < count; ++i) {
      if (found[static_cast<std::size_t>(i)] != expected[static_cast<std::size_t>(i)]) FAIL("element " << i);
    }
    CHECK(found[static_cast<std::size_t>(count)] == -1);
  }
}

TEMPLATE_LIST_TEST_CASE("rows, columns and numbers are held for a packet", "[packets]", tenon_test::kernel_spaces) {
  for (const tenon::index rows : {37, 1}) {
    const tenon::index columns = rows == 1 ? 2062 : 64, from = rows == 1 ? 3 : 0;  // one row may begin askew
    const auto matrix = counting<float, TestType>(rank<2>(rows, columns)),
               row = counting<float, TestType>(rank<2>(1, columns), 3),
               column = counting<float, TestType>(rank<2>(rows, 1), 5);
    auto y = tenon::full<float, TestType>(rank<2>(rows, from + columns), -1.0f);
    const auto inner = tenon::slice(y, range(), range(from, from + columns));
    CHECK(is_in_packets(inner, matrix + row, column, tenon::other_sources::read));
    CHECK(numbers_of(inner) == numbers_of((matrix + row) * 2 + column));
  }
}

TEMPLATE_LIST_TEST_CASE("operands of several widths and positions meet in a packet", "[packets]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float>(rank<2>(9, 40));
  const auto statement = [](const auto& values) {
    using space = typename std::remove_cvref_t<decltype(values)>::space;
    const auto wide = tenon::evaluated_tensor(tenon::cast<double>(values));
    const auto bits = tenon::evaluated_tensor(tenon::cast<tenon::bfloat16>(values));
    const auto mask = tenon::evaluated_tensor(values > 100.0f);
    tenon::tensor<tenon::half, rank<2>, space> y({9, 40});
    y = tenon::cast<float>(tenon::where(mask, wide * 0.5, tenon::cast<double>(bits)) + tenon::arange<float>(40));
    return numbers_of(y);
  };
  CHECK(statement(x.template to<TestType>()) == statement(x));
}

TEMPLATE_LIST_TEST_CASE("numbers that are drawn are those of the host", "[packets]", tenon_test::kernel_spaces) {
  const auto drawn = tenon::uniform<tenon::half>(rank<2>(1, 9000), 7, -0.9f, 0.9f);
  for (const tenon::index from : {0, 3}) {  // another word of each draw begins a packet
    tenon::tensor<tenon::half, rank<2>, TestType> y(rank<2>(1, 9000 + from));
    const auto inner = tenon::slice(y, range(), range(from, 9000 + from));
    inner = drawn;
    CHECK(numbers_of(inner) == numbers_of(tenon::evaluated_tensor(drawn)));
  }
}

TEMPLATE_LIST_TEST_CASE("in place, a packet is read before it is written", "[packets]", tenon_test::kernel_spaces) {
  auto x = counting<float, TestType>(rank<1>(5000));
  const auto expected = numbers_of(x * x + 1);
  x = x * x + 1;
  CHECK(numbers_of(x) == expected);
}

TEMPLATE_LIST_TEST_CASE("a single run begins and ends anywhere", "[packets]", tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<1>(2100)), z = counting<float, TestType>(rank<1>(2100), 7);
  const auto steps = counting<float, TestType>(rank<1>(4200), 3);
  for (const tenon::index from : {0, 1, 2, 3, 5}) {
    for (const tenon::index count : {1, 2, 3, 4, 5, 9, 1030, 2050}) {
      auto y = tenon::full<float, TestType>(rank<1>(2100), -1.0f);
      const auto inner = tenon::slice(y, range(from, from + count));
      const auto same = tenon::slice(x, range(from, from + count)), other = tenon::slice(z, range(2, 2 + count));
      const auto apart = tenon::slice(steps, range(0, 2 * count, 2));
      const auto check = [&](const auto& left, const auto& right) {
        const auto found = numbers_of(y), expected = numbers_of(left * 2 + right);
        for (tenon::index i = 0; i < 2100; ++i) {
          const bool inside = i >= from && i < from + count;
          const double wanted = inside ? expected[static_cast<std::size_t>(i - from)] : -1;
          if (found[static_cast<std::size_t>(i)] != wanted) FAIL("element " << i << " of " << from << ", " << count);
        }
      };
      CHECK(is_in_packets(inner, same, same));
      check(same, same);
      const bool beside = from % 4 == 2 || count <= (4 - from % 4) % 4;  // packets of both begin together, or none do
      CHECK((is_in_packets(inner, same, other) || !beside));
      CHECK(is_in_packets(inner, same, other, tenon::other_sources::read));
      check(same, other);
      CHECK(is_in_packets(inner, apart, other, tenon::other_sources::read));
      check(apart, other);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("what lies askew is done element by element", "[packets]", tenon_test::kernel_spaces) {
  const auto x = counting<float, TestType>(rank<1>(101)), z = counting<float, TestType>(rank<1>(100));
  tenon::tensor<float, rank<1>, TestType> y({100});
  CHECK_FALSE(is_in_packets(y.view(), tenon::slice(x, range(1, 101)), z));
  const auto wide = counting<float, TestType>(rank<1>(200));
  CHECK_FALSE(is_in_packets(y.view(), tenon::slice(wide, range(0, 200, 2)), z));
  CHECK(is_in_packets(y.view(), tenon::slice(x, range(1, 101)), z, tenon::other_sources::read));
  CHECK(numbers_of(y) == numbers_of(tenon::slice(x, range(1, 101)) * 2 + z));
  tenon::tensor<float, rank<2>, TestType> odd_rows({10, 7});
  const auto column = counting<float, TestType>(rank<2>(10, 1)), matrix = counting<float, TestType>(rank<2>(10, 7));
  CHECK_FALSE(is_in_packets(odd_rows.view(), matrix, column));
  tenon::tensor<float, rank<2>, TestType> even_rows({10, 4});
  CHECK_FALSE(is_in_packets(even_rows.view(), tenon::slice(matrix, range(), range(0, 4)), column));
  auto wide_rows = tenon::full<float, TestType>(rank<2>(10, 12), -1.0f);
  const auto inner = tenon::slice(wide_rows, range(), range(1, 8));  // its rows begin askew, and end with packets
  CHECK_FALSE(is_in_packets(inner, matrix, column, tenon::other_sources::read));
  y = tenon::slice(x, range(1, 101)) * 2 + tenon::slice(wide, range(0, 200, 2));
  CHECK(numbers_of(y) == numbers_of(tenon::slice(x, range(1, 101)) * 2 + tenon::slice(wide, range(0, 200, 2))));
}
