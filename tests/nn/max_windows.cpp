// tests/nn/max_windows.cpp: the greatest values of windows and their places, against loops over the definition.
// Values are whole numbers with many equal ones: the first of them is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/max_windows.hpp>

#include <tenon/nn/pool.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

struct greatest_values {
  std::vector<double> values, places;
};

constexpr nn::pool2d_options around{.stride = 2, .padding = 1};
constexpr nn::pool2d_options dilated{.stride = 1, .padding = nn::per_axis<2>(0, 1), .dilation = 2, .ceil_mode = true};

/// The greatest of each window, which may reach beside the plane, and where it lies.
template <class Layer>
greatest_values greatest_by_definition(const Layer& layer, const std::vector<double>& x, const rank<4>& extents) {
  const auto output = layer.output_shape(extents);
  const auto& options = layer.options;
  greatest_values result{};
  for (tenon::index i = 0; i < output.count(); ++i) {
    const tenon::index row = i / output.extent(3) % output.extent(2), column = i % output.extent(3);
    const tenon::index plane = i / (output.extent(2) * output.extent(3)) * extents.extent(2) * extents.extent(3);
    double greatest = -HUGE_VAL, place = -1;
    for (tenon::index tap = 0; tap < layer.kernel[0] * layer.kernel[1]; ++tap) {
      const tenon::index h = row * options.stride[0] - options.padding[0] + tap / layer.kernel[1] * options.dilation[0];
      const tenon::index w =
          column * options.stride[1] - options.padding[1] + tap % layer.kernel[1] * options.dilation[1];
      if (h < 0 || w < 0 || h >= extents.extent(2) || w >= extents.extent(3)) continue;
      const double value = x[static_cast<std::size_t>(plane + h * extents.extent(3) + w)];
      if (value > greatest) greatest = value, place = static_cast<double>(h * extents.extent(3) + w);
    }
    result.values.push_back(greatest), result.places.push_back(place);
  }
  return result;
}

template <class Space, class Layer>
void compare_greatest(const Layer& layer, const rank<4>& extents) {
  const auto x = tenon_test::made_tensor<float, Space>(extents, [](tenon::index i) { return -1 - i * 7 % 11; });
  const auto expected = greatest_by_definition(layer, numbers_of(x), extents);
  CHECK(numbers_of(layer.forward(x)) == expected.values);
  CHECK(numbers_of(layer.indices(x)) == expected.places);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("windows of max pools that overlap or reach beside the image", "[max_windows]",
                        tenon_test::spaces) {
  compare_greatest<TestType>(nn::max_pool2d<3, around>{}, rank<4>(2, 2, 8, 7));
  compare_greatest<TestType>(nn::max_pool2d<nn::per_axis<2>(3, 2), dilated>{}, rank<4>(1, 3, 9, 6));
  compare_greatest<TestType>(nn::max_pool2d<tenon::dyn>(3, around), rank<4>(2, 2, 5, 8));
}
