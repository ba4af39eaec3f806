// tests/ptx/runtime/every_kernel.cpp: kernels that no other program of the preset test-ptx runs, beside the host.
// One small statement each; every_kernel.cmake tells when a kernel is run by none of the programs.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/attention_gradient.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/algorithms/recurrence.hpp>
#include <tenon/algorithms/short_lines.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/nn/ctc_loss.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/train/sgd.hpp>

#include "nn/recurrent_passes.hpp"
#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

namespace nn = tenon::nn;
using tenon::cuda;
using tenon::host;
using tenon::rank;
using tenon_test::numbers_of;

template <class Space, class T = float, class Extents>
auto drawn(const Extents& extents, std::uint64_t seed) {
  return tenon::tensor<T, Extents, Space>(tenon::uniform<T>(extents, seed, -1.0f, 1.0f));
}

/// Empty where `values` have the same numbers on the device and on the host.
template <class Values>
std::string difference_of_spaces(const Values& values, double tolerance = 1e-5) {
  return tenon_test::difference(values.template operator()<cuda>(), values.template operator()<host>(), tolerance);
}

struct three_times {
  const float* from;
  float* to;

  TENON_HOST_DEVICE void operator()(tenon::index number) const { to[number] = 3 * from[number]; }
};

}  // namespace

TEMPLATE_TEST_CASE("the kernels of attention and its gradients", "[ptx]", float, tenon::half) {
  CHECK(difference_of_spaces(
            [&]<class Space>() {
              const auto cube = [](tenon::index rows, tenon::index columns, std::uint64_t seed) {
                return drawn<Space, TestType>(rank<3>(1, rows, columns), seed);
              };
              const auto query = cube(35, 16, 1), key = cube(40, 16, 2), value = cube(40, 24, 3);
              const auto node = tenon::scaled_dot_product_attention(query, key, value, {.is_causal = true});
              auto of_query = query, of_key = key, of_value = value;
              const auto of_result = cube(35, 24, 4);
              tenon::write_attention_gradients(node, tenon::as_node(of_result), of_query.write_view(),
                                               of_key.write_view(), of_value.write_view());
              auto numbers = numbers_of(node);
              for (const auto& gradient : {numbers_of(of_query), numbers_of(of_key), numbers_of(of_value)}) {
                numbers.insert(numbers.end(), gradient.begin(), gradient.end());
              }
              return numbers;
            },
            sizeof(TestType) == 2 ? 1e-2 : 1e-5) == "");
}

TEST_CASE("the kernel of products with few vectors", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          return numbers_of(tenon::evaluated_tensor(
              tenon::matmul(drawn<Space>(rank<2>(40, 70), 1), drawn<Space>(rank<2>(70, 2), 2))));
        }) == "");
}

TEST_CASE("the kernel of depthwise convolutions", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          const auto image = drawn<Space>(rank<4>(2, 3, 9, 10), 1), weight = drawn<Space>(rank<4>(3, 1, 3, 3), 2);
          return numbers_of(
              tenon::evaluated_tensor(tenon::convolve(image, weight, {.padding = {{1, 1}}, .groups = 3})));
        }) == "");
}

TEST_CASE("the kernel of gradients of greatest elements", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          nn::max_pool2d<nn::per_axis<2>(2, 2)> layer;
          const auto x = drawn<Space>(rank<4>(2, 3, 6, 8), 1);
          const auto y = tenon::evaluated_tensor(layer.forward(x));
          tenon::tensor<float, rank<4>, Space> gradient(x.shape());
          layer.backward(x, y, drawn<Space>(rank<4>(2, 3, 3, 4), 2), gradient.write_view());
          return numbers_of(gradient);
        }) == "");
}

TEST_CASE("the kernels of CTC and its gradient", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          const auto log_probs =
              tenon::evaluated_tensor(tenon::log_softmax(drawn<Space>(rank<3>(6, 2, 4), 1), tenon::axis<-1>));
          const tenon::tensor<tenon::index, rank<2>> targets{{1, 2}, {3, 3}};
          const tenon::tensor<tenon::index, rank<1>> times{6, 5}, labels{2, 2};
          const auto [loss, gradient] = nn::ctc_loss_and_gradient(log_probs, targets, times, labels);
          auto numbers = numbers_of(gradient);
          numbers.push_back(numbers_of(loss).front());
          numbers.push_back(static_cast<double>(static_cast<float>(nn::ctc_loss(log_probs, targets, times, labels))));
          return numbers;
        }) == "");
}

TEST_CASE("the kernels of recurrences without Tensor Cores", "[ptx]") {
  CHECK(tenon_test::error_in_space<cuda>(nn::rnn<>(3, 5), 2e-5) == "");
}

TEST_CASE("the kernel of lines that are walked side by side", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          const auto decay = drawn<Space>(rank<2>(5, 40), 1), x = drawn<Space>(rank<2>(5, 40), 2);
          tenon::tensor<float, rank<2>, Space> y({5, 40});
          tenon::walk_side_by_side<Space>(tenon::detail::recurrence_step{}, x.shape().to_array(), 1, true, decay.view(),
                                          x.view(), y.write_view());
          return numbers_of(y);
        }) == "");
}

TEST_CASE("the kernel of optimizers", "[ptx]") {
  CHECK(difference_of_spaces([&]<class Space>() {
          nn::linear_layer<5, 3, true, Space, float> layer;
          layer.initialise(1);
          layer.weight.gradient = 2.0f, layer.bias.gradient = -1.0f;
          tenon::train::sgd<Space> optimizer({.lr = 0.5, .momentum = 0.9});
          optimizer.step(layer), optimizer.step(layer);
          return numbers_of(layer.weight.value);
        }) == "");
}

TEST_CASE("the kernels of short lines and of numbers", "[ptx]") {
  const tenon::tensor<std::uint32_t, rank<2>> keys{{5, 3, 9}, {7, 7, 1}};
  const auto given = keys.to<cuda>();
  tenon::tensor<tenon::index, rank<2>, cuda> numbers({2, 3});
  tenon::sort_short_lines<cuda>(given.data(), numbers.data(), 2, 3);
  CHECK(numbers_of(numbers) == std::vector<double>{1, 0, 2, 5, 3, 4});
  CHECK(difference_of_spaces([&]<class Space>() {
          const auto from = drawn<Space>(rank<1>(1000), 1);
          tenon::tensor<float, rank<1>, Space> to({1000});
          tenon::for_each_number<Space>(1000, 100, three_times{from.data(), to.data()});
          return numbers_of(to);
        }) == "");
}
