// tests/grad/repetition.cpp: elements that a view shows more than once gather all that comes back.
// Their gradients are compared in tests/grad/every_array_function.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/repetition.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"

namespace {

/// Whether each place of a view comes back from the element that it shows and its number there.
template <class Places, int Rank>
bool places_come_back(const Places& places, const tenon::array<tenon::index, Rank>& view) {
  tenon::array<tenon::index, Rank> counts{};
  for (int axis = 0; axis < Rank; ++axis) counts[axis] = places.count(axis);
  const tenon::showing_map<double, Places, Rank> showing{places, counts};
  const tenon::shown_map<Places, Rank> shown{places, counts};
  for (tenon::index row = 0; row < view[0]; ++row) {
    for (tenon::index column = 0; column < view[1]; ++column) {
      const tenon::array<tenon::index, Rank> place{{row, column}};
      const auto element = shown(place);
      if (!showing.contains(element) || !(showing(element) == place)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("places and elements name each other", "[repetition]") {
  using extents = tenon::array<tenon::index, 2>;
  const tenon::pad_map<tenon::reflect_padding, 2> border{{{2, 0}}, {{4, 5}}};
  CHECK(places_come_back(tenon::detail::padded_places<tenon::reflect_padding, 2>{border, {{7, 9}}}, extents{{7, 9}}));
  CHECK(places_come_back(tenon::detail::repeated_places<1>{3}, extents{{2, 12}}));
  CHECK(places_come_back(tenon::detail::tiled_places<2>{{{2, 3}}, {{6, 3}}}, extents{{6, 3}}));
}
