// tests/nn/every_layer.cpp: both passes of every layer over rows, sequences and channels.
// Backward passes against central differences in double, for options that are drawn where the constructor takes them;
// those over windows of images are in tests/nn/every_window_layer.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include "nn/passes.hpp"
#include "support/gradient_rows.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::host;
using tenon::rank;
using tenon::shape;
using tenon_test::check_rows;
using tenon_test::drawn_options;
using tenon_test::in_draws;
using tenon_test::layer_difference;
using tenon_test::pass_difference;

namespace {

/// Of a layer of some rows.
template <class Layer>
std::string of_rows(Layer layer = Layer()) {
  return layer_difference(rank<2>(3, 4), layer);
}

/// Of a recurrent layer or cell, which gives more than one result: `seen` chooses one of them, or of its gradients.
template <class Layer, class Shape, class Seen>
std::string recurrent_difference(Layer layer, const Shape& extents, const Seen& seen) {
  layer.initialise(3);
  auto x = tenon_test::drawn(extents, 8);
  const auto output = [&] { return tenon::evaluated_tensor(seen(layer.forward(x)) * 1); };
  const auto y = output();
  const tenon::tensor<double, typename decltype(y)::shape_type> seed(tenon_test::weights_of(y.shape()));
  const auto backward = [&] {
    if constexpr (std::is_same_v<Layer, nn::lstm_cell<dyn, dyn, host, double>>) {
      return layer.backward(seed, tenon::evaluated_tensor(0 * seed));
    } else {
      return layer.backward(seed);
    }
  };
  const auto dx = tenon::evaluated_tensor(seen(backward()) * 1);
  const auto value = [&] { return static_cast<double>(tenon::sum(output() * seed)); };
  std::string text = tenon_test::difference_from_slopes(x, dx, value, 1e-6, 1e-5);
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto found = tenon_test::difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += name + ": " + found;
  });
  return text;
}

/// Of the parameters of a decoder layer; tests/nn/transformer.cpp holds those of its inputs.
std::string of_decoder() {
  constexpr nn::transformer_options quiet{.dropout = 0};
  nn::transformer_decoder_layer<4, 2, 6, nn::gelu, quiet, host, double> layer;
  layer.initialise(3);
  const auto x = tenon_test::drawn(rank<3>(3, 2, 4), 8), memory = tenon_test::drawn(rank<3>(5, 2, 4), 9);
  const auto weights = tenon::evaluated_tensor(tenon_test::weights_of(x.shape()));
  tenon::backward(tenon::sum(layer(x, memory) * weights));
  const tenon::no_grad testing;
  const auto value = [&] { return static_cast<double>(tenon::sum(layer(x, memory) * weights)); };
  std::string text;
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto found = tenon_test::difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += name + ": " + found;
  });
  return text;
}

nn::recurrent_options drawn_recurrence(drawn_options& draw) {
  nn::recurrent_options options{.layers = draw.between(1, 2), .bias = draw.flag(), .batch_first = draw.flag()};
  options.bidirectional = draw.flag();
  return options;
}

template <class Layer>
std::string of_sequences() {
  return in_draws([](drawn_options& draw) {
    const tenon::index features = draw.between(1, 3);
    const rank<3> extents(draw.between(1, 4), draw.between(1, 3), features);
    const Layer layer(features, draw.between(1, 4), drawn_recurrence(draw));
    return recurrent_difference(layer, extents, [](const auto& values) { return values.sequence; });
  });
}

template <class Layer>
std::string of_steps() {
  return in_draws([](drawn_options& draw) {
    const tenon::index features = draw.between(1, 3);
    const Layer layer(features, draw.between(1, 4), {.bias = draw.flag()});
    const auto seen = [](const auto& values) {
      if constexpr (requires { values.input; }) return values.input;
      else return values.hidden;
    };
    return recurrent_difference(layer, rank<2>(draw.between(1, 3), features), seen);
  });
}

/// Of the rows of an embedding's weight that indices choose, some of them twice.
std::string of_embedding() {
  nn::embedding<dyn, dyn, host, double> layer(5, 3);
  layer.initialise(3);
  const tenon::tensor<int, rank<2>> indices(rank<2>(2, 3), {4, 0, 1, 4, 4, 2});
  const auto output = [&] { return tenon::evaluated_tensor(layer.forward(indices)); };
  const auto y = output();
  const tenon::tensor<double, rank<3>> seed(tenon_test::weights_of(y.shape()));
  layer.backward(indices, y, seed, nn::not_wanted{});
  const auto value = [&] { return static_cast<double>(tenon::sum(output() * seed)); };
  return tenon_test::difference_from_slopes(layer.weight.value, layer.weight.gradient, value, 1e-6, 1e-5);
}

}  // namespace

TEST_CASE("gradients of activation layers", "[every_layer]") {
  check_rows({
      {"relu", of_rows<nn::relu>()},
      {"relu6", of_rows<nn::relu6>()},
      {"leaky_relu", of_rows<nn::leaky_relu>()},
      {"threshold", of_rows(nn::threshold(0.3, 0.7))},
      {"elu", of_rows<nn::elu>()},
      {"celu", of_rows<nn::celu>()},
      {"selu", of_rows<nn::selu>()},
      {"sigmoid", of_rows<nn::sigmoid>()},
      {"log_sigmoid", of_rows<nn::log_sigmoid>()},
      {"silu", of_rows<nn::silu>()},
      {"gelu", of_rows<nn::gelu>()},
      {"gelu_tanh", of_rows<nn::gelu_tanh>()},
      {"softplus", of_rows<nn::softplus>()},
      {"mish", of_rows<nn::mish>()},
      {"softsign", of_rows<nn::softsign>()},
      {"tanh", of_rows<nn::tanh>()},
      {"hardsigmoid", of_rows<nn::hardsigmoid>()},
      {"hardswish", of_rows<nn::hardswish>()},
      {"hardtanh", of_rows<nn::hardtanh>()},
      {"hardshrink", of_rows<nn::hardshrink>()},
      {"softshrink", of_rows<nn::softshrink>()},
      {"tanhshrink", of_rows<nn::tanhshrink>()},
      {"prelu", of_rows<nn::prelu<4, host, double>>()},
      {"glu", of_rows<nn::glu<>>()},
      {"softmax", of_rows<nn::softmax<>>()},
      {"log_softmax", of_rows<nn::log_softmax<>>()},
      {"softmin", of_rows<nn::softmin<>>()},
  });
}

TEST_CASE("gradients of norms and of what leaves elements out", "[every_layer]") {
  using group_norm = nn::group_norm<dyn, nn::affine::both, host, double>;
  using instance_norm = nn::instance_norm<dyn, nn::affine::both, host, double>;
  const auto grouped = [](drawn_options& draw) {
    const tenon::index groups = draw.between(1, 3), channels = groups * draw.between(1, 2);
    return layer_difference(rank<3>(2, channels, draw.between(3, 5)), group_norm(groups, channels));
  };
  const auto of_instances = [](drawn_options& draw) {
    const tenon::index channels = draw.between(1, 3);
    return layer_difference(rank<3>(2, channels, draw.between(3, 5)), instance_norm(channels));
  };
  const auto of_responses = [](drawn_options& draw) {
    return layer_difference(rank<3>(2, 5, 2), nn::local_response_norm(draw.between(1, 4), 0.5, 0.75, 1));
  };
  check_rows({
      {"layer_norm", of_rows<nn::layer_norm<shape<4>, nn::affine::both, host, double>>()},
      {"rms_norm", of_rows<nn::rms_norm<shape<4>, nn::affine::weight, host, double>>()},
      {"batch_norm", layer_difference<nn::batch_norm<3, nn::affine::both, host, double>>(rank<4>(2, 3, 2, 3))},
      {"group_norm", in_draws(grouped)},
      {"instance_norm", in_draws(of_instances)},
      {"local_response_norm", in_draws(of_responses)},
  });
}

TEST_CASE("gradients of layers with weights, and of those that rename axes", "[every_layer]") {
  constexpr nn::linear_options with_bias{};
  constexpr nn::multihead_attention_options by_batch{.batch_first = true};
  constexpr nn::transformer_options quiet{.dropout = 0};
  using linear = nn::linear<dyn, dyn, with_bias, host, double>;
  using attention = nn::multihead_attention<dyn, dyn, by_batch, host, double>;
  const auto of_linear = [](drawn_options& draw) {
    const tenon::index in = draw.between(1, 4);
    return layer_difference(rank<3>(2, draw.between(1, 3), in), linear(in, draw.between(1, 4)));
  };
  const auto of_attention = [](drawn_options& draw) {
    const tenon::index heads = draw.between(1, 3), features = heads * draw.between(1, 2);
    return layer_difference(rank<3>(draw.between(1, 2), draw.between(2, 4), features), attention(features, heads));
  };
  const nn::linear<4, 4, with_bias, host, double> square;
  check_rows({
      {"linear", in_draws(of_linear)},
      {"embedding", of_embedding()},
      {"multihead_attention", in_draws(of_attention)},
      {"transformer_encoder_layer",
       pass_difference(rank<3>(3, 2, 4), nn::transformer_encoder_layer<4, 2, 6, nn::gelu, quiet, host, double>())},
      {"transformer_decoder_layer", of_decoder()},
      {"residual", pass_difference(rank<2>(3, 4), nn::residual(square, nn::tanh{}))},
      {"branches", pass_difference(rank<2>(3, 4), nn::branches(square, square))},
      {"flatten", layer_difference(rank<3>(2, 3, 2), nn::flatten{})},
      {"unflatten", layer_difference(rank<2>(2, 6), nn::unflatten<1, 3, 2>{})},
      {"identity", of_rows<nn::identity>()},
  });
}

TEST_CASE("gradients of recurrent layers", "[every_layer]") {
  check_rows({
      {"rnn", of_sequences<nn::rnn<dyn, dyn, host, double>>()},
      {"lstm", of_sequences<nn::lstm<dyn, dyn, host, double>>()},
      {"gru", of_sequences<nn::gru<dyn, dyn, host, double>>()},
      {"rnn_cell", of_steps<nn::rnn_cell<dyn, dyn, host, double>>()},
      {"lstm_cell", of_steps<nn::lstm_cell<dyn, dyn, host, double>>()},
      {"gru_cell", of_steps<nn::gru_cell<dyn, dyn, host, double>>()},
  });
}
