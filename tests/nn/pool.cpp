// tests/nn/pool.cpp: pools of windows, forward and backward.
// Against PyTorch's values where they are there, and against plain loops: the first of equal values takes the gradient.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/pool.hpp>

#include "nn/passes.hpp"
#include "support/golden.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

struct pooled {
  std::vector<double> values, gradients;
};

constexpr nn::pool2d_options framed{.stride = 2, .padding = 1};
constexpr nn::pool2d_options spread{.stride = 1, .padding = nn::per_axis<2>(0, 1), .dilation = 2, .ceil_mode = true};
constexpr nn::pool2d_options inner{.stride = 2, .padding = 1, .ceil_mode = true, .count_include_pad = false};
constexpr nn::pool2d_options overridden{.stride = 1, .padding = 1, .divisor_override = 3};

/// Pools `planes` images of h x w by definition; `gradient` is that of the output.
pooled by_definition(const std::vector<double>& x, const std::vector<double>& gradient, tenon::index planes,
                     tenon::index h, tenon::index w, tenon::index kernel) {
  const tenon::index p = h / kernel, q = w / kernel;
  pooled result{{}, std::vector<double>(x.size(), 0.0)};
  for (tenon::index i = 0; i < planes * p * q; ++i) {
    const tenon::index corner = i / (p * q) * h * w + i / q % p * kernel * w + i % q * kernel;
    tenon::index best = corner;
    for (tenon::index k = 0; k < kernel * kernel; ++k) {
      const tenon::index here = corner + k / kernel * w + k % kernel;
      const double value = x[static_cast<std::size_t>(here)], greatest = x[static_cast<std::size_t>(best)];
      if (value > greatest || (std::isnan(value) && !std::isnan(greatest))) best = here;
    }
    result.values.push_back(x[static_cast<std::size_t>(best)]);
    result.gradients[static_cast<std::size_t>(best)] += gradient[static_cast<std::size_t>(i)];
  }
  return result;
}

template <tenon::index Kernel, class Space>
void compare_with_definition(const rank<4>& extents) {
  const auto x = tenon_test::made_tensor<float, Space>(extents, [](tenon::index i) {
    return i == 5 ? std::nan("") : static_cast<double>(i * 7 % 11);
  });  // many equal values
  const nn::max_pool2d<Kernel> layer;
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  const auto output = layer.output_shape(extents);
  const auto g = tenon_test::counting<float, Space>(rank<4>(output), 1);
  tenon::tensor<float, rank<4>, Space> dx(extents);
  nn::max_pool2d<Kernel>{}.backward(x, y, g, dx.write_view());
  const auto expected = by_definition(numbers_of(x), numbers_of(g), extents.extent(0) * extents.extent(1),
                                      extents.extent(2), extents.extent(3), Kernel);
  CHECK(tenon_test::difference(numbers_of(y), expected.values) == "");
  CHECK(tenon_test::difference(numbers_of(dx), expected.gradients) == "");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("max pooling agrees with its definition", "[pool]", tenon_test::spaces) {
  compare_with_definition<2, TestType>(rank<4>(2, 3, 4, 6));
  compare_with_definition<2, TestType>(rank<4>(1, 2, 14, 28));
  compare_with_definition<2, TestType>(rank<4>(2, 1, 5, 7));
  compare_with_definition<3, TestType>(rank<4>(2, 2, 9, 10));
}

TEMPLATE_LIST_TEST_CASE("max pooling agrees with PyTorch", "[pool]", tenon_test::spaces) {
  const tenon_test::golden_case golden("max_pool2d_kernel_size2");
  if (!golden) return;
  const auto x = golden.read<float, 4, TestType>("input_input");
  const auto g = golden.read<float, 4, TestType>("grad_output_output");
  nn::max_pool2d<2> layer;
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  tenon::tensor<float, rank<4>, TestType> dx(x.shape());
  layer.backward(x, y, g, dx.write_view());
  CHECK(tenon_test::golden_difference(y, golden.read<float, 4>("output_output")) == "");
  CHECK(tenon_test::golden_difference(dx, golden.read<float, 4>("gradient_input")) == "");
}

#if !defined(__CUDACC__)
TEST_CASE("gradients of pools agree with differences", "[pool]") {
  using tenon_test::layer_difference;
  CHECK(layer_difference(rank<4>(2, 2, 6, 5), nn::max_pool2d<3, framed>{}) == "");
  CHECK(layer_difference(rank<4>(1, 2, 7, 6), nn::max_pool2d<nn::per_axis<2>(3, 2), spread>{}) == "");
  CHECK(layer_difference(rank<3>(2, 3, 9), nn::max_pool1d<4>{}) == "");
  CHECK(layer_difference(rank<5>(1, 2, 4, 4, 6), nn::max_pool3d<2>{}) == "");
  CHECK(layer_difference(rank<4>(2, 2, 6, 5), nn::avg_pool2d<2>{}) == "");
  CHECK(layer_difference(rank<4>(2, 2, 6, 5), nn::avg_pool2d<3, inner>{}) == "");
  CHECK(layer_difference(rank<4>(1, 2, 5, 5), nn::avg_pool2d<3, overridden>{}) == "");
  CHECK(layer_difference(rank<3>(2, 2, 8), nn::lp_pool1d<2>{4}) == "");
  CHECK(layer_difference(rank<3>(2, 2, 8), nn::avg_pool1d<3>{}) == "");
  CHECK(layer_difference(rank<5>(1, 2, 4, 3, 4), nn::avg_pool3d<2>{}) == "");
}

TEST_CASE("means of windows count what their options say", "[pool]") {
  const auto x = tenon_test::counting<float>(rank<4>(1, 1, 3, 3), 1);
  using numbers = std::vector<double>;
  constexpr nn::pool2d_options with_padding{.stride = 2, .padding = 1}, ceiled{.stride = 2, .ceil_mode = true};
  CHECK(numbers_of(nn::avg_pool2d<2, with_padding>{}.forward(x)) == numbers{0.25, 1.25, 2.75, 7});
  constexpr nn::pool2d_options without_padding{.stride = 2, .padding = 1, .count_include_pad = false};
  CHECK(numbers_of(nn::avg_pool2d<2, without_padding>{}.forward(x)) == numbers{1, 2.5, 5.5, 7});
  CHECK(numbers_of(nn::avg_pool2d<2, ceiled>{}.forward(x)) == numbers{3, 4.5, 7.5, 9});
  constexpr nn::pool2d_options of_two{.stride = 1, .divisor_override = 2};
  CHECK(numbers_of(nn::avg_pool2d<2, of_two>{}.forward(x)) == numbers{6, 8, 12, 14});
  CHECK(numbers_of(nn::lp_pool1d<2>{}.forward(tenon_test::counting<float>(rank<3>(1, 1, 2), 3))) == numbers{5});
  CHECK(numbers_of(nn::lp_pool1d<2>{1}.forward(tenon_test::counting<float>(rank<3>(1, 1, 2), 3))) == numbers{7});
}

TEST_CASE("the gradient of a norm of zeros is 0", "[pool]") {
  const tenon::tensor<double, rank<3>> x(rank<3>(1, 1, 4), {0, 0, 3, 4});
  const auto v = tenon::variable<0>(x);
  const auto [dx] = tenon::gradient(tenon::sum(nn::lp_pool1d<2>{}.expression(v)), tenon::wrt(v));
  CHECK(tenon_test::difference(numbers_of(dx), {0, 0, 0.6, 0.8}, 1e-12) == "");
}

TEST_CASE("pools refuse padding without use, and inputs without room", "[pool]") {
  const auto text = [](const auto& call) { return tenon_test::text_of<tenon::shape_error>(call); };
  const auto has = [](const std::string& whole, const std::string& part) { return whole.find(part) != whole.npos; };
  const std::string at_least =
      ", expected at least 1, 0 (for the kernel's), 1 and 0, and padding of at most half the window";
  const nn::pool1d_options wide{.padding = 2};
  CHECK(text([&] { nn::max_pool1d<tenon::dyn>(3, wide); }) ==
        "max_pool1d: axis 2: kernel 3, stride 0, dilation 1, padding 2" + at_least);
  CHECK(text([&] { nn::max_pool2d<tenon::dyn>({0, 0}); }) ==
        "max_pool2d: axis 2: kernel 0, stride 0, dilation 1, padding 0" + at_least);
  CHECK(text([&] { nn::avg_pool2d<tenon::dyn>({2, -1}); }) ==
        "avg_pool2d: axis 3: kernel -1, stride 0, dilation 1, padding 0" + at_least);
  using tenon::dyn;
  for (const tenon::index wrong : {tenon::index{-1}, INT64_MIN}) {
    const nn::pool3d_options still{.stride = {1, 2, wrong}}, folded{.dilation = wrong}, cut{.padding = wrong};
    const std::string number = std::to_string(wrong);
    CHECK(has(text([&] { nn::lp_pool3d<dyn>(2, 3, still); }), "axis 4: kernel 3, stride " + number));
    CHECK(has(text([&] { nn::max_pool3d<dyn>(3, folded); }), "axis 2: kernel 3, stride 0, dilation " + number));
    CHECK(has(text([&] { nn::avg_pool3d<dyn>(3, cut); }), "padding " + number));
  }
  const nn::pool2d_options collapsed{.dilation = {1, 0}};
  CHECK(has(text([&] { nn::max_pool2d<dyn>(3, collapsed); }), "axis 3: kernel 3, stride 0, dilation 0"));
  const nn::pool1d_options far{.dilation = tenon::index{1} << 62};
  CHECK(has(text([&] { nn::max_pool1d<dyn>(3, far); }), "dilation 4611686018427387904"));
  const nn::pool1d_options dilated{.dilation = 2};
  CHECK(text([&] { nn::avg_pool1d<tenon::dyn>(3, dilated); }) ==
        "avg_pool1d: dilation: 2, expected 1 as its type says");
  const nn::pool1d_options padded{.padding = 1};
  CHECK(text([&] { nn::lp_pool1d<tenon::dyn>(2, 3, padded); }) == "lp_pool1d: padding: 1, expected 0 as its type says");
  const auto x = tenon_test::counting<float>(rank<3>(1, 1, 1));
  CHECK(text([&] { nn::avg_pool1d<tenon::dyn>(4).forward(x); }) ==
        "avg_pool1d: axis 2: extent 1, expected room for a window of 4 (input [1, 1, 1])");
}

TEST_CASE("the shape of a pool's output leaves out what fills no window", "[pool]") {
  STATIC_REQUIRE(std::is_same_v<decltype(nn::max_pool2d<2>{}.output_shape(shape<tenon::dyn, 8, 7, 28>{})),
                                shape<tenon::dyn, 8, 3, 14>>);
  CHECK(nn::max_pool2d<3>{}.output_shape(rank<4>(1, 2, 10, 9)) == rank<4>(1, 2, 3, 3));
  constexpr nn::pool2d_options ceiled{.stride = 2, .ceil_mode = true};
  STATIC_REQUIRE(std::is_same_v<decltype(nn::max_pool2d<3, ceiled>{}.output_shape(shape<tenon::dyn, 8, 6, 7>{})),
                                shape<tenon::dyn, 8, 3, 3>>);
  CHECK(nn::max_pool2d<3, framed>{}.output_shape(rank<4>(1, 2, 112, 5)) == rank<4>(1, 2, 56, 3));
  constexpr nn::pool1d_options apart{
      .stride = 3, .padding = 1, .ceil_mode = true};  // a third window would begin behind
  CHECK(nn::max_pool1d<2, apart>{}.output_shape(rank<3>(1, 1, 5)) == rank<3>(1, 1, 2));
}
#endif
