// tests/nn/embedding_bag.cpp: bags of rows joined, and the gradients that go back to them.
// Against plain loops in double and against differences; PyTorch's own cases are in tests/golden.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cuda.hpp>
#include <tenon/nn/embedding_bag.hpp>

#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using nn::bag_mode;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

constexpr std::size_t bag_rows = 7, bag_width = 3;
const std::vector<std::int64_t> bag_numbers{2, 6, 2, 0, 5, 1, 1, 2, 3}, bag_starts{0, 3, 3, 4, 5, 8};

/// The same bags as loops give them; `weights` may be empty, `padding` -1.
std::vector<double> expected_bags(const std::vector<double>& rows, bag_mode mode, int padding,
                                  const std::vector<double>& weights) {
  std::vector<double> result(bag_starts.size() * bag_width);
  for (std::size_t bag = 0; bag < bag_starts.size(); ++bag) {
    const auto last = bag + 1 < bag_starts.size() ? bag_starts[bag + 1] : static_cast<std::int64_t>(bag_numbers.size());
    for (std::size_t column = 0; column < bag_width; ++column) {
      double sum = 0, greatest = -1e9, count = 0;
      for (auto place = static_cast<std::size_t>(bag_starts[bag]); place < static_cast<std::size_t>(last); ++place) {
        if (bag_numbers[place] == padding) continue;
        const double element = rows[static_cast<std::size_t>(bag_numbers[place]) * bag_width + column];
        sum += element * (weights.empty() ? 1 : weights[place]);
        greatest = std::max(greatest, element);
        ++count;
      }
      result[bag * bag_width + column] = count == 0               ? 0
                                         : mode == bag_mode::sum  ? sum
                                         : mode == bag_mode::mean ? sum / count
                                                                  : greatest;
    }
  }
  return result;
}

template <class Space, class T>
auto line_of(const std::vector<T>& numbers) {
  return tenon_test::tensor_of<Space>(rank<1>(static_cast<tenon::index>(numbers.size())), numbers);
}

nn::embedding_bag_options bag_options(bag_mode mode, std::optional<tenon::index> padding = {}) {
  return {.mode = mode, .padding_idx = padding};
}

constexpr bag_mode bag_modes[]{bag_mode::sum, bag_mode::mean, bag_mode::max};

}  // namespace

TEMPLATE_LIST_TEST_CASE("embedding bags agree with loops", "[embedding_bag]", tenon_test::spaces) {
  const auto numbers = line_of<TestType>(bag_numbers), starts = line_of<TestType>(bag_starts);
  for (const bag_mode mode : bag_modes) {
    for (const int padding : {-1, 2, 5}) {
      CAPTURE(nn::name_of(mode), padding);
      nn::embedding_bag<bag_rows, bag_width> made(padding < 0 ? bag_options(mode)
                                                              : bag_options(mode, tenon::index{padding}));
      made.initialise(1);
      made.weight.value = tenon::uniform<float>(made.extents, 3, -2.0f, -1.0f);  // all below 0, also the padding
      const auto layer = made.template to<TestType>();
      const auto expected = expected_bags(numbers_of(made.weight.value), mode, padding, {});
      CHECK(tenon_test::difference(numbers_of(layer.forward(numbers, starts)), expected, 1e-6) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("rows of embedding bags may be weighted", "[embedding_bag]", tenon_test::spaces) {
  const std::vector<float> weights{1, -2, 3, 0.5f, 4, 0, -1, 2, 7};
  for (const int padding : {-1, 2}) {
    nn::embedding_bag<bag_rows, bag_width> made(padding < 0 ? bag_options(bag_mode::sum)
                                                            : bag_options(bag_mode::sum, tenon::index{padding}));
    made.initialise(1);
    made.weight.value = tenon::uniform<float>(made.extents, 3);
    const auto layer = made.template to<TestType>();
    const auto found =
        layer.forward(line_of<TestType>(bag_numbers), line_of<TestType>(bag_starts), line_of<TestType>(weights));
    const auto expected = expected_bags(numbers_of(made.weight.value), bag_mode::sum, padding,
                                        std::vector<double>(weights.begin(), weights.end()));
    CHECK(tenon_test::difference(numbers_of(found), expected, 1e-6) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("bags look up rows that are held to a norm", "[embedding_bag]", tenon_test::spaces) {
  const auto numbers = line_of<TestType>(bag_numbers), starts = line_of<TestType>(bag_starts);
  nn::embedding_bag<bag_rows, bag_width> made({.mode = bag_mode::sum, .max_norm = 1.0f});
  made.initialise(1);
  std::vector<double> rows = numbers_of(made.weight.value);
  for (std::size_t row = 0; row < bag_rows; ++row) {
    if (std::count(bag_numbers.begin(), bag_numbers.end(), row) == 0) continue;
    double squares = 0;
    for (std::size_t i = 0; i < bag_width; ++i) squares += rows[row * bag_width + i] * rows[row * bag_width + i];
    for (std::size_t i = 0; i < bag_width && squares > 1; ++i) rows[row * bag_width + i] /= std::sqrt(squares) + 1e-7;
  }
  auto layer = made.to<TestType>();
  const auto found = numbers_of(layer.forward(numbers, starts));
  CHECK(tenon_test::difference(found, expected_bags(rows, bag_mode::sum, -1, {}), 1e-6) == "");
  CHECK(tenon_test::difference(numbers_of(layer.weight.value), rows, 1e-6) == "");
  const auto again = line_of<TestType>(std::vector<float>(bag_numbers.size(), 1.0f));
  CHECK(numbers_of(layer.forward(numbers, starts, again)) == found);
}

TEST_CASE("gradients of bags are averaged by row where frequencies count", "[embedding_bag]") {
  const auto numbers = line_of<tenon::host>(std::vector<std::int64_t>{1, 1, 0, 1});
  const auto starts = line_of<tenon::host>(std::vector<std::int64_t>{0, 3});
  nn::embedding_bag<3, 1> layer({.mode = bag_mode::sum, .scale_grad_by_freq = true});
  layer.initialise(1);
  const tenon::tensor<float, rank<2>> gradient(rank<2>(2, 1), {2, 5});
  layer.backward(numbers, starts, gradient, gradient);
  CHECK(numbers_of(layer.weight.gradient) == std::vector<double>{2, 3, 0});
}

TEST_CASE("gradients of embedding bags are differences", "[embedding_bag]") {
  using bag_layer = nn::embedding_bag<bag_rows, bag_width, tenon::host, double>;
  const auto numbers = line_of<tenon::host>(bag_numbers), starts = line_of<tenon::host>(bag_starts);
  const tenon::tensor<double, rank<2>> seed(tenon_test::weights_of(rank<2>(6, bag_width)));
  for (const bag_mode mode : bag_modes) {
    CAPTURE(nn::name_of(mode));
    bag_layer layer(bag_options(mode));
    layer.initialise(2);
    layer.backward(numbers, starts, layer.forward(numbers, starts), seed);
    const auto value = [&] { return static_cast<double>(tenon::sum(layer.forward(numbers, starts) * seed)); };
    tenon_test::check_rows({
        {"embedding_bag",
         tenon_test::difference_from_slopes(layer.weight.value, layer.weight.gradient, value, 1e-6, 1e-6)},
    });
  }
  bag_layer weighted(bag_options(bag_mode::sum));
  weighted.initialise(3);
  auto weights = tenon_test::drawn(rank<1>(9), 4);
  tenon::tensor<double, rank<1>> gradient(rank<1>(9));
  weighted.backward(numbers, starts, weights, seed, seed, gradient.write_view());
  const auto value = [&] { return static_cast<double>(tenon::sum(weighted.forward(numbers, starts, weights) * seed)); };
  CHECK(tenon_test::difference_from_slopes(weighted.weight.value, weighted.weight.gradient, value, 1e-6, 1e-6) == "");
  CHECK(tenon_test::difference_from_slopes(weights, gradient, value, 1e-6, 1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("padding gets no gradient, of equal elements the first gets it", "[embedding_bag]",
                        tenon_test::spaces) {
  const auto numbers = line_of<TestType>(std::vector<std::int64_t>{4, 1, 3, 1, 2});
  const auto starts = line_of<TestType>(std::vector<std::int64_t>{0});
  nn::embedding_bag<5, 1> made(bag_options(bag_mode::max, 4));
  made.initialise(1);
  made.weight.value = tenon_test::tensor_of<tenon::host>(rank<2>(5, 1), std::vector<float>{9, 7, 5, 7, 7});
  auto greatest = made.to<TestType>();
  const auto y = greatest.forward(numbers, starts);
  CHECK(numbers_of(y) == std::vector<double>{7});
  greatest.backward(numbers, starts, y, y);
  CHECK(numbers_of(greatest.weight.gradient) == std::vector<double>{0, 7, 0, 0, 0});
  made.options.mode = bag_mode::mean;
  auto mean = made.to<TestType>();
  mean.backward(numbers, starts, y, y);
  CHECK(numbers_of(mean.weight.gradient) == std::vector<double>{0, 3.5, 1.75, 1.75, 0});
  made.options.mode = bag_mode::sum;
  auto sum = made.to<TestType>();
  tenon::tensor<float, rank<1>, TestType> weight_gradient(rank<1>(5));
  const auto weights = line_of<TestType>(std::vector<float>{1, 2, 3, 4, 5});
  sum.backward(numbers, starts, weights, y, y, weight_gradient.write_view());
  CHECK(numbers_of(sum.weight.gradient) == std::vector<double>{0, 42, 35, 21, 0});
  CHECK(numbers_of(weight_gradient) == std::vector<double>{0, 49, 49, 49, 35});
}

TEST_CASE("offsets of embedding bags may end with the number of indices", "[embedding_bag]") {
  nn::embedding_bag<tenon::dyn, tenon::dyn> layer(7, 3, {.mode = bag_mode::sum, .include_last_offset = true});
  layer.initialise(1);
  auto all = bag_starts;
  all.push_back(static_cast<std::int64_t>(bag_numbers.size()));
  const auto expected = expected_bags(numbers_of(layer.weight.value), bag_mode::sum, -1, {});
  const auto numbers = line_of<tenon::host>(bag_numbers);
  CHECK(tenon_test::difference(numbers_of(layer.forward(numbers, line_of<tenon::host>(all))), expected, 1e-6) == "");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer.forward(numbers, line_of<tenon::host>(bag_starts)); }) ==
        "embedding_bag: offsets: 8 at 5, expected from 9 to 9");
}

TEST_CASE("no indices and no bags are fine", "[embedding_bag]") {
  nn::embedding_bag<bag_rows, bag_width> layer;
  layer.initialise(1);
  const tenon::tensor<std::int64_t, rank<1>> none(rank<1>(0));
  CHECK(layer.forward(none, none).shape() == rank<2>(0, 3));
  const auto y = layer.forward(none, line_of<tenon::host>(std::vector<std::int64_t>{0, 0}));
  CHECK(numbers_of(y) == std::vector<double>(6));
  layer.weight.gradient = 1;
  const tenon::tensor<float, rank<2>> g(rank<2>(0, 3));
  layer.backward(none, none, g, g);
  CHECK(numbers_of(layer.weight.gradient) == std::vector<double>(bag_rows * bag_width));
}

TEST_CASE("what an embedding bag cannot take is named", "[embedding_bag]") {
  CHECK(tenon_test::text_of<tenon::error>([] {
          nn::embedding_bag<3, 1>({.mode = bag_mode::max, .scale_grad_by_freq = true});
        }) == "embedding_bag: scale_grad_by_freq: mode max, expected sum or mean");
  nn::embedding_bag<bag_rows, bag_width> layer;
  layer.initialise(1);
  const auto numbers = line_of<tenon::host>(bag_numbers);
  const auto complaint = [&](const std::vector<std::int64_t>& starts) {
    return tenon_test::text_of<tenon::shape_error>([&] { layer.forward(numbers, line_of<tenon::host>(starts)); });
  };
  CHECK(complaint({1, 2}) == "embedding_bag: offsets: 1 at 0, expected from 0 to 0");
  CHECK(complaint({0, 4, 3}) == "embedding_bag: offsets: 3 at 2, expected from 4 to 9");
  CHECK(complaint({0, 10}) == "embedding_bag: offsets: 10 at 1, expected from 0 to 9");
  CHECK(complaint({}) == "embedding_bag: offsets: none, expected at least one");
  const auto starts = line_of<tenon::host>(std::vector<std::int64_t>{0});
  CHECK(tenon_test::text_of<tenon::index_error>([&] {
          layer.forward(line_of<tenon::host>(std::vector<std::int64_t>{1, 7}), starts);
        }) == "embedding_bag: index 7, expected at least 0 and below 7");
  const tenon::tensor<float, rank<1>> weights(rank<1>(4));
  CHECK(tenon_test::text_of<tenon::error>([&] { layer.forward(numbers, starts, weights); }) ==
        "embedding_bag: per_sample_weights: mode mean, expected sum");
  layer.options.mode = bag_mode::sum;
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { layer.forward(numbers, starts, weights); }) ==
        "embedding_bag: per_sample_weights: 4, expected 9 as there are indices");
}
