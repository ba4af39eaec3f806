// tests/grad/named_leaves.cpp: leaves get numbers in the order in which they are written.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/named_leaves.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

/// Names leaves of double alone.
struct name_doubles {
  template <int, class Leaf>
  static const Leaf& named(const Leaf& node) {
    return node;
  }
  template <int Name, class Shape, class Space, class Owner>
  static auto named(const tenon::leaf<double, Shape, Space, Owner>& node) {
    return tenon::leaf<double, Shape, Space, tenon::variable_name<Name>>{node.elements, {}};
  }
};

/// The names in an expression, and whether each stands at the elements that are expected.
template <class Expression>
std::vector<int> names_of(const Expression& expression, const std::vector<const void*>& elements) {
  std::vector<int> found;
  tenon::visit_named_leaves(expression, [&]<int Name>(tenon::constant<Name>, const auto& leaf) {
    CHECK(leaf.elements.data() == elements.at(Name));
    found.push_back(Name);
  });
  return found;
}

}  // namespace

TEST_CASE("leaves are numbered as they are written", "[named_leaves]") {
  const auto x = tenon_test::counting<double>(tenon::rank<1>(3)), y = tenon_test::counting<double>(tenon::rank<1>(3));
  const auto z = tenon_test::counting<float>(tenon::rank<1>(3));
  const auto written = tenon::exp(x) * 2 + tenon::sum(z * tenon::flip(tenon::as_node(y), tenon::axis<0>)) / x;
  const std::vector<const void*> elements = {x.data(), z.data(), y.data(), x.data()};
  const auto every = tenon::with_named_leaves<tenon::name_every_leaf>(written);
  CHECK(names_of(every, elements) == std::vector<int>{0, 1, 2, 3});
  CHECK(names_of(tenon::with_named_leaves<name_doubles>(written), elements) == std::vector<int>{0, 2, 3});
  CHECK(names_of(written, elements).empty());
  CHECK(tenon_test::numbers_of(every) == tenon_test::numbers_of(written));
}
