// tests/nn/fuse.cpp: what becomes of each kind of layer, the weights that take in a norm, what is refused.
// That fused networks say the same, tests/nn/inference.cpp checks.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/fuse.hpp>
#include <tenon/nn/linear.hpp>

#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;

namespace {

using plain_conv = nn::conv2d<2, 3, 1>;
using plain_norm = nn::batch_norm<3>;

/// The type of a fused network.
template <class... Layers>
using fused_of = decltype(nn::fuse(std::declval<const nn::sequential_network<Layers...>&>()));

/// A norm of three channels with statistics and parameters of its own.
plain_norm worn_norm() {
  plain_norm norm;
  norm.initialise(0);
  norm.running_mean = tenon::uniform<float>(tenon::shape<3>{}, 1);
  norm.running_var = tenon::uniform<float>(tenon::shape<3>{}, 2, 0.2f, 3.0f);
  norm.weight.value = tenon::uniform<float>(tenon::shape<3>{}, 3, -2.0f, 2.0f);
  norm.bias.value = tenon::uniform<float>(tenon::shape<3>{}, 4);
  norm.is_training = false;
  return norm;
}
double scale_of(const plain_norm& norm, tenon::index channel) {
  return norm.weight.value(channel) / std::sqrt(norm.running_var(channel) + 1e-5);
}

}  // namespace

TEST_CASE("layers that do nothing vanish, norms follow products", "[fuse]") {
  using conv = nn::fused_product<plain_conv>;
  using norm = nn::fused_norm<plain_norm::row>;
  const auto is = []<class Left, class Right>(std::type_identity<Left>, std::type_identity<Right>) {
    return std::is_same_v<Left, Right>;
  };
  CHECK(is(std::type_identity<fused_of<plain_conv, nn::dropout, nn::identity, plain_norm, plain_norm, nn::relu>>{},
           std::type_identity<nn::fused_network<conv, nn::relu>>{}));
  CHECK(is(std::type_identity<fused_of<nn::dropout2d>>{}, std::type_identity<nn::fused_network<>>{}));
  CHECK(is(std::type_identity<fused_of<plain_norm, nn::relu, plain_norm>>{},
           std::type_identity<nn::fused_network<norm, nn::relu, norm>>{}));
  CHECK(is(std::type_identity<
               fused_of<nn::sequential_network<nn::relu, plain_conv>, nn::sequential_network<plain_norm, nn::relu>>>{},
           std::type_identity<nn::fused_network<nn::relu, conv, nn::relu>>{}));
  CHECK(is(std::type_identity<fused_of<nn::residual_block<plain_conv, plain_norm>, plain_norm>>{},
           std::type_identity<nn::fused_network<nn::fused_residual<nn::fused_network<conv>>, norm>>{}));
  CHECK(is(std::type_identity<fused_of<nn::branching_layer<plain_conv, nn::identity>>>{},
           std::type_identity<nn::fused_network<nn::fused_branches<nn::fused_network<conv>, nn::fused_network<>>>>{}));
}

TEST_CASE("a product's weight and bias take in the norm behind it", "[fuse]") {
  auto net = nn::sequential(plain_conv{}, plain_norm{});
  tenon::get<1>(net.layers) = worn_norm();
  const plain_norm& norm = tenon::get<1>(net.layers);
  const auto fused = nn::fuse(net);
  const auto& product = tenon::get<0>(fused.layers);
  const auto& drawn = tenon::get<0>(net.layers);
  for (tenon::index channel = 0; channel < 3; ++channel) {
    const double scale = scale_of(norm, channel);
    for (tenon::index input = 0; input < 2; ++input) {
      CHECK(tenon_test::is_close(product.layer.weight.value(channel, input, 0, 0),
                                 drawn.weight.value(channel, input, 0, 0) * scale, 1e-6));
    }
    CHECK(tenon_test::is_close(
        product.bias(channel),
        (drawn.bias.value(channel) - norm.running_mean(channel)) * scale + norm.bias.value(channel), 1e-6));
  }
  CHECK(product.has_norm);
}

TEST_CASE("weights of grouped transposed convolutions are scaled by output", "[fuse]") {
  constexpr nn::conv1d_options grouped{.groups = 3, .bias = false};
  auto net = nn::sequential(nn::conv_transpose1d<6, 3, 2, grouped>{}, plain_norm{});
  tenon::get<1>(net.layers) = worn_norm();
  const auto fused = nn::fuse(net);
  const auto& product = tenon::get<0>(fused.layers);
  const auto& drawn = tenon::get<0>(net.layers).weight.value;  // [6, 1, 2]: each output is of two inputs
  for (tenon::index input = 0; input < 6; ++input) {
    const double scale = scale_of(tenon::get<1>(net.layers), input / 2);
    for (tenon::index tap = 0; tap < 2; ++tap) {
      CHECK(tenon_test::is_close(product.layer.weight.value(input, 0, tap), drawn(input, 0, tap) * scale, 1e-6));
    }
  }
}

TEST_CASE("a norm without a product before it becomes a scale and a shift", "[fuse]") {
  auto net = nn::sequential(worn_norm());
  tenon::get<0>(net.layers) = worn_norm();
  const plain_norm& norm = tenon::get<0>(net.layers);
  const auto fused = nn::fuse(net);
  const auto& rows = tenon::get<0>(fused.layers);
  for (tenon::index channel = 0; channel < 3; ++channel) {
    const double scale = scale_of(norm, channel);
    CHECK(tenon_test::is_close(rows.scale(channel), scale, 1e-6));
    CHECK(
        tenon_test::is_close(rows.shift(channel), norm.bias.value(channel) - norm.running_mean(channel) * scale, 1e-6));
  }
}

TEST_CASE("a fused network keeps no gradients", "[fuse]") {
  auto net = nn::sequential(nn::linear<4, 3>{}, nn::prelu<3>{});
  const auto fused = nn::fuse(net);
  CHECK(tenon::get<0>(fused.layers).layer.weight.gradient.data() == nullptr);
  CHECK(tenon::get<0>(fused.layers).layer.bias.value.data() == nullptr);
  CHECK(tenon::get<1>(fused.layers).weight.gradient.data() == nullptr);
  CHECK(tenon::get<1>(fused.layers).weight.value.data() != tenon::get<1>(net.layers).weight.value.data());
}

TEST_CASE("what fuse refuses", "[fuse]") {
  auto net = nn::sequential(nn::linear<4, 3>{}, nn::batch_norm<3>{}, nn::relu{});
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::fuse(net); }) ==
        "fuse: batch_norm: in training, expected a network in use; net.eval() before?");
  auto dropping = nn::sequential(nn::residual(nn::sequential(nn::linear<4, 4>{}, nn::dropout{})));
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::fuse(dropping); }) ==
        "fuse: dropout: in training, expected a network in use; net.eval() before?");
  auto untracked = nn::sequential(nn::batch_norm<3>(nn::batch_norm_options{.track_statistics = false}));
  untracked.eval();
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::fuse(untracked); }) ==
        "fuse: batch_norm: no running statistics, expected them; each batch would have its own");
  auto other = nn::sequential(nn::linear<tenon::dyn, tenon::dyn>(4, 3), nn::batch_norm<tenon::dyn>(2));
  other.eval();
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::fuse(other); }) ==
        "fuse: batch_norm behind linear: 2 channels, expected 3");
}
