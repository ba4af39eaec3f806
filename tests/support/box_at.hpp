// tests/support/box_at.hpp: the values of one box of an expression with one axis before its boxes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/box.hpp>

#include <vector>

#include "support/catch.hpp"

namespace tenon_test {

/// The values of box `position`, at least 1, by itself and as the second lane of two.
template <class Node>
std::vector<double> box_at(const Node& node, tenon::index position) {
  using boxes_type = tenon::detail::boxes_of<Node, 1>;
  STATIC_REQUIRE(boxes_type::fits);
  const boxes_type boxes(node);
  const auto one = boxes.template values<1>(tenon::detail::box_places<1>{{{position}}, {}, 1});
  std::vector<double> result;
  for (const auto value : one.at) result.push_back(static_cast<double>(value));
  if constexpr (!tenon::compiled_by_nvcc) {
    const auto two = boxes.template values<2>(tenon::detail::box_places<1>{{{position - 1}}, {{1}}, 2});
    for (std::size_t place = 0; place < result.size(); ++place) {
      CHECK(static_cast<double>(two.at[place][1]) == result[place]);
    }
  }
  return result;
}

}  // namespace tenon_test
