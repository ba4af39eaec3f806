// tests/nn/margin_loss.cpp: values and gradients of PyTorch 2.15, at the edge of margins too, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/margin_loss.hpp>

#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/loss_values.hpp"
#include "support/temporaries.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::check_loss;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

using doubles = tenon::tensor<double, rank<1>>;
using classes_of_rows = tenon::tensor<std::int64_t, rank<1>>;

const doubles& signs_of_scores() {
  static const doubles signs(rank<1>(5), {1, -1, 1, -1, 1});
  return signs;
}

/// Three rows: ties with the label, a label in the middle, and a margin that is just reached.
const tenon::tensor<double, rank<2>>& scores_of_classes() {
  static const tenon::tensor<double, rank<2>> scores(rank<2>(3, 4), {1, 0.5, 1, -2, 0, 1, 0.25, 1.5, 2, 1, 0.5, -1});
  return scores;
}

}  // namespace

TEST_CASE("margin_ranking_loss is PyTorch's", "[margin_loss]") {
  const doubles x(rank<1>(5), {1, 2, -0.5, 0.25, 3}), y(rank<1>(5), {1, 1.5, 0.5, 0.75, -1});
  const auto without = [&]<class Reduction>(Reduction, const auto& a, const auto& b) {
    return nn::margin_ranking_loss<Reduction>(a, b, signs_of_scores());
  };
  check_loss(without, {0, 0.5, 1, 0, 0}, {{0, 1, -1, 0, 0}, {0, -1, 1, 0, 0}}, x, y);
  const auto with = [&]<class Reduction>(Reduction, const auto& a, const auto& b) {
    return nn::margin_ranking_loss<Reduction>(a, b, signs_of_scores(), 0.5);
  };
  check_loss(with, {0.5, 1, 1.5, 0, 0}, {{-1, 1, -1, 0, 0}, {1, -1, 1, 0, 0}}, x, y);
  CHECK(numbers_of(nn::margin_ranking_loss<nn::unreduced>(x, y, 1)) == std::vector<double>{0, 0, 1, 0.5, 0});
}

TEST_CASE("hinge_embedding_loss is PyTorch's", "[margin_loss]") {
  const doubles x(rank<1>(5), {0.5, 1, 2, 0.25, 1});
  const tenon::tensor<int, rank<1>> sides(rank<1>(5), {1, -1, -1, -1, 0});
  const auto of_one = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::hinge_embedding_loss<Reduction>(a, sides);
  };
  check_loss(of_one, {0.5, 0, 0, 0.75, 1}, {{1, 0, 0, -1, 1}}, x);
  const auto of_quarter = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::hinge_embedding_loss<Reduction>(a, sides, 0.25);
  };
  check_loss(of_quarter, {0.5, 0, 0, 0, 1}, {{1, 0, 0, 0, 1}}, x);
}

TEST_CASE("soft_margin_loss is PyTorch's, and finite where its exponential is not", "[margin_loss]") {
  const doubles x(rank<1>(5), {1, 2, -0.5, 0.25, 3});
  const auto loss = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::soft_margin_loss<Reduction>(a, signs_of_scores());
  };
  check_loss(loss, {0.3132616875, 2.126928011, 0.9740769842, 0.8259394199, 0.04858735157},
             {{-0.2689414214, 0.880797078, -0.6224593312, 0.5621765009, -0.04742587318}}, x);
  const tenon::tensor<float, rank<1>> great(rank<1>(2), {-1000, 1000});
  CHECK(numbers_of(nn::soft_margin_loss<nn::unreduced>(great, 1)) == std::vector<double>{1000, 0});
}

TEST_CASE("multi_margin_loss is PyTorch's", "[margin_loss]") {
  const auto& x = scores_of_classes();
  const classes_of_rows labels(rank<1>(3), {0, 2, 0});
  const doubles weight(rank<1>(4), {1, 2, 0.5, 3});
  const auto line = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::multi_margin_loss<Reduction>(a, labels);
  };
  check_loss(line, {0.375, 1.1875, 0}, {{-0.5, 0.25, 0.25, 0, 0.25, 0.25, -0.75, 0.25, 0, 0, 0, 0}}, x);
  const auto weighed = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::multi_margin_loss<Reduction>(a, labels, weight, {.margin = 0.5});
  };
  check_loss(weighed, {0.125, 0.40625, 0}, {{-0.25, 0, 0.25, 0, 0.125, 0.125, -0.375, 0.125, 0, 0, 0, 0}}, x);
  const auto squared = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::multi_margin_loss<Reduction>(a, labels, nn::multi_margin_options<2>());
  };
  check_loss(squared, {0.3125, 2.171875, 0}, {{-0.75, 0.25, 0.5, 0, 0.375, 0.875, -2.375, 1.125, 0, 0, 0, 0}}, x);
  const auto both = [&]<class Reduction>(Reduction, const auto& a) {
    return nn::multi_margin_loss<Reduction>(a, labels, weight, nn::multi_margin_options<2>{.margin = 0.5});
  };
  check_loss(both, {0.0625, 0.5859375, 0}, {{-0.25, 0, 0.25, 0, 0.0625, 0.3125, -0.8125, 0.4375, 0, 0, 0, 0}}, x);
}

TEST_CASE("losses of margins keep floats, NaN and their extents", "[margin_loss]") {
  const float nan = std::nanf("");
  const tenon::tensor<float, rank<2>> x(rank<2>(2, 3), {nan, 0, 1, 0, 2, 1});
  const tenon::tensor<std::int64_t, rank<2>> sides(rank<2>(2, 3), {1, 1, 1, -1, -1, -1});
  const classes_of_rows labels(rank<1>(2), {1, 0});
  const auto ranking = tenon::evaluated_tensor(nn::margin_ranking_loss<nn::unreduced>(x, x, sides));
  const auto soft = tenon::evaluated_tensor(nn::soft_margin_loss<nn::unreduced>(x, sides));
  static_assert(std::is_same_v<typename decltype(ranking)::element, float>);
  static_assert(std::is_same_v<typename decltype(soft)::element, float>);
  CHECK((std::isnan(ranking(0, 0)) && ranking(0, 1) == 0 && std::isnan(soft(0, 0))));
  CHECK(std::isnan(numbers_of(nn::hinge_embedding_loss<nn::unreduced>(x, -1))[0]));
  CHECK(std::isnan(numbers_of(nn::hinge_embedding_loss<nn::unreduced>(x, 1))[0]));
  const auto of_rows = nn::multi_margin_loss<nn::unreduced>(x, labels);
  static_assert(std::is_same_v<decltype(of_rows)::element, float>);
  CHECK(tenon_test::extents_of(of_rows) == std::vector<tenon::index>{2, 1});
  CHECK(std::isnan(numbers_of(of_rows)[0]));
  CHECK(std::fabs(numbers_of(of_rows)[1] - 5.0 / 3) < 1e-6);
  const tenon::tensor<double, rank<2>> none(rank<2>(0, 3));
  CHECK(static_cast<double>(nn::multi_margin_loss<nn::to_sum>(none, classes_of_rows(rank<1>(0)))) == 0);
  const auto columns = tenon::transpose(scores_of_classes());
  const tenon::tensor<double, rank<2>> copy = columns;
  const classes_of_rows of_columns(rank<1>(4), {2, 0, 1, 1});
  CHECK(numbers_of(nn::multi_margin_loss<nn::unreduced>(columns, of_columns)) ==
        numbers_of(nn::multi_margin_loss<nn::unreduced>(copy, of_columns)));
}

TEST_CASE("losses of margins say what does not fit", "[margin_loss]") {
  const doubles x(rank<1>(3), {1, 2, 3}), two(rank<1>(2), {1, -1});
  const auto refusal = [](const auto& loss) { return tenon_test::text_of<tenon::shape_error>(loss); };
  CHECK(refusal([&] { nn::hinge_embedding_loss(x, two); }) ==
        "hinge_embedding_loss: target: axis 0: extent 2, expected 3 (x [3], target [2])");
  CHECK(refusal([&] { nn::soft_margin_loss(x, two); }) ==
        "soft_margin_loss: target: axis 0: extent 2, expected 3 (x [3], target [2])");
  CHECK_THROWS_AS(nn::margin_ranking_loss(x, two, x), tenon::shape_error);
  CHECK_THROWS_AS(nn::margin_ranking_loss(x, x, two), tenon::shape_error);
  const auto& scores = scores_of_classes();
  const classes_of_rows labels(rank<1>(3), {0, 4, 0}), few(rank<1>(2), {0, 0}), fitting(rank<1>(3), {0, 0, 0});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { nn::multi_margin_loss(scores, labels); }) ==
        "multi_margin_loss: labels: row 1: label 4, expected at least 0 and below 4 classes");
  CHECK(refusal([&] { nn::multi_margin_loss(scores, few); }) ==
        "multi_margin_loss: labels: axis 0: extent 2, expected 3 (scores [3, 4], labels [2])");
  CHECK(refusal([&] { nn::multi_margin_loss(scores, fitting, two); }) ==
        "multi_margin_loss: weights: axis 0: extent 2, expected 4 (scores [3, 4], weights [2])");
}

TEST_CASE("gradients of losses of margins", "[margin_loss]") {
  auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2);
  auto w = drawn(rank<1>(3), 3, 0.5f, 2);
  const classes_of_rows labels(rank<1>(4), {0, 2, 1, 1});
  const tenon::tensor<double, rank<2>> sides = tenon::where(drawn(rank<2>(4, 3), 4) > 0, 1.0, -1.0);
  using tenon_test::gradient_difference;
  const auto ranking = [&](const auto& a, const auto& b) { return nn::margin_ranking_loss(a, b, sides, 0.5); };
  const auto hinge = [&](const auto& a) { return nn::hinge_embedding_loss<nn::unreduced>(a, sides, 0.5); };
  const auto soft = [](const auto& a, const auto& b) { return nn::soft_margin_loss<nn::unreduced>(a, b); };
  const auto multi = [&](const auto& a, const auto& b) {
    return nn::multi_margin_loss<nn::unreduced>(a, labels, b, nn::multi_margin_options<2>());
  };
  tenon_test::check_rows({
      {"margin_ranking_loss", gradient_difference(ranking, x, y)},
      {"hinge_embedding_loss", gradient_difference(hinge, x)},
      {"soft_margin_loss", gradient_difference(soft, x, y)},
      {"multi_margin_loss", gradient_difference(multi, x, w)},
  });
}

TEST_CASE("traced losses of margins keep temporaries", "[margin_loss]") {
  const auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2);
  const tenon::tensor<double, rank<2>> sides = tenon::where(drawn(rank<2>(4, 3), 4) > 0, 1.0, -1.0);
  const classes_of_rows labels(rank<1>(4), {0, 2, 1, 1});
  using tenon_test::keeps_temporaries;
  const auto ranking = []<class... T>(const auto& v, T&&... t) {
    return nn::margin_ranking_loss(v, std::forward<T>(t)..., 0.5);
  };
  CHECK(keeps_temporaries(ranking, x, y, sides));
  const auto hinge = []<class T>(const auto& v, T&& t) { return nn::hinge_embedding_loss(v, std::forward<T>(t)); };
  CHECK(keeps_temporaries(hinge, x, sides));
  const auto soft = []<class T>(const auto& v, T&& t) { return nn::soft_margin_loss(v, std::forward<T>(t)); };
  CHECK(keeps_temporaries(soft, x, sides));
  const auto multi = []<class T>(const auto& v, T&& t) { return nn::multi_margin_loss(v, std::forward<T>(t)); };
  CHECK(keeps_temporaries(multi, x, labels));
}
