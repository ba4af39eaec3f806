// tests/nn/summary.cpp: networks as tables, compared with counts by hand.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/summary.hpp>
#include <tenon/tenon.hpp>

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

template <class Network, class... Inputs>
std::string summary_text(Network&& net, const Inputs&... inputs) {
  std::ostringstream text;
  text << nn::summary(net, inputs...);
  return text.str();
}

/// A layer that is called twice, one that is called never, a list, a parameter, numbers and a function.
struct summed_block : nn::module<summed_block> {
  nn::linear<6, 6> twice;
  nn::parameter<float, shape<6>> scale{.value = {1, 2, 3, 4, 5, 6}};
  nn::dropout mask{0.5};
  nn::linear<6, 2, nn::linear_options{.bias = false}> never;
  int turns = 2;

  auto forward(const auto& x) {
    tenon::traced h = x;
    for (int turn = 0; turn < turns; ++turn) h = tenon::tanh(twice(h)) * scale;
    return mask(h);
  }
};
struct summed_module : nn::module<summed_module> {
  nn::embedding<9, 6> tokens;
  std::vector<summed_block> blocks = std::vector<summed_block>(2);
  decltype(nn::sequential(nn::relu{}, nn::tanh{}, nn::linear<6, 3>{})) head;
  tenon::tensor<float, shape<2>> table{};
  nn::lstm<3, 4> memory;

  auto forward(const auto& text, const auto& added) {
    tenon::traced h = tokens(text) + added;
    for (auto& block : blocks) h = block(h);
    const auto [sequence, hidden, cell] = memory(head(h));
    return sequence;
  }
};

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
  auto wide = net.to<double>();
  const auto of_wide = nn::summary(wide, rank<4>(7, 4, 9, 10));
  CHECK(of_wide.output_bytes() == 2 * found.output_bytes());
  CHECK(of_wide.input_bytes == 2 * found.input_bytes);
  CHECK(of_wide.parameter_bytes == 2 * found.parameter_bytes);
}

TEST_CASE("a transposed convolution multiplies each input", "[summary]") {
  auto net = nn::sequential(nn::conv_transpose1d<4, 6, 3, nn::conv1d_options{.stride = 2, .groups = 2}>{});
  CHECK(nn::summary(net, rank<3>(5, 4, 7)).multiply_adds() == 5 * 4 * 7 * 3 * 3);
}

TEST_CASE("a summary lists the layers of lists", "[summary]") {
  auto net =
      nn::sequential(nn::residual(nn::linear<8, 6>{}, nn::tanh{}, nn::linear<6, 8>{}),
                     nn::sequential(nn::relu{}, nn::sequential(nn::linear<8, 24>{})), nn::unflatten<1, 4, 6>{},
                     nn::branches(nn::conv1d<4, 2, 1>{}, nn::sequential(nn::conv1d<4, 3, 1>{}, nn::conv1d<3, 5, 1>{})));
  const auto found = nn::summary(net, shape<5, 8>{});
  std::string names;
  for (const auto& layer : found.layers) names += layer.name + ", ";
  CHECK(names ==
        "0.0 linear, 0.1 tanh, 0.2 linear, 1.0 relu, 1.1.0 linear, 2 unflatten, 3.0 conv1d, 3.1.0 conv1d, "
        "3.1.1 conv1d, ");
  REQUIRE(found.layers.size() == 9);
  CHECK(found.layers[0].output == std::vector<tenon::index>{5, 6});
  CHECK(found.layers[4].output == std::vector<tenon::index>{5, 24});
  CHECK(found.layers[4].parameters == 8 * 24 + 24);
  CHECK(found.layers[8].output == std::vector<tenon::index>{5, 5, 6});
  CHECK(found.multiply_adds() == 5 * (8 * 6 + 6 * 8) + 5 * 8 * 24 + 5 * 6 * (4 * 2 + 4 * 3 + 3 * 5));
}

TEST_CASE("a summary of a module calls it with shapes", "[summary]") {
  summed_module net;
  nn::freeze(net.blocks[1]);
  const tenon::tensor<int, rank<2>> text({5, 7});
  const auto found = nn::summary(net, text, shape<5, 7, 6>{});
  const std::string by_hand =
      "layer                     output     parameters  multiply-adds\n"
      "tokens embedding          [5, 7, 6]          54              -\n"
      "blocks.0.twice linear     [5, 7, 6]          42          2,520\n"
      "blocks.0.scale parameter  -                   6              -\n"
      "blocks.0.mask dropout     [5, 7, 6]           -              -\n"
      "blocks.0.never linear     -                  12              -\n"
      "blocks.1.twice linear     [5, 7, 6]          42          2,520\n"
      "blocks.1.scale parameter  -                   6              -\n"
      "blocks.1.mask dropout     [5, 7, 6]           -              -\n"
      "blocks.1.never linear     -                  12              -\n"
      "head.0 relu               [5, 7, 6]           -              -\n"
      "head.1 tanh               [5, 7, 6]           -              -\n"
      "head.2 linear             [5, 7, 3]          21            630\n"
      "memory lstm               [5, 7, 4]         144              -\n"
      "total                                       339          5,670\n"
      "trainable parameters: 279\n"
      "FLOP forward, of layers that tell: 11,340\n"
      "input: 0.00 MB, outputs: 0.01 MB, parameters: 0.00 MB; in training also gradients: 0.01 MB\n";
  CHECK(summary_text(net, text, shape<5, 7, 6>{}) == by_hand);
  CHECK(found.input_bytes == 4 * (5 * 7 + 5 * 7 * 6));
  CHECK(found.output_bytes() == 4 * 5 * 7 * (9 * 6 + 3 + 4));
  CHECK(found.parameters() == nn::parameter_count(net));
  CHECK(net.blocks[0].twice.weight.has_gradient == false);
}

TEST_CASE("a summary without inputs counts parameters alone", "[summary]") {
  summed_block net;
  CHECK(summary_text(net) ==
        "layer            output  parameters  multiply-adds\n"
        "twice linear     -               42              -\n"
        "scale parameter  -                6              -\n"
        "mask dropout     -                -              -\n"
        "never linear     -               12              -\n"
        "total                            60              -\n"
        "trainable parameters: 60\n"
        "parameters: 0.00 MB\n");
  CHECK(nn::summary(nn::linear<3, 4>{}).layers[0].name == "linear");
}

TEST_CASE("a summary leaves the state of layers as it is", "[summary]") {
  auto net = nn::sequential(nn::batch_norm<6>{}, nn::dropout{0.5}), other = net;
  (void)nn::summary(net, shape<4, 6>{});
  CHECK(tenon::get<0>(net.layers).num_batches_tracked == 0);
  const tenon::tensor<float, rank<2>> x = tenon::uniform<float>({4, 6}, 1);
  const tenon::tensor<float, rank<2>> first = net(x), expected = other(x);
  CHECK(static_cast<bool>(tenon::all(first == expected)));
}

TEST_CASE("a summary does not count what has no extents", "[summary]") {
  struct holder : nn::module<holder> {
    nn::parameter<float, rank<2>> table{};
  } net;
  net.table.value = {};
  CHECK(tenon_test::text_of<tenon::error>([&] { (void)nn::summary(net); }) ==
        "summary: table parameter: table has no extents yet; call initialise(seed), or load weights");
}

TEST_CASE("a summary is printed as a table", "[summary]") {
  auto net = make_summed_network();
  CHECK(summary_text(net, rank<4>(700, 4, 9, 10)) ==
        "layer         output          parameters  multiply-adds\n"
        "0 conv2d      [700, 6, 5, 4]         186      2,520,000\n"
        "1 batch_norm  [700, 6, 5, 4]          12              -\n"
        "2 relu        [700, 6, 5, 4]           -              -\n"
        "3 flatten     [700, 120]               -              -\n"
        "4 linear      [700, 1000]        121,000     84,000,000\n"
        "total                            121,198     86,520,000\n"
        "trainable parameters: 121,198\n"
        "FLOP forward, of layers that tell: 173,040,000\n"
        "input: 1.01 MB, outputs: 4.14 MB, parameters: 0.48 MB; in training also gradients: 4.63 MB\n");
}

TEST_CASE("a summary refuses what a layer does not take", "[summary]") {
  auto net = nn::sequential(nn::linear<3, 4>{});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::summary(net, rank<2>(5, 2)); }) ==
        "linear: axis 1: extent 2, expected 3 (input [5, 2])");
}
