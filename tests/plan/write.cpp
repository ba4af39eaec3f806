// tests/plan/write.cpp: the values of a cursor, written along a row.
// Rows of every length around packs and blocks; nothing beside them is touched.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/write.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/guarded.hpp"

namespace {

template <int N>
using extents = tenon::array<tenon::index, N>;

/// Writes `Count` values to memory that ends there; they are read side by side, then two apart.
template <class T, int Count>
void check_known() {
  const tenon_test::guarded<T> to(static_cast<std::size_t>(Count));
  std::vector<T> numbers(2 * Count);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<T>(i + 1);
  for (const tenon::index step : {1, 2}) {
    const tenon::strided_cursor<T> cursor{numbers.data(), step};
    tenon::write_known<Count>(to.data(), cursor, tenon::no_slots{});
    CAPTURE(Count, step);
    for (int i = 0; i < Count; ++i) CHECK(to.data()[i] == static_cast<T>(i * step + 1));
  }
}
template <class T, int... Before>
void check_counts(std::integer_sequence<int, Before...>) {
  (check_known<T, Before + 1>(), ...);
}

}  // namespace

TEST_CASE("values whose number types know are written, nothing past them", "[write]") {
  check_counts<float>(std::make_integer_sequence<int, 40>{});
  check_counts<double>(std::make_integer_sequence<int, 20>{});
  check_counts<int>(std::make_integer_sequence<int, 5>{});
}

TEST_CASE("runs are written at any step, and nothing beside them", "[write]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(100));
  const auto program = (x * 2).lower<0>(tenon::identity_map<1>());
  for (const tenon::index step : {1, 2, 3, -1}) {
    for (const tenon::index begin : {0, 5}) {
      for (const tenon::index end : {5, 6, 37, 38}) {
        std::vector<float> memory(200, -1.0f);
        const tenon::index origin = step < 0 ? 100 : 0;
        tenon::write_run<tenon::reading::strided>(tenon::target_run{memory.data() + origin, step}, {{begin, end}},
                                                  program.at(extents<1>{{0}}), tenon::no_slots{});
        std::vector<float> expected(200, -1.0f);
        for (tenon::index i = begin; i < end; ++i) {
          expected[static_cast<std::size_t>(origin + i * step)] = 2 * static_cast<float>(i);
        }
        CAPTURE(step, begin, end);
        CHECK(memory == expected);
      }
    }
  }
}

TEST_CASE("rows past the caches begin and end anywhere", "[write]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(1100));
  const auto program = (x * 2).lower<0>(tenon::identity_map<1>());
  for (const tenon::index begin : {0, 3}) {
    for (const tenon::index end : {3, 17, 256, 257, 600, 1100}) {
      std::vector<float> memory(1200, -1.0f), expected = memory;
      tenon::write_run<tenon::reading::row>(tenon::target_run<float>{memory.data() + 7, 1, true}, {{begin, end}},
                                            program.at(extents<1>{{0}}), tenon::no_slots{});
      tenon::simd::finish_streaming();
      for (tenon::index i = begin; i < end; ++i) expected[static_cast<std::size_t>(7 + i)] = 2 * static_cast<float>(i);
      CAPTURE(begin, end);
      CHECK(memory == expected);
    }
  }
}

TEST_CASE("the last elements of a row are read and written, nothing past them", "[write]") {
  for (int count = 1; count < 40; ++count) {
    const tenon_test::guarded<float> from(static_cast<std::size_t>(count)), to(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) from.data()[i] = static_cast<float>(i);
    const tenon::view<float, tenon::rank<1>> x(from.data(), tenon::rank<1>(count)), y(to.data(), tenon::rank<1>(count)),
        backwards(from.data() + count - 1, tenon::rank<1>(count), {{-1}});
    y = x + 1;
    CHECK(to.data()[count - 1] == static_cast<float>(count));
    y = backwards * 2;
    CHECK(to.data()[0] == static_cast<float>(2 * count - 2));
    y = tenon::flip(x, tenon::axis<0>) + tenon::roll(x, 1, tenon::axis<0>);
    CHECK(to.data()[0] == static_cast<float>(2 * (count - 1)));
  }
}
