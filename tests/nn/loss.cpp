// tests/nn/loss.cpp: cross entropy and its gradient.
// Against PyTorch's values where they are there, and against the definition in double everywhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/traced.hpp>
#include <tenon/grad/value_and_gradient.hpp>
#include <tenon/nn/loss.hpp>

#include "support/golden.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/temporaries.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("cross entropy agrees with its definition", "[loss]", tenon_test::spaces) {
  const auto logits = tenon_test::made_tensor<float, TestType>(rank<2>(4, 3), [](tenon::index i) {
    return static_cast<double>(i * 5 % 7) * 30 - 80;  // exp of these overflows a float
  });
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(4), {2, 0, 1, 1});
  const auto x = numbers_of(logits);
  const std::size_t label_of[] = {2, 0, 1, 1};
  std::vector<double> losses, gradient;
  for (std::size_t row = 0; row < 4; ++row) {
    double total = 0, greatest = std::fmax(x[row * 3], std::fmax(x[row * 3 + 1], x[row * 3 + 2]));
    for (std::size_t i = 0; i < 3; ++i) total += std::exp(x[row * 3 + i] - greatest);
    losses.push_back(std::log(total) + greatest - x[row * 3 + label_of[row]]);
    for (std::size_t i = 0; i < 3; ++i) {
      const double probability = std::exp(x[row * 3 + i] - greatest) / total;
      gradient.push_back((probability - (i == label_of[row] ? 1.0 : 0.0)) / 4);
    }
  }
  CHECK(tenon_test::difference(numbers_of(nn::cross_entropy(logits, labels)), losses, 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(nn::cross_entropy_gradient(logits, labels)), gradient, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("cross entropy agrees with PyTorch", "[loss]", tenon_test::spaces) {
  const tenon_test::golden_case golden("cross_entropy_reduction_none");
  if (!golden) return;
  const auto logits = golden.read<float, 2, TestType>("input_input");
  const auto labels = golden.read<std::int64_t, 1, TestType>("input_target");
  const auto upstream = golden.read<float, 1, TestType>("grad_output_output");
  const auto counts = tenon::new_axis<-1>(labels) >= 0;  // PyTorch leaves out rows with the label -100
  CHECK(tenon_test::golden_difference(nn::cross_entropy(logits, labels), golden.read<float, 1>("output_output")) == "");
  const float rows = tenon::sum(tenon::cast<float>(counts));
  const auto gradient = nn::cross_entropy_gradient(logits, labels) * tenon::new_axis<-1>(upstream) * rows;
  CHECK(tenon_test::golden_difference(gradient, golden.read<float, 2>("gradient_input")) == "");
}

TEST_CASE("cross entropy and its gradient are one kernel each", "[loss]") {
  using logits = tenon::tensor<float, rank<2>>;
  using labels = tenon::tensor<std::int64_t, rank<1>>;
  STATIC_REQUIRE(tenon::kernel_count<decltype(nn::cross_entropy(std::declval<logits&>(), std::declval<labels&>()))> ==
                 1);
  STATIC_REQUIRE(
      tenon::kernel_count<decltype(nn::cross_entropy_gradient(std::declval<logits&>(), std::declval<labels&>()))> == 1);
}

TEST_CASE("cross entropy takes one label for each row", "[loss]") {
  const tenon::tensor<float, rank<2>> logits({4, 3});
  const tenon::tensor<std::int64_t, rank<1>> labels({5});
  const std::string text = "cross_entropy: labels: axis 0: extent 5, expected 4 (scores [4, 3], labels [5])";
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::cross_entropy(logits, labels); }) == text);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::cross_entropy_gradient(logits, labels); }) == text);
}

TEMPLATE_LIST_TEST_CASE("rows that are ignored have neither loss nor gradient", "[loss]", tenon_test::spaces) {
  const auto logits = tenon_test::made_tensor<float, TestType>(rank<2>(3, 4), tenon_test::scattered);
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(3), {2, -100, 1});
  const auto others = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(3), {2, 3, 1});
  auto losses = numbers_of(nn::cross_entropy(logits, others)),
       gradient = numbers_of(nn::cross_entropy_gradient(logits, others, nn::nothing_ignored));
  losses[1] = 0;
  for (std::size_t i = 0; i < 12; ++i) gradient[i] = i / 4 == 1 ? 0 : gradient[i] * 3 / 2;
  CHECK(numbers_of(nn::cross_entropy(logits, labels)) == losses);
  CHECK(numbers_of(nn::cross_entropy(logits, others, 3)) == losses);
  CHECK(tenon_test::difference(numbers_of(nn::cross_entropy_gradient(logits, labels)), gradient, 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(nn::cross_entropy_gradient(logits, others, 3)), gradient, 1e-6) == "");
  const auto none = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(3), {-100, -100, -100});
  CHECK(numbers_of(nn::cross_entropy(logits, none)) == std::vector<double>(3, 0));
  CHECK(numbers_of(nn::cross_entropy_gradient(logits, none)) == std::vector<double>(12, 0));
}

TEST_CASE("labels that are no classes are refused, and leave the destination", "[loss]") {
  const auto logits = tenon_test::counting<float>(rank<2>(3, 4));
  const tenon::tensor<int, rank<1>> labels(rank<1>(3), {2, -100, 12});
  tenon::tensor<float, rank<2>> losses(rank<2>(3, 1), {1, 2, 3});
  const std::string text = "cross_entropy: labels: row 2: label 12, expected at least 0 and below 4 classes";
  CHECK(tenon_test::text_of<tenon::index_error>([&] { losses = nn::cross_entropy(logits, labels); }) ==
        text + ", or -100, which is ignored");
  CHECK(numbers_of(losses) == std::vector<double>{1, 2, 3});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)nn::cross_entropy_gradient(logits, labels); }) ==
        text + ", or -100, which is ignored");
  CHECK(tenon_test::text_of<tenon::index_error>([&] {
          (void)nn::cross_entropy(logits, labels, nn::nothing_ignored);
        }) == "cross_entropy: labels: row 1: label -100, expected at least 0 and below 4 classes");
}

TEMPLATE_LIST_TEST_CASE("where labels are not looked at, a row of no class is NaN", "[loss]",
                        tenon_test::kernel_spaces) {
  const auto logits = tenon_test::made_tensor<float, TestType>(rank<2>(2, 3), tenon_test::scattered);
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(2), {3, 1});
  const auto losses = numbers_of(nn::cross_entropy(logits, labels));
  const auto gradient = numbers_of(nn::cross_entropy_gradient(logits, labels));
  CHECK(std::isnan(losses[0]));
  CHECK(std::isfinite(losses[1]));
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(gradient[i]) == (i < 3));
}

TEST_CASE("cross entropy takes expressions, and traced values", "[loss]") {
  const auto x = tenon_test::drawn(rank<2>(4, 2), 6);
  auto w = tenon_test::drawn(rank<2>(2, 3), 5);
  const tenon::tensor<int, rank<1>> labels(rank<1>(4), {2, 0, -100, 1});
  const auto loss_of = [&](const auto& weight) {
    return tenon::sum(nn::cross_entropy(tenon::matmul(x, weight), labels)) / 3;
  };
  const auto value = [&] { return static_cast<double>(loss_of(w)); };
  const auto [loss, dw] = tenon::value_and_gradient(loss_of(w), tenon::wrt(w));
  const auto v = tenon::variable(w);
  tenon::backward(loss_of(v));
  CHECK(numbers_of(v.gradient()) == numbers_of(dw));
  CHECK(std::fabs(static_cast<double>(loss) - value()) < 1e-12);
  const tenon::traced logits = tenon::matmul(x, v);
  CHECK(std::fabs(static_cast<double>(tenon::mean(nn::cross_entropy(logits, labels))) - 0.75 * value()) < 1e-12);
  const auto by_hand = tenon::matmul(tenon::transpose(x), nn::cross_entropy_gradient(tenon::matmul(x, w), labels));
  CHECK(tenon_test::difference(numbers_of(by_hand), numbers_of(dw), 1e-12) == "");
  tenon_test::check_rows({{"cross_entropy", tenon_test::difference_from_slopes(w, dw, value, 1e-6, 1e-6)}});
}

TEST_CASE("cross entropy of a traced value that is cast to its own type has the gradient of the value", "[loss]") {
  const tenon::tensor<double, tenon::shape<30, 3>> scores = tenon_test::drawn(rank<2>(30, 3), 6);
  const tenon::tensor<int, rank<1>> labels = tenon::arange<int>(30) % 3;
  const auto v = tenon::variable(scores);
  const tenon::traced logits = v * 2;
  tenon::backward(tenon::mean(nn::cross_entropy(tenon::cast<double>(logits), labels)) + 0 * tenon::sum(logits));
  const auto expected = 2 * nn::cross_entropy_gradient(scores * 2, labels);
  CHECK(tenon_test::difference(numbers_of(v.gradient()), numbers_of(expected), 1e-15) == "");
}

TEST_CASE("the gradient of cross entropy agrees with differences", "[loss]") {
  auto logits = tenon_test::drawn(rank<2>(4, 3), 5);
  const tenon::tensor<int, rank<1>> labels(rank<1>(4), {2, 0, 1, 1});
  const auto value = [&] { return static_cast<double>(tenon::mean(nn::cross_entropy(logits, labels))); };
  const auto gradient = nn::cross_entropy_gradient(logits, labels);
  tenon_test::check_rows({
      {"cross_entropy cross_entropy_gradient", tenon_test::difference_from_slopes(logits, gradient, value, 1e-6, 1e-6)},
  });
}

TEST_CASE("traced cross entropy keeps labels that are temporaries", "[loss]") {
  const auto x = tenon_test::drawn(rank<2>(4, 3), 5);
  const tenon::tensor<std::int64_t, rank<1>> labels(rank<1>(4), {2, 0, -100, 1});
  const auto of_rows = []<class T>(const auto& v, T&& given) {
    return tenon::mean(nn::cross_entropy(v, std::forward<T>(given)));
  };
  CHECK(tenon_test::keeps_temporaries(of_rows, x, labels));
}
