// tests/nn/transformer.cpp: the layers of transformers' encoders and decoders.
// Names as PyTorch's, gradients against differences, other spaces; PyTorch's cases are in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/transformer.hpp>

#include "nn/passes.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

constexpr nn::transformer_options norms_before{.dropout = 0, .batch_first = true, .norm_first = true};
constexpr nn::transformer_options norms_behind{.dropout = 0};

}  // namespace

TEST_CASE("gradients of encoder layers agree with differences", "[transformer]") {
  const rank<3> extents(3, 2, 4);
  const nn::transformer_encoder_layer<4, 2, 6, nn::gelu, norms_before, tenon::host, double> before;
  const nn::transformer_encoder_layer<4, 2, 6, nn::silu, norms_behind, tenon::host, double> behind;
  CHECK(tenon_test::pass_difference(extents, before) == "");
  CHECK(tenon_test::pass_difference(extents, behind) == "");
}

TEST_CASE("encoder layers take a mask, as attention does", "[transformer]") {
  const auto check = [](auto layer, auto x) {
    layer.initialise(3);
    auto mask = tenon_test::drawn(rank<4>(2, 1, 1, 3), 5);
    const auto weights = tenon::evaluated_tensor(tenon_test::weights_of(x.shape()));
    const auto variable = tenon::variable(mask);
    tenon::backward(tenon::sum(layer(x, variable) * weights));
    const tenon::no_grad in_use;
    const auto value = [&] { return static_cast<double>(tenon::sum(layer(x, mask) * weights)); };
    CHECK(tenon_test::difference_from_slopes(mask, variable.gradient(), value, 1e-6, 1e-5) == "");
    CHECK(tenon_test::difference(numbers_of(layer(x, mask > 100)), numbers_of(layer(x)), 1e-12) == "");
    CHECK(numbers_of(layer(x, tenon::arange<int>(3) == 2)) != numbers_of(layer(x)));
  };
  check(nn::transformer_encoder_layer<4, 2, 6, nn::gelu, norms_before, tenon::host, double>(),
        tenon_test::drawn(rank<3>(2, 3, 4), 8));
  check(nn::transformer_encoder_layer<4, 2, 6, nn::silu, norms_behind, tenon::host, double>(),
        tenon_test::drawn(rank<3>(3, 2, 4), 8));
}

TEST_CASE("gradients of decoder layers agree with differences", "[transformer]") {
  const auto check = [](auto layer, auto x, auto memory) {
    layer.initialise(3);
    layer.self_attn.is_causal = true;
    const auto of_memory = tenon_test::drawn(rank<4>(2, 1, 1, 5), 5) > 0.5;
    const auto weights = tenon::evaluated_tensor(tenon_test::weights_of(x.shape()));
    const auto v = tenon::variable(x), w = tenon::variable(memory);
    tenon::backward(tenon::sum(layer(v, w, nn::no_mask, of_memory) * weights));
    const tenon::no_grad in_use;
    const auto value = [&] { return double(tenon::sum(layer(x, memory, nn::no_mask, of_memory) * weights)); };
    CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-5) == "");
    CHECK(tenon_test::difference_from_slopes(memory, w.gradient(), value, 1e-6, 1e-5) == "");
  };
  check(nn::transformer_decoder_layer<4, 2, 6, nn::gelu, norms_before, tenon::host, double>(),
        tenon_test::drawn(rank<3>(2, 3, 4), 8), tenon_test::drawn(rank<3>(2, 5, 4), 9));
  check(nn::transformer_decoder_layer<4, 2, 6, nn::silu, norms_behind, tenon::host, double>(),
        tenon_test::drawn(rank<3>(3, 2, 4), 8), tenon_test::drawn(rank<3>(5, 2, 4), 9));
}

TEMPLATE_LIST_TEST_CASE("a decoder layer is its parts in their order, in other spaces too", "[transformer]",
                        tenon_test::spaces) {
  nn::transformer_decoder_layer<8, 2, 16> layer;
  layer.initialise(5);
  std::uint64_t number = 0;  // so that no norm is like another
  layer.visit_parameters([&](const std::string&, auto& parameter) {
    const auto& before = parameter.value;
    parameter.value = before + 0.3f * tenon::uniform<float>(before.shape(), ++number);
  });
  layer.eval();
  const auto x = tenon_test::random_input<tenon::host>(rank<3>(4, 3, 8));
  const auto memory = tenon_test::random_input<tenon::host>(rank<3>(6, 3, 8));
  const tenon::tensor<bool, rank<2>> later = tenon::triu(tenon::ones<bool>(rank<2>(4, 4)), 1);
  const tenon::no_grad in_use;
  const tenon::traced seen = layer.norm1(x + layer.self_attn(x, later));
  const tenon::traced asked = layer.norm2(seen + layer.multihead_attn(seen, memory, memory));
  const auto expected = numbers_of(layer.norm3(asked + layer.linear2(tenon::relu(layer.linear1(asked)))));
  CHECK(tenon_test::difference(numbers_of(layer(x, memory, later)), expected, 1e-6) == "");
  auto there = layer.template to<TestType>();
  there.self_attn.is_causal = true;
  const auto found = numbers_of(there(x.template to<TestType>(), memory.template to<TestType>()));
  CHECK(tenon_test::difference(found, expected, 1e-5) == "");
  layer.train();
  CHECK(numbers_of(layer(x, memory, later)) != numbers_of(layer(x, memory, later)));
}

TEST_CASE("parameters have PyTorch's names", "[transformer]") {
  const auto names_of = [](auto layer) {
    std::string names;
    layer.visit_parameters([&](const std::string& name, auto&) { names += name + " "; });
    return names;
  };
  CHECK(names_of(nn::transformer_encoder_layer<4, 2, 6, nn::relu, norms_behind>()) ==
        "self_attn.in_proj_weight self_attn.in_proj_bias self_attn.out_proj.weight self_attn.out_proj.bias "
        "norm1.weight norm1.bias linear1.weight linear1.bias linear2.weight linear2.bias norm2.weight norm2.bias ");
  CHECK(names_of(nn::transformer_encoder_layer<4, 2, 6, nn::relu, norms_before>()) ==
        "norm1.weight norm1.bias self_attn.in_proj_weight self_attn.in_proj_bias self_attn.out_proj.weight "
        "self_attn.out_proj.bias norm2.weight norm2.bias linear1.weight linear1.bias linear2.weight linear2.bias ");
  CHECK(names_of(nn::transformer_decoder_layer<4, 2, 6>()) ==
        "self_attn.in_proj_weight self_attn.in_proj_bias self_attn.out_proj.weight self_attn.out_proj.bias "
        "multihead_attn.in_proj_weight multihead_attn.in_proj_bias multihead_attn.out_proj.weight "
        "multihead_attn.out_proj.bias linear1.weight linear1.bias linear2.weight linear2.bias "
        "norm1.weight norm1.bias norm2.weight norm2.bias norm3.weight norm3.bias ");
}

TEMPLATE_LIST_TEST_CASE("encoder layers in other spaces, in training and in use", "[transformer]", tenon_test::spaces) {
  auto net = nn::sequential(nn::transformer_encoder_layer<8, 2, 16>(), nn::transformer_encoder_layer<8, 2, 16>());
  net.initialise(5);
  auto there = net.template to<TestType>();
  const auto x = tenon_test::random_input<tenon::host>(rank<3>(4, 3, 8));
  const auto x_there = x.template to<TestType>();
  nn::pass<decltype(net), rank<3>> pass(net);
  nn::pass<decltype(there), rank<3>, TestType> pass_there(there);
  const auto dropped = numbers_of(pass.forward(x.view()));
  CHECK(numbers_of(pass.forward(x.view())) != dropped);
  net.eval(), there.eval();
  const auto expected = numbers_of(pass.forward(x.view()));
  CHECK(numbers_of(pass.forward(x.view())) == expected);
  const auto found = numbers_of(pass_there.forward(x_there.view()));
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::fabs(found[i] - expected[i]) < 1e-5);
}
