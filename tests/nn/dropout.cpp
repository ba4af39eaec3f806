// tests/nn/dropout.cpp: what is dropped, what is kept, and that both passes agree on it.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/nn/dropout.hpp>

#include "nn/passes.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// A layer that draws its first mask in every pass.
template <class Layer>
struct with_one_mask : Layer {
  using Layer::Layer;
  template <class Input>
  void prepare(const Input& x) {
    this->step = 0;
    Layer::prepare(x);
  }
};

/// Of passes with the same mask over a few channels.
template <class Layer>
std::string dropout_difference() {
  return tenon_test::layer_difference(rank<4>(2, 3, 2, 2), with_one_mask<Layer>(0.4));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("elements are 0 or divided by what is kept", "[dropout]", tenon_test::spaces) {
  nn::dropout layer(0.25);
  const auto x = tenon_test::random_input<TestType>(rank<2>(40, 50));
  const auto given = numbers_of(x);
  layer.prepare(x);
  const auto first = numbers_of(layer.forward(x));
  int dropped = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    if (first[i] == 0) ++dropped;
    else CHECK(std::fabs(first[i] - given[i] / 0.75) < 1e-6);
  }
  CHECK(std::abs(dropped - 500) < 100);
  layer.prepare(x);
  CHECK(numbers_of(layer.forward(x)) != first);
  layer.eval();
  CHECK(numbers_of(layer.forward(x)) == given);
}

TEST_CASE("whole channels are dropped", "[dropout]") {
  nn::dropout2d layer(0.5);
  tenon::tensor<float, rank<4>> x({3, 4, 2, 2});
  x = 1.0f;
  const auto y = numbers_of(layer.forward(x));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == y[i / 4 * 4]);
}

TEST_CASE("everything or nothing", "[dropout]") {
  tenon::tensor<float, rank<1>> x({5});
  x = 1.0f;
  CHECK(numbers_of(nn::dropout(1).forward(x)) == std::vector<double>(5, 0.0));
  CHECK(numbers_of(nn::dropout(0).forward(x)) == std::vector<double>(5, 1.0));
  CHECK(tenon_test::text_of<tenon::error>([] { nn::dropout(1.5); }) ==
        "dropout: probability 1.5, expected within [0, 1]");
}

TEMPLATE_LIST_TEST_CASE("alpha dropout keeps mean and variance", "[dropout]", tenon_test::spaces) {
  nn::alpha_dropout layer(0.25);
  const tenon::tensor<float, rank<1>, TestType> x = tenon::normal<float>(rank<1>(20000), 5);
  const auto given = numbers_of(x);
  layer.prepare(x);
  const auto y = numbers_of(layer.forward(x));
  const double least = -1.7580993408473766, scale = 1 / std::sqrt((least * least * 0.25 + 1) * 0.75);
  const double shift = -least * scale * 0.25;
  double total = 0, squares = 0;
  int dropped = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool is_dropped = std::fabs(y[i] - (least * scale + shift)) < 1e-6;
    if (is_dropped) ++dropped;
    else CHECK(std::fabs(y[i] - (given[i] * scale + shift)) < 1e-5);
    total += y[i], squares += y[i] * y[i];
  }
  CHECK(std::abs(dropped - 5000) < 300);
  CHECK(std::fabs(total / 20000) < 0.05);
  CHECK(std::fabs(squares / 20000 - 1) < 0.06);
  layer.is_training = false;
  CHECK(numbers_of(layer.forward(x)) == given);
}

TEST_CASE("alpha dropout of whole channels, or of everything", "[dropout]") {
  nn::feature_alpha_dropout layer(0.5);
  tenon::tensor<float, rank<4>> x({3, 4, 2, 2});
  x = 1.0f;
  const auto y = numbers_of(layer.forward(x));
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == y[i / 4 * 4]);
  CHECK(numbers_of(nn::alpha_dropout(1).forward(x)) == std::vector<double>(48, 0.0));
}

TEST_CASE("the gradient passes where the elements did", "[dropout]") {
  nn::dropout layer(0.5);
  tenon::tensor<float, rank<1>> x({64}), dx({64});
  x = 1.0f;
  layer.prepare(x);
  const auto y = tenon::evaluated_tensor(layer.forward(x));
  layer.backward(x, y, x, dx.write_view());
  CHECK(numbers_of(dx) == numbers_of(y));
}

TEMPLATE_LIST_TEST_CASE("each launch of a captured graph draws another mask", "[dropout]", tenon_test::kernel_spaces) {
  const auto x = tenon::ones<float, TestType>(rank<1>(64));
  const auto masks = [&](nn::dropout layer) {
    tenon::tensor<float, rank<1>, TestType> y({64}), dx({64});
    const auto graph = tenon::capture<TestType>([&] {
      layer.prepare(x);
      y = layer.forward(x);
      layer.backward(x, y, x, dx.write_view());
    });
    std::vector<std::vector<double>> found;
    for (int launch = 0; launch < 3; ++launch) {
      graph.launch();
      found.push_back(numbers_of(y));
      CHECK(numbers_of(dx) == found.back());
    }
    CHECK(layer.step == 1);
    layer.prepare(x);
    found.push_back(numbers_of(layer.forward(x)));
    return found;
  };
  const auto found = masks(nn::dropout(0.5));
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(found[i] != found[j]);
  }
  CHECK(masks(nn::dropout(0.5)) == found);
}

TEST_CASE("layers of one network drop other elements", "[dropout]") {
  tenon::tensor<float, rank<1>> x({256});
  x = 1.0f;
  nn::dropout first, second;
  first.initialise(6), second.initialise(7);
  const auto mask = [&](nn::dropout& layer) {
    layer.prepare(x);
    return numbers_of(layer.forward(x));
  };
  const auto of_first = mask(first);
  CHECK(mask(second) != of_first);
  CHECK(mask(first) != of_first);
  CHECK(mask(first) != mask(second));
}

TEST_CASE("gradients of dropout agree with differences while the mask stays", "[dropout]") {
  tenon_test::check_rows({
      {"dropout", dropout_difference<nn::dropout>()},
      {"dropout1d dropout2d dropout3d", dropout_difference<nn::dropout2d>()},
      {"alpha_dropout", dropout_difference<nn::alpha_dropout>()},
      {"feature_alpha_dropout", dropout_difference<nn::feature_alpha_dropout>()},
  });
}
