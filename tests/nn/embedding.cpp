// tests/nn/embedding.cpp: rows looked up, and the gradients that go back to them.
// Against plain loops; PyTorch's own cases are in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/algorithms/cuda.hpp>
#include <tenon/nn/embedding.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

constexpr int word_count = 6, word_width = 5;

/// Numbers of rows; 2 and 4 come more than once, 5 never.
template <class Space>
auto made_words() {
  return tenon::tensor<std::int64_t, rank<2>, tenon::host>(rank<2>(3, 4), {2, 0, 4, 4, 1, 2, 4, 3, 2, 0, 4, 2})
      .template to<Space>();
}

template <class Space>
auto made_gradient() {
  return tenon::tensor<float, rank<3>, tenon::host>(tenon::uniform<float>(rank<3>(3, 4, word_width), 5, -1.0f, 1.0f))
      .template to<Space>();
}

/// What goes back to the rows, but for the row `padding`.
std::vector<double> expected_gradient(int padding) {
  const auto words = numbers_of(made_words<tenon::host>()), given = numbers_of(made_gradient<tenon::host>());
  std::vector<double> result(word_count * word_width);
  for (std::size_t place = 0; place < given.size(); ++place) {
    const auto row = static_cast<std::size_t>(words[place / word_width]);
    if (static_cast<int>(row) != padding) result[row * word_width + place % word_width] += given[place];
  }
  return result;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("embeddings give the rows that indices name", "[embedding]", tenon_test::spaces) {
  nn::embedding<word_count, word_width> made;
  made.initialise(1);
  const auto layer = made.to<TestType>();
  const auto words = made_words<TestType>();
  const auto found = numbers_of(layer.forward(words)), rows = numbers_of(layer.weight.value);
  const auto numbers = numbers_of(words);
  REQUIRE(found.size() == numbers.size() * word_width);
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i] == rows[static_cast<std::size_t>(numbers[i / word_width]) * word_width + i % word_width]);
  }
}

TEMPLATE_LIST_TEST_CASE("gradients of embeddings are sums of rows", "[embedding]", tenon_test::spaces) {
  nn::embedding<word_count, word_width> plain;
  nn::embedding<word_count, word_width> padded({.padding_idx = -2});
  plain.initialise(1), padded.initialise(1);
  auto layer = plain.to<TestType>();
  auto with_padding = padded.to<TestType>();
  const auto words = made_words<TestType>();
  const auto g = made_gradient<TestType>();
  layer.backward(words, words, g, nn::not_wanted{});
  CHECK(tenon_test::difference(numbers_of(layer.weight.gradient), expected_gradient(-1), 1e-6) == "");
  layer.backward(words.view(), words, 1 * g, nn::not_wanted{});  // what is there from before is gone
  CHECK(tenon_test::difference(numbers_of(layer.weight.gradient), expected_gradient(-1), 1e-6) == "");
  with_padding.backward(words, words, g, nn::not_wanted{});
  CHECK(tenon_test::difference(numbers_of(with_padding.weight.gradient), expected_gradient(4), 1e-6) == "");
}

TEST_CASE("rows are drawn from the standard normal distribution, padding is zero", "[embedding]") {
  nn::embedding<400, 100> layer({.padding_idx = 3});
  layer.initialise(7);
  const auto drawn = numbers_of(layer.weight.value);
  double sum = 0, squares = 0;
  for (const double each : drawn) sum += each, squares += each * each;
  CHECK(std::fabs(sum / 39900) < 0.02);
  CHECK(std::fabs(squares / 39900 - 1) < 0.03);
  for (std::size_t i = 0; i < 100; ++i) CHECK(drawn[300 + i] == 0);
  CHECK(drawn[299] != 0);
}

TEST_CASE("sizes of embeddings may be given at run time", "[embedding]") {
  nn::embedding<tenon::dyn, tenon::dyn> layer(7, 3, {.padding_idx = 6});
  layer.initialise(1);
  CHECK(layer.weight.value.shape() == rank<2>(7, 3));
  CHECK(layer.padding_row == 6);
  CHECK(layer.to<tenon::emulated>().padding_row == 6);
  CHECK(layer.output_shape(rank<2>(2, 5)) == rank<3>(2, 5, 3));
  STATIC_REQUIRE(std::is_same_v<decltype(nn::embedding<7, 3>().output_shape(shape<4>{})), shape<4, 3>>);
}

TEMPLATE_LIST_TEST_CASE("indices outside the table are named", "[embedding]", tenon_test::spaces) {
  nn::embedding<word_count, word_width> made;
  made.initialise(1);
  const auto layer = made.to<TestType>();
  const auto complaint = [&](std::int32_t number) {
    const auto words =
        tenon::tensor<std::int32_t, rank<1>, tenon::host>(rank<1>(3), {0, number, 5}).template to<TestType>();
    return tenon_test::text_of<tenon::index_error>([&] { (void)layer.forward(words); });
  };
  CHECK(complaint(6) == "embedding: index 6, expected at least 0 and below 6");
  CHECK(complaint(-1) == "embedding: index -1, expected at least 0 and below 6");
  const auto huge = tenon::tensor<std::uint64_t, rank<1>>({1, ~std::uint64_t{0}}).template to<TestType>();
  CHECK(tenon_test::text_of<tenon::index_error>([&] { (void)layer.forward(huge); }) ==
        "embedding: index 18446744073709551615, expected at least 0 and below 6");
  CHECK(tenon_test::text_of<tenon::index_error>([] { nn::embedding<6, 5>({.padding_idx = 6}); }) ==
        "embedding: padding_idx: 6, expected at least -6 and below 6");
}

TEMPLATE_LIST_TEST_CASE("no indices give no rows and gradients of zero", "[embedding]", tenon_test::spaces) {
  nn::embedding<word_count, word_width> made;
  made.initialise(1);
  auto layer = made.to<TestType>();
  const tenon::tensor<std::int64_t, rank<2>, TestType> words(rank<2>(0, 3));
  const tenon::tensor<float, rank<3>, TestType> g(rank<3>(0, 3, word_width));
  CHECK(layer.forward(words).shape() == rank<3>(0, 3, word_width));
  layer.weight.gradient = 1;
  layer.backward(words, words, g, nn::not_wanted{});
  CHECK(numbers_of(layer.weight.gradient) == std::vector<double>(word_count * word_width));
}

namespace {

/// The p-norm of a row of a table, by definition.
double norm_of_row(const std::vector<double>& rows, std::size_t row, double p) {
  double sum = 0, greatest = 0;
  for (std::size_t i = 0; i < word_width; ++i) {
    const double each = std::fabs(rows[row * word_width + i]);
    sum += std::pow(each, p), greatest = std::max(greatest, each);
  }
  return std::isinf(p) ? greatest : std::pow(sum, 1 / p);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("rows that are looked up are held to a norm, in place and once", "[embedding]",
                        tenon_test::spaces) {
  for (const float p : {2.0f, 1.0f, 3.0f, std::numeric_limits<float>::infinity()}) {
    nn::embedding<word_count, word_width> made({.max_norm = 1.5f, .norm_type = p});
    made.initialise(1);
    auto layer = made.to<TestType>();
    const auto words = made_words<TestType>();
    std::vector<double> expected = numbers_of(layer.weight.value);
    for (std::size_t row = 0; row < 5; ++row) {  // no index names row 5
      const double norm = norm_of_row(expected, row, static_cast<double>(p));
      if (norm <= 1.5) continue;
      for (std::size_t i = 0; i < word_width; ++i) expected[row * word_width + i] *= 1.5 / (norm + 1e-7);
    }
    const auto found = numbers_of(layer.forward(words));
    CHECK(tenon_test::difference(numbers_of(layer.weight.value), expected, 1e-6) == "");
    CHECK(numbers_of(std::as_const(layer).forward(words)) == found);
  }
}

TEST_CASE("a const table stays as it is", "[embedding]") {
  nn::embedding<word_count, word_width> layer({.max_norm = 0.5f});
  layer.initialise(3);
  const auto before = numbers_of(layer.weight.value);
  const auto words = made_words<tenon::host>();
  (void)std::as_const(layer).forward(words);
  CHECK(numbers_of(layer.weight.value) == before);
  (void)layer.forward(tenon::tensor<std::int64_t, rank<1>>(rank<1>(0)));
  CHECK(numbers_of(layer.weight.value) == before);
}

TEMPLATE_LIST_TEST_CASE("gradients are averaged where frequencies count", "[embedding]", tenon_test::spaces) {
  nn::embedding<word_count, word_width> made({.padding_idx = 0, .scale_grad_by_freq = true});
  made.initialise(1);
  auto layer = made.to<TestType>();
  const auto words = made_words<TestType>();
  layer.backward(words, words, made_gradient<TestType>(), nn::not_wanted{});
  auto expected = expected_gradient(0);
  const auto numbers = numbers_of(words);
  for (std::size_t row = 0; row < word_count; ++row) {
    const auto count = std::count(numbers.begin(), numbers.end(), static_cast<double>(row));
    for (std::size_t i = 0; i < word_width && count != 0; ++i) {
      expected[row * word_width + i] /= static_cast<double>(count);
    }
  }
  CHECK(tenon_test::difference(numbers_of(layer.weight.gradient), expected, 1e-6) == "");
}

TEST_CASE("norms of embeddings that make no sense are refused", "[embedding]") {
  CHECK(tenon_test::text_of<tenon::error>([] { nn::embedding<6, 5>({.max_norm = 1.0f, .norm_type = 0}); }) ==
        "embedding: norm_type 0 and max_norm 1, expected a positive number and none below 0");
  nn::embedding<6, 5> layer({.max_norm = 1.0f});
  layer.initialise(1);
  const tenon::tensor<std::int64_t, rank<1>> words(rank<1>(1), {6});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { layer.forward(words); }) ==
        "embedding: index 6, expected at least 0 and below 6");
}
