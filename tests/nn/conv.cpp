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
  using strided_layer = nn::conv2d<3, 8, 3, strided>;
  STATIC_REQUIRE(std::is_same_v<decltype(std::declval<strided_layer>().output_shape(shape<tenon::dyn, 3, 9, 8>{})),
                                shape<tenon::dyn, 8, 5, 4>>);
  const nn::conv2d<3, 8, 3, nn::at_run_time<2>> at_run_time({.padding = 1});
  CHECK(at_run_time.output_shape(rank<4>(2, 3, 9, 8)) == rank<4>(2, 8, 9, 8));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)at_run_time.output_shape(rank<4>(2, 4, 9, 8)); }) ==
        "conv2d: axis 1: extent 4, expected 3 (input [2, 4, 9, 8])");
}
