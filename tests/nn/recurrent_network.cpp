// tests/nn/recurrent_network.cpp: layers one upon another: names, sizes, drawing, and options that make no sense.
// What they compute is tested with the layers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_network.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;

namespace {

using network = nn::recurrent_network<nn::rnn_gates, float, tenon::host>;

std::string told(network& net) {
  std::string text;
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    text += tenon::compose_text(name, " ", parameter.value.shape().to_array(), " ");
  });
  return text;
}

}  // namespace

TEST_CASE("layers and directions name their parameters as PyTorch does", "[recurrent_network]") {
  network net(3, 5, {.layers = 2, .bias = false, .bidirectional = true});
  CHECK(told(net) ==
        "weight_ih_l0 [5, 3] weight_hh_l0 [5, 5] weight_ih_l0_reverse [5, 3] weight_hh_l0_reverse [5, 5] "
        "weight_ih_l1 [5, 10] weight_hh_l1 [5, 5] weight_ih_l1_reverse [5, 10] weight_hh_l1_reverse [5, 5] ");
  CHECK(net.output_features() == 10);
  CHECK(net.parts() == 4);
}

TEST_CASE("layers are drawn from their seed, each differently", "[recurrent_network]") {
  network first(5, 5, {.layers = 2}), second(5, 5, {.layers = 2});
  const auto weight = [](network& net, std::size_t part) {
    return tenon_test::numbers_of(net.weights(part).weight_ih.value);
  };
  first.initialise(0), second.initialise(0);
  CHECK(weight(first, 0) == weight(second, 0));
  CHECK(weight(first, 0) != weight(first, 1));
  second.initialise(3);
  CHECK(weight(first, 0) != weight(second, 0));
}

TEST_CASE("room is made for packed rows of every layer", "[recurrent_network]") {
  network net(3, 5, {.layers = 2});
  net.resize({4, 2, 1});
  CHECK(net.batch() == 4);
  CHECK(net.values().input.shape() == rank<2>(7, 3));
  CHECK(net.values().output.shape() == rank<2>(7, 5));
  CHECK(net.gradients().hidden_before.shape() == rank<2>(8, 5));
}

TEST_CASE("options that make no sense are refused", "[recurrent_network]") {
  const auto text = [](tenon::index hidden, const nn::recurrent_options& options) {
    return tenon_test::text_of<tenon::shape_error>([&] { network(3, hidden, options); });
  };
  CHECK(text(0, {}) == "rnn: hidden features: 0, expected at least 1");
  CHECK(text(5, {.layers = 0}) == "rnn: layers: 0, expected at least 1");
  CHECK(text(5, {.dropout = 1.5}) == "rnn: dropout: 1.5, expected within [0, 1]");
  CHECK(text(5, {.projection = 2}) == "rnn: projection: 2, expected 0; only lstm has one");
}
