// tests/nn/initial.cpp: first values of parameters: moments, bounds, orthogonality, and the same on every space.
// Fans and gains are compared with what torch.nn.init documents.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/conv.hpp>
#include <tenon/nn/initial.hpp>
#include <tenon/nn/linear.hpp>

#include <algorithm>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
namespace initial = tenon::nn::initial;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

struct spread_of_weight {
  double mean, deviation, least, greatest;
};

template <class Weight>
spread_of_weight spread_of(const Weight& weight) {
  const auto values = numbers_of(weight);
  double total = 0, squares = 0;
  for (const double each : values) total += each, squares += each * each;
  const double count = static_cast<double>(values.size()), mean = total / count;
  return {mean, std::sqrt(squares / count - mean * mean), *std::min_element(values.begin(), values.end()),
          *std::max_element(values.begin(), values.end())};
}

bool is_near(double found, double expected) { return std::fabs(found - expected) <= 0.01 * std::fabs(expected); }

/// Whether numbers are uniform within the bound, to a percent.
bool is_uniform(const spread_of_weight& spread, double bound) {
  return std::fabs(spread.mean) < 0.02 * bound && spread.least >= -bound && spread.greatest <= bound &&
         is_near(spread.least, -bound) && is_near(spread.greatest, bound) &&
         is_near(spread.deviation, bound / std::sqrt(3.0));
}
bool is_normal(const spread_of_weight& spread, double deviation) {
  return std::fabs(spread.mean) < 0.02 * deviation && is_near(spread.deviation, deviation) &&
         spread.greatest > 3 * deviation;
}

/// The greatest difference of the products of all rows of a matrix with another from those of orthonormal rows.
double orthonormal_difference(const std::vector<double>& values, std::size_t rows, double length) {
  const std::size_t columns = values.size() / rows;
  const bool is_wide = rows <= columns;
  const std::size_t count = is_wide ? rows : columns, extent = is_wide ? columns : rows;
  const auto at = [&](std::size_t vector, std::size_t i) {
    return is_wide ? values[vector * columns + i] : values[i * columns + vector];
  };
  double greatest = 0;
  for (std::size_t left = 0; left < count; ++left) {
    for (std::size_t right = 0; right <= left; ++right) {
      double product = 0;
      for (std::size_t i = 0; i < extent; ++i) product += at(left, i) * at(right, i);
      greatest = std::max(greatest, std::fabs(product - (left == right ? length * length : 0)));
    }
  }
  return greatest;
}

}  // namespace

TEST_CASE("gains and fans are PyTorch's", "[initial]") {
  using initial::nonlinearity;
  CHECK(initial::gain_of(nonlinearity::linear) == 1);
  CHECK(initial::gain_of(nonlinearity::sigmoid) == 1);
  CHECK(initial::gain_of(nonlinearity::tanh) == 5.0f / 3);
  CHECK(initial::gain_of(nonlinearity::relu) == std::sqrt(2.0f));
  CHECK(initial::gain_of(nonlinearity::leaky_relu) == std::sqrt(2 / 1.0001f));
  CHECK(initial::gain_of(nonlinearity::leaky_relu, 1) == 1);
  CHECK(initial::gain_of(nonlinearity::selu) == 0.75f);
  nn::linear<13, 5> dense;
  CHECK(initial::fans_of(dense.weight.value.shape()).in == 13);
  CHECK(initial::fans_of(dense.weight.value.shape()).out == 5);
  nn::conv2d<6, 8, nn::per_axis<2>(3, 5), nn::conv2d_options{.groups = 2}> window;
  CHECK(initial::fans_of(window.weight.value.shape()).in == 3 * 15);
  CHECK(initial::fans_of(window.weight.value.shape()).out == 8 * 15);
}

TEMPLATE_LIST_TEST_CASE("parameters and tensors are filled and drawn", "[initial]", tenon_test::spaces) {
  nn::linear<200, 300, nn::linear_options{}, TestType> layer;
  initial::constant(layer.weight, 2.5f);
  CHECK(numbers_of(layer.weight.value) == std::vector<double>(60000, 2.5));
  initial::uniform(layer.weight, 3, -2, 2);
  CHECK(is_uniform(spread_of(layer.weight.value), 2));
  initial::normal(layer.weight.value, 4, 0, 3);
  CHECK(is_normal(spread_of(layer.weight.value), 3));
  initial::truncated_normal(layer.weight, 5, {.deviation = 0.02f, .low = -0.04f, .high = 0.04f});
  const auto cut = spread_of(layer.weight.value);
  CHECK(cut.least >= -0.04f);
  CHECK(cut.greatest <= 0.04f);
  CHECK(is_near(cut.deviation, 0.02 * 0.879626));  // sqrt(1 - 4 density(2) / within)
}

TEMPLATE_LIST_TEST_CASE("Xavier's and Kaiming's bounds are PyTorch's", "[initial]", tenon_test::spaces) {
  nn::linear<200, 300, nn::linear_options{}, TestType> layer;
  initial::xavier_uniform(layer.weight, 1);
  CHECK(is_uniform(spread_of(layer.weight.value), std::sqrt(6.0 / 500)));
  initial::xavier_normal(layer.weight, 2, 2);
  CHECK(is_normal(spread_of(layer.weight.value), 2 * std::sqrt(2.0 / 500)));
  initial::kaiming_uniform(layer.weight, 3);
  CHECK(is_uniform(spread_of(layer.weight.value), std::sqrt(6.0 / 200)));
  initial::kaiming_uniform(layer.weight, 3, {.slope = std::sqrt(5.0f)});
  CHECK(is_uniform(spread_of(layer.weight.value), 1 / std::sqrt(200.0)));
  initial::kaiming_normal(layer.weight, 4, {.mode = initial::fan::out, .behind = initial::nonlinearity::tanh});
  CHECK(is_normal(spread_of(layer.weight.value), 5.0 / 3 / std::sqrt(300.0)));
  tenon::tensor<float, shape<64, 32, 3, 3>, TestType> kernels;
  initial::kaiming_normal(kernels, 5, {.behind = initial::nonlinearity::relu});
  CHECK(is_normal(spread_of(kernels), std::sqrt(2.0 / (32 * 9))));
}

TEMPLATE_LIST_TEST_CASE("orthogonal weights have orthogonal rows or columns", "[initial]", tenon_test::spaces) {
  const auto drawn = [](const auto& extents, float gain) {
    using extents_type = std::remove_cvref_t<decltype(extents)>;
    tenon::tensor<float, extents_type, TestType> weight(extents);
    initial::orthogonal(weight, 11, gain);
    return numbers_of(weight);
  };
  CHECK(orthonormal_difference(drawn(rank<2>(37, 101), 1), 37, 1) < 1e-6);
  CHECK(orthonormal_difference(drawn(rank<2>(75, 41), 2), 75, 2) < 4e-6);
  CHECK(orthonormal_difference(drawn(shape<65, 65>(), 1), 65, 1) < 1e-6);
  CHECK(orthonormal_difference(drawn(rank<4>(8, 4, 3, 3), 1), 8, 1) < 1e-6);
  CHECK(orthonormal_difference(drawn(rank<2>(1, 1), 3), 1, 3) < 1e-6);
  CHECK(drawn(rank<2>(0, 4), 1).empty());
  tenon::tensor<double, rank<2>> other({37, 101});
  initial::orthogonal(other, 12);
  CHECK(tenon_test::difference(numbers_of(other), drawn(rank<2>(37, 101), 1), 1e-6) != "");
}

TEMPLATE_LIST_TEST_CASE("a dirac convolution hands on its channels", "[initial]", tenon_test::spaces) {
  constexpr nn::conv2d_options same_extents{.padding = 1, .groups = 2, .bias = false};
  nn::conv2d<4, 6, 3, same_extents, TestType> layer;
  initial::dirac(layer.weight, 2);
  const auto x = tenon_test::counting<float, TestType>(rank<4>(1, 4, 2, 3), 1);
  const auto y = numbers_of(layer.forward(x)), given = numbers_of(x);
  const std::size_t from[] = {0, 1, 9, 2, 3, 9};  // 9: an output of no channel
  for (std::size_t channel = 0; channel < 6; ++channel) {
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(y[channel * 6 + i] == (from[channel] == 9 ? 0 : given[from[channel] * 6 + i]));
    }
  }
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { initial::dirac(layer.weight, 4); }) ==
        "dirac: 6 outputs, expected a multiple of 4 groups");
}

TEMPLATE_LIST_TEST_CASE("first values are the same on every space", "[initial]", tenon_test::spaces) {
  nn::linear<33, 21> here;
  nn::linear<33, 21, nn::linear_options{}, TestType> there;
  const auto agree = [&](const auto& draw) {
    draw(here.weight), draw(there.weight);
    return numbers_of(here.weight.value) == numbers_of(there.weight.value);
  };
  CHECK(agree([](auto& weight) { initial::kaiming_uniform(weight, 7); }));
  CHECK(agree([](auto& weight) { initial::xavier_normal(weight, 7); }));
  CHECK(agree([](auto& weight) { initial::truncated_normal(weight, 7); }));
  CHECK(agree([](auto& weight) { initial::orthogonal(weight, 7); }));
}
