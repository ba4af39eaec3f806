// tests/nn/summary.cpp: networks as tables, compared with counts by hand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/reshaping.hpp>
#include <tenon/nn/summary.hpp>

#include <sstream>

#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;

namespace {

constexpr nn::conv2d_options summed_window{.stride = 2, .padding = 1, .groups = 2};

auto make_summed_network() {
  return nn::sequential(nn::conv2d<4, 6, nn::per_axis<2>(3, 5), summed_window>{}, nn::batch_norm<6>{}, nn::relu{},
                        nn::flatten{}, nn::linear<6 * 5 * 4, 1000>{});
}

}  // namespace

TEST_CASE("a summary counts shapes, parameters, multiply-adds and bytes", "[summary]") {
  auto net = make_summed_network();
  const auto found = nn::summary(net, shape<dyn, 4, 9, 10>(7, 4, 9, 10));
  REQUIRE(found.layers.size() == 5);
  CHECK(found.layers[0].name == "0 conv2d");
  CHECK(found.layers[0].output == std::vector<tenon::index>{7, 6, 5, 4});
  CHECK(found.layers[0].parameters == 6 * 2 * 15 + 6);
  CHECK(found.layers[0].multiply_adds == 7 * 6 * 5 * 4 * 2 * 15);
  CHECK(found.layers[1].parameters == 12);
  CHECK(found.layers[2].parameters == 0);
  CHECK(found.layers[2].multiply_adds == 0);
  CHECK(found.layers[3].output == std::vector<tenon::index>{7, 120});
  CHECK(found.layers[4].parameters == 121000);
  CHECK(found.layers[4].multiply_adds == 7 * 120 * 1000);
  CHECK(found.parameters() == 186 + 12 + 121000);
  CHECK(found.multiply_adds() == 25200 + 840000);
  CHECK(found.input_bytes == 7 * 4 * 9 * 10 * 4);
  CHECK(found.output_bytes() == 4 * (4 * 7 * 120 + 7 * 1000));
  CHECK(found.parameter_bytes == 4 * found.parameters());
  CHECK(nn::summary<double>(net, rank<4>(7, 4, 9, 10)).output_bytes() == 2 * found.output_bytes());
}

TEST_CASE("a transposed convolution multiplies each input", "[summary]") {
  auto net = nn::sequential(nn::conv_transpose1d<4, 6, 3, nn::conv1d_options{.stride = 2, .groups = 2}>{});
  CHECK(nn::summary(net, rank<3>(5, 4, 7)).multiply_adds() == 5 * 4 * 7 * 3 * 3);
}

TEST_CASE("a summary counts within lists of layers", "[summary]") {
  auto net =
      nn::sequential(nn::residual(nn::linear<8, 6>{}, nn::tanh{}, nn::linear<6, 8>{}),
                     nn::sequential(nn::relu{}, nn::sequential(nn::linear<8, 24>{})), nn::unflatten<1, 4, 6>{},
                     nn::branches(nn::conv1d<4, 2, 1>{}, nn::sequential(nn::conv1d<4, 3, 1>{}, nn::conv1d<3, 5, 1>{})));
  const auto found = nn::summary(net, shape<5, 8>{});
  REQUIRE(found.layers.size() == 4);
  CHECK(found.layers[0].name == "0 residual");
  CHECK(found.layers[0].multiply_adds == 5 * (8 * 6 + 6 * 8));
  CHECK(found.layers[1].name == "1 sequential");
  CHECK(found.layers[1].output == std::vector<tenon::index>{5, 24});
  CHECK(found.layers[1].parameters == 8 * 24 + 24);
  CHECK(found.layers[1].multiply_adds == 5 * 8 * 24);
  CHECK(found.layers[3].multiply_adds == 5 * 6 * (4 * 2 + 4 * 3 + 3 * 5));
  CHECK(found.multiply_adds() == 480 + 960 + 1050);
}

TEST_CASE("a summary is printed as a table", "[summary]") {
  auto net = make_summed_network();
  std::ostringstream text;
  text << nn::summary(net, rank<4>(700, 4, 9, 10));
  CHECK(text.str() ==
        "layer         output          parameters  multiply-adds\n"
        "0 conv2d      [700, 6, 5, 4]         186      2,520,000\n"
        "1 batch_norm  [700, 6, 5, 4]          12              -\n"
        "2 relu        [700, 6, 5, 4]           -              -\n"
        "3 flatten     [700, 120]               -              -\n"
        "4 linear      [700, 1000]        121,000     84,000,000\n"
        "total                            121,198     86,520,000\n"
        "FLOP forward: 173,040,000\n"
        "input: 1.01 MB, outputs: 4.14 MB, parameters: 0.48 MB; in training also gradients: 4.63 MB\n");
}

TEST_CASE("a summary refuses what a layer does not take", "[summary]") {
  auto net = nn::sequential(nn::linear<3, 4>{});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::summary(net, rank<2>(5, 2)); }) ==
        "linear: axis 1: extent 2, expected 3 (input [5, 2])");
}
