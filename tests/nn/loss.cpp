// tests/nn/loss.cpp: cross entropy and its gradient.
// Against PyTorch's values where they are there, and against the definition in double everywhere.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/loss.hpp>

#include "support/golden.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
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
  const auto losses = tenon::where(counts, nn::cross_entropy(logits, labels), 0.0f);
  CHECK(tenon_test::golden_difference(losses, golden.read<float, 1>("output_output")) == "");
  const auto batch = static_cast<float>(logits.extent(0));
  const auto gradient = nn::cross_entropy_gradient(logits, labels) * tenon::new_axis<-1>(upstream) * batch;
  CHECK(tenon_test::golden_difference(tenon::where(counts, gradient, 0.0f), golden.read<float, 2>("gradient_input")) ==
        "");
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
  const std::string text = "cross_entropy: labels: 5 of them, expected 4 as rows of the logits [4, 3]";
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::cross_entropy(logits, labels); }) == text);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { (void)nn::cross_entropy_gradient(logits, labels); }) == text);
}

TEST_CASE("the gradient of cross entropy agrees with differences", "[loss]") {
  auto logits = tenon_test::drawn(rank<2>(4, 3), 5);
  const tenon::tensor<int, rank<1>> labels(rank<1>(4), {2, 0, 1, 1});
  const auto value = [&] { return static_cast<double>(tenon::mean(nn::cross_entropy(logits, labels))); };
  const auto gradient = nn::cross_entropy_gradient(logits, labels);
  tenon_test::check_rows({
      {"cross_entropy cross_entropy_gradient",
       tenon_test::difference_from_slopes(logits, gradient, value, 1e-6, 1e-6)},
  });
}
