// tests/nn/distance_loss.cpp: values by hand, gradients against differences; tests/golden compares with PyTorch.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/distance_loss.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/loss_values.hpp"
#include "support/temporaries.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::check_rows;
using tenon_test::drawn;
using tenon_test::gradient_difference;
using tenon_test::numbers_of;

TEST_CASE("losses of one element at a time", "[distance_loss]") {
  tenon::tensor<double, rank<1>> x({3}), t({3});
  x(0) = 1, x(1) = -0.5, x(2) = 4;
  t = 0.0;
  CHECK(numbers_of(nn::mse_loss<nn::unreduced>(x, t)) == std::vector<double>{1, 0.25, 16});
  CHECK(numbers_of(nn::l1_loss<nn::unreduced>(x, t)) == std::vector<double>{1, 0.5, 4});
  CHECK(numbers_of(nn::huber_loss<nn::unreduced>(x, t, 2)) == std::vector<double>{0.5, 0.125, 6});
  CHECK(numbers_of(nn::smooth_l1_loss<nn::unreduced>(x, t, 2)) == std::vector<double>{0.25, 0.0625, 3});
  CHECK(numbers_of(nn::smooth_l1_loss<nn::unreduced>(x, t, 0)) == std::vector<double>{1, 0.5, 4});
  CHECK(static_cast<double>(nn::mse_loss(x, t)) == 17.25 / 3);
  CHECK(static_cast<double>(nn::l1_loss<nn::to_sum>(x, t)) == 5.5);
}

TEST_CASE("smooth_l1_loss with beta 0 has the gradient of l1_loss", "[distance_loss]") {
  const tenon::tensor<float, rank<1>> x(rank<1>(4), {1, -0.5f, 4, 0}), t(rank<1>(4), {0, 0, 5, 0});
  for (const double beta : {0.0, 1e-42}) {
    const auto v = tenon::variable(x);
    tenon::backward(nn::smooth_l1_loss(v, t, beta));
    CHECK(numbers_of(v.gradient()) == std::vector<double>{0.25, -0.25, -0.25, 0});
  }
}

TEST_CASE("a row of zeros has cosine 0 and, as a target of -1 has it, no gradient", "[distance_loss]") {
  const tenon::tensor<double, rank<2>> x(rank<2>(2, 2), {0, 0, 3, 4}), y(rank<2>(2, 2), {1, 2, 4, 3});
  const tenon::tensor<double, rank<1>> target(rank<1>(2), {-1, -1});
  const auto v = tenon::variable(x);
  CHECK(std::fabs(static_cast<double>(tenon::backward(nn::cosine_embedding_loss(v, y, target))) - 0.48) < 1e-12);
  const auto found = numbers_of(v.gradient());
  CHECK((found[0] == 0 && found[1] == 0 && found[2] != 0));
}

TEST_CASE("options of losses are within their range", "[distance_loss]") {
  const auto x = drawn(rank<1>(3), 1), t = drawn(rank<1>(3), 2);
  const auto refusal = [](const auto& loss) { return tenon_test::text_of<tenon::error>(loss); };
  CHECK(refusal([&] { nn::huber_loss(x, t, 0); }) == "huber_loss: delta 0, expected above 0 and finite");
  CHECK(refusal([&] { nn::huber_loss(x, t, -1.5); }) == "huber_loss: delta -1.5, expected above 0 and finite");
  CHECK_THROWS_AS(nn::huber_loss(x, t, std::numeric_limits<double>::infinity()), tenon::error);
  CHECK_THROWS_AS(nn::huber_loss(x, t, std::nan("")), tenon::error);
  CHECK(refusal([&] { nn::smooth_l1_loss(x, t, -0.5); }) == "smooth_l1_loss: beta -0.5, expected at least 0");
  CHECK_THROWS_AS(nn::smooth_l1_loss(x, t, std::nan("")), tenon::error);
}

TEST_CASE("losses of rows and their gradients", "[distance_loss]") {
  auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2), z = drawn(rank<2>(4, 3), 3);
  tenon::tensor<std::int64_t, rank<1>> sign({4});
  for (tenon::index i = 0; i < 4; ++i) sign(i) = i % 2 == 0 ? 1 : -1;
  const auto of_cosines = [&](const auto& a, const auto& b) { return nn::cosine_embedding_loss(a, b, sign); };
  const auto above_margin = [&](const auto& a, const auto& b) {
    return nn::cosine_embedding_loss<nn::unreduced>(a, b, sign, -0.9);
  };
  check_rows({
      {"cosine_embedding_loss", gradient_difference(of_cosines, x, y)},
      {"cosine_embedding_loss", gradient_difference(above_margin, x, y)},
      {"triplet_margin_loss",
       gradient_difference([](const auto&... rows) { return nn::triplet_margin_loss(rows...); }, x, y, z)},
  });
}

TEST_CASE("gradients of losses of one element at a time", "[distance_loss]") {
  auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2);
  const auto of_each = [](const auto& a, const auto& b) { return nn::mse_loss<nn::unreduced>(a, b); };
  const auto smooth = [](const auto& a, const auto& b) { return nn::smooth_l1_loss<nn::to_sum>(a, b, 0.5); };
  check_rows({
      {"mse_loss", gradient_difference([](const auto& a, const auto& b) { return nn::mse_loss(a, b); }, x, y)},
      {"mse_loss", gradient_difference(of_each, x, y)},
      {"l1_loss", gradient_difference([](const auto& a, const auto& b) { return nn::l1_loss(a, b); }, x, y)},
      {"huber_loss", gradient_difference([](const auto& a, const auto& b) { return nn::huber_loss(a, b, 2); }, x, y)},
      {"smooth_l1_loss", gradient_difference(smooth, x, y)},
  });
}

TEST_CASE("triplet_margin_loss is PyTorch's with all options", "[distance_loss]") {
  using rows = tenon::tensor<double, rank<2>>;  // some at the edge, of equal rows, and as far from both
  const rows x(rank<2>(4, 2), {1, 2, 0, 1, 1, 1, 0, 0}), p(rank<2>(4, 2), {1, 1, 2, 1, 1, 1, 2, 0});
  const rows n(rank<2>(4, 2), {2, 3, 0, 0.5, 1, 1, 1, 3});
  const auto with = [&](const auto& options, const std::vector<double>& values,
                        const std::vector<std::vector<double>>& gradients) {
    const auto loss = [&]<class Reduction>(Reduction, const auto&... all) {
      return nn::triplet_margin_loss<Reduction>(all..., options);
    };
    tenon_test::check_loss(loss, values, gradients, x, p, n);
  };
  with(1, {0.5857888518, 2.499998, 1, 0},
       {{0.7071077812, 1.707106781, -1.000002, -0.9999995, 0, 0, 0, 0},
        {-9.99999e-07, -1, 1, -5.0000025e-07, -0.7071067812, -0.7071067812, 0, 0},
        {-0.7071067812, -0.7071067812, 1.999996e-06, 1, 0.7071067812, 0.7071067812, 0, 0}});
  with(nn::triplet_margin_options<1>{.epsilon = 0}, {0, 2.5, 1, 0},
       {{0, 0, -1, -1, 0, 0, 0, 0}, {0, 0, 1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 0, 0, 0, 0}});
  with(nn::triplet_margin_options<2>{.margin = 0.5, .epsilon = 0}, {0.08578643763, 2, 0.5, 0},
       {{0.7071067812, 1.707106781, -1, -1, 0, 0, 0, 0},
        {0, -1, 1, 0, 0, 0, 0, 0},
        {-0.7071067812, -0.7071067812, 0, 1, 0, 0, 0, 0}});
  with(nn::triplet_margin_options<1, true>{.margin = 3, .epsilon = 0}, {2, 4.5, 3, 1},
       {{1, 2, -1, -1, 0, 0, -0.5, 0.5}, {0, -1, 1, 0, 0, 0, 0.5, 0.5}, {-1, -1, 0, 1, 0, 0, 0, -1}});
  with(nn::triplet_margin_options<3>{.epsilon = 0.25}, {1.308383696, 1.992551787, 1, 0},
       {{0.6697486038, 1.624662496, -1.106510681, -0.9556778619, 0, 0, 0, 0},
        {-0.03978807885, -0.9947019712, 0.9980610753, -0.02036859337, -0.6299605249, -0.6299605249, 0, 0},
        {-0.6299605249, -0.6299605249, 0.1084496061, 0.9760464552, 0.6299605249, 0.6299605249, 0, 0}});
  CHECK(numbers_of(nn::triplet_margin_loss(x, p, n, {.margin = 0.5, .epsilon = 0})).size() == 1);
  CHECK(tenon_test::extents_of(nn::triplet_margin_loss<nn::unreduced>(x, p, n)) == std::vector<tenon::index>{4, 1});
}

TEST_CASE("traced losses of distances keep temporaries", "[distance_loss]") {
  const auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2), z = drawn(rank<2>(4, 3), 3);
  const tenon::tensor<double, rank<1>> sides(rank<1>(4), {1, -1, 1, -1});
  using tenon_test::keeps_temporaries;
  CHECK(keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::mse_loss(v, std::forward<T>(t)); }, x, y));
  CHECK(keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::l1_loss(v, std::forward<T>(t)); }, x, y));
  CHECK(keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::huber_loss(v, std::forward<T>(t)); }, x, y));
  CHECK(
      keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::smooth_l1_loss(v, std::forward<T>(t)); }, x, y));
  const auto of_cosines = []<class... T>(const auto& v, T&&... t) {
    return nn::cosine_embedding_loss(v, std::forward<T>(t)..., -0.9);
  };
  CHECK(keeps_temporaries(of_cosines, x, y, sides));
  const auto of_rows = []<class... T>(const auto& v, T&&... t) {
    return nn::triplet_margin_loss(v, std::forward<T>(t)..., 3);
  };
  CHECK(keeps_temporaries(of_rows, x, y, z));
}
