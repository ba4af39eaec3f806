// tests/nn/conv.cpp: the convolution layer, forward and backward.
// Against PyTorch's values where they are there, and against finite differences everywhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/conv.hpp>

#include "support/golden.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::golden_difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv2d_options strided{.stride = 2, .padding = 1};
constexpr nn::conv2d_options grouped{.stride = {2, 1}, .padding = {0, 1}, .groups = 2};

/// Compares outputs and all gradients of a layer with a case of PyTorch's.
template <class Space, class Layer>
void compare_with_golden(const std::string& name, Layer made) {
  const tenon_test::golden_case golden(name);
  if (!golden) return;
  CAPTURE(name);
  made.initialise(0);
  made.weight.value = golden.read<float, 4>("parameter_weight");
  made.bias.value = golden.read<float, 1>("parameter_bias");
  auto layer = made.template to<Space>();
  const auto x = golden.read<float, 4, Space>("input_input");
  const auto g = golden.read<float, 4, Space>("grad_output_output");
  tenon::tensor<float, rank<4>, Space> dx(x.shape());
  layer.backward(x, x, g, dx.write_view());
  CHECK(golden_difference(layer.forward(x), golden.read<float, 4>("output_output")) == "");
  CHECK(golden_difference(dx, golden.read<float, 4>("gradient_input")) == "");
  CHECK(golden_difference(layer.weight.gradient, golden.read<float, 4>("gradient_weight")) == "");
  CHECK(golden_difference(layer.bias.gradient, golden.read<float, 1>("gradient_bias")) == "");
}

/// Whether the type of a layer's output has these extents.
template <class Expected, class Layer, class Input>
bool gives(const Layer& layer, const Input& input) {
  return std::is_same_v<std::remove_cvref_t<decltype(layer.output_shape(input))>, Expected>;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("convolution layers agree with PyTorch", "[conv]", tenon_test::spaces) {
  compare_with_golden<TestType>("conv2d", nn::conv2d<4, 6, 3>{});
  compare_with_golden<TestType>("conv2d_stride2_padding1", nn::conv2d<4, 6, 3, strided>{});
  compare_with_golden<TestType>("conv2d_kernel_1x1", nn::conv2d<4, 6, 1>{});
}

TEMPLATE_LIST_TEST_CASE("gradients of convolution layers are finite differences", "[conv]", tenon_test::spaces) {
  nn::conv2d<2, 3, 3, strided, tenon::host, double> made;
  made.initialise(4);
  auto layer = made.to<TestType>();
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<double>(rank<4>(2, 2, 6, 5), 1, -1.0f, 1.0f));
  const auto g = tenon::evaluated_tensor<TestType>(tenon::uniform<double>(rank<4>(2, 3, 3, 3), 2, -1.0f, 1.0f));
  const auto objective = [&](const auto& input) { return static_cast<double>(tenon::sum(layer.forward(input) * g)); };
  tenon::tensor<double, rank<4>, TestType> dx(x.shape());
  layer.backward(x, x, g, dx.write_view());
  const auto analytic = numbers_of(dx);
  for (const tenon::index at : {0, 17, 44, 119}) {
    const auto bump = [&](double step) {
      return tenon::evaluated_tensor(x + tenon::where(tenon::iota<std::int64_t>(x.shape()) == at, step, 0.0));
    };
    const double numeric = (objective(bump(1e-4)) - objective(bump(-1e-4))) / 2e-4;
    CHECK(tenon_test::is_close(analytic[static_cast<std::size_t>(at)], numeric, 1e-7));
  }
}

TEST_CASE("the shape of a convolution's output is known when input and options are", "[conv]") {
  CHECK(gives<shape<tenon::dyn, 8, 5, 4>>(nn::conv2d<3, 8, 3, strided>(), shape<tenon::dyn, 3, 9, 8>{}));
  const nn::conv2d<3, 8, 3, nn::conv2d_at_run_time> at_run_time({.padding = 1});
  CHECK(at_run_time.output_shape(rank<4>(2, 3, 9, 8)) == rank<4>(2, 8, 9, 8));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)at_run_time.output_shape(rank<4>(2, 4, 9, 8)); }) ==
        "conv2d: axis 1: extent 4, expected 3 (input [2, 4, 9, 8])");
}

TEST_CASE("shapes of transposed, rectangular and same-sized convolutions are known too", "[conv]") {
  constexpr nn::conv2d_options doubling{.stride = 2, .padding = 1, .output_padding = {1, 0}};
  CHECK(gives<shape<2, 6, 10, 11>>(nn::conv_transpose2d<4, 6, 3, doubling>(), shape<2, 4, 5, 6>{}));
  constexpr nn::conv1d_options keeping{.padding = nn::same, .dilation = 3};
  CHECK(gives<shape<2, 6, 17>>(nn::conv1d<4, 6, 4, keeping>(), shape<2, 4, 17>{}));
  CHECK(gives<shape<2, 2, 4, 3, 2>>(nn::conv3d<1, 2, nn::per_axis<3>(1, 2, 3)>(), shape<2, 1, 4, 4, 4>{}));
  const nn::conv2d<4, 6, nn::per_axis<2>(2, 3), grouped> in_groups;
  CHECK(std::is_same_v<decltype(in_groups.weight.value.shape()), const shape<6, 2, 2, 3>&>);
}

TEMPLATE_LIST_TEST_CASE("sizes given at run time make the same layer", "[conv]", tenon_test::spaces) {
  nn::conv2d<4, 6, nn::per_axis<2>(2, 3), grouped> known;
  nn::conv2d<tenon::dyn, tenon::dyn, tenon::dyn, nn::conv2d_at_run_time> given(4, 6, {2, 3}, grouped);
  known.initialise(7), given.initialise(7);
  const auto left = known.template to<TestType>();
  const auto right = given.template to<TestType>();
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<4>(2, 4, 5, 6), 1, -1.0f, 1.0f));
  CHECK(right.output_shape(x.shape()) == rank<4>(2, 6, 2, 6));
  CHECK(numbers_of(left.forward(x)) == numbers_of(right.forward(x)));
}

TEST_CASE("options that contradict each other or the type are refused", "[conv]") {
  using run_time = nn::conv2d<3, 8, 3, nn::conv2d_at_run_time>;
  CHECK(tenon_test::text_of<tenon::shape_error>([] { run_time({.stride = {1, 2}, .padding = nn::same}); }) ==
        "conv2d: axis 3: padding `same` and stride 2, expected 1");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { run_time({.bias = false}); }) ==
        "conv2d: options: bias and padding_mode are the type's; write them in the template argument, as in {.stride = "
        "dyn, .bias = false}");
  using tenon::dyn;
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::conv1d<4, dyn, dyn>(5, 2, 3); }) ==
        "conv1d: in_channels: 5, expected 4 as its type says");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::conv1d<dyn, dyn, 2>(5, 2, 3); }) ==
        "conv1d: kernel: 3, expected 2 as its type says");
  using in_groups = nn::conv1d<dyn, dyn, dyn, nn::conv1d_at_run_time>;
  CHECK(tenon_test::text_of<tenon::shape_error>([] { in_groups(6, 4, 3, {.groups = 3}); }) ==
        "conv1d: groups 3, expected a divisor of 4 channels");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { nn::conv1d<dyn, dyn, dyn>(6, 4, 3, {.stride = 2}); }) ==
        "conv1d: options: the type has them; where it has {.stride = dyn}, the constructor is given them");
  const auto refuses = [](const auto& options, const char* part) {
    const auto text = tenon_test::text_of<tenon::shape_error>([&] { in_groups(6, 4, 3, options); });
    CAPTURE(text);
    CHECK(text.find(part) != text.npos);
  };
  refuses(nn::conv1d_options{.stride = 0},
          "conv1d: axis 2: kernel 3, stride 0, dilation 1, padding 0, output padding 0");
  refuses(nn::conv1d_options{.stride = -1}, "axis 2: kernel 3, stride -1");
  refuses(nn::conv1d_options{.dilation = 0}, "dilation 0");
  refuses(nn::conv1d_options{.padding = -1}, "padding -1");
  CHECK(tenon_test::text_of<tenon::shape_error>([] { in_groups(6, 4, 0); }).find("kernel 0") != std::string::npos);
  using upwards = nn::conv_transpose1d<6, 4, 3, nn::conv1d_at_run_time>;
  CHECK(tenon_test::text_of<tenon::shape_error>([] { upwards({.stride = 2, .output_padding = 2}); }) ==
        "conv_transpose1d: axis 2: kernel 3, stride 2, dilation 1, padding 0, output padding 2, expected at least 1, "
        "1, 1, 0 (or `same`) and 0, and output padding below stride or dilation");
  const upwards far({.stride = tenon::index{1} << 62});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          (void)far.output_shape(rank<3>(1, 6, 9));
        }).find("conv_transpose1d: axis 2: extent 9 with stride 4611686018427387904") != std::string::npos);
  nn::conv1d<tenon::dyn, 2, 3> channels(4, 2, 3);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)channels.output_shape(rank<3>(1, 5, 9)); }) ==
        "conv1d: axis 1: extent 5, expected 4 (input [1, 5, 9])");
}

TEST_CASE("borders are those of pad", "[conv]") {
  constexpr nn::conv1d_options circular{.padding = 1, .bias = false, .padding_mode = nn::border::circular};
  nn::conv1d<1, 1, 3, circular> layer;
  layer.initialise(0);
  layer.weight.value = 1.0f;
  const tenon::tensor<float, rank<3>> x = tenon::reshape(tenon::iota<float>(shape<4>{}), rank<3>(1, 1, 4));
  CHECK(numbers_of(layer.forward(x)) == std::vector<double>{4, 3, 6, 5});
}
