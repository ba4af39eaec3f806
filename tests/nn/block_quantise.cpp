// tests/nn/block_quantise.cpp: networks with their linear layers in blocks, and modules that take weights of others.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/block_quantise.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/random.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

template <tenon::index In, tenon::index Out>
using plain_linear = nn::linear<In, Out>;
template <tenon::index In, tenon::index Out>
using small_linear = nn::block_linear<In, Out, tenon::q8_0>;

/// A module with a member of each kind: a layer, a list of layers, a buffer, a module, a network of layers.
template <template <tenon::index, tenon::index> class Linear>
struct block_of_layers : nn::module<block_of_layers<Linear>> {
  std::vector<Linear<32, 32>> hidden;
  nn::layer_norm<tenon::shape<32>> norm;
  auto forward(const auto& x) { return norm(tenon::tanh(hidden[1](tenon::tanh(hidden[0](x))))); }
};
template <template <tenon::index, tenon::index> class Linear>
struct classifier_of_blocks : nn::module<classifier_of_blocks<Linear>> {
  block_of_layers<Linear> body;
  tenon::tensor<float, tenon::shape<32>, tenon::host> shift;
  nn::sequential_network<Linear<32, 64>, nn::relu, nn::linear<64, 4>> head;
  auto forward(const auto& x) { return head(body(x + shift)); }
};

auto drawn_rows() { return tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(5, 32), 9, -1.0f, 1.0f)); }

}  // namespace

TEST_CASE("linear layers of a network become blocks", "[block_quantise]") {
  auto net = nn::sequential(nn::linear<32, 64>{}, nn::relu{}, nn::residual(nn::linear<64, 64>{}, nn::tanh{}),
                            nn::linear<64, 33>{}, nn::linear<33, 3>{});
  net.initialise(4);
  auto small = nn::block_quantised<tenon::q8_0>(net);
  using layers = decltype(small.layers);
  static_assert(std::is_same_v<std::remove_reference_t<decltype(tenon::get<0>(std::declval<layers&>()))>,
                               nn::block_linear<32, 64, tenon::q8_0>>);
  static_assert(
      std::is_same_v<std::remove_reference_t<decltype(tenon::get<4>(std::declval<layers&>()))>, nn::linear<33, 3>>);
  int buffers = 0;
  small.visit_buffers([&](const std::string&, const auto&) { ++buffers; });
  CHECK(buffers == 6);
  const auto expected = numbers_of(net(drawn_rows()));
  CHECK(tenon_test::difference(numbers_of(small(drawn_rows())), expected, 0.005) == "");
  auto smaller = nn::block_quantised<tenon::q4_0>(net);
  CHECK(tenon_test::difference(numbers_of(smaller(drawn_rows())), expected, 0.1) == "");
}

TEST_CASE("modules of blocks take the weights of trained ones", "[block_quantise]") {
  classifier_of_blocks<plain_linear> trained;
  trained.body.hidden.resize(2);
  trained.initialise(4);
  trained.shift = tenon::uniform<float>(tenon::shape<32>{}, 3);
  classifier_of_blocks<small_linear> small;
  nn::take_weights(trained, small);
  CHECK(small.body.hidden.size() == 2);
  CHECK(numbers_of(small.shift) == numbers_of(trained.shift));
  CHECK(tenon_test::difference(numbers_of(small(drawn_rows())), numbers_of(trained(drawn_rows())), 0.02) == "");
}

TEST_CASE("networks of blocks run in an arena", "[block_quantise]") {
  auto net = nn::sequential(nn::linear<32, 64>{}, nn::relu{}, nn::linear<64, 3>{});
  net.initialise(4);
  auto small = nn::block_quantised<tenon::q4_0>(net);
  const auto expected = numbers_of(small(drawn_rows()));
  nn::inference use(small, tenon::shape<tenon::dyn, 32>(8, 32));
  const tenon::tensor<float, tenon::shape<tenon::dyn, 32>> rows = drawn_rows();
  CHECK(numbers_of(use.run(rows.view())) == expected);
}
