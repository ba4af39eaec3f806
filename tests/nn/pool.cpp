// tests/nn/pool.cpp: max pooling, forward and backward.
// Against PyTorch's values where they are there, and against plain loops: the first of equal values takes the gradient.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/pool.hpp>

#include "support/golden.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

struct pooled {
  std::vector<double> values, gradients;
};

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

TEST_CASE("the shape of a pool's output leaves out what fills no window", "[pool]") {
  STATIC_REQUIRE(std::is_same_v<decltype(nn::max_pool2d<2>::output_shape(shape<tenon::dyn, 8, 7, 28>{})),
                                shape<tenon::dyn, 8, 3, 14>>);
  CHECK(nn::max_pool2d<3>::output_shape(rank<4>(1, 2, 10, 9)) == rank<4>(1, 2, 3, 3));
}
