// tests/algorithms/lines.cpp: the walk along lines visits every line once, on any number of threads.
// Each line is named by its position, and its neighbours by their place beside it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/lines.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/threads.hpp"

TEST_CASE("every line is visited once, in blocks of neighbours", "[lines]") {
  auto shapes = tenon_test::line_shapes;
  shapes.push_back({{40, 50, 60}});  // enough for several threads
  for (const auto& extents : shapes) {
    for (int along = 0; along < 3; ++along) {
      CAPTURE(extents[0], extents[1], extents[2], along);
      const auto visits = [&] {
        auto left = extents;
        left[along] = 1;
        const auto strides = tenon::row_major_strides(left);
        std::vector<int> counts(static_cast<std::size_t>(left[0] * left[1] * left[2]));
        tenon::for_each_line_block(extents, along, 16, [&] {
          return [&](const tenon::array<tenon::index, 3>& position, tenon::index count) {
            for (tenon::index line = 0; line < count; ++line) {
              tenon::index at = line * strides[tenon::beside_axis(3, along)];
              for (int i = 0; i < 3; ++i) at += position[i] * strides[i];
              ++counts[static_cast<std::size_t>(at)];
            }
          };
        });
        return counts;
      };
      const std::vector<int> counts = visits();
      const int expected = extents[along] == 0 ? 0 : 1;
      CHECK(counts == std::vector<int>(counts.size(), expected));
      CHECK(tenon_test::is_same_on_any_threads(visits));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tensors and views stay where they are, expressions are evaluated", "[lines]",
                        tenon_test::algorithm_spaces) {
  const auto x = tenon_test::counting<float, TestType>(tenon::rank<2>(3, 5));
  CHECK(tenon::in_memory("sort", x).elements.data() == x.data());
  CHECK(tenon::in_memory("sort", tenon::transpose(x)).elements.data() == x.data());
  const auto doubled = tenon::in_memory("sort", x + x);
  CHECK(tenon_test::numbers_of(doubled) == tenon_test::numbers_of(x * 2.0f));
}

TEMPLATE_TEST_CASE("elements that the host reads are visited in row-major order from any number on", "[lines]",
                   tenon::host, tenon::emulated) {
  const auto x = tenon_test::counting<int, TestType>(tenon::rank<3>(3, 4, 5));
  const auto turned = tenon::permute(x, tenon::axis<2, 0, 1>);
  const auto expected = tenon_test::numbers_of(turned);
  for (const tenon::index first : {0, 1, 7, 59, 60}) {
    std::vector<double> found;
    tenon::visit_elements(turned, first, 60, [&](tenon::index number, int element) {
      CHECK(number == first + static_cast<tenon::index>(found.size()));
      found.push_back(element);
    });
    CHECK(found == std::vector<double>(expected.begin() + first, expected.end()));
  }
}
