// tests/nn/layer.cpp: parameters, and checks of inputs.
// What every layer relies on.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/layer.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;

namespace {
struct layer {
  static constexpr const char* name = "layer";
};
struct sharing_layer : layer {
  static constexpr bool shares_statements = true;
};
struct same_in_training : nn::callable<same_in_training> {};
struct other_in_training : nn::callable<other_in_training> {
  bool is_training = true;
};
}  // namespace

TEMPLATE_LIST_TEST_CASE("parameters move between spaces with value and gradient", "[layer]", tenon_test::spaces) {
  auto made = nn::uniform_parameter<float, tenon::host>(shape<2, 3>{}, 4, 0.5f);
  made.gradient = 7.0f;
  const auto moved = made.to<TestType>();
  CHECK(tenon_test::numbers_of(moved.value) == tenon_test::numbers_of(made.value));
  CHECK(tenon_test::numbers_of(moved.gradient) == std::vector<double>(6, 7.0));
  for (const double each : tenon_test::numbers_of(made.value)) CHECK(std::fabs(each) <= 0.5);
}

TEMPLATE_LIST_TEST_CASE("parameters become those of another type of elements", "[layer]", tenon_test::spaces) {
  const auto made = nn::uniform_parameter<float, TestType>(rank<2>(5, 7), 4, 3.0f);
  const auto rounded = made.template to<tenon::half>();
  const auto wide = rounded.template to<double>();
  STATIC_REQUIRE(std::is_same_v<decltype(wide), const nn::parameter<double, rank<2>, TestType>>);
  std::vector<double> expected;
  for (const double each : tenon_test::numbers_of(made.value)) {
    expected.push_back(static_cast<double>(float(tenon::half(static_cast<float>(each)))));
  }
  CHECK(tenon_test::numbers_of(rounded.value) == expected);
  CHECK(tenon_test::numbers_of(wide.value) == expected);
  CHECK(tenon_test::numbers_of(wide.gradient) == std::vector<double>(35, 0.0));

  const auto none = nn::parameter<float, rank<2>, TestType>{}.template to<double>();
  CHECK(none.value.is_empty());
  const auto narrow = nn::uniform_parameter<float, TestType>(rank<2>(0, 7), 4, 3.0f).template to<double>();
  CHECK(narrow.value.shape() == rank<2>(0, 7));
}

TEST_CASE("the default bound is one over the root of the fan in", "[layer]") { CHECK(nn::default_bound(16) == 0.25f); }

TEST_CASE("inputs of other extents are refused by name, axis and extents", "[layer]") {
  nn::check_input<layer, 1, 5>(rank<2>(3, 5));
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::check_input<layer, 1, 5>(rank<2>(3, 6)); }) ==
        "layer: axis 1: extent 6, expected 5 (input [3, 6])");
}

TEST_CASE("layers without parameters are the same in every space", "[layer]") {
  STATIC_REQUIRE(std::is_same_v<decltype(nn::layer_moved<tenon::emulated>(nn::stateless{})), nn::stateless>);
  STATIC_REQUIRE(nn::is_wanted<int>);
  STATIC_REQUIRE(!nn::is_wanted<nn::not_wanted>);
}

TEST_CASE("a layer by itself is trained and used", "[layer]") {
  other_in_training layer;
  layer.eval();
  CHECK(!layer.is_training);
  layer.train();
  CHECK(layer.is_training);
  same_in_training().eval();
}

TEST_CASE("statements that layers share know no extents", "[layer]") {
  STATIC_REQUIRE(nn::has_shared_statements<sharing_layer>);
  STATIC_REQUIRE(!nn::has_shared_statements<layer>);
  tenon::tensor<float, shape<tenon::dyn, 3>> x(shape<tenon::dyn, 3>(2), {1, 2, 3, 4, 5, 6});
  const auto shared = nn::detail::elements_for<sharing_layer>(x.view());
  STATIC_REQUIRE(std::is_same_v<decltype(shared), const tenon::view<float, rank<2>, tenon::host>>);
  CHECK(shared.data() == x.data());
  CHECK(shared.shape() == rank<2>(2, 3));
  STATIC_REQUIRE(std::is_same_v<decltype(nn::detail::elements_for<layer>(x.view())), decltype(x.view())>);
  STATIC_REQUIRE(std::is_same_v<decltype(nn::detail::elements_for<sharing_layer>(nn::not_wanted{})), nn::not_wanted>);
}

TEST_CASE("tensors of a layer stand beside what a statement has", "[layer]") {
  tenon::tensor<float, shape<2, 3>, tenon::host> weight;
  weight.reset();
  REQUIRE(weight.data() == nullptr);
  const auto beside = nn::detail::beside<sharing_layer, rank<2>>(weight);
  STATIC_REQUIRE(std::is_same_v<decltype(beside), const tenon::view<float, rank<2>, tenon::host>>);
  CHECK(weight.data() != nullptr);  // so that a gradient can be left there
  CHECK(beside.data() == weight.data());
  CHECK(beside.shape() == rank<2>(2, 3));
  CHECK(&nn::detail::beside<sharing_layer, shape<tenon::dyn, 3>>(weight) == &weight);
  CHECK(&nn::detail::beside<layer, rank<2>>(weight) == &weight);
}

TEST_CASE("a visitor within parts has all their names, and one type", "[layer]") {
  std::vector<std::string> names;
  const auto visit = [&](const std::string& name, int& number) { names.push_back(name), ++number; };
  const auto outer = nn::visitor_within("decoder", visit);
  auto inner = nn::visitor_within("2", outer);
  const auto innermost = nn::visitor_within("norm", inner);
  STATIC_REQUIRE(std::is_same_v<decltype(outer), decltype(innermost)>);
  int number = 0;
  outer("scale", number), inner("bias", number), innermost("weight", number);
  CHECK(names == std::vector<std::string>{"decoder.scale", "decoder.2.bias", "decoder.2.norm.weight"});
  CHECK(number == 3);
}

TEST_CASE("a size of the constructor is that of the type", "[layer]") {
  nn::detail::check_size<layer>("width", 3, 3);
  nn::detail::check_size<layer>("width", 3, tenon::dyn);
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::detail::check_size<layer>("width", 3, 4); }) ==
        "layer: width: 3, expected 4 as its type says");
}
