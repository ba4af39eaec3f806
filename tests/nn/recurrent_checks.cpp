// tests/nn/recurrent_checks.cpp: what does not fit a recurrent layer is refused by name and extents.
// Sizes of constructors, features of inputs, states.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_checks.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::text_of;

namespace {
struct some_layer {
  static constexpr const char* name = "layer";
};
}  // namespace

TEST_CASE("sizes and features that do not fit are refused", "[recurrent_checks]") {
  nn::detail::check_size<some_layer>("input features", 5, dyn);
  nn::detail::check_size<some_layer>("input features", 5, 5);
  CHECK(text_of<tenon::shape_error>([] { nn::detail::check_size<some_layer>("input features", 5, 6); }) ==
        "layer: input features: 5, expected 6 as its type says");
  nn::detail::check_features<some_layer, dyn>(rank<3>(2, 1, 5), 5);
  const auto text = [](auto check) { return text_of<tenon::shape_error>(check); };
  const std::string expected = "layer: axis 2: extent 5, expected 6 (input [2, 1, 5])";
  CHECK(text([] { nn::detail::check_features<some_layer, dyn>(rank<3>(2, 1, 5), 6); }) == expected);
  CHECK(text([] { nn::detail::check_features<some_layer, 6>(rank<3>(2, 1, 5), 6); }) == expected);
}

TEST_CASE("states are all given or all zero", "[recurrent_checks]") {
  auto hidden = tenon_test::counting<float>(rank<2>(2, 3)), cell = tenon_test::counting<float>(rank<2>(2, 4));
  const auto h = tenon_test::counting<float>(rank<2>(2, 3), 7), c = tenon_test::counting<float>(rank<2>(2, 4), 9);
  nn::detail::set_states<some_layer, 2, dyn>(hidden.write_view(), cell.write_view());
  CHECK(tenon_test::numbers_of(hidden) == std::vector<double>(6, 0));
  CHECK(tenon_test::numbers_of(cell) == std::vector<double>(8, 0));
  nn::detail::set_states<some_layer, 2, 4>(hidden.write_view(), cell.write_view(), h, c);
  CHECK(tenon_test::numbers_of(hidden) == tenon_test::numbers_of(h));
  CHECK(tenon_test::numbers_of(cell) == tenon_test::numbers_of(c));
  CHECK(text_of<tenon::shape_error>([&] {
          nn::detail::set_states<some_layer, 2, dyn>(hidden.write_view(), cell.write_view(), c, c);
        }) == "layer: hidden states: extents [2, 4], expected [2, 3]");
  CHECK(text_of<tenon::shape_error>([&] {
          nn::detail::set_states<some_layer, 2, dyn>(hidden.write_view(), cell.write_view(), h * 2.0f, h);
        }) == "layer: cells: extents [2, 3], expected [2, 4]");
  CHECK(tenon_test::numbers_of(hidden) == tenon_test::numbers_of(h));  // as before
}
