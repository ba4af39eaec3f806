// tests/nn/block_linear.cpp: the layer with its weight in blocks, against linear of the numbers that they stand for.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/block_linear.hpp>
#include <tenon/tenon.hpp>

#include "nn/passes.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// `linear` whose weight is what the blocks of another layer stand for.
template <tenon::index In, tenon::index Out, class Format, bool Bias>
auto linear_of_blocks(const nn::block_linear_layer<In, Out, Format, Bias, tenon::host>& layer) {
  nn::linear_layer<In, Out, Bias, tenon::host, float> plain;
  plain.initialise(1);
  plain.weight.value = tenon::dequantise(layer.weight);
  if constexpr (Bias) plain.bias.value = layer.bias;
  return plain;
}
template <class Space, class Layer>
std::vector<double> answer_to(Layer& layer, tenon::index rows) {
  const auto x = tenon::evaluated_tensor<Space>(tenon::uniform<float>(rank<2>(rows, 64), 9, -1.0f, 1.0f));
  return numbers_of<Space>(layer(x));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("layers of blocks are linear layers", "[block_linear]", tenon_test::spaces) {
  nn::block_linear<64, 5, tenon::q4_0> made;
  made.initialise(3);
  auto plain = linear_of_blocks(made);
  auto layer = made.to<TestType>();
  for (const tenon::index rows : {1, 3, 40}) {
    CHECK(tenon_test::difference(answer_to<TestType>(layer, rows), answer_to<tenon::host>(plain, rows), 1e-5) == "");
  }
}

TEST_CASE("layers of blocks take sizes at run time, and no bias", "[block_linear]") {
  using layer_type = nn::block_linear<tenon::dyn, tenon::dyn, tenon::q8_0, nn::linear_options{.bias = false}>;
  layer_type layer(64, 7);
  layer.initialise(2);
  nn::linear<tenon::dyn, tenon::dyn, nn::linear_options{.bias = false}> plain(64, 7);
  plain.initialise(2);
  CHECK(tenon_test::difference(answer_to<tenon::host>(layer, 3), answer_to<tenon::host>(plain, 3), 0.01) == "");
  CHECK(layer.multiply_adds(rank<2>(3, 64)) == 3 * 64 * 7);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)layer(tenon::zeros<float>({2, 32})); }) ==
        "block_linear: axis 1: extent 32, expected 64 (input [2, 32])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer_type(40, 7); }) ==
        "block_matrix: q8_0: axis 1: extent 40, expected a multiple of 32");
}

TEST_CASE("gradients pass a layer of blocks", "[block_linear]") {
  nn::block_linear<64, 5, tenon::q8_0> layer;
  layer.initialise(3);
  auto plain = linear_of_blocks(layer);
  const auto gradient_through = [](auto& through) {
    nn::linear<4, 64> first;
    first.initialise(7);
    const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(3, 4), 5, -1.0f, 1.0f));
    tenon::backward(tenon::mean(through(tenon::tanh(first(x)))));
    return numbers_of(first.weight.gradient);
  };
  CHECK(tenon_test::difference(gradient_through(layer), gradient_through(plain), 1e-6) == "");
}

TEST_CASE("layers of blocks show their bytes and their bias", "[block_linear]") {
  nn::block_linear<64, 5, tenon::q4_0> layer;
  layer.initialise(1);
  std::vector<std::string> seen;
  nn::visit_state(layer, [&](const std::string& name, auto& value) {
    seen.push_back(tenon::compose_text(name, " ", value.shape().to_array()));
  });
  CHECK(seen == std::vector<std::string>{"weight [5, 36]", "bias [5]"});
}
