// tests/grad/traced_list.cpp: lists of traced values as one, and the way back to each.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/traced_list.hpp>

#include <tenon/expressions.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::numbers_of;
using tenon_test::tensor_of;

TEMPLATE_LIST_TEST_CASE("steps of a loop are stacked, and get their gradients", "[traced_list]", tenon_test::spaces) {
  const auto x = tensor_of<TestType, double>(rank<2>(2, 2), {1, 2, 3, 4});
  const auto seed = tensor_of<TestType, double>(rank<3>(2, 3, 2), {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto v = tenon::variable(x), w = tenon::variable(x);
  tenon::traced h = v * 1.0;
  std::vector<decltype(h)> steps;
  tenon::traced by_hand = tenon::sum(tenon::traced(w * 0.0));
  tenon::traced each = w * 1.0;
  for (int i = 0; i < 3; ++i) {
    h = tenon::tanh(h * h), each = tenon::tanh(each * each);
    steps.push_back(h);
    by_hand = by_hand + tenon::sum(each * tenon::select(seed, axis<1>, i));
  }
  const tenon::traced all = tenon::stack(axis<1>, steps);
  CHECK(all.shape().to_array() == tenon::array<tenon::index, 3>{{2, 3, 2}});
  CHECK(numbers_of(tenon::select(all, axis<1>, 2)) == numbers_of(h));
  const tenon::traced loss = tenon::sum(all * seed);
  CHECK(std::fabs(double(loss) - double(by_hand)) < 1e-12);
  loss.backward();
  by_hand.backward();
  CHECK(tenon_test::difference(numbers_of(v.gradient()), numbers_of(w.gradient()), 1e-12) == "");
}

TEST_CASE("one value twice, and values without gradients, are concatenated", "[traced_list]") {
  const auto x = drawn(rank<2>(2, 3), 1), y = drawn(rank<2>(4, 3), 2);
  const auto v = tenon::variable(x);
  const tenon::traced constant_value = y * 2;
  const std::vector<tenon::traced<double, rank<2>>> list = {v, constant_value, v};
  const tenon::traced joined = tenon::concatenate(axis<0>, list);
  CHECK(tenon::all(joined == tenon::concatenate(axis<0>, x, y * 2, x)));
  const auto seed = drawn(rank<2>(8, 3), 3);
  joined.backward(seed);
  const tenon::tensor<double, rank<2>> expected = seed[tenon::range(0, 2)] + seed[tenon::range(6, 8)];
  CHECK(tenon::all(v.gradient() == expected));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::stack(axis<0>, list); }) ==
        "stack: axis 1: extents 2 and 4 differ, expected equal (element 0 of the list [1, 2, 3], element 1 [1, 4, 3])");
  const tenon::no_grad apart;
  CHECK(tenon::all(tenon::traced(tenon::concatenate(axis<0>, list)) == joined));
}
