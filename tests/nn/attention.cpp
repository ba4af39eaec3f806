// tests/nn/attention.cpp: attention of several heads.
// Gradients against differences, masks, layouts; PyTorch's cases are in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/nn/attention.hpp>

#include <algorithm>

#include "nn/passes.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::difference;
using tenon_test::layer_difference;
using tenon_test::numbers_of;

namespace {

constexpr nn::multihead_attention_options batch_first{.batch_first = true};
constexpr nn::multihead_attention_options without_bias{.bias = false};
constexpr nn::multihead_attention_options dropping{.dropout = 0.4, .batch_first = true};

/// The one type of layers that kernels are made for.
template <class Space>
auto make_attention_layer(bool is_training) {
  nn::multihead_attention<8, 2, dropping, Space> layer;
  layer.initialise(1);
  layer.is_training = is_training;
  return layer;
}

/// Empty when the gradient of a mask of these extents agrees with differences.
template <class Extents>
std::string mask_difference(const Extents& extents) {
  nn::multihead_attention<6, 2, batch_first, tenon::host, double> layer;
  layer.initialise(1);
  const auto x = tenon_test::drawn(rank<3>(2, 3, 6), 2);
  auto mask = tenon_test::drawn(extents, 3);
  const auto value = [&] {
    return static_cast<double>(tenon::sum(layer.forward(x, x, x, mask) * tenon_test::weights_of(x.shape())));
  };
  (void)value();
  const tenon::tensor<double, rank<3>> seed(tenon_test::weights_of(x.shape()));
  tenon::tensor<double, Extents> of_mask(extents);
  const nn::not_wanted none{};
  layer.backward(x, x, x, mask, seed, none, none, none, none, of_mask.write_view());
  return tenon_test::difference_from_slopes(mask, of_mask, value, 1e-6, 1e-5);
}

/// What one query beside several batches of keys gives, and its gradients, as if the query were there for each.
template <nn::multihead_attention_options Options>
void check_one_query() {
  constexpr int batch_axis = Options.batch_first ? 0 : 1;
  nn::multihead_attention<6, 2, Options, tenon::host, double> layer;
  layer.initialise(1);
  auto of_one = tenon::filled_array<3>(tenon::index{2}), of_keys = tenon::filled_array<3>(tenon::index{4});
  of_one[batch_axis] = 1, of_keys[batch_axis] = 3, of_one[2] = of_keys[2] = 6;
  const auto query = tenon_test::drawn(rank<3>(of_one), 2), keys = tenon_test::drawn(rank<3>(of_keys), 3);
  auto of_each = of_one;
  of_each[batch_axis] = 3;
  const tenon::tensor<double, rank<3>> each(query + tenon::zeros<double>(rank<3>(of_each)));
  const tenon::tensor<double, rank<3>> seed(tenon_test::weights_of(each.shape()));

  const auto expected = numbers_of(layer.forward(each, keys, keys));
  tenon::tensor<double, rank<3>> dq(each.shape()), dk(keys.shape()), of_query(query.shape()), of_key(keys.shape());
  const nn::not_wanted none{};
  layer.backward(each, keys, keys, nn::no_mask, seed, dq.write_view(), dk.write_view(), none);
  const auto of_weight = numbers_of(layer.in_proj_weight.gradient);
  const tenon::tensor<double, rank<3>> summed = tenon::sum(dq, tenon::axis<batch_axis>);

  CHECK(difference(numbers_of(layer.forward(query, keys, keys)), expected, 1e-12) == "");
  layer.backward(query, keys, keys, nn::no_mask, seed, of_query.write_view(), of_key.write_view(), none);
  CHECK(difference(numbers_of(of_query), numbers_of(summed), 1e-12) == "");
  CHECK(difference(numbers_of(of_key), numbers_of(dk), 1e-12) == "");
  CHECK(difference(numbers_of(layer.in_proj_weight.gradient), of_weight, 1e-12) == "");
}

}  // namespace

TEST_CASE("attention knows the extents of its parameters before they are written", "[attention]") {
  const auto extents_of = [](auto&& layer) {
    std::string text;
    layer.visit_parameters([&](const auto& name, const auto& each) {
      text += tenon::compose_text(name, each.value.shape().to_array(), " ");
    });
    return text;
  };
  CHECK(extents_of(nn::multihead_attention<8, 2>{}) ==
        "in_proj_weight[24, 8] in_proj_bias[24] out_proj.weight[8, 8] out_proj.bias[8] ");
  constexpr nn::multihead_attention_options apart{.bias = false, .kdim_vdim = true};
  CHECK(extents_of(nn::multihead_attention<dyn, dyn, apart>(8, 2, 6, 4)) ==
        "q_proj_weight[8, 8] k_proj_weight[8, 6] v_proj_weight[8, 4] out_proj.weight[8, 8] ");
}

TEST_CASE("one query beside several batches of keys is asked of each", "[attention]") {
  check_one_query<batch_first>();
  check_one_query<nn::multihead_attention_options{}>();
}

TEST_CASE("gradients of masks are sums over the axes along which they repeat", "[attention]") {
  CHECK(mask_difference(rank<4>(2, 2, 3, 3)) == "");
  CHECK(mask_difference(rank<4>(1, 2, 3, 3)) == "");
  CHECK(mask_difference(rank<4>(2, 1, 3, 3)) == "");
  CHECK(mask_difference(rank<4>(2, 1, 1, 3)) == "");
  CHECK(mask_difference(rank<4>(1, 1, 1, 1)) == "");
  CHECK(mask_difference(tenon::shape<2, 1, 1, 3>()) == "");
  CHECK(mask_difference(rank<3>(2, 3, 3)) == "");
  CHECK(mask_difference(rank<3>(2, 1, 1)) == "");
  CHECK(mask_difference(rank<2>(3, 3)) == "");
  CHECK(mask_difference(rank<2>(1, 3)) == "");
  CHECK(mask_difference(rank<1>(3)) == "");
}

TEST_CASE("attention of no batches has gradients of 0", "[attention]") {
  nn::multihead_attention<6, 2, batch_first, tenon::host, double> layer;
  layer.initialise(1);
  const tenon::tensor<double, rank<3>> none(rank<3>(0, 5, 6));
  tenon::tensor<double, rank<3>> of_none(none.shape());
  CHECK(numbers_of(layer.forward(none)).empty());
  layer.backward(none, none, none, of_none.write_view());
  CHECK(numbers_of(layer.in_proj_bias.gradient) == std::vector<double>(18, 0.0));
}

TEST_CASE("gradients of self-attention agree with differences", "[attention]") {
  CHECK(layer_difference(rank<3>(3, 2, 4), nn::multihead_attention<4, 2, batch_first, tenon::host, double>()) == "");
  CHECK(layer_difference(rank<3>(3, 2, 4), nn::multihead_attention<4, 2, without_bias, tenon::host, double>()) == "");
  nn::multihead_attention<dyn, dyn, batch_first, tenon::host, double> causal(6, 3);
  causal.is_causal = true;
  CHECK(layer_difference(rank<3>(2, 5, 6), causal) == "");
  constexpr nn::multihead_attention_options looks_back{.batch_first = true, .is_causal = true};
  nn::multihead_attention<6, 3, looks_back, tenon::host, double> by_type;
  by_type.initialise(1), causal.initialise(1);
  const auto x = tenon_test::drawn(rank<3>(2, 5, 6), 3);
  CHECK(numbers_of(by_type.forward(x)) == numbers_of(causal.forward(x)));
}

TEMPLATE_LIST_TEST_CASE("each launch of captured attention leaves out other weights, and its gradients follow it",
                        "[attention]", tenon_test::kernel_spaces) {
  auto layer = make_attention_layer<TestType>(true);
  const auto x = tenon_test::random_input<TestType>(rank<3>(2, 5, 8));
  tenon::tensor<float, rank<3>, TestType> y({2, 5, 8}), dx({2, 5, 8});
  const auto run = [&] {
    y = layer.forward(x);
    layer.backward(x, y, x, dx.write_view());
  };
  run();
  const auto graph = tenon::capture<TestType>(run);
  graph.launch();
  const auto first = numbers_of(y), gradient = numbers_of(dx);
  graph.launch();
  CHECK(numbers_of(y) != first);
  CHECK(numbers_of(dx) != gradient);
}

TEMPLATE_LIST_TEST_CASE("self-attention is three kernels and attends as several inputs do", "[attention]",
                        tenon_test::spaces) {
  auto layer = make_attention_layer<TestType>(false);
  const auto x = tenon_test::random_input<TestType>(rank<3>(3, 5, 8));
  tenon::tensor<float, rank<3>, TestType> result;
  const tenon::launch_counter counter;
  result = layer.forward(x);
  CHECK(counter.count() == 3);
  const auto expected = numbers_of(result);
  result = layer.forward(x, x, x);
  const auto apart = numbers_of(result);
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(std::fabs(apart[i] - expected[i]) < 1e-6);
  const auto sums = numbers_of(tenon::sum(layer.average_weights(), tenon::axis<-1>));
  CHECK(sums.size() == 15);
  for (const double each : sums) CHECK(std::fabs(each - 1) < 1e-6);
}

TEMPLATE_LIST_TEST_CASE("a mask keeps queries from keys where it is true", "[attention]", tenon_test::spaces) {
  auto layer = make_attention_layer<TestType>(false);
  const auto x = tenon_test::random_input<TestType>(rank<3>(2, 5, 8));
  const auto later = tenon::triu(tenon::ones<float, TestType>(rank<2>(5, 5)), 1) > 0;
  const auto masked = numbers_of(layer.forward(x, later));
  layer.is_causal = true;
  CHECK(numbers_of(layer.forward(x)) == masked);
  const auto first = numbers_of(layer.forward(tenon::evaluated_tensor(tenon::narrow(x, tenon::axis<1>, 0, 1))));
  for (std::size_t i = 0; i < 8; ++i) CHECK(std::fabs(masked[i] - first[i]) < 1e-6);  // the first sees itself alone
}

TEMPLATE_LIST_TEST_CASE("weights are left out in training alone", "[attention]", tenon_test::spaces) {
  auto layer = make_attention_layer<TestType>(true);
  const auto x = tenon_test::random_input<TestType>(rank<3>(2, 20, 8));
  const auto first = numbers_of(layer.forward(x));
  const auto sums = numbers_of(tenon::sum(layer.average_weights(), tenon::axis<-1>));
  CHECK(std::any_of(sums.begin(), sums.end(), [](double each) { return std::fabs(each - 1) > 0.05; }));
  CHECK(numbers_of(layer.forward(x)) != first);
  layer.is_training = false;
  const auto in_use = numbers_of(layer.forward(x));
  CHECK(numbers_of(layer.forward(x)) == in_use);
}

TEST_CASE("gradients pass the weights of attention that were kept", "[attention]") {
  using layer_type = nn::multihead_attention<4, 2, dropping, tenon::host, double>;
  layer_type layer;
  layer.initialise(2);
  auto x = tenon_test::drawn(rank<3>(2, 3, 4), 8);
  const auto fresh = [&] {  // draws the same again
    layer_type again = layer;
    return static_cast<double>(tenon::sum(again.forward(x) * tenon_test::weights_of(x.shape())));
  };
  auto used = layer;
  const auto y = tenon::evaluated_tensor(used.forward(x));
  const tenon::tensor<double, rank<3>> seed(tenon_test::weights_of(x.shape()));
  tenon::tensor<double, rank<3>> dx(x.shape());
  used.backward(x, y, seed, dx.write_view());
  CHECK(tenon_test::difference_from_slopes(x, dx, fresh, 1e-6, 1e-5) == "");
}

TEST_CASE("sizes of attention that do not fit are refused", "[attention]") {
  const auto text = [](const auto& body) { return tenon_test::text_of<tenon::shape_error>(body); };
  using sized = nn::multihead_attention<dyn, dyn, batch_first>;
  CHECK(text([] { sized(8, 3); }) == "multihead_attention: num_heads 3, expected a divisor of 8 features");
  CHECK(text([] { sized(8, 2, 6, 8); }) ==
        "multihead_attention: kdim 6 and vdim 8, expected 8; keys and values of other features need the option "
        "kdim_vdim");
  CHECK(text([] { nn::multihead_attention<8, dyn, batch_first>(6, 2); }) ==
        "multihead_attention: embed_dim: 6, expected 8 as its type says");
  sized layer(8, 2);
  layer.initialise(0);
  const auto x = tenon_test::random_input<tenon::host>(rank<3>(2, 5, 8)),
             narrow = tenon_test::random_input<tenon::host>(rank<3>(2, 5, 6));
  CHECK(text([&] { layer.forward(narrow); }) == "multihead_attention: axis 2: extent 6, expected 8 (input [2, 5, 6])");
  CHECK(text([&] { layer.forward(x, narrow, x); }) ==
        "multihead_attention: key, axis 2: extent 6, expected 8 (key [2, 5, 6])");
}
