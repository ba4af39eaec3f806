// tests/expr/rotary_embedding.cpp: features turned by angles.
// Each pair against the formula, for both orders of pairs; a turn keeps lengths.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/rotary_embedding.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::rank;
using tenon::rotary_pairs;
using tenon_test::numbers_of;

namespace {

/// The greatest distance of a result from the definition.
template <rotary_pairs Pairs, class Space>
double rotation_error() {
  const tenon::tensor<float, rank<3>, Space> x = tenon::uniform<float>(rank<3>(2, 5, 6), 1, -1.0f, 1.0f);
  const tenon::tensor<float, rank<2>, Space> angles = tenon::uniform<float>(rank<2>(5, 3), 2, -3.0f, 3.0f);
  const auto found = numbers_of(tenon::rotary_embedding<Pairs>(x, tenon::cos(angles), tenon::sin(angles)));
  const auto before = numbers_of(x), turns = numbers_of(angles);
  double error = 0;
  for (std::size_t row = 0; row < 10; ++row) {
    for (std::size_t pair = 0; pair < 3; ++pair) {
      const std::size_t first = row * 6 + (Pairs == rotary_pairs::halves ? pair : 2 * pair);
      const std::size_t second = first + (Pairs == rotary_pairs::halves ? 3 : 1);
      const double angle = turns[row % 5 * 3 + pair];
      const double a = before[first] * std::cos(angle) - before[second] * std::sin(angle);
      const double b = before[first] * std::sin(angle) + before[second] * std::cos(angle);
      error = std::max({error, std::fabs(found[first] - a), std::fabs(found[second] - b)});
    }
  }
  return error;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("pairs of features are turned", "[rotary]", tenon_test::spaces) {
  CHECK(rotation_error<rotary_pairs::halves, TestType>() < 1e-6);
  CHECK(rotation_error<rotary_pairs::neighbours, TestType>() < 1e-6);
}

TEST_CASE("features that are no pairs are refused", "[rotary]") {
  const auto x = tenon::ones<float>(rank<2>(4, 5)), angles = tenon::ones<float>(rank<2>(4, 2));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::rotary_embedding(x, angles, angles); }) ==
        "rotary_embedding: axis 1: extent 5, expected an even one");
}
